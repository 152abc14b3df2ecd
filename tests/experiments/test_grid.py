"""A grid file becomes cells: lists are axes, and equal cells are computed once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import CounterBCError, OptionError
from counterbc.experiments.file_cell import FileCell
from counterbc.experiments.grid import Grid, read_grid
from counterbc.experiments.held_out_cell import HeldOutCell
from counterbc.experiments.simulated_cell import SimulatedCell

WORLD = {"world": "intersection", "pairs": 20}


def grid(**changes: Any) -> Grid:
    numbers: dict[str, Any] = {"methods": ["bc", "counter-bc"], "data": [WORLD], "settings": {}}
    return Grid(**numbers | changes)


def test_a_radius_is_an_axis_of_methods_that_use_one() -> None:
    entries = grid(settings={"radius": [0.1, "auto", [0.2, 0.0]]}).entries()
    assert [(e.method, e.radius) for e in entries] == [
        ("bc", ""), ("counter-bc", "0.1"), ("counter-bc", "auto"), ("counter-bc", "0.2,0"),
    ]  # fmt: skip
    assert {e.settings for e in entries} == {""}


def test_other_settings_are_axes_that_all_methods_share() -> None:
    settings = {"steps": [10, 20], "batch": 5, "hidden": [8, 8]}
    entries = grid(settings=settings).entries()
    assert [(e.settings, e.method) for e in entries] == [
        ("steps 10", "bc"), ("steps 10", "counter-bc"),
        ("steps 20", "bc"), ("steps 20", "counter-bc"),
    ]  # fmt: skip
    cell = entries[0].cell
    assert isinstance(cell, SimulatedCell)
    assert (cell.steps, cell.changes) == (10, {"batch": 5, "hidden": (8, 8)})
    assert [e.settings for e in grid(settings={"hidden": [[8], [4, 4]]}).entries()[::2]] == [
        "hidden 8", "hidden 4,4",
    ]  # fmt: skip


def test_lists_of_a_dataset_are_axes() -> None:
    data = {"world": "cartpole", "noise": "gaussian", "sigma": [0.1, 0.2], "pairs": [20, 40]}
    labels = [e.data for e in grid(methods=["bc"], data=[data]).entries()]
    assert labels == [
        "cartpole, gaussian 0.1, 20 pairs", "cartpole, gaussian 0.1, 40 pairs",
        "cartpole, gaussian 0.2, 20 pairs", "cartpole, gaussian 0.2, 40 pairs",
    ]  # fmt: skip
    (entry,) = grid(methods=["bc"], data=[WORLD | {"teacher": "novice", "name": "N"}]).entries()
    assert (entry.data, entry.cell.about["sigma"]) == ("N", None)


def test_a_file_is_tested_in_its_environment_or_on_held_out_episodes(
    tiny: Demonstrations, tmp_path: Path
) -> None:
    tiny.save(tmp_path / "demos.npz")
    data = {"file": "demos.npz", "operators": ["ada"], "share": [0.5, 1.0]}
    held_out, _, simulated = (
        entry.cell
        for table in ([data], [{"file": "demos.npz", "env": "push-t"}])
        for entry in grid(methods=["bc"], data=table, folder=tmp_path).entries()
    )
    assert isinstance(held_out, HeldOutCell)
    assert (held_out.subset.operators, held_out.subset.share) == (("ada",), 0.5)
    assert type(simulated) is FileCell
    assert (simulated.world, simulated.acts, simulated.performance) == (
        "push-t",
        ("mean",),
        "best_coverage",
    )


def test_episodes_of_a_file_are_chosen_as_by_the_options_of_commands(
    tiny: Demonstrations, tmp_path: Path
) -> None:
    tiny.save(tmp_path / "demos.npz")
    data = {"file": "demos.npz", "success": True, "exclude": [["demo_1"], ["0", "demo_3"]]}
    entries = grid(methods=["bc"], data=[data], folder=tmp_path).entries()
    assert [e.data for e in entries] == [
        "demos, successful, without demo_1", "demos, successful, without 0, demo_3",
    ]  # fmt: skip
    (first, second) = (e.cell for e in entries)
    assert isinstance(first, HeldOutCell)
    assert isinstance(second, HeldOutCell)
    assert (first.subset.success, first.subset.exclude) == (True, ("demo_1",))
    assert second.subset.exclude == ("0", "demo_3")
    assert first.name != second.name


def test_toml_and_json_give_the_same_grid(tmp_path: Path) -> None:
    toml, plain = tmp_path / "grid.toml", tmp_path / "grid.json"
    toml.write_text('methods = ["bc"]\n[[data]]\nworld = "intersection"\npairs = 20\n')
    plain.write_text(json.dumps({"methods": ["bc"], "data": [WORLD]}))
    assert read_grid(toml) == read_grid(plain)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[]", "holds list; a grid is a table of keys"),
        ('{"data": []}', "has no methods"),
        ('{"methods": ["bc"]}', "has no data"),
        ('{"methods": ["bc"], "data": [{"file": "a", "world": "b"}]}', "needs a file or a world"),
        ('{"methods": ["bc"], "data": ["demos.npz"]}', "needs a file or a world"),
        ('{"methods": ["bc"], "data": [{"world": "fork"}]}', "has no pairs"),
        ('{"methods": ["bc"], "seeds": true}', "seeds is True in the grid"),
        ('{"methods": ["bc"], "seeds": "x"}', "seeds is 'x' in the grid; it must be a whole num"),
        ('{"methods": [["bc"]]}', r"one of the methods is \['bc'\] in the grid; it must be text"),
        (
            '{"methods": ["bc"], "settings": []}',
            "settings is \\[\\] in the grid; it must be a table",
        ),
        ('{"test_share": "x"}', "test_share is 'x' in the grid; it must be a number"),
        ('{"folder": "x"}', "unknown key in the grid 'folder'; allowed: methods, data, settings"),
        ("{", "is not valid JSON"),
    ],
)
def test_a_file_that_is_not_a_grid_is_explained(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "grid.json"
    path.write_text(text)
    with pytest.raises(CounterBCError, match=message):
        read_grid(path)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (WORLD | {"pairs": "x"}, "pairs is 'x' in the grid; it must be a whole number"),
        (WORLD | {"pairs": [20, 0.5]}, r"pairs is 0\.5 in the grid; it must be a whole number"),
        (WORLD | {"pairs": None}, "pairs is None in the grid; it must be a whole number"),
        (WORLD | {"sigma": "x"}, "sigma is 'x' in the grid; it must be a number"),
        (WORLD | {"world": 3}, "world is 3 in the grid; it must be text"),
        ({"file": "a", "share": "x"}, "share is 'x' in the grid; it must be a number"),
        ({"file": "a", "operators": "ada"}, "operators is 'ada' in the grid; it must be a list"),
        ({"file": "a", "obs": [["state"], [1]]}, "obs is 1 in the grid; it must be text"),
        ({"file": "a", "success": "yes"}, "success is 'yes' in the grid; it must be true or false"),
        ({"file": "a", "exclude": [3]}, "exclude is 3 in the grid; it must be text"),
        ({"file": "a", "share": None}, "share is None in the grid; it must be a number"),
        ({"file": "a", "cleaned": "yes"}, "cleaned is 'yes' in the grid; it must be true or false"),
    ],
)
def test_a_value_of_a_dataset_of_the_wrong_kind_is_explained(
    data: dict[str, Any], message: str
) -> None:
    with pytest.raises(OptionError, match=message):
        grid(data=[data])


def test_a_dataset_may_have_values_of_every_right_kind() -> None:
    grid(data=[WORLD | {"pairs": [20, 40], "sigma": [0.5, 1], "pool": 0, "noise": "uniform"}])
    lists = {"obs": ["state"], "operators": [["ada"], ["bob", "ada"]]}
    grid(data=[{"file": "a", "name": None, "pairs": None}])
    grid(data=[{"file": "a", "mask": [None, "better"], "cleaned": [True, False]} | lists])


def test_unknown_names_are_refused() -> None:
    for changes, message in (
        ({"methods": ["dagger"]}, "unknown method 'dagger'"),
        ({"settings": {"step": 1}}, "unknown setting in the grid 'step'"),
        ({"acts": ["dance"]}, "unknown way of acting 'dance'"),
        ({"data": [WORLD | {"pear": 1}]}, "unknown key of a world in the grid 'pear'"),
    ):
        with pytest.raises(OptionError, match=message):
            grid(**changes)
    with pytest.raises(OptionError, match="the teacher 'novice' and a noise"):
        grid(data=[WORLD | {"teacher": "novice", "sigma": 1.0}]).entries()
