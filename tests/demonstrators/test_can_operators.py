"""The operators of Can, for hand and can at given places, without a simulator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.demonstrators import (
    CAN_OPERATORS,
    TEACHERS,
    CanOperator,
    EpisodeBatch,
    demonstrate,
    record,
)
from counterbc.demonstrators.can_operators import Performance
from counterbc.envs.can.expert import HOVER
from counterbc.errors import OptionError
from tests.envs.can.scenes import CAN, act, observe, off

Array = NDArray[Any]


def test_an_operator_without_habits_is_the_expert_below_their_speed() -> None:
    plain = CanOperator(name="plain", speed=0.5)
    obs = observe(off(0.04, 0.2, 0.3), 0.08)
    own_action, best = Performance(plain, 0).act(obs), act(off(0.04, 0.2, 0.3), 0.08)
    way = np.array([0.56, 2.8, 2.52])
    np.testing.assert_allclose(own_action[:3], -way / np.sqrt(1 + (way / 0.5) ** 2))
    np.testing.assert_allclose(own_action[3:], best[3:])


def test_what_an_operator_does_depends_on_the_seed_alone() -> None:
    obs = [observe(off(0.01 * k, 0.2, 0.3), 0.08) for k in range(20)]
    worse = CAN_OPERATORS["synthetic_worse_1"]

    def actions(seed: int) -> Array:
        performance = Performance(worse, [seed])
        return np.stack([performance.act(o) for o in obs])

    np.testing.assert_array_equal(actions(1), actions(1))
    assert np.abs(actions(1) - actions(2)).max() > 0.1
    assert np.abs(actions(1)).max() <= 1


def test_habits_do_what_they_are_called() -> None:
    habitless = CanOperator(name="none", speed=1.0)
    far, held_obs = observe(off(0.3, 0.0, 0.2), 0.08), observe(CAN, 0.05)

    def acts(obs: Array, **habits: float) -> Array:
        performance = Performance(replace(habitless, **habits), 3)  # type: ignore[arg-type]  # numbers only
        return np.stack([performance.act(obs) for _ in range(400)])

    assert (acts(far) == acts(far)[0]).all()
    is_pause = (acts(far, hesitation=0.1)[:, :6] == 0).all(1)
    assert 0.2 < is_pause.mean() < 0.9
    assert acts(far, wobble=0.2)[:, :3].std(0).min() > 0.02
    assert (acts(held_obs, regrasp=1.0)[:, 6] == -1).sum() == 12
    assert (acts(held_obs)[:, 6] == 1).all()
    past = acts(observe(off(0.01, 0, HOVER), 0.08), overshoot=0.05)  # still on the near side
    assert past[0, 0] == pytest.approx(-0.84 / np.sqrt(1 + 0.84**2))  # 14 per metre, 0.06
    slips = acts(far, fumble=0.2)[:, 6]
    assert set(slips) == {-1.0, 1.0}
    assert 0.1 < (slips == 1).mean() < 0.3


def test_a_tremor_does_not_last() -> None:
    shaky = Performance(CanOperator(name="shaky", speed=1.0, wobble=0.2), 3)
    far = observe(off(0.3, 0.0, 0.2), 0.08)
    actions = np.stack([shaky.act(far) for _ in range(400)])[:, :6]
    after = [np.corrcoef(column[:-1], column[1:])[0, 1] for column in actions.T]
    assert np.abs(after).max() < 0.2  # four standard errors


def test_a_can_operator_is_a_demonstrator_of_that_world_alone() -> None:
    worse = CAN_OPERATORS["synthetic_worse_1"]
    keys = np.array([7, 8])
    act = worse.control(EpisodeBatch(keys, np.arange(2), size=7, steps=500, rate=20))
    obs = np.stack([observe(off(0.1, 0.2, 0.3), 0.08)] * 2)
    performances = [Performance(worse, int(key)) for key in keys]
    for t in range(5):
        target = np.stack([p.act(o) for p, o in zip(performances, obs, strict=True)])
        np.testing.assert_array_equal(act(obs, np.zeros((2, 7)), t), target)
    assert worse.operator(3) == str(worse) == "synthetic_worse_1"
    with pytest.raises(OptionError, match="synthetic_worse_1 cannot act in fork, only in can"):
        demonstrate("fork", worse, 10, 0)


def test_every_can_operator_is_a_teacher_with_its_name() -> None:
    assert {n: t for n, t in TEACHERS.items() if t.world == "can"} == CAN_OPERATORS
    assert all(str(operator) == name for name, operator in CAN_OPERATORS.items())


@pytest.mark.extra("robosuite")
def test_an_operator_is_recorded_like_any_teacher() -> None:
    (take,) = record("can", CAN_OPERATORS["synthetic_better_1"], 1, seed=0)
    assert take.episode.operator == "synthetic_better_1"
    assert take.episode.obs.shape[1:] == (23,)
    assert take.intended.shape == take.episode.action.shape
    # With little tremor the operator's actions stay near the expert's.
    assert np.abs(take.episode.action - take.intended)[:, :3].mean() < 0.2
