"""Counter-BC with zero radius is behavior cloning: in the loss, its gradient and training."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pytest
import torch
from torch import Tensor

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.feasible import UnitBox
from counterbc.losses import counter_bc_loss
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianMLP, Params
from counterbc.selection.tuner import tune
from counterbc.selection.tuning import TuneSearch
from counterbc.supports import Ball, Box, Demonstrated, Support
from counterbc.weightings import PolicyLikelihood
from tests.equality import same
from tests.fixture_types import Train
from tests.policies.numbers import assert_near, generator, normal
from tests.training.interruption import interrupted


def small_network() -> tuple[Params, GaussianMLP, Tensor, Tensor]:
    policy = GaussianMLP(hidden=(8,))
    params = {k: v.double().requires_grad_() for k, v in policy.init(generator(), 3, 2).items()}
    return params, policy, normal(16, 3, seed=1), normal(16, 2, seed=2).tanh()


@pytest.mark.parametrize("support", [Ball(), Box(), Ball(count=3), Demonstrated()])
def test_counter_bc_with_zero_radius_equals_bc_in_loss_and_gradient(support: Support) -> None:
    params, policy, obs, action = small_network()
    head = policy.head(params, obs)
    bc = -policy.log_prob(head, action.unsqueeze(1)).mean()
    counter = counter_bc_loss(
        lambda obs, actions: policy.log_prob(policy.head(params, obs), actions),
        obs,
        action,
        radius=0.0,
        generator=generator(),
        support=support,
        feasible=UnitBox(),
    )
    assert counter.item() == pytest.approx(bc.item(), rel=1e-10)
    bc_gradients = torch.autograd.grad(bc, list(params.values()))
    counter_gradients = torch.autograd.grad(counter, list(params.values()))
    assert max(float(g.abs().max()) for g in bc_gradients) > 0.01
    assert_near(counter_gradients, bc_gradients, 1e-10)


class OwnStep(Ball):
    """A ball whose networks are trained by the method's own step, whatever the radius."""

    shrinks: ClassVar[bool] = False


@pytest.mark.parametrize("steps", [1, 50])
@pytest.mark.parametrize("limited", [True, False])
def test_the_steps_of_counter_bc_with_zero_radius_lead_where_those_of_bc_lead(
    tiny: Demonstrations, quick: Train, steps: int, limited: bool
) -> None:
    options = {"seeds": 2, "steps": steps, "dtype": torch.float64}
    bc = quick(tiny, "bc", **options)
    method = Method(support=OwnStep(), weighting=PolicyLikelihood())
    counter = quick(tiny, method, radius=0.0, limited=limited, **options)
    assert bc.curve is not None
    assert counter.curve is not None
    torch.testing.assert_close(counter.curve.loss, bc.curve.loss, rtol=1e-6, atol=1e-6)
    for name, value in bc.params.items():
        torch.testing.assert_close(counter.params[name], value, rtol=1e-6, atol=1e-6)


OPTIONS: dict[str, dict[str, Any]] = {
    "native": {},
    "torch": {"kernel": "torch"},
    "held out": {"held_out": 0.25},
    "ensemble": {"ensemble": 2},
    "mixture": {"policy": "mixture"},
    "history": {"policy": "gaussian-gru"},
    "box, limited": {"shape": "box", "limited": True},
    "resampled": {"resample": True},
    "flow": {"policy": "flow", "horizon": 4},
}


@pytest.mark.parametrize("method", ["counter-bc", "posterior"])
@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
def test_with_zero_radius_policies_are_those_of_bc_to_the_bit(
    tiny: Demonstrations, quick: Train, method: str, options: dict[str, Any]
) -> None:
    bc, zero = (quick(tiny, m, seeds=2, radius=0.0, **options) for m in ("bc", method))
    assert same(bc, zero)
    assert bc.config["kernel"] == zero.config["kernel"]
    assert (zero.method, zero.members[0].radius) == (method, (0.0, 0.0))
    assert type(METHODS[method].weighting).__name__ in zero.config["definition"]


@pytest.mark.parametrize("kernel", ["auto", "torch"])
def test_with_zero_radius_members_among_others_are_those_of_bc_to_the_bit(
    tiny: Demonstrations, quick: Train, kernel: str
) -> None:
    options = {"seeds": 2, "kernel": kernel, "held_out": 0.25}
    mixed = quick(tiny, "counter-bc", radii=[0.3, 0.0, 0.1], **options)
    assert same(mixed[2:4], quick(tiny, "bc", **options))
    assert same(mixed[:2], quick(tiny, "counter-bc", radius=0.3, **options))
    assert same(mixed[4:], quick(tiny, "counter-bc", radius=0.1, **options))


def test_members_of_both_kinds_resume_to_the_bit(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"radii": [0.3, 0.0], "seeds": 2, "held_out": 0.25}
    out, whole = tmp_path / "run", quick(tiny, "posterior", **options)
    with interrupted(7):
        quick(tiny, "posterior", out=out, **options)
    assert same(whole, quick(tiny, "posterior", out=out, resume=True, **options))
    assert same(whole, Policies.load(out))
    assert [m.radius[0] for m in whole.members] == [0.3, 0.3, 0.0, 0.0]


def test_epsilon_insensitive_regression_with_zero_radius_is_not_bc(
    tiny: Demonstrations, quick: Train
) -> None:
    bc, zero = (quick(tiny, m, radius=0.0) for m in ("bc", "epsilon-insensitive"))
    assert not same(bc, zero)


def test_a_search_measures_zero_radius_as_it_measures_bc_to_the_bit(tiny: Demonstrations) -> None:
    search = TuneSearch(radii=(0.0, 0.3), step_counts=(10, 20), folds=2)
    options: dict[str, Any] = {"hidden": (8, 8), "lag": 0.0, "progress": False, "search": search}
    bc, counter = (tune(tiny, m, **options) for m in ("bc", "counter-bc"))
    errors = [[t.error for t in x.trials if t.radius == 0] for x in (bc, counter)]
    assert len(errors[0]) == 2
    assert errors[0] == errors[1]


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
@pytest.mark.parametrize("feasible", ["keep", "project"])
@pytest.mark.parametrize("limited", [True, False])
def test_zero_radius_equals_bc_also_where_actions_lie_outside_their_bounds(
    tiny: Demonstrations, quick: Train, limited: bool, feasible: str
) -> None:
    wild = tiny.map_actions(lambda a: 2 * a)
    assert wild.infeasible.any()
    bc = quick(wild, "bc", feasible=feasible)
    assert same(bc, quick(wild, "counter-bc", radius=0.0, limited=limited, feasible=feasible))
