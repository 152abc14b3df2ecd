"""Goals without labels."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import counterbc as cb
from counterbc.demonstrators import UniformNoise
from counterbc.errors import OptionError
from reproduction.options import RESULTS
from reproduction.records import read
from reproduction.studies import intents


def test_the_end_of_every_episode_is_hidden() -> None:
    demos = cb.demonstrate("intersection", UniformNoise(0.3), 40, seed=0)
    assert [len(e) for e in intents.hide(demos, 0.25).episodes] == [15, 15]
    assert intents.hide(demos, 0.0).pairs == 40


@pytest.mark.parametrize("group", [(0, 0, 1, 1), (1, 1, 0, 0)])
def test_accuracy_is_the_same_if_groups_have_their_numbers_exchanged(
    group: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = SimpleNamespace(
        group=np.array(group),
        groups=2,
        sizes=[2, 2],
        held_out={1: np.zeros(4), 2: np.full(4, 0.5)},
    )
    monkeypatch.setattr(cb, "find_intents", lambda demos: found)
    demos = cb.demonstrate("intersection", UniformNoise(0.3), 80, seed=0)
    assert len(demos) == 4
    row = intents.measure(demos, [0, 0, 1, 0])
    assert (row["right"], row["share"]) == (3, 0.75)
    assert row["gain"] == {"1": [0, 0], "2": [0.5, 0]}


def test_the_table_shows_accuracy_with_its_interval_and_gains() -> None:
    row = {"episodes": 4, "groups": 2, "share": 0.75, "wilson": (0.3, 0.95)}
    row["gain"] = {"2": [0.5, 0.1], "3": [-0.5, 0.1]}
    assert intents.markdown({"both": row}).splitlines()[2] == (
        "| both | 4 | 2 | 75.0 % [30.0, 95.0] | +0.50 ± 0.10 | −0.50 ± 0.10 |"
    )


@pytest.mark.slow
def test_the_study_groups_files_of_people_and_simulated_worlds(
    data: Path, tmp_path: Path, check_origin: Any
) -> None:
    for name in (*intents.FILES, "adroit_door_human_25.hdf5"):
        cb.load(data / name).subset(range(12)).save(tmp_path / name)
    options = intents.IntentsOptions(data=tmp_path, out=tmp_path / "out")
    intents.run(options)
    rows = read(options.numbers("intents"))
    assert len(rows) == 2 * 3 + 1 + 3
    assert rows["Push-T, both goals"]["episodes"] == 24
    stored = read(RESULTS / "intents" / "numbers.json")
    assert rows["fork, noise"]["groups"] == stored["fork, noise"]["groups"]
    check_origin(*rows.values())


def test_the_folder_of_the_files_is_needed() -> None:
    with pytest.raises(OptionError, match="name their folder with --data"):
        intents.run(intents.IntentsOptions())
