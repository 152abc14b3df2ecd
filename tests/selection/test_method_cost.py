"""The time of each compared method is measured before any of them is searched."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.methods import METHODS
from counterbc.selection import method_comparison, method_cost
from counterbc.selection.held_out import Training
from counterbc.selection.method_cost import searched_radii, seconds_per_state
from counterbc.selection.tuning import TuneSearch
from counterbc.selection.tuning_errors import TuningErrors
from counterbc.settings import Settings
from counterbc.training import loop, pace
from counterbc.training.loop import Loop
from counterbc.training.network_stack import NetworkStack
from counterbc.training.progress import Quiet
from tests.fixture_types import Make

SEARCH = TuneSearch(radii=(0.0, 0.2, 0.4), step_counts=(5, 10), folds=2)


class Clock:
    """A clock that only training steps move, and sometimes the turns of other programs."""

    def __init__(self, waiting: float = 0.0) -> None:
        self.now, self.work, self.waiting = 0.0, 0.0, waiting

    def monotonic(self) -> float:
        self.now += self.waiting
        return self.now

    def process_time(self) -> float:
        return self.work


def errors_of(name: str, demos: Demonstrations, **changes: Any) -> TuningErrors:
    import torch

    settings = Settings(hidden=(8, 8), kernel="torch", **changes)
    training = Training(
        name=name, method=settings.apply(METHODS[name]), settings=settings,
        device=torch.device("cpu"), progress=Quiet(),
    )  # fmt: skip
    return TuningErrors([demos], [(0.0,)], SEARCH, training)


def test_the_radii_of_a_search_are_those_that_it_trains(make_demos: Make) -> None:
    demos = make_demos(episodes=6)
    assert searched_radii(errors_of("bc", demos)) == (0.0,)
    assert searched_radii(errors_of("counter-bc", demos)) == (0.0, 0.2, 0.4)
    assert searched_radii(errors_of("posterior", demos)) == (0.0, 0.0, 0.4)
    assert searched_radii(errors_of("counter-bc", demos, radius=0.3)) == (0.3,)


@pytest.mark.parametrize("waiting", [0.0, 0.7], ids=["alone", "beside other programs"])
def test_a_method_whose_steps_take_longer_counts_as_much_more(
    make_demos: Make, monkeypatch: pytest.MonkeyPatch, waiting: float
) -> None:
    clock, demos, steps = Clock(waiting), make_demos(episodes=6), NetworkStack.steps

    def slower_with_counterfactuals(self: NetworkStack, position: Any, epoch: Any, n: int) -> None:
        steps(self, position, epoch, n)
        each = 5e-6 if self.view.method.weighting == METHODS["counter-bc"].weighting else 1e-6
        clock.now += each * position.numel()
        clock.work += each * position.numel()

    monkeypatch.setattr(loop, "time", clock)
    monkeypatch.setattr(pace, "time", clock)
    monkeypatch.setattr(NetworkStack, "steps", slower_with_counterfactuals)
    seconds = [seconds_per_state(errors_of(name, demos)) for name in ("bc", "counter-bc")]
    assert seconds == pytest.approx([1e-6, 11e-6 / 3], rel=0.05)  # Δ 0 is trained as BC


def test_a_method_with_long_work_is_measured_for_longer(
    make_demos: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other programs take turns: a few milliseconds of steps may see none of them, or one pause."""
    lengths: list[int] = []

    def measure(errors: TuningErrors, steps: int) -> float:
        lengths.append(steps)
        return 0.004 / errors.work(1, 1)

    monkeypatch.setattr(method_cost, "_measure", measure)
    errors = errors_of("bc", make_demos(episodes=6))
    seconds_per_state(errors)
    errors.search = replace(SEARCH, step_counts=(100, 10_000))
    seconds_per_state(errors)
    assert lengths == [24, 24, 50], "0.2 seconds of 0.004 each, where these are little of the work"


def test_the_first_estimate_of_a_comparison_counts_slow_methods_as_slow(
    make_demos: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    def later_of_the_first(slow: float) -> float:
        later: list[float] = []
        run = Loop.run

        def remember(self: Loop, state: Any) -> None:
            later.append(self.later)
            run(self, state)

        def seconds(errors: TuningErrors) -> float:
            return slow if errors.training.name == "epsilon-insensitive" else 1.0

        with monkeypatch.context() as patch:
            patch.setattr(Loop, "run", remember)
            patch.setattr(method_comparison, "seconds_per_state", seconds)
            method_comparison.compare_methods(
                make_demos(episodes=6), ("epsilon-insensitive",), search=SEARCH, networks=1,
                progress=False, lag=0.0, hidden=(8, 8),
            )  # fmt: skip
        return later[0]

    alike, slower = later_of_the_first(1.0), later_of_the_first(3.0)
    batch = slower - alike  # twice the states of the slow method
    errors = errors_of("epsilon-insensitive", make_demos(episodes=6))
    assert batch == pytest.approx(2 * (errors.work(3, 10) + errors.work(1, 5)))
