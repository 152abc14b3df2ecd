"""What policies read of observations, as arrays and as dicts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.observations import (
    Observed,
    find_elements,
    find_key,
    part_widths,
    pixel_count,
    row_vectors,
    scaled_rows,
    spellings,
)
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.packing import pack, unpack
from counterbc.errors import DataError
from counterbc.trainer import train

IMAGE = (36, 36, 3)
IMAGE_AND_STATE = Observed(("joints", "goal"), 3, ("top",), (IMAGE,))
TOP = np.arange(2 * 36 * 36 * 3).reshape(2, *IMAGE).astype(np.uint8)


@pytest.fixture(scope="module")
def policies() -> Policies:
    rng = np.random.default_rng(0)
    images = {"top": rng.integers(0, 256, (40, *IMAGE), np.uint8)}
    episode = Episode(rng.normal(5, 2, (40, 3)), rng.uniform(-1, 1, (40, 2)), images=images)
    keys = (("joints", 2), ("goal", 1))
    demos = Demonstrations((episode,), -np.ones(2), np.ones(2), obs_keys=keys)
    return train(demos, "bc", steps=2, hidden=(8,), lag=0.0, progress=False)


def parts(**changes: Any) -> dict[str, Any]:
    return {"joints": np.ones((2, 2)), "goal": np.zeros((2, 1)), "top": TOP} | changes


def test_a_dict_becomes_rows_of_pixels_and_numbers_in_the_order_of_training() -> None:
    rows = torch.tensor(IMAGE_AND_STATE.rows(parts(unused=3)))
    pixels, vector = unpack(rows, 36 * 36 * 3, torch.float32)
    assert np.array_equal(pixels.numpy().reshape(TOP.shape), TOP)
    assert vector.tolist() == [[1, 1, 0]] * 2
    assert IMAGE_AND_STATE.shape == rows[0].shape
    assert np.array_equal(IMAGE_AND_STATE.rows(rows.numpy()), rows.numpy())


def test_single_parts_are_read_from_arrays_and_from_dicts() -> None:
    vector, image = Observed(("joints",), 2, (), ()), Observed((), 0, ("top",), (IMAGE,))
    assert np.array_equal(vector.rows(parts()), vector.rows(np.ones((2, 2))))
    assert np.array_equal(image.rows(parts()), image.rows(TOP))
    assert (vector.shape, image.shape) == ((2,), IMAGE)


@pytest.mark.parametrize(
    ("obs", "sentence"),
    [
        (np.ones((2, 3)), "reads top 36×36×3 and a vector of 3 numbers; give a dict with top"),
        (parts(top=TOP[:, 1:]), r"the image 'top' has shape \(35, 36, 3\)"),
        (parts(top=TOP / 255), "reads .* in uint8"),
        (parts(goal=np.ones((2, 2))), "joints and goal have 4 numbers; this policy reads 3"),
        ({"joints": np.ones((2, 2))}, "obs has no 'top', which this policy was trained on; it has"),
    ],
)
def test_observations_that_do_not_fit_are_refused(obs: Any, sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        IMAGE_AND_STATE.rows(obs)


def test_columns_of_a_table_are_the_numbers_of_a_part() -> None:
    columns = Observed(("pos_1", "goal", "pos_0", "pos_2[0]"), 4, (), ())
    obs = {"pos": np.array([[1.0, 2.0]]), "goal": np.array([3.0]), "pos_2": np.array([[4.0, 5.0]])}
    assert columns.rows(obs).tolist() == [[2, 3, 1, 4]]
    lerobot = ("observation.state.1", "state.0")
    assert find_elements(lerobot, {"state"}) == {lerobot[0]: ("state", 1), lerobot[1]: ("state", 0)}
    assert find_elements(["pos_0"], {"pos_0", "pos"}) == {}
    assert find_elements(["speed_0", f"pos_{10**6}"], {"pos"}) == {}
    names = ("pos_0", "pos_1", "pos_2", "speed")
    assert part_widths(names, {"pos": (2,)}) == dict(zip(names, (1, 1, None, None), strict=True))
    assert part_widths(["pos"], {"pos": (2, 3)}) == {"pos": 6}
    with pytest.raises(DataError, match="pos has 2 numbers; this policy reads pos_2"):
        Observed(("pos_0", "pos_2"), 2, (), ()).rows({"pos": obs["pos"]})


@pytest.mark.parametrize("names", [("pos_1", "pos_2"), ("goal_0", "pos_2", "pos_1"), ("pos_1",)])
def test_columns_that_may_be_counted_from_1_are_refused(names: tuple[str, ...]) -> None:
    words = "columns of pos are counted from 0.* without pos_0; rename them pos_0, pos_1, …"
    obs = {"pos": np.array([[1.0, 2.0, 3.0]]), "goal": np.array([[1.0]])}
    with pytest.raises(DataError, match=words):
        part_widths(names, {"pos": (3,), "goal": (1,)})
    with pytest.raises(DataError, match=words):
        Observed(names, len(names), (), ()).rows(obs)


def test_names_of_lerobot_are_found_without_their_prefix() -> None:
    assert find_key("observation.images.top", {"top": 0}) == "top"
    assert find_key("observation.state", {"state": 0, "observation.state": 1}) == (
        "observation.state"
    )
    assert list(spellings("joints")) == ["joints"]


def test_only_the_vector_of_a_row_is_scaled(policies: Policies) -> None:
    generator = torch.Generator().manual_seed(0)
    image = torch.randint(0, 256, (1, 2, pixel_count(policies.policy)), dtype=torch.uint8,
                          generator=generator)  # fmt: skip
    vector = torch.randn(1, 2, 3, generator=generator)
    rows = pack(image, vector)
    assert torch.equal(row_vectors(policies, rows), vector)
    pixels, numbers = unpack(scaled_rows(policies, rows), image.shape[-1], torch.float32)
    assert torch.equal(pixels, image)
    assert torch.equal(numbers, policies.scales.obs(vector))


def test_an_actor_reads_a_dict_and_says_what_is_missing(policies: Policies) -> None:
    actor = policies.actor()
    obs = {name: values[0] for name, values in parts().items()}
    assert actor.act(obs).shape == (2,)
    with pytest.raises(DataError, match="give a dict with top, joints, goal"):
        actor.act(np.ones((1, 3)))
    del obs["goal"]
    with pytest.raises(DataError, match="obs has no 'goal'"):
        actor.act(obs)
    assert "36×36×3 + 3 → 2" in repr(policies)
