"""The work that a command announces is about the work that it does, counted in states."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from counterbc.data.cores import cores
from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.meaning import meaning
from counterbc.selection import method_comparison
from counterbc.selection.held_out import HeldOut
from counterbc.selection.method_comparison import compare_methods
from counterbc.selection.radius import RadiusSearch
from counterbc.selection.tuner import tune
from counterbc.selection.tuning import TuneSearch
from counterbc.trainer import train
from counterbc.training.loop import Loop
from counterbc.training.network_stack import NetworkStack
from counterbc.training.session import Session, use_session
from tests.fixture_types import Make

OPTIONS: dict[str, Any] = {"lag": 0.0, "progress": False, "hidden": (8, 8)}
SEARCH = TuneSearch(radii=(0.0, 0.2, 0.4), step_counts=(20, 80, 160), folds=3)
COMMANDS: dict[str, Callable[[Demonstrations], Any]] = {
    "train with one seed": lambda d: train(d, **OPTIONS),
    "train with ten seeds": lambda d: train(d, seeds=10, **OPTIONS),
    "train posterior": lambda d: train(d, "posterior", **OPTIONS),
    "train with steps": lambda d: train(d, steps=100, **OPTIONS),
    "train without a search": lambda d: train(d, steps=100, radius=0.3, seeds=3, **OPTIONS),
    "train bcnd": lambda d: train(d, "bcnd", steps=100, **OPTIONS),
    "tune": lambda d: tune(d, search=SEARCH, **OPTIONS),
    "compare": lambda d: compare_methods(d, ("counter-bc", "posterior"), search=SEARCH, **OPTIONS),
    "score": lambda d: meaning(
        d, radius="auto", progress=False, held_out=HeldOut(folds=3, repeats=2, steps=200),
        search=RadiusSearch(folds=3, steps=100),
    ),
}  # fmt: skip


SLOW = ("train with one seed", "train with ten seeds", "train posterior")
NAMES = [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in COMMANDS]


@pytest.mark.parametrize("name", NAMES)
def test_the_first_estimate_is_right_within_a_factor_of_two(
    name: str, make_demos: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("counterbc.training.pace._ENOUGH", 0.0)
    monkeypatch.setattr(method_comparison, "seconds_per_state", lambda errors: 1.0)
    states, estimates = [0], list[float]()
    steps, estimate = NetworkStack.steps, Loop._estimate

    def count(self: NetworkStack, position: Any, epoch: Any, first: int) -> None:
        before = self.taken
        steps(self, position, epoch, first)
        states[0] += (self.taken - before) * position[0].numel()

    def remember(self: Loop, taken: int) -> None:
        total = self.settings.step_count * self.method.rounds * len(self.view.nets.pairs)
        estimates.append(states[0] + (total - taken) * self.batch + self.later)
        estimate(self, taken)

    monkeypatch.setattr(NetworkStack, "steps", count)
    monkeypatch.setattr(Loop, "_estimate", remember)
    with use_session(Session()):
        COMMANDS[name](make_demos(episodes=9, length=20))
    assert 0.5 < estimates[0] / states[0] < 2, f"{estimates[0]:.0f} states, in fact {states[0]}"


def _compete() -> None:
    while True:
        pass


@contextmanager
def _a_busy_process_for_each_core() -> Iterator[None]:
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_compete, daemon=True) for _ in range(cores())]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()


@pytest.mark.slow
def test_an_estimate_on_a_busy_machine_is_right_within_a_factor_of_two(
    make_demos: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Waiting for a core counts by how much this process waited before and after the estimate, so
    that other programs which come or go do not fail the test."""
    moments = [(time.monotonic(), time.process_time())]
    estimates, estimate = list[float](), Loop._estimate

    def remember(self: Loop, taken: int) -> None:
        total = self.settings.step_count * len(self.view.nets.pairs)
        estimates.append(self.pace.seconds_for((total - taken) * self.batch))
        moments.append((time.monotonic(), time.process_time()))
        estimate(self, taken)

    monkeypatch.setattr(Loop, "_estimate", remember)
    demos = make_demos(episodes=9, length=20)
    settings: dict[str, Any] = {
        "method": "bc",
        "radius": 0.0,
        "seeds": 20,
        "ensemble": 1,
        "kernel": "torch",
    }
    with _a_busy_process_for_each_core():
        train(demos, steps=20_000, **settings, **OPTIONS)
    moments.append((time.monotonic(), time.process_time()))
    (walls, works) = zip(*moments, strict=True)
    before, after = ((walls[i + 1] - walls[i]) / (works[i + 1] - works[i]) for i in (0, 1))
    actual = (walls[2] - walls[1]) * before / after
    assert works[2] - works[1] > 2, "most of the work comes after the estimate"
    assert 0.5 < estimates[0] / actual < 2
