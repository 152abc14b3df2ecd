"""What Counter-BC and its peers are, in theory: each statement of docs/methods as a test.

Actions have one dimension, and C(s, a) is a fine grid instead of a random sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import torch
from scipy import optimize, stats
from torch import Tensor

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.losses import cross_entropy, generalized_loss, restricted_policy
from counterbc.policies import GaussianMLP
from counterbc.policies.fused import HALF_LOG_2PI
from counterbc.weightings import Batch, Posterior
from counterbc.weightings.epsilon_insensitive import excess

Train = Callable[..., Policies]
DELTA = 0.4


def number(x: float) -> Tensor:
    return torch.tensor(x, dtype=torch.float64)


def ball(a: float | Tensor, count: int = 4000) -> Tensor:
    """Return C(s, a) of half-width Δ as midpoints of equal cells: (…, count)."""
    offsets = DELTA * ((2 * torch.arange(count, dtype=torch.float64) + 1) / count - 1)
    return torch.as_tensor(a, dtype=torch.float64).unsqueeze(-1) + offsets


def log_pi(actions: Tensor, mean: Tensor, std: Tensor) -> Tensor:
    return -0.5 * ((actions - mean) / std).square() - std.log() - HALF_LOG_2PI


def log_z(log_pi: Tensor) -> Tensor:
    """Return the log of Z, the mean of π over C(s, a)."""
    return log_pi.logsumexp(-1) - math.log(log_pi.shape[-1])


def entropy(log_pi: Tensor) -> Tensor:
    """Return H(π̂)."""
    log_share = log_pi.log_softmax(-1)
    return -(log_share.exp() * log_share).sum(-1)


def posterior_loss(log_pi: Tensor) -> Tensor:
    """Return eq. M1 with the weights of the method posterior."""
    nothing = torch.zeros(())
    weights = Posterior().weights({}, Batch(nothing, nothing, nothing, {}), log_pi)
    return generalized_loss(log_pi, weights)


# L = −log Z + H(π̂)


def test_the_loss_is_minus_log_z_plus_the_entropy_of_the_restricted_policy() -> None:
    values = torch.randn(20, 51, dtype=torch.float64, generator=torch.manual_seed(0)) * 3
    torch.testing.assert_close(cross_entropy(values), entropy(values) - values.logsumexp(-1))


def test_the_first_term_is_the_likelihood_of_uniform_noise() -> None:
    """Z / 2Δ … is the density of a' + e with a' ~ π and e uniform in [−Δ, Δ]."""
    for a, mu, sigma in ((0.0, 0.1, 0.2), (0.3, -0.3, 0.1), (0.0, 0.0, 1.0)):
        ours = log_z(log_pi(ball(a), number(mu), number(sigma))).exp().item()
        edges = [(a + sign * DELTA - mu) / sigma for sign in (1, -1)]
        density = (stats.norm.cdf(edges[0]) - stats.norm.cdf(edges[1])) / (2 * DELTA)
        assert ours == pytest.approx(density, rel=1e-5)


def test_the_posterior_has_the_gradient_of_the_first_term_alone() -> None:
    mu, log_sigma = number(0.15).requires_grad_(), number(-1.0).requires_grad_()
    for a in (0.0, 0.7):
        values = log_pi(ball(a), mu, log_sigma.exp())
        ours = torch.autograd.grad(posterior_loss(values), (mu, log_sigma), retain_graph=True)
        theirs = torch.autograd.grad(-log_z(values), (mu, log_sigma))
        torch.testing.assert_close(ours, theirs)


@pytest.mark.parametrize("sigma", [0.02, 0.1, 0.4, 1.0])
def test_the_second_term_narrows_the_policy_and_symmetric_errors_cancel_in_its_mean(
    sigma: float,
) -> None:
    mu, log_sigma = number(0.0).requires_grad_(), number(math.log(sigma)).requires_grad_()

    def slopes(a: float) -> tuple[float, float]:
        h = entropy(log_pi(ball(a), mu, log_sigma.exp()))
        d_mu, d_log_sigma = torch.autograd.grad(h, (mu, log_sigma))
        return d_mu.item(), d_log_sigma.item()

    for a in (0.0, 0.1, 0.3):
        assert slopes(a)[1] > 1e-3  # a step against the gradient lowers σ
        assert slopes(a)[0] == pytest.approx(-slopes(-a)[0], abs=1e-9)
    if sigma >= 0.1:
        assert slopes(0.3)[0] > 1e-3  # a step against it leads away from what was shown


def test_the_first_term_recovers_the_width_of_the_policy_and_both_together_a_narrower_one() -> None:
    """Demonstrators mean N(0, 0.2²) and err uniformly by up to Δ."""
    rng = np.random.default_rng(0)
    shown = torch.tensor(rng.normal(0, 0.2, 4000) + rng.uniform(-DELTA, DELTA, 4000))
    sets = ball(shown, count=200)

    def best(loss: Callable[[Tensor], Tensor]) -> float:
        def of(log_sigma: float) -> float:
            return float(loss(log_pi(sets, number(0), number(math.exp(log_sigma)))).mean())

        return math.exp(optimize.minimize_scalar(of, bounds=(-4, 0), method="bounded").x)

    assert best(lambda values: -log_z(values)) == pytest.approx(0.2, rel=0.1)
    assert best(cross_entropy) < 0.17


# σ → 0


@pytest.mark.parametrize("mu", [-0.9, -0.5, -0.3, 0.0, 0.35, 0.6, 1.0])
def test_as_the_policy_narrows_the_loss_tends_to_the_squared_distance_from_the_set(
    mu: float,
) -> None:
    limit = max(abs(mu) - DELTA, 0) ** 2
    gaps = []
    for sigma in (0.04, 0.02, 0.01):
        loss = cross_entropy(log_pi(ball(0.0), number(mu), number(sigma))).item()
        gaps.append(abs(2 * sigma**2 * loss - limit))
    assert gaps[0] > 2 * gaps[1] > 4 * gaps[2]
    assert gaps[2] < 3e-3
    assert excess(number(0.0 - mu).view(1), number(DELTA)).item() ** 2 == pytest.approx(limit)


def test_every_mean_inside_every_set_is_as_good_and_student_t_noise_prefers_what_was_shown() -> (
    None
):
    shown, sigma = torch.tensor([0.0, 0.1, 0.2], dtype=torch.float64), number(0.01)
    sets = ball(shown)

    def counter_bc(mu: float) -> float:
        return float(cross_entropy(log_pi(sets, number(mu), sigma)).sum())

    inside = [counter_bc(mu) for mu in (-0.15, 0.0, 0.1, 0.25, 0.35)]
    assert inside == pytest.approx([inside[0]] * 5, rel=1e-6)
    assert counter_bc(0.45) > inside[0] + 1

    quantiles = (torch.arange(4000, dtype=torch.float64) + 0.5) / 4000
    noise = DELTA * torch.tensor(stats.t(4).ppf(quantiles.numpy()))

    def posterior(mu: float) -> float:
        values = log_pi(shown.unsqueeze(-1) + noise, number(mu), number(0.02))
        return float(-log_z(values).sum())

    losses = {mu: posterior(mu) for mu in (-0.15, 0.0, 0.05, 0.1, 0.15, 0.2, 0.35)}
    assert min(losses, key=losses.__getitem__) == 0.1  # the mean of what was shown
    assert losses[-0.15] > losses[0.1] + 0.1


# The trap: Gaussian noise


@pytest.mark.parametrize(("sigma", "scale"), [(0.3, 0.4), (0.4, 0.3), (0.1, 0.2)])
def test_with_gaussian_noise_the_mean_learns_what_bc_learns_and_only_the_sum_of_variances_counts(
    sigma: float, scale: float
) -> None:
    quantiles = (torch.arange(20_000, dtype=torch.float64) + 0.5) / 20_000
    noise = scale * torch.special.ndtri(quantiles)
    variance = sigma**2 + scale**2
    for a, mean in ((0.0, 0.1), (0.5, -0.1)):
        mu = number(mean).requires_grad_()
        values = log_pi(a + noise, mu, number(sigma))
        bc = -log_pi(number(a), mu, number(math.sqrt(variance)))
        ours, theirs = (
            torch.autograd.grad(x, mu, retain_graph=True)[0].item()
            for x in (posterior_loss(values), bc)
        )
        assert ours == pytest.approx(theirs, rel=1e-3)
        assert theirs == pytest.approx((mean - a) / variance)
        assert -log_z(values).item() == pytest.approx(bc.item(), rel=1e-3)


# Which noise suits which ε (Smola et al., 1998)


def variance_of_the_estimate(noise: stats.rv_continuous, epsilon: float) -> float:
    """Return n times the asymptotic variance of a location fitted by max(|a − μ| − ε, 0).

    ψ is the sign of an error beyond ε: E ψ² / (∂E ψ / ∂μ)² = P(|e| > ε) / (2 p(ε))².
    """
    return float(2 * noise.sf(epsilon) / (2 * noise.pdf(epsilon)) ** 2)


@pytest.mark.parametrize(
    ("noise", "best"),
    [
        (stats.uniform(-1, 2), 1.0),  # the half-width
        (stats.norm(), 0.612),  # of the standard deviation
        (stats.laplace(), 0.0),
    ],
    ids=["uniform", "Gaussian", "Laplace"],
)
def test_the_best_epsilon_depends_on_the_noise(noise: stats.rv_continuous, best: float) -> None:
    epsilons = np.linspace(0, 0.999, 1000)
    variances = [variance_of_the_estimate(noise, e) for e in epsilons]
    assert epsilons[int(np.argmin(variances))] == pytest.approx(best, abs=2e-3)


def test_samples_agree_with_the_asymptotic_variance() -> None:
    rng, grid = np.random.default_rng(0), np.linspace(-0.3, 0.3, 301)
    errors = rng.uniform(-1, 1, (400, 200))
    for epsilon in (0.0, 0.8):
        loss = np.zeros((len(errors), len(grid)))
        for error in errors.T:
            loss += np.maximum(np.abs(error[:, None] - grid) - epsilon, 0)
        spread = grid[loss.argmin(1)].var() * errors.shape[1]
        expected = variance_of_the_estimate(stats.uniform(-1, 2), epsilon)
        assert spread == pytest.approx(expected, rel=0.25)


def test_rare_large_errors_move_the_limit_of_counter_bc_and_hardly_the_linear_loss() -> None:
    shown = np.concatenate([np.linspace(-DELTA, DELTA, 90), np.full(10, 2.0)])
    grid = np.linspace(-0.5, 2, 2501)
    outside = np.maximum(np.abs(shown[:, None] - grid) - DELTA, 0)
    linear, squared = (grid[(outside**power).sum(0).argmin()] for power in (1, 2))
    assert linear < 0.1
    assert squared > linear + 0.1


# A radius that is too large


def distance_to_the_truth(train: Train, method: str, **options: object) -> float:
    """Return the RMS error of the mean, trained without noise on a = |s| − 0.5."""
    state = np.linspace(-1, 1, 100)[:, None]
    truth = np.abs(state) - 0.5
    bounds = {"action_low": np.array([-1.0]), "action_high": np.array([1.0])}
    demos = Demonstrations((Episode(state, truth),), **bounds)  # type: ignore[arg-type]
    policies = train(demos, method, steps=800, hidden=(32, 32), batch=50, **options)
    assert isinstance(policies.policy, GaussianMLP)
    actor = policies[0].actor("mean")
    actions = np.array([actor.act(s) for s in state])
    return float(np.sqrt(((actions - truth) ** 2).mean()))


@pytest.mark.slow
def test_without_noise_a_large_radius_misleads_counter_bc_but_not_the_posterior(
    quick: Train,
) -> None:
    bc, counter, insensitive, posterior = (
        distance_to_the_truth(quick, method, radius=DELTA)
        for method in ("bc", "counter-bc", "epsilon-insensitive", "posterior")
    )
    assert bc < 0.03
    assert counter > DELTA / 3  # any mean within Δ is as good
    assert insensitive > DELTA / 4
    assert posterior < counter / 2


def test_restricted_policy_is_the_posterior_under_uniform_noise() -> None:
    """Bayes: R ∝ π(a'|s) p(a|a'), and p is constant in C(s, a)."""
    values = log_pi(ball(0.1, count=51), number(0.3), number(0.2))
    density = torch.full_like(values, 1 / (2 * DELTA))
    bayes = values.exp() * density / (values.exp() * density).sum()
    torch.testing.assert_close(restricted_policy(values), bayes)
