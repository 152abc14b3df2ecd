"""Which Gaussians of a mixture share a peak, and what others do there; all in one dimension."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.methods import find_method
from counterbc.policies import POLICIES, Mixture, Params, Policy
from counterbc.selection.folds import split_folds
from counterbc.selection.held_out import Candidate, Training, held_out_errors
from counterbc.selection.mixture_modes import ModeGroups
from counterbc.selection.radius import RadiusSearch, choose_radius
from counterbc.settings import settings_for
from counterbc.training.progress import Quiet
from tests.fixture_types import Make


def _head(*modes: tuple[float, float, float]) -> tuple[Tensor, Tensor, Tensor]:
    """Weight, mean and standard deviation of each, at one state."""
    weight, mean, std = torch.tensor(modes, dtype=torch.float64).T
    return weight.log()[None], mean[None, :, None], std.log()[None, :, None]


def _groups(*modes: tuple[float, float, float]) -> ModeGroups:
    return ModeGroups.of(Mixture(modes=len(modes)), _head(*modes))


def _at(x: float) -> Tensor:
    return torch.tensor([[x]], dtype=torch.float64)


def test_wide_noise_fitted_by_several_gaussians_is_one_peak() -> None:
    label = _groups((0.3, -0.6, 0.1), (0.3, -0.4, 0.1), (0.4, 0.6, 0.1)).label
    assert label.tolist() == [[0, 0, 2]]


def test_peaks_do_not_depend_on_the_scale() -> None:
    far = _groups((0.3, -0.06, 0.01), (0.3, -0.04, 0.01), (0.4, 0.06, 0.01)).label
    assert far.tolist() == [[0, 0, 2]]


def test_a_chain_of_gaussians_is_one_peak() -> None:
    label = _groups((0.25, 0.4, 0.1), (0.25, 0.0, 0.1), (0.25, 0.2, 0.1), (0.25, -0.2, 0.1)).label
    assert label.tolist() == [[0, 0, 0, 0]]


def test_another_mixture_is_judged_by_its_share_of_the_peak() -> None:
    groups = _groups((0.5, -0.6, 0.1), (0.5, 0.6, 0.1))
    other_head = _head((0.1, 0.5, 0.01), (0.3, 0.7, 0.01), (0.6, -0.6, 0.01))
    mean, variance = groups.within(other_head, _at(0.9))
    # Weights ¼ and ¾: mean 0.65, variance ¼ · 0.15² + ¾ · 0.05² + 0.01².
    assert float(mean) == pytest.approx(0.65)
    assert float(variance) == pytest.approx(0.0076)


def test_a_mixture_that_lost_a_peak_is_judged_by_what_is_nearest() -> None:
    groups = _groups((0.5, -0.6, 0.1), (0.5, 0.6, 0.1))
    mean, _ = groups.within(
        _head((0.5, -0.7, 0.01), (0.495, -0.5, 0.01), (0.005, 0.6, 0.01)), _at(0.6)
    )
    assert float(mean) == pytest.approx(-0.5)


def _two_goals() -> Demonstrations:
    """Actions of ±0.6 by chance, with errors up to 0.1, in five episodes."""
    rng = np.random.default_rng(0)
    target = 0.6 * rng.choice([-1.0, 1.0], (100, 1))
    action = target + rng.uniform(-0.1, 0.1, (100, 1))
    obs = rng.uniform(-1, 1, (100, 1))
    episodes = tuple(Episode(obs[i : i + 20], action[i : i + 20]) for i in range(0, 100, 20))
    return Demonstrations(episodes, action_low=-np.ones(1), action_high=np.ones(1))


def test_a_mixture_is_held_to_the_mode_that_was_shown() -> None:
    settings = settings_for("default", policy="mixture", modes=2, hidden=(16,), steps=400)
    name, method = find_method("counter-bc")
    demos = _two_goals()
    training = Training(
        name=name,
        method=settings.apply(method),
        settings=settings,
        device=torch.device("cpu"),
        progress=Quiet(),
    )
    candidates = [[Candidate(0.0), Candidate(0.2)]]
    ((errors,),) = held_out_errors([demos], [[split_folds(demos, 5, 0)]], candidates, training)
    assert np.abs(errors.residual).max() < 0.6, "the other mode is 1.2 away"
    assert (np.asarray(errors.variance) > 0).all()
    squares = (errors.residual**2).mean(2) + np.asarray(errors.variance).mean(2)
    assert errors.by_fold().mean((0, 1)) == pytest.approx(squares[0])


def test_a_mixture_is_searched_with_the_steps_it_will_be_trained_for_unless_told() -> None:
    radii = (0.0, 0.2, 0.4)
    small: dict[str, Any] = {"policy": "mixture", "steps": 20, "hidden": (8,), "progress": False}
    assert choose_radius(_two_goals(), search=RadiusSearch(radii), **small).steps == 20
    assert choose_radius(_two_goals(), search=RadiusSearch(radii, steps=10), **small).steps == 10


@dataclass(frozen=True)
class OwnMixture(Policy):
    """A user's mixture, which does not derive from ours."""

    modes: int = 2

    def with_modes(self, modes: int) -> OwnMixture:
        return replace(self, modes=modes)

    @property
    def _ours(self) -> Mixture:
        return Mixture(hidden=self.hidden, modes=self.modes)

    def init(self, generator: torch.Generator, obs_size: int, action_size: int) -> Params:
        return self._ours.init(generator, obs_size, action_size)

    def head(self, params: Params, obs: Tensor) -> tuple[Tensor, ...]:
        return self._ours.head(params, obs)

    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        return self._ours.log_prob(head, actions)

    def mean(self, head: tuple[Tensor, ...]) -> Tensor:
        return self._ours.mean(head)

    def sample(self, head: tuple[Tensor, ...], u: Tensor) -> Tensor:
        return self._ours.sample(head, u)


def test_a_mixture_of_a_user_is_searched_like_ours(
    make_demos: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(POLICIES, "own-mixture", OwnMixture)
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=30)
    options: dict[str, Any] = {"hidden": (8,), "modes": 3, "kernel": "torch", "progress": False}
    own, ours = (
        choose_radius(make_demos(episodes=6), search=search, policy=name, **options)
        for name in ("own-mixture", "mixture")
    )
    np.testing.assert_allclose(own.error, ours.error, rtol=1e-4)
    assert own.radius == ours.radius
