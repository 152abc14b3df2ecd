"""ε-insensitive regression: what costs nothing, where the mean goes, and how wide π is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import OptionError
from counterbc.policies import GaussianMLP
from counterbc.selection.radius import RadiusSearch, choose_radius
from counterbc.weightings import Batch, EpsilonInsensitive
from counterbc.weightings.epsilon_insensitive import excess

Train = Callable[..., Policies]


def test_the_excess_is_what_lies_outside_the_ball() -> None:
    offset = torch.tensor([[3.0, 4.0], [0.3, 0.4], [-0.6, 0.0]])
    outside = excess(offset, torch.tensor([0.5, 0.5]))
    torch.testing.assert_close(outside, torch.tensor([[2.7, 3.6], [0.0, 0.0], [-0.1, 0.0]]))


def test_a_dimension_with_zero_radius_is_never_inside() -> None:
    outside = excess(torch.tensor([[0.3, 0.2], [0.9, 0.2]]), torch.tensor([0.5, 0.0]))
    torch.testing.assert_close(outside, torch.tensor([[0.0, 0.2], [0.4, 0.2]]))


def test_without_a_radius_the_excess_is_the_whole_offset() -> None:
    offset = torch.tensor([[0.3, -0.4]])
    assert torch.equal(excess(offset, torch.zeros(2)), offset)


def loss_and_slopes(
    shown: list[float], radius: float, mean: list[float]
) -> tuple[Tensor, Tensor, Tensor]:
    head = (torch.tensor([mean], requires_grad=True), torch.zeros(1, 2, requires_grad=True))
    obs, actions = torch.zeros(1, 1), torch.tensor([[shown]])
    data = Batch(obs, obs, actions, {"radius": torch.full((1, 2), radius)})
    loss = EpsilonInsensitive().loss({}, data, GaussianMLP(), head)
    d_mean, d_log_std = torch.autograd.grad(loss, head)
    return loss, d_mean, d_log_std


def test_the_mean_is_pulled_by_length_one_from_outside_and_not_at_all_inside() -> None:
    far, d_far, _ = loss_and_slopes([0.6, 0.8], 0.4, [0.0, 0.0])
    near, d_near, d_log_std = loss_and_slopes([0.2, 0.2], 0.4, [0.0, 0.0])
    torch.testing.assert_close(d_far, torch.tensor([[-0.6, -0.8]]))
    torch.testing.assert_close(d_near, torch.zeros(1, 2), rtol=0, atol=1e-6)
    assert bool((d_log_std > 0.9).all())  # inside, π becomes narrow
    assert far.item() > near.item() + 0.6


def test_beyond_the_bound_of_a_censored_action_the_mean_pays_nothing() -> None:
    head = (torch.tensor([[1.4, 0.0], [0.2, 0.0]], requires_grad=True), torch.zeros(2, 2))
    obs, actions = torch.zeros(2, 1), torch.tensor([[[1.0, 0.6]], [[1.0, 0.6]]])
    columns = {
        "radius": torch.full((2, 2), 0.1), "side": torch.tensor([[1.0, 0.0]] * 2),
        "low": -torch.ones(2, 2), "high": torch.ones(2, 2),
    }  # fmt: skip
    loss = EpsilonInsensitive().loss({}, Batch(obs, obs, actions, columns), GaussianMLP(), head)
    (slope,) = torch.autograd.grad(2 * loss, head[0])
    torch.testing.assert_close(slope[0], torch.tensor([0.0, -1.0]))
    torch.testing.assert_close(slope[1], torch.tensor([-0.8, -0.6]))


def test_radius_zero_is_the_absolute_error_and_learns_the_median(quick: Train) -> None:
    """One action in four is an outlier: the mean of the actions is 0.35, their median 0.1."""
    action = np.where(np.arange(80) % 4 == 0, 0.9, 0.1)[:, None]
    bounds: dict[str, Any] = {"action_low": np.array([-1.0]), "action_high": np.array([1.0])}
    demos = Demonstrations((Episode(np.zeros((80, 1)), action),), **bounds)
    options = {"radius": 0.0, "steps": 1500, "batch": 80, "scale_obs": False}
    learned = {
        method: float(quick(demos, method, **options)[0].actor("mean").act(np.zeros(1))[0])
        for method in ("bc", "epsilon-insensitive")
    }
    assert learned["epsilon-insensitive"] == pytest.approx(0.1, abs=0.02)
    assert learned["bc"] == pytest.approx(0.3, abs=0.02)


def width(policies: Policies, obs: Tensor) -> float:
    return float(policies.policy.head(policies.params, obs)[1].exp().mean())


@pytest.mark.slow
def test_errors_within_epsilon_are_not_repeated_by_sampled_actions(
    make_demos: Any, quick: Train
) -> None:
    demos = make_demos(episodes=10, length=20, noise=0.3)
    options = {"steps": 400, "hidden": (16, 16)}
    wide, narrow = (
        quick(demos, "epsilon-insensitive", radius=radius, **options) for radius in (0.0, 0.5)
    )
    obs = wide.scales.obs(wide.tensor(np.array(demos.obs)).unsqueeze(0))
    assert width(narrow, obs) < 0.6 * width(wide, obs)
    draws = np.array([narrow[0].actor("sample", seed=i).act(demos.obs[0]) for i in range(20)])
    assert 0 < draws.std(0).max() < 0.3


def test_native_kernels_refuse_it(tiny: Demonstrations, quick: Train) -> None:
    assert quick(tiny, "epsilon-insensitive").config["kernel"] == "torch"
    with pytest.raises(OptionError, match="EpsilonInsensitive has no closed form"):
        quick(tiny, "epsilon-insensitive", kernel="numba")


def test_each_member_has_the_epsilon_of_its_radius(tiny: Demonstrations, quick: Train) -> None:
    options = {"steps": 50, "dtype": torch.float64}
    together = quick(tiny, "epsilon-insensitive", seeds=2, radii=[0.1, 0.5], **options)
    alone = quick(tiny, "epsilon-insensitive", seeds=[1], radius=0.5, **options)
    assert together.members[3] == alone.members[0]
    for name, value in alone.params.items():
        torch.testing.assert_close(together[3].params[name], value, rtol=1e-6, atol=1e-6)
    assert not torch.allclose(together[1].params["head.bias"], together[3].params["head.bias"])


def test_epsilon_is_chosen_by_cross_validation(make_demos: Any) -> None:
    demos = make_demos(episodes=6, length=20, noise=0.3)
    search = RadiusSearch(radii=(0.0, 0.3, 0.6), folds=3, steps=150)
    choice = choose_radius(demos, "epsilon-insensitive", search=search, progress=False)
    assert len(set(choice.error)) == 3  # every radius trained another policy
    assert 0 <= choice.radius <= 0.6
