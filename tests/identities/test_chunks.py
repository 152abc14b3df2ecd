"""What holds for policies that predict one action holds for those that predict chunks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.member import Member
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import DataError, OptionError
from counterbc.methods import METHODS
from counterbc.policies import Flow, GaussianMLP
from counterbc.settings import settings_for
from counterbc.training.loop import Loop
from counterbc.training.plan import plan_training
from counterbc.training.run import plan_view
from counterbc.training.view import View
from tests.equality import assert_near, same
from tests.fixture_types import Make, Train
from tests.policies.torch_cnn import IMAGE

CHUNKS: dict[str, dict[str, Any]] = {
    "gaussian": {"horizon": 4},
    "history": {"horizon": 4, "history": 3},
    "relative": {"horizon": 3, "relative": "state[0],state[2]"},
    "mixture": {"policy": "mixture", "horizon": 2, "modes": 2},
    "gru": {"policy": "gaussian-gru", "horizon": 2},
    "flow": {"policy": "flow", "horizon": 4},
    "flow of images": {"policy": "flow", "horizon": 2, "steps": 20},
    "angles": {"policy": "gaussian-gru", "horizon": 2, "angles": "state[1]"},
    "squared error": {"policy": "chunk", "horizon": 4},
    "chunk of modes": {"policy": "chunk", "horizon": 4, "modes": 2},
}
every_chunk = pytest.mark.parametrize("name", list(CHUNKS))


@pytest.fixture
def demos(name: str, tiny: Demonstrations) -> Demonstrations:
    """The data of a policy: tiny, as small images where it reads images."""
    if name != "flow of images":
        return tiny
    frames = np.random.default_rng(0).integers(0, 256, (4, 10, *IMAGE), np.uint8)
    episodes = [replace(e, obs=x) for e, x in zip(tiny.episodes, frames, strict=True)]
    return replace(tiny, episodes=tuple(episodes), obs_names=(), obs_keys=())


@every_chunk
@pytest.mark.parametrize("method", ["bc", "counter-bc"])
def test_a_member_agrees_with_the_same_member_alone(
    name: str, method: str, demos: Demonstrations, quick: Train
) -> None:
    options = {"dtype": torch.float64, "steps": 100} | CHUNKS[name]
    together = quick(demos, method, seeds=3, **options)
    assert_near(together[1], quick(demos, method, seeds=[1], **options), within=1e-6)


@every_chunk
def test_zero_radius_is_plain_to_the_bit_alone_and_among_others(
    name: str, demos: Demonstrations, quick: Train
) -> None:
    options = {"steps": 20, "seeds": 2} | CHUNKS[name]
    plain = quick(demos, "bc", **options)
    assert same(quick(demos, "counter-bc", **(options | {"radius": 0.0})), plain)
    mixed = quick(demos, "counter-bc", **(options | {"radii": [0.3, 0.0]}))
    assert same(mixed[2:], plain)
    assert not same(mixed[:2], plain)


@every_chunk
def test_an_actor_that_is_reset_forgets_its_queue(
    name: str, demos: Demonstrations, quick: Train
) -> None:
    policies = quick(demos, "bc", **CHUNKS[name])[0]
    if policies.policy.temperature is not None:
        policies = policies.acting_with(temperature=0.0)  # the noise of each episode is another
    actor, obs = policies.actor(), demos.obs
    first = actor.act(obs[0])  # the rest of this chunk is in the queue
    actor.reset()
    np.testing.assert_array_equal(actor.act(obs[5]), policies.actor().act(obs[5]))
    actor.reset()
    np.testing.assert_array_equal(actor.act(obs[0]), first)


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["flow", "flow of images", "squared error", "chunk of modes"])
@pytest.mark.parametrize("method", ["bc", "counter-bc"])
def test_a_training_on_the_gpu_agrees_with_one_on_the_cpu(
    name: str, method: str, demos: Demonstrations, quick: Train
) -> None:
    options = CHUNKS[name] | {"seeds": 2, "steps": 40, "dtype": torch.float64}
    cpu, gpu = (quick(demos, method, device=d, **options) for d in ("cpu", "cuda"))
    assert_near(gpu, cpu, within=1e-5)


@every_chunk
def test_a_stopped_training_resumes_to_the_bit(
    name: str, demos: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = quick(demos, "counter-bc", **CHUNKS[name])
    record, count = Loop._record, [0]

    def stop(self: Loop, *args: Any, **kwargs: Any) -> None:
        record(self, *args, **kwargs)
        count[0] += 1
        if count[0] == 7:
            self._save(args[0], args[2])
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Loop, "_record", stop)
        with pytest.raises(KeyboardInterrupt):
            quick(demos, "counter-bc", out=tmp_path / "run", **CHUNKS[name])
    resumed_run = quick(demos, "counter-bc", out=tmp_path / "run", resume=True, **CHUNKS[name])
    assert same(whole, resumed_run)


@every_chunk
def test_a_loaded_policy_acts_as_the_saved_one(
    name: str, demos: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(demos, "bc", **CHUNKS[name])
    policies.save(tmp_path / "run")
    actors = [p.actor() for p in (policies, Policies.load(tmp_path / "run"))]
    for obs in demos.obs[:6]:
        np.testing.assert_array_equal(actors[0].act(obs), actors[1].act(obs))


@pytest.mark.needs("numba")
def test_native_code_trains_chunks_as_torch_does(tiny: Demonstrations, quick: Train) -> None:
    options = {"horizon": 4, "method": "counter-bc", "steps": 30}
    native, plain = (quick(tiny, kernel=kernel, **options) for kernel in ("numba", "torch"))
    assert_near(native, plain, within=1e-4)


def chunk_view(demos: Demonstrations, policy: str | None = None) -> View:
    """Return the pairs of a training with chunks of four actions and a radius of 0.3."""
    settings = settings_for(
        "default", horizon=4, radius=0.3, lag=0.0, offsets="none", policy=policy, steps=10
    )
    method = settings.apply(METHODS["counter-bc"])
    plan = plan_training([demos], method, settings, [Member(0, (0.3, 0.3))])
    return plan_view(plan, torch.device("cpu"), torch.float32)


def test_counterfactuals_lie_in_the_set_of_each_action_of_a_chunk(
    tiny: Demonstrations,
) -> None:
    view = chunk_view(tiny)
    position = torch.arange(40)[None]
    actions = view.batch(position, torch.zeros_like(position)).actions[0]  # (40, M, 8)
    steps = (actions - actions[:, :1]).unflatten(-1, (4, 2)).norm(dim=-1)  # (40, M, 4)
    assert bool((steps <= 0.3 + 1e-6).all())
    assert bool((steps[:, 1:].amax((0, 1)) > 0.25).all())  # every action has its own set
    far = steps[:, 1:] > 0.2
    assert bool((far.any(-1) & ~far.all(-1)).any())


def chunk_policy(tiny: Demonstrations, quick: Train, **options: Any) -> Policies:
    return quick(tiny, "bc", horizon=4, **options)


def test_an_actor_executes_the_first_actions_of_each_chunk(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = chunk_policy(tiny, quick, execute=3)
    actor, fresh = policies.actor(), policies.actor()
    for t, obs in enumerate(tiny.obs[:7]):
        action = actor.act(obs)
        if t % 3 == 0:
            fresh.reset()
            fresh.act(obs)
            chunk = fresh._acting.plans[0][0, 0].numpy()
        np.testing.assert_array_equal(action, chunk[t % 3])
    actor.reset()
    fresh.reset()
    np.testing.assert_array_equal(actor.act(tiny.obs[3]), fresh.act(tiny.obs[3]))


def test_averaged_chunks_are_the_weighted_mean_of_what_the_last_ones_say(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = chunk_policy(tiny, quick, average_chunks=True)
    averaging, plain = policies.actor(), chunk_policy(tiny, quick).actor()
    chunks: list[Any] = []
    for obs in tiny.obs[:6]:
        plain.reset()
        plain.act(obs)
        chunks = [*chunks[-3:], plain._acting.plans[0][0, 0].numpy()]
        about = np.array([c[len(chunks) - 1 - i] for i, c in enumerate(chunks)])
        weights = np.exp(-0.01 * np.arange(len(chunks)))
        mean = (weights[:, None] * about).sum(0) / weights.sum()
        np.testing.assert_allclose(averaging.act(obs), mean, rtol=1e-5, atol=1e-6)


def test_a_policy_executes_between_one_and_all_of_its_actions() -> None:
    with pytest.raises(OptionError, match="executes at least 1 and at most all"):
        GaussianMLP(horizon=2, execute=3)
    assert GaussianMLP(horizon=2).one_step() == GaussianMLP()


def test_relative_actions_are_added_to_what_is_observed(make_demos: Make, quick: Train) -> None:
    """A network that reads nothing predicts the same difference everywhere."""
    demos = make_demos(action_low=np.full(2, -4.0), action_high=np.full(2, 4.0))
    policies = quick(demos, "bc", relative="state[0],state[2]", horizon=2)
    for name, value in policies.params.items():
        if name != "head.bias":
            value.zero_()
    actor, difference = policies.actor(), []
    for obs in demos.obs[:2]:
        actor.reset()
        difference.append(actor.act(obs) - obs[[0, 2]])
    np.testing.assert_allclose(difference[0], difference[1], rtol=1e-4, atol=1e-5)


def test_the_settings_of_chunks_reach_the_policy(tiny: Demonstrations, quick: Train) -> None:
    policy = quick(tiny, "bc", horizon=5, history=2, average_chunks=True).policy
    assert (policy.horizon, policy.execute, policy.history, policy.average_chunks) == (
        5,
        3,
        2,
        True,
    )
    with pytest.raises(OptionError, match=r"temperature is 0\.5, but a Gauss.*only flows do"):
        quick(tiny, "bc", temperature=0.5)


@pytest.mark.parametrize("policy", ["gaussian-mlp", "flow"])
def test_an_angle_that_is_read_as_cosine_and_sine_may_turn_around(
    policy: str, tiny: Demonstrations, quick: Train
) -> None:
    actor = quick(tiny, "bc", policy=policy, angles="state[1]").actor()
    turned = tiny.obs[0] + np.array([0, 2 * np.pi, 0])
    action = actor.act(tiny.obs[0])
    actor.reset()
    if policy == "flow":
        actor._acting.episodes -= 1  # the same random numbers
    np.testing.assert_allclose(actor.act(turned), action, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_flow_with_a_whole_temperature_is_loaded(
    temperature: int, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    quick(tiny, "bc", policy="flow", temperature=temperature).save(tmp_path / "run")
    policy = Policies.load(tmp_path / "run").policy
    assert isinstance(policy, Flow)
    assert policy.temperature == temperature


def test_members_of_a_population_agree_on_angles_and_relative_actions(
    make_demos: Make, quick: Train
) -> None:
    plain, declared = make_demos(), make_demos(seed=1, relative="state[0],state[1]")
    for datasets in ([plain, declared], [declared, plain]):
        with pytest.raises(DataError, match="members differ in what their actions are relative to"):
            quick(datasets, "bc", seeds=2, horizon=2)
    turns = np.linspace(0, 20, 40) % (2 * np.pi)
    episode = Episode(np.stack([turns, np.sin(turns), turns * 0], 1), np.zeros((40, 2)))
    wrapped = replace(plain, episodes=(episode,), masks={})
    for datasets in ([plain, wrapped], [wrapped, plain]):
        assert quick(datasets, "bc", seeds=2, policy="flow").scales.angles == (0,)


def test_what_chunks_and_flows_cannot_do_is_refused(tiny: Demonstrations, quick: Train) -> None:
    with pytest.raises(OptionError, match="average_chunks needs predictions that overlap"):
        quick(tiny, "bc", average_chunks=True)
    with pytest.raises(OptionError, match="samples cannot be averaged; leave ensemble out"):
        quick(tiny, "bc", policy="flow", ensemble=3)
    cut = replace(tiny, actions_are="taken")
    with pytest.raises(OptionError, match="a Flow has no likelihood of censored actions"):
        quick(cut, "bc", policy="flow", horizon=1, censored=True)


def test_a_flow_continues_on_data_of_another_size(make_demos: Make, quick: Train) -> None:
    demos = make_demos(episodes=210)
    options: dict[str, Any] = {
        "policy": "flow", "hidden": None, "batch": 8, "steps": 3, "lag": 0.0, "offsets": "none"
    }  # fmt: skip
    first = quick(demos, "bc", **options)
    longer = quick(make_demos(), "bc", start=first, temperature=0.0, **options)
    assert longer.policy.hidden == first.policy.hidden == (256, 256, 256)


def test_an_action_that_never_varies_has_no_counterfactuals(make_demos: Make) -> None:
    demos = make_demos()
    still = [replace(e, action=e.action * np.array([1.0, 0.0])) for e in demos.episodes]
    view = chunk_view(replace(demos, episodes=tuple(still)), "chunk")
    radius = view.counterfactuals.radius.unflatten(-1, (4, 2))
    assert bool((radius[..., 0] > 0).all())
    assert bool((radius[..., 1] == 0).all())
