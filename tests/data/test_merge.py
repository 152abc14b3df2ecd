"""Several datasets become one."""

from __future__ import annotations

from typing import Any

import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.merge import merge
from counterbc.errors import DataError
from tests.data.datasets import episode, three_episodes


def plain(source: str, **fields: Any) -> Demonstrations:
    return Demonstrations((episode(2), episode(3)), source=source, **fields)


def test_merged_episodes_are_renamed_where_names_collide_and_masks_follow() -> None:
    union = merge([three_episodes(), plain("mia.hdf5", masks={"train": ("demo_1",)})])
    assert [e.name for e in union.episodes] == [f"demo_{i}" for i in range(5)]
    assert union.masks == {"train": ("demo_0", "demo_1", "demo_4"), "valid": ("demo_2",)}
    assert union.source == "three.hdf5 + mia.hdf5"


def test_a_mask_does_not_reach_into_another_dataset_after_a_merge() -> None:
    absent = plain("a.hdf5", masks={"train": ("demo_1", "demo_3")})
    assert merge([absent, plain("b.hdf5")]).masks == {"train": ("demo_1",)}


def test_the_file_names_the_operator_where_none_is_recorded() -> None:
    union = merge([three_episodes(), plain("day/mia.hdf5"), plain("")])
    assert [e.operator for e in union.episodes] == ["ann", "bob", "ann", "mia", "mia", None, None]


def test_files_of_one_name_in_two_folders_are_two_operators() -> None:
    assert merge([plain("ann/demos.hdf5"), plain("bob/demos.hdf5")]).operators == (
        "ann/demos.hdf5",
        "bob/demos.hdf5",
    )


def test_selections_are_merged_pair_by_pair() -> None:
    union = merge([three_episodes().sample_pairs(1, seed=0), plain("b.hdf5")])
    assert union.learned.tolist() == [
        *three_episodes().sample_pairs(1, seed=0).learned,
        *range(9, 14),
    ]
    assert merge([three_episodes(), plain("b.hdf5")]).selected is None


def test_a_merge_of_different_rates_has_no_rate() -> None:
    assert merge([plain("a", rate=10.0), plain("b", rate=10.0)]).rate == 10
    assert merge([plain("a", rate=10.0), plain("b", rate=20.0)]).rate is None


def test_one_dataset_merges_to_itself_and_none_is_refused() -> None:
    demos = three_episodes()
    assert merge([demos]) is demos
    with pytest.raises(DataError, match="nothing to merge"):
        merge([])


@pytest.mark.parametrize(
    ("other_fields", "sentence"),
    [
        ({"obs_keys": (("x", 1), ("y", 1))}, "observation keys"),
        ({"action_low": [-1], "action_high": [1]}, r"action bounds unknown .* and \[-1, 1\]"),
    ],
)
def test_datasets_that_differ_are_not_merged(other_fields: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DataError, match=f"cannot merge a and b: {sentence}"):
        merge([plain("a"), plain("b", **other_fields)])


def test_a_merge_declares_only_what_all_its_parts_declare() -> None:
    taken, asked = (plain(f"{kind}.hdf5", actions_are=kind) for kind in ("taken", "asked"))
    assert merge([taken, taken]).actions_are == "taken"
    assert merge([taken, asked]).actions_are is None
    assert merge([asked, plain("c.hdf5")]).actions_are is None
    first, last = (plain(f"{name}.hdf5", relative=name) for name in ("state[0]", "state[1]"))
    assert merge([first, first]).relative == "state[0]"
    assert merge([first, last]).relative is None
    assert merge([first, plain("c.hdf5")]).relative is None


def test_a_dimension_that_one_part_declares_an_angle_is_one_in_the_merge() -> None:
    first, last = (plain(f"{name}.hdf5", angles=(name,)) for name in ("state[1]", "state[0]"))
    assert merge([first, plain("c.hdf5"), last]).angles == ("state[0]", "state[1]")
