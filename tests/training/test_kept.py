"""A search that is stopped is kept, and resumed to the bit."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import FormatError, NotKept
from counterbc.methods import METHODS
from counterbc.selection.tuner import tune
from counterbc.selection.tuning import TuneSearch
from counterbc.settings import settings_for
from counterbc.trainer import train
from counterbc.training import loop, snapshots
from counterbc.training.kept import FINISHED, population_hash
from counterbc.training.loop import Loop
from counterbc.training.network_stack import NetworkStack
from counterbc.training.plan import TrainingPlan, plan_training, seed_members
from counterbc.training.run import run_config
from counterbc.training.session import Session, use_session
from tests.equality import same

SEARCH = TuneSearch(radii=(0.0, 0.3), step_counts=(10, 20), folds=2, ensembles=(1, 2))
OPTIONS: dict[str, Any] = {"hidden": (8, 8), "lag": 0.0, "progress": False}


def search(demos: Demonstrations, folder: Path | None = None) -> dict[str, Any]:
    with use_session(Session(kept=folder)):
        return tune(demos, "counter-bc", search=SEARCH, **OPTIONS).as_dict()


class KillSignal(BaseException):
    """A process that is killed."""


@contextmanager
def stopped_after(blocks: int, kind: str = "Ctrl-C") -> Iterator[list[str]]:
    """Stop a search after some blocks of steps, by Ctrl-C or by a kill; yields what it says."""
    record, count = Loop._record, [0]

    def record_and_stop(self: Loop, *args: Any) -> None:
        record(self, *args)
        count[0] += 1
        if count[0] == blocks and kind == "Ctrl-C":
            signal.raise_signal(signal.SIGINT)
        elif count[0] == blocks:
            raise KillSignal

    messages: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Loop, "_record", record_and_stop)
        with pytest.raises((KeyboardInterrupt, KillSignal)) as stop:
            yield messages
    messages.append(str(stop.value))


def count_steps(patch: pytest.MonkeyPatch) -> list[int]:
    step_count, steps = [0], NetworkStack.steps

    def count(self: NetworkStack, *args: Any) -> None:
        before = self.taken
        steps(self, *args)
        step_count[0] += self.taken - before

    patch.setattr(NetworkStack, "steps", count)
    return step_count


SOMETIMES = [pytest.param(blocks, marks=pytest.mark.slow) for blocks in (1, 10, 19, 21)]


@pytest.mark.parametrize("kind", ["Ctrl-C", "kill"])
@pytest.mark.parametrize("blocks", [7, 20, 25, *SOMETIMES])
def test_a_search_that_is_stopped_at_any_moment_chooses_the_same_when_it_is_resumed(
    blocks: int,
    kind: str,
    tiny: Demonstrations,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshots, "_WORTH_KEEPING", 0.0)
    monkeypatch.setattr(loop, "_SAVE_EVERY", 0.0)
    monkeypatch.setattr(loop, "_SAVE_SHARE", 0.0)
    folder = tmp_path / "run.search"
    with monkeypatch.context() as patch:
        in_all = count_steps(patch)
        whole = search(tiny)
    with stopped_after(blocks, kind) as messages:
        search(tiny, folder)
    if kind == "Ctrl-C":
        assert messages[0].endswith(
            f"; the search is kept in {folder}: give the same command to continue"
        )
    step_count = count_steps(monkeypatch)
    assert search(tiny, folder) == whole
    stacks = 2  # with and without Δ
    lost_steps = stacks if kind == "kill" else 0  # a kill loses the last block
    assert step_count[0] <= in_all[0] - min(blocks, 20) * stacks + lost_steps
    assert not folder.exists(), "a finished search leaves nothing behind"


def test_train_keeps_its_search_beside_the_run_and_resumes_it(
    tiny: Demonstrations, tmp_path: Path
) -> None:
    options: dict[str, Any] = OPTIONS | {"steps": 30, "method": "counter-bc"}
    whole, out = train(tiny, **options), tmp_path / "run"
    with stopped_after(5):
        train(tiny, out=out, **options)
    assert [p.name for p in tmp_path.iterdir()] == ["run.search"]
    assert same(train(tiny, out=out, resume=True, **options), whole)
    assert [p.name for p in tmp_path.iterdir()] == ["run"]


def test_a_search_with_other_options_does_not_use_what_was_kept(
    tiny: Demonstrations, tmp_path: Path
) -> None:
    options: dict[str, Any] = OPTIONS | {"steps": 30, "method": "counter-bc"}
    with stopped_after(5):
        train(tiny, out=tmp_path / "run", **options)
    changed_options = options | {"learning_rate": 0.01}
    assert same(
        train(tiny, out=tmp_path / "run", **changed_options), train(tiny, **changed_options)
    )
    (stale,) = (tmp_path / "run.search").iterdir()
    assert {p.name for p in stale.iterdir()} == {"training.safetensors"}


def test_a_short_search_writes_nothing(tiny: Demonstrations, tmp_path: Path) -> None:
    folder = tmp_path / "run.search"
    with use_session(Session(kept=folder)):
        tune(tiny, "counter-bc", search=SEARCH, **OPTIONS)
        assert not folder.exists()


def test_a_search_that_cannot_be_kept_continues(
    tiny: Demonstrations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "_WORTH_KEEPING", 0.0)
    (tmp_path / "run.search").write_text("a file of mine")
    with pytest.warns(NotKept, match=r"the search is not kept: .*could not be written"):
        choice = search(tiny, tmp_path / "run.search")
    assert choice == search(tiny)
    assert (tmp_path / "run.search").read_text() == "a file of mine"


@pytest.mark.parametrize("name", ["training.safetensors", FINISHED])
def test_a_kept_file_that_is_damaged_is_named(
    name: str, tiny: Demonstrations, tmp_path: Path
) -> None:
    with stopped_after(5):
        search(tiny, tmp_path / "x")
    (folder,) = (tmp_path / "x").iterdir()
    (folder / name).write_bytes(b"nothing")
    with pytest.raises(FormatError, match=f"{name} is damaged"):
        search(tiny, tmp_path / "x")


def plan_of(demos: Demonstrations, **changes: Any) -> TrainingPlan:
    settings = settings_for("default", **({"steps": 20, "radius": 0.3, "lag": 0.0} | changes))
    members = seed_members([demos], [0, 1], [[settings.radius]])
    return plan_training([demos], settings.apply(METHODS["counter-bc"]), settings, members)


def test_the_hash_of_a_population_changes_with_everything_that_decides_its_bits(
    tiny: Demonstrations,
) -> None:
    def hash_of(plan: TrainingPlan, kernel: str = "torch", steps: tuple[int, ...] = (20,)) -> str:
        config = run_config(plan, torch.device("cpu"), torch.float32, kernel)
        return population_hash(plan, config, steps)

    plan = plan_of(tiny)
    first = hash_of(plan)
    assert first == hash_of(plan_of(tiny))
    shorter = tuple(pairs[:-1] for pairs in plan.lists)
    other_hashes = [
        hash_of(plan_of(tiny[:3])),
        hash_of(plan_of(tiny, radius=0.4)),
        hash_of(plan_of(tiny, learning_rate=0.01)),
        hash_of(plan, kernel="numba"),
        hash_of(plan, steps=(10, 20)),
        hash_of(replace(plan, lists=shorter)),
        hash_of(replace(plan, members=plan.members[::-1])),
        hash_of(replace(plan, held_out=(tiny,))),
    ]
    assert len({first, *other_hashes}) == len(other_hashes) + 1
