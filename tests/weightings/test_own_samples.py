"""Own samples: where the targets lie, when they start, and what the training keeps."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from counterbc.acting.member import Member
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from counterbc.methods import Method
from counterbc.policies import Flow, GaussianMLP, Params
from counterbc.settings import settings_for
from counterbc.supports import Ball
from counterbc.trainer import train
from counterbc.training.loop import Loop
from counterbc.training.plan import plan_training
from counterbc.training.run import initial_params, plan_view
from counterbc.training.stacked_params import policy_params
from counterbc.weightings import Batch, OwnSamples
from counterbc.weightings.weighting import SAMPLE
from tests.equality import assert_near, same
from tests.fixture_types import Make, Train

FLOW = Flow(hidden=(16, 16), horizon=4, execute=2)
METHOD = Method(support=Ball(count=0), weighting=OwnSamples(warm_up=1), policy=FLOW)
RADIUS = 0.1


def _batch(demos: Demonstrations, epoch: int) -> tuple[Params, Batch]:
    """Return untrained parameters of two flows, and a batch of theirs in an epoch."""
    settings = settings_for("default", radius=RADIUS, lag=0.0, offsets="none", steps=10)
    members = [Member(seed, (RADIUS, RADIUS)) for seed in range(2)]
    plan = plan_training([demos], METHOD, settings, members)
    view = plan_view(plan, torch.device("cpu"), torch.float64)
    view.update_columns(None, 1)
    position = torch.arange(40).expand(2, 40)
    params = policy_params(initial_params(plan, view, 0))
    return params, view.batch(position, torch.full_like(position, epoch))


def _by_step(offset: Tensor, batch: Batch) -> Tensor:
    """Return the length of offsets (N, B, H · A) of each step in units of Δ: (N, B, H)."""
    steps = (offset / batch.columns["radius"]).unflatten(-1, (FLOW.horizon, -1))
    length: Tensor = steps.norm(dim=-1)
    return length


def test_targets_are_the_points_of_the_ball_on_the_way_to_the_samples(
    tiny: Demonstrations,
) -> None:
    params, batch = _batch(tiny, epoch=1)
    shown = batch.actions[..., 0, :]
    target = METHOD.weighting.targets(params, batch, FLOW)[..., 0, :]
    sampler = FLOW.acting_with(euler=OwnSamples.euler)
    sample = sampler.act(params, batch.obs, batch.columns[SAMPLE], sampled=True)
    moved, wanted = _by_step(target - shown, batch), _by_step(sample - shown, batch)
    assert bool((wanted > 1).any() & (wanted < 1).any())
    torch.testing.assert_close(moved, wanted.clamp(max=1))
    ways = [(x - shown).unflatten(-1, (FLOW.horizon, -1)) for x in (target, sample)]
    along = torch.nn.functional.cosine_similarity(ways[0], ways[1], dim=-1)
    torch.testing.assert_close(along, torch.ones_like(along))


def test_the_shown_actions_are_learned_until_the_policy_is_warm(tiny: Demonstrations) -> None:
    params, batch = _batch(tiny, epoch=0)
    assert torch.equal(METHOD.weighting.targets(params, batch, FLOW), batch.actions)


def test_samples_are_new_in_every_epoch(tiny: Demonstrations) -> None:
    numbers = [_batch(tiny, epoch)[1].columns[SAMPLE] for epoch in (1, 2)]
    assert numbers[0].shape == (2, 40, 8)
    assert not bool((numbers[0] == numbers[1]).any())


def test_zero_radius_is_plain(tiny: Demonstrations, quick: Train) -> None:
    options: dict[str, Any] = {"steps": 30, "radius": 0.0}
    assert same(quick(tiny, METHOD, **options), quick(tiny, Method(policy=FLOW), steps=30))


def test_the_radius_matters_and_a_member_agrees_with_the_same_member_alone(
    tiny: Demonstrations, quick: Train
) -> None:
    options: dict[str, Any] = {"steps": 60, "radius": RADIUS, "dtype": torch.float64}
    together = quick(tiny, METHOD, seeds=3, **options)
    assert_near(together[1], quick(tiny, METHOD, seeds=[1], **options), within=1e-6)
    assert not same(together[1], quick(tiny, METHOD, seeds=[1], **(options | {"radius": 0.2})))


def test_a_stopped_training_resumes_to_the_bit(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: dict[str, Any] = {"steps": 40, "radius": RADIUS}
    whole, record = quick(tiny, METHOD, **options), Loop._record

    def stop(self: Loop, networks: Any, total_step: int, step: int) -> None:
        record(self, networks, total_step, step)
        if step == 25:
            self._save(networks, total_step)
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_record", stop)
        with pytest.raises(KeyboardInterrupt):
            quick(tiny, METHOD, out=tmp_path / "run", **options)
    assert same(whole, quick(tiny, METHOD, out=tmp_path / "run", resume=True, **options))


@pytest.mark.slow
def test_samples_come_nearer_to_what_was_meant_than_those_of_a_plain_flow(
    make_demos: Make,
) -> None:
    demos = make_demos(episodes=20, length=20, obs_size=1, action_size=1, noise=0.3)
    policy = Flow(hidden=(64, 64), history=1, horizon=1, execute=1)
    obs = np.linspace(-1, 1, 100, dtype=np.float32)[:, None]
    meant = 0.7 * np.sin(obs)
    distance = []
    for method in (Method(policy=policy), replace(METHOD, policy=policy)):
        trained = train(
            demos, method, seeds=1, radius=0.3, steps=500, lag=0.0, offsets="none",
            device="cpu", progress=False,
        )  # fmt: skip
        actor = trained.actor("sample")
        sampled = np.array([actor.act(o) for o in obs])
        distance.append(float(np.sqrt(np.mean((sampled - meant) ** 2))))
    plain, own = distance
    assert plain > 0.15  # about the deviation of the errors, 0.17
    assert own < 0.6 * plain


def test_other_policies_learn_from_their_own_samples_too(
    tiny: Demonstrations, quick: Train
) -> None:
    method = Method(support=Ball(count=0), weighting=METHOD.weighting, policy=GaussianMLP())
    trained = [quick(tiny, method, steps=60, radius=r, kernel="torch") for r in (0.0, RADIUS)]
    assert_near(trained[0], quick(tiny, "bc", steps=60, kernel="torch"), within=1e-4)
    assert not same(*trained)


def test_impossible_numbers_are_refused() -> None:
    with pytest.raises(OptionError, match="warm_up is -1 and euler 4; give 0 or more epochs"):
        OwnSamples(warm_up=-1)


@pytest.mark.gpu
def test_a_training_on_the_gpu_agrees_with_one_on_the_cpu(
    tiny: Demonstrations, quick: Train
) -> None:
    options: dict[str, Any] = {"seeds": 2, "steps": 60, "dtype": torch.float64}
    cpu, gpu, plain = (
        quick(tiny, METHOD, device=device, radius=radius, **options)
        for device, radius in (("cpu", RADIUS), ("cuda", RADIUS), ("cuda", 0.0))
    )
    assert_near(gpu, cpu, within=1e-5)
    assert not same(gpu, plain)  # samples were learned, not only what was shown


@pytest.mark.gpu
def test_two_trainings_on_the_gpu_give_the_same_bits(tiny: Demonstrations, quick: Train) -> None:
    options: dict[str, Any] = {"seeds": 2, "steps": 60, "radius": RADIUS, "device": "cuda"}
    assert same(quick(tiny, METHOD, **options), quick(tiny, METHOD, **options))
