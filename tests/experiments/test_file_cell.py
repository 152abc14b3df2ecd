"""A cell of recorded demonstrations knows its file by content, and its seeds by number."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.spaces import Box, Dict

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.errors import CounterBCError, InfeasibleActions, OptionError
from counterbc.experiments.cell import compute_rows
from counterbc.experiments.file_cell import FileCell
from counterbc.experiments.file_data import Subset
from counterbc.experiments.study import Study
from counterbc.selection.radius import DoubtfulRadius
from tests.experiments.cells import repeatable


class Pose(gymnasium.Env[Any, Any]):
    """An environment of somebody else, which observes a goal of one number and a pose of two."""

    action_space = Box(-1, 1, (1,), np.float32)
    observation_space = Dict({"goal": Box(-1, 1, (1,)), "pose": Box(-1, 1, (2,))})

    def reset(self, **_: Any) -> tuple[Any, dict[str, Any]]:
        return self.observation_space.sample(), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        return self.observation_space.sample(), 0.5, True, False, {}


gymnasium.register("tests/Pose-v0", f"{__name__}:Pose")


def pose_cell(folder: Path, world: str, **keys: int) -> FileCell:
    """Return a cell that learns from random demonstrations with keys of these widths."""
    rng, size = np.random.default_rng(0), sum(keys.values())
    episode = Episode(rng.normal(size=(20, size)), rng.uniform(-1, 1, (20, 1)))
    file = folder / "pose.hdf5"
    Demonstrations(
        (episode,), np.array([-1.0]), np.array([1.0]), obs_keys=tuple(keys.items())
    ).save(file)
    return FileCell(world=world, file=file, method="bc", seeds=2, episodes=3, steps=4)


@pytest.fixture(scope="module")
def demos() -> Demonstrations:
    """Ten episodes in Intersection, of two operators."""
    demos_ = demonstrate("intersection", UniformNoise(0.5), 200, 0)
    episodes = tuple(replace(e, operator="ab"[i % 2]) for i, e in enumerate(demos_.episodes))
    return replace(demos_, episodes=episodes, masks={"first": ("demo_0", "demo_1")})


@pytest.fixture(scope="module")
def tiny(demos: Demonstrations, tmp_path_factory: pytest.TempPathFactory) -> FileCell:
    file = tmp_path_factory.mktemp("recorded") / "shown.hdf5"
    demos.save(file)
    return FileCell(world="intersection", file=file, method="bc", seeds=2, episodes=3, steps=4)


def prints(cell: FileCell) -> list[str]:
    return [d.fingerprint() for d in cell.datasets()]


def test_rows_say_what_was_learned_from_and_what_came_of_it(tiny: FileCell) -> None:
    table = tiny.rows("cpu")
    rows = table.to_pylist()
    assert [(r["act"], r["seed"]) for r in rows] == [
        ("mean", 0), ("mean", 1), ("sample", 0), ("sample", 1),
    ]  # fmt: skip
    first = rows[0]
    assert (first["world"], first["subset"], first["method"]) == ("intersection", "all", "bc")
    assert (first["pairs"], first["steps"], first["length"]) == (200, 4, 20.0)
    assert first["return_count"] == first["length_count"] == 3
    assert first["return"] != rows[1]["return"]
    about = json.loads(table.schema.metadata[b"counterbc"])["cell"]
    assert about == json.loads(json.dumps(tiny.about))
    assert str(tiny.file.parent) not in str(table.schema.metadata)


@pytest.mark.parametrize(
    "subsets",
    [
        (Subset(pairs=20), Subset(pairs=30)),
        (Subset(operators=("a",)), Subset(mask="first")),  # one dataset for all seeds
    ],
)
def test_cells_of_a_stack_name_the_data_of_their_own(
    tiny: FileCell, subsets: tuple[Subset, ...]
) -> None:
    cells = [replace(tiny, subset=subset) for subset in subsets]
    columns = ["seed", "act", "pairs", "fingerprint"]
    for name, table in compute_rows(cells, "cpu").items():
        (cell,) = (c for c in cells if c.name == name)
        assert table.select(columns) == cell.rows("cpu").select(columns)


def test_cells_of_a_stack_with_as_many_pairs_have_the_rows_of_each_alone(tiny: FileCell) -> None:
    cells = [replace(tiny, subset=Subset(operators=(name,), pairs=30)) for name in "ab"]
    tables = compute_rows(cells, "cpu")
    for cell in cells:
        assert repeatable(tables[cell.name]) == repeatable(cell.rows("cpu"))


def test_a_subset_is_drawn_for_each_seed_and_alike_for_all_methods(tiny: FileCell) -> None:
    fifth = replace(tiny, subset=Subset(share=0.2))
    assert [len(d) for d in fifth.datasets()] == [2, 2]
    thirty_pairs = replace(tiny, subset=Subset(pairs=30))
    assert [d.pairs for d in thirty_pairs.datasets()] == [30, 30]
    for cell in (fifth, thirty_pairs):
        a, b = prints(cell)
        assert a != b
        assert prints(replace(cell, method="counter-bc", radius=0.4)) == [a, b]
    assert len(prints(tiny)) == 1


def test_every_option_of_a_unit_is_in_its_name(tiny: FileCell) -> None:
    changes: list[dict[str, Any]] = [
        {"world": "cartpole"}, {"method": "bcnd"}, {"radius": 0.1}, {"radius": "auto"},
        {"radius": (0.1, 0.0)}, {"subset": Subset(share=0.2)}, {"subset": Subset(pairs=20)},
        {"subset": Subset(mask="first")}, {"subset": Subset(operators=("a",))},
        {"subset": Subset(success=True)}, {"subset": Subset(exclude=("demo_0",))},
        {"subset": Subset(exclude=("demo_1",))},
        {"obs": ("state",)}, {"cleaned": True}, {"seeds": 3}, {"episodes": 4},
        {"preset": "paper"}, {"steps": 5}, {"changes": {"policy": "mixture"}},
    ]  # fmt: skip
    names = {tiny.name, *(replace(tiny, **change).name for change in changes)}
    assert len(names) == 1 + len(changes)


def test_the_radius_that_was_chosen_stands_beside_the_one_asked_for(tiny: FileCell) -> None:
    rows = replace(tiny, method="counter-bc", radius=(0.3, 0.0)).rows("cpu").to_pylist()
    assert rows[0]["radius"] == "0.3,0"
    assert rows[0]["radius_used"] == pytest.approx([0.3, 0.0])
    auto = replace(tiny, method="counter-bc", radius="auto").rows("cpu").to_pylist()
    assert auto[0]["radius"] == "auto"
    assert 0 <= auto[0]["radius_used"][0] <= 0.8


@pytest.mark.filterwarnings("ignore::counterbc.errors.CannotTell")
def test_cleaned_demonstrations_have_other_actions_at_the_same_states(
    tiny: FileCell, demos: Demonstrations
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InfeasibleActions)
        warnings.simplefilter("ignore", DoubtfulRadius)
        (cleaned_demos,) = replace(tiny, cleaned=True).datasets("cpu")
    assert (cleaned_demos.obs == demos.obs).all()
    assert (cleaned_demos.action != demos.action).any()


def test_a_study_of_recorded_demonstrations_resumes_and_repeats(
    tiny: FileCell, tmp_path: Path
) -> None:
    cells = [tiny, replace(tiny, method="counter-bc", radius=0.4), replace(tiny, cleaned=False)]
    study = Study(cells, tmp_path / "rows")
    assert study.run("cpu", workers=1) == 2  # the third is the first
    assert study.run("cpu", workers=1) == 0
    second_study = Study(cells, tmp_path / "again")
    second_study.run("cpu", workers=1)
    assert repeatable(study.table()) == repeatable(second_study.table())


def test_what_cannot_be_done_is_refused_before_any_work(tiny: FileCell, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"unknown environment 'push'; .* did you mean push-t"):
        replace(tiny, world="push")
    with pytest.raises(OptionError, match="episodes is 0; it must be 1 or more"):
        replace(tiny, episodes=0)
    with pytest.raises(CounterBCError, match=r"nothing\.hdf5"):
        replace(tiny, file=tmp_path / "nothing.hdf5")
    with pytest.raises(OptionError, match="needs a world; without one, use HeldOutCell"):
        replace(tiny, world=None)


def test_any_registered_environment_can_be_the_world(tiny: FileCell) -> None:
    cell = replace(tiny, world="counterbc/Intersection-v0")
    assert cell.name.startswith("counterbc-Intersection-v0-all-bc-")
    assert cell.performance == "return"
    assert replace(tiny, world="push-t").performance == "best_coverage"


def test_the_names_of_cells_are_those_of_studies_before_success_and_exclude(
    tiny: FileCell,
) -> None:
    about = {"mask": None, "operators": (), "share": 1.0, "pairs": None}
    assert (tiny.about["subset"], tiny.about["obs"]) == (about, ())
    assert {"success", "exclude"} <= replace(
        tiny, subset=Subset(success=True, exclude=("0",))
    ).about["subset"].keys()


@pytest.mark.needs("gym_pusht")
def test_what_people_recorded_in_push_t_is_read_as_push_t_observes(data: Path) -> None:
    cell = FileCell(
        world="push-t", file=data / "pusht_human_206.hdf5", method="bc", seeds=1, episodes=1,
        steps=2, acts=("mean",), subset=Subset(exclude=("demo_0", "1")),
    )  # fmt: skip
    cell.check()
    assert cell.note.startswith("Of pusht_human_206.hdf5, reads state, as push-t does; obs in")
    named = replace(cell, obs=("state",))
    assert (named.name, named.note) == (cell.name, "")
    assert len(cell.datasets()[0]) == 204
    (row,) = cell.rows("cpu").to_pylist()
    assert (row["obs"], row["return_count"]) == ("state", 1)
    with pytest.raises(OptionError, match=r"pusht_human_206\.hdf5: .* 23 numbers; .* --obs state"):
        replace(cell, obs=("keypoints", "state")).check()


@pytest.mark.parametrize("world", ["tests/Pose-v0", f"{__name__}:tests/Pose-v0"])
def test_an_environment_of_somebody_else_may_observe_a_dict(world: str, tmp_path: Path) -> None:
    cell = pose_cell(tmp_path, world, pose=2, goal=1, lidar=4)
    with pytest.raises(OptionError, match=r"observes goal, pose, .* reads lidar; .* obs names the"):
        cell.check()
    cell = replace(cell, obs=("pose", "goal"))
    cell.check()
    rows = cell.rows("cpu").to_pylist()
    assert [r["return"] for r in rows] == [0.5] * 4
    assert cell.name.replace("-", "").replace(".", "").replace("_", "").isalnum()


def test_an_environment_of_other_shapes_is_refused_before_any_training(tmp_path: Path) -> None:
    cell = pose_cell(tmp_path, "intersection", pose=2, goal=1)
    with pytest.raises(OptionError, match=r"the observations of intersection are .* 3 numbers"):
        cell.check()
