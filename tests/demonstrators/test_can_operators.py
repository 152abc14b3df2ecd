"""The expert and the operators of can: what they do where the hand is, without a simulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.data.demonstrations import Episode
from counterbc.data.radii import two_valued
from counterbc.demonstrators import EpisodeBatch, demonstrate
from counterbc.demonstrators.can_operators import OPERATORS, CanOperator, Performance
from counterbc.demonstrators.can_recording import BLOCKS, join
from counterbc.envs import WORLDS, find_id
from counterbc.envs.can.expert import BIN, CARRY, HOVER, LOW, expert, off_vertical
from counterbc.envs.can.layout import ACTION_NAMES, OBS_KEYS, OBS_NAMES
from counterbc.errors import OptionError
from counterbc.formats import load

Array = NDArray[Any]
CAN = np.array([0.1, -0.2, 0.86])
DOWN = (1.0, 0.0, 0.0, 0.0)


def off(x: float, y: float, z: float) -> Array:
    """A place so far from the can."""
    return np.asarray(CAN + np.array([x, y, z]))


def seen(hand: Any, apart: float, can: Any = CAN, turn: Any = DOWN) -> Array:
    """An observation; what the expert does not read is 0."""
    obs = np.zeros(23)
    obs[:3], obs[14:17], obs[17:21], obs[21:] = can, hand, turn, (apart / 2, -apart / 2)
    return obs


def act(hand: Any, apart: float, can: Any = CAN, turn: Any = DOWN) -> Array:
    return np.asarray(expert(seen(hand, apart, can, turn)[None], np.zeros(1, np.int64), 0)[0])


def test_far_from_the_can_the_hand_goes_above_it_with_open_fingers() -> None:
    action = act(off(0.02, 0.2, 0.3), 0.08)
    way = np.array([0.28, 2.8, 2.52])  # 14 per metre, to 0.12 above the can
    np.testing.assert_allclose(action[:3], -way / np.sqrt(1 + (way / 0.8) ** 2))
    assert action[6] == -1
    assert act(off(0.05, 0, HOVER), 0.08)[2] == pytest.approx(0)


def test_at_the_can_the_fingers_close_and_only_then_the_hand_rises() -> None:
    above, open_, shut = (
        act(off(0, 0, z), apart) for z, apart in ((0.03, 0.08), (0.02, 0.08), (0.02, 0.05))
    )
    assert (above[6], open_[6], shut[6]) == (-1, 1, 1)
    assert open_[2] < 0 < shut[2]


def test_a_held_can_is_carried_high_lowered_into_its_bin_and_let_go() -> None:
    high = np.array([0.1, 0.0, CARRY])
    across = act(high, 0.05, can=high)
    assert across[1] > 0.7
    assert across[6] == 1
    over = np.array([*BIN, CARRY])
    down = act(over, 0.05, can=over)
    assert down[2] < -0.7
    assert down[6] == 1
    low = np.array([*BIN, LOW])
    assert act(low, 0.05, can=low)[6] == -1
    away = act(low, 0.08, can=low - [0, 0, 0.02])
    assert away[2] > 0.7
    assert away[6] == -1


def test_moves_do_not_jump_where_the_gripper_does() -> None:
    def largest(path: Any) -> float:
        moves = np.stack([act(*step)[:6] for step in path])
        return float(np.abs(np.diff(moves, axis=0)).max())

    def held(hand: Array) -> tuple[Array, float, Array]:
        return hand, 0.05, hand  # the can goes along

    share = np.linspace(0, 1, 401)
    for path in (
        [(off(0.05 * (1 - s), 0, 0.1), 0.08) for s in share],
        [(off(0, 0, 0.1 * (1 - s)), 0.08) for s in share],
        [(CAN, 0.08 - 0.03 * s) for s in share],
        [held(off(0, 0, 0.25 * s)) for s in share],
        [held(np.array([0.1, -0.2 + 0.6 * s, CARRY])) for s in share],
    ):
        assert largest(path) < 0.1  # the largest moves are of 0.8


def test_a_tilted_hand_is_turned_back_by_the_angle_that_it_is_off() -> None:
    half = 0.1
    # Half a turn about x after a turn of 2 · half about z: (cos, sin, 0, 0) in x, y, z, w.
    tilted = np.array([[np.cos(half), np.sin(half), 0, 0]])
    np.testing.assert_allclose(off_vertical(tilted), [[0, 0, -0.2]], atol=1e-12)
    np.testing.assert_allclose(off_vertical(-tilted), [[0, 0, -0.2]], atol=1e-12)
    np.testing.assert_allclose(off_vertical(np.array([DOWN])), [[0, 0, 0]], atol=1e-12)


def test_an_operator_without_habits_is_the_expert_below_their_speed() -> None:
    plain = CanOperator(name="plain", speed=0.5)
    obs = seen(off(0.04, 0.2, 0.3), 0.08)
    own, best = Performance(plain, 0).act(obs), act(off(0.04, 0.2, 0.3), 0.08)
    way = np.array([0.56, 2.8, 2.52])
    np.testing.assert_allclose(own[:3], -way / np.sqrt(1 + (way / 0.5) ** 2))
    np.testing.assert_allclose(own[3:], best[3:])


def test_what_an_operator_does_depends_on_the_seed_alone() -> None:
    obs = [seen(off(0.01 * k, 0.2, 0.3), 0.08) for k in range(20)]
    worse = OPERATORS["synthetic_worse_1"]

    def shown(seed: int) -> Array:
        performance = Performance(worse, [seed])
        return np.stack([performance.act(o) for o in obs])

    np.testing.assert_array_equal(shown(1), shown(1))
    assert np.abs(shown(1) - shown(2)).max() > 0.1
    assert np.abs(shown(1)).max() <= 1


def test_habits_do_what_they_are_called() -> None:
    none = CanOperator(name="none", speed=1.0)
    far, held = seen(off(0.3, 0.0, 0.2), 0.08), seen(CAN, 0.05)

    def acts(obs: Array, **habits: float) -> Array:
        performance = Performance(replace(none, **habits), 3)  # type: ignore[arg-type]  # numbers only
        return np.stack([performance.act(obs) for _ in range(400)])

    assert (acts(far) == acts(far)[0]).all()
    paused = (acts(far, hesitation=0.1)[:, :6] == 0).all(1)
    assert 0.2 < paused.mean() < 0.9
    assert acts(far, wobble=0.2)[:, :3].std(0).min() > 0.02
    assert (acts(held, regrasp=1.0)[:, 6] == -1).sum() == 12
    assert (acts(held)[:, 6] == 1).all()
    past = acts(seen(off(0.01, 0, HOVER), 0.08), overshoot=0.05)  # still on the near side
    assert past[0, 0] == pytest.approx(-0.84 / np.sqrt(1 + 0.84**2))  # 14 per metre, 0.06
    slips = acts(far, fumble=0.2)[:, 6]
    assert set(slips) == {-1.0, 1.0}
    assert 0.1 < (slips == 1).mean() < 0.3


def test_a_tremor_does_not_last() -> None:
    shaky = Performance(CanOperator(name="shaky", speed=1.0, wobble=0.2), 3)
    far = seen(off(0.3, 0.0, 0.2), 0.08)
    shown = np.stack([shaky.act(far) for _ in range(400)])[:, :6]
    after = [np.corrcoef(column[:-1], column[1:])[0, 1] for column in shown.T]
    assert np.abs(after).max() < 0.2  # four standard errors


def demonstrations() -> Any:
    """Four short ones of each operator."""
    rng, shown = np.random.default_rng(0), {}
    for name in OPERATORS:
        action = rng.uniform(-1, 1, (4, 9, 7))
        action[:, :, 6] = np.where(np.arange(9) < 5, -1, 1)
        obs = rng.normal(size=(4, 9, 23))
        shown[name] = [
            Episode(o, a, np.zeros(9), operator=name, success=True)
            for o, a in zip(obs, action, strict=True)
        ]
    return join(shown)


def test_the_file_has_the_layout_and_masks_of_multi_human_ones(tmp_path: Any) -> None:
    demonstrations().save(tmp_path / "can.hdf5")
    demos = load(tmp_path / "can.hdf5")
    assert (demos.obs_keys, demos.obs_names, demos.action_names) == (
        OBS_KEYS, OBS_NAMES, ACTION_NAMES,
    )  # fmt: skip
    assert demos.operators == tuple(f"synthetic_{b}" for b in BLOCKS)
    assert "synthetic" in demos.env_args
    assert demos.masks["worse_operator_2"] == ("demo_4", "demo_5", "demo_6", "demo_7")
    assert len(demos.masks["worse"]) == 8
    assert len(demos.masks["okay_better"]) == 16
    for name, of in demos.masks.items():
        if f"{name}_train" in demos.masks:
            halves = demos.masks[f"{name}_train"] + demos.masks.get(f"{name}_valid", ())
            assert sorted(halves) == sorted(of)
    assert set(demos.masks["train"]) | set(demos.masks["valid"]) == {f"demo_{i}" for i in range(24)}


def test_only_the_gripper_takes_two_values() -> None:
    assert two_valued([demonstrations()]).tolist() == [False] * 6 + [True]


def test_files_that_call_it_pick_place_can_mean_this_world() -> None:
    assert find_id("PickPlaceCan") == find_id("can") == WORLDS["can"].id
    assert find_id("Lift") == "Lift"


def test_a_can_operator_is_a_demonstrator_of_that_world_alone() -> None:
    worse = OPERATORS["synthetic_worse_1"]
    keys = np.array([7, 8])
    act = worse.control(EpisodeBatch(keys, np.arange(2), size=7, steps=500))
    obs = np.stack([seen(off(0.1, 0.2, 0.3), 0.08)] * 2)
    performances = [Performance(worse, int(key)) for key in keys]
    for t in range(5):
        expected = np.stack([p.act(o) for p, o in zip(performances, obs, strict=True)])
        np.testing.assert_array_equal(act(obs, np.zeros((2, 7)), t), expected)
    assert worse.operator(3) == str(worse) == "synthetic_worse_1"
    with pytest.raises(OptionError, match="synthetic_worse_1 cannot act in fork, only in can"):
        demonstrate("fork", worse, 10, 0)
