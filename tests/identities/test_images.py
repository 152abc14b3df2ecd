"""Demonstrations whose observations are images, through training, saving and acting."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.actor import Acting
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import DataError, OptionError
from counterbc.methods import METHODS
from counterbc.policies import GaussianCNN, GaussianCNNGRU
from counterbc.settings import Settings
from counterbc.trainer import train
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import plan_view
from counterbc.training.view import View

SHAPE = (36, 36, 3)
ON_IMAGES = (
    "bc", "counter-bc", "weighted-bc", "bc-rnn", "bcnd", "posterior", "epsilon-insensitive",
)  # fmt: skip


def pictures(seed: int = 0, episodes: int = 4, length: int = 12) -> Demonstrations:
    """A bright bar on black; the action is where it stands."""
    rng, episode_list = np.random.default_rng(seed), []
    for i in range(episodes):
        place = rng.integers(0, 30, length)
        obs = np.zeros((length, *SHAPE), np.uint8)
        for t, at in enumerate(place):
            obs[t, :, at : at + 6] = 255
        action = np.stack([place / 15 - 1, 0.5 - place / 60], axis=1)
        episode_list.append(Episode(obs, action, -np.ones(length), operator=("ada", "bob")[i % 2]))
    return Demonstrations(tuple(episode_list), action_low=np.array([-1, 0]), action_high=np.ones(2))


def quick(demos: Any, method: str = "bc", **options: Any) -> Policies:
    small_options: dict[str, Any] = {"steps": 3, "progress": False, "hidden": (16,), "batch": 8}
    small_options["radius"] = 0.4
    small_options |= {"hidden": (16, 8, 8)} if method == "bc-rnn" else {}
    return train(demos, method, **(small_options | options))


def view_of(datasets: list[Demonstrations]) -> View:
    settings = Settings(batch=8)
    method, members = settings.apply(METHODS["bc"], SHAPE), seed_members(datasets, [0, 1], [[0, 0]])
    plan = plan_training(datasets, method, settings, members)
    return plan_view(plan, torch.device("cpu"), torch.float32)


@pytest.mark.parametrize("method", ON_IMAGES)
def test_methods_that_read_images_learn_from_them(method: str) -> None:
    policies = quick([pictures(0), pictures(1)], method, seeds=2)
    assert not policies.diverged.any()
    kind = GaussianCNNGRU if method == "bc-rnn" else GaussianCNN
    assert type(policies.policy) is kind
    assert (policies.policy.history, policies.obs_shape) == (4, SHAPE)


@pytest.mark.parametrize("method", ["bc", "counter-bc", "bc-rnn", "bcnd"])
def test_censored_actions_are_learned_from_images(method: str) -> None:
    cut = pictures().map_actions(lambda a: a.clip(-0.5, 0.3))
    low, high = np.full(2, -0.5), np.full(2, 0.3)
    taken = replace(cut, actions_are="taken", action_low=low, action_high=high)
    censored, plain = (quick(taken, method, censored=c, lag=0.0) for c in (True, False))
    assert not censored.diverged.any()
    assert censored.policy.reach == 2
    assert not torch.equal(censored.params["head.bias"], plain.params["head.bias"])


def test_a_policy_learns_where_the_bar_stands() -> None:
    demos = pictures(episodes=8, length=20)
    policies = quick(demos, steps=150, batch=32, seeds=1, learning_rate=1e-3)
    actor, first_episode = policies[0].actor(), demos.episodes[0]
    actions_taken = np.stack([actor.act(o) for o in first_episode.obs])
    assert np.abs(actions_taken - first_episode.action).mean() < 0.15
    assert policies.curve is not None
    assert policies.curve.loss[-1] < policies.curve.loss[0] - 1


def test_networks_of_images_learn_at_a_rate_of_their_own_unless_told() -> None:
    assert quick(pictures()).config["learning_rate"] == 1e-4
    assert quick(pictures(), learning_rate=0.01).config["learning_rate"] == 0.01


def test_frames_lie_once_as_bytes_and_windows_are_black_before_the_start() -> None:
    view = view_of([pictures(0), pictures(1)])
    pixels = view.store.pixels
    assert pixels is not None
    assert (pixels.dtype, pixels.shape) == (torch.uint8, (96, 36 * 36 * 3))
    window = view.store.windows(torch.tensor([[13]]), 4)[0, 0]  # the second pair of an episode
    assert not window[:2].any()
    assert torch.equal(window[2:], pixels[12:14])


@pytest.mark.parametrize("method", ON_IMAGES)
def test_a_member_agrees_with_itself_trained_alone(method: str) -> None:
    demos = [pictures(0), pictures(1)]
    population = quick(demos, method, seeds=[3, 4], dtype=torch.float64)
    solo = quick(demos[1], method, seeds=[4], dtype=torch.float64)
    for name, value in solo.params.items():
        torch.testing.assert_close(population[1].params[name], value, rtol=1e-5, atol=1e-6)


def test_acting_reads_the_same_windows_as_training() -> None:
    demos = pictures()
    policies, episode = quick(demos, seeds=1), demos.episodes[0]
    view = view_of([demos, demos])
    windows = view.store.windows(torch.arange(6)[None], 4)  # (1, 6, 4, S)
    head = policies.policy.head(policies.params, windows)
    expected_action = policies.scales.restore(policies.policy.mean(head))[0]
    acting = Acting(policies, [0], "mean", 0)
    for t in range(6):
        actions_taken = acting.actions(policies.tensor(episode.obs[t : t + 1])[None])[0, 0]
        torch.testing.assert_close(actions_taken, expected_action[t])


def test_a_run_on_images_is_read_back_as_it_was(tmp_path: Path) -> None:
    policies = quick(pictures(), "bc-rnn", out=tmp_path / "run")
    second_policies = Policies.load(tmp_path / "run")
    assert second_policies.policy == policies.policy
    assert second_policies.obs_shape == SHAPE
    obs = pictures(5).episodes[0].obs[0]
    np.testing.assert_array_equal(second_policies[0].actor().act(obs), policies[0].actor().act(obs))


def test_demonstrations_of_images_are_read_back_as_bytes(tmp_path: Path) -> None:
    from counterbc.formats import load

    demos = pictures()
    demos.save(tmp_path / "demos.hdf5")
    loaded_demos = load(tmp_path / "demos.hdf5")
    assert loaded_demos.obs.dtype == np.uint8
    assert loaded_demos.fingerprint() == demos.fingerprint()


def test_a_radius_is_chosen_on_images_too() -> None:
    policies = quick(pictures(), "counter-bc", radius="auto", steps=2)
    assert policies.config["radius_from"] == "cross-validation"


@pytest.mark.parametrize("method", ["ileed", "discriminator-bc", "advantage-bc"])
def test_methods_that_look_at_vectors_refuse_images(method: str) -> None:
    demos = pictures()
    demos = replace(demos, masks={"expert": (demos.episodes[0].name,)})
    with pytest.raises(OptionError, match=f"{method} reads states that are vectors"):
        quick(demos, method)


def test_a_policy_and_data_that_do_not_fit_are_refused(tiny: Any) -> None:
    for name in ("gaussian-mlp", "mixture"):
        with pytest.raises(OptionError, match="choose the policy gaussian-cnn or"):
            quick(pictures(), policy=name)
    with pytest.raises(DataError, match=r"reads observations of shape \(96, 96, 3\)"):
        quick(tiny, policy="gaussian-cnn")
    policies = quick(pictures())
    with pytest.raises(DataError, match=r"obs has shape \(3,\); this policy reads \(36, 36, 3\)"):
        policies[0].actor().act(np.zeros(3))


def test_data_of_two_simulators_are_not_mixed() -> None:
    a, b = (replace(pictures(), env_args={"env_kwargs": {"backend": x}}) for x in "ab")
    with pytest.raises(DataError, match="different simulators, a and b"):
        quick([a, b], seeds=2)


@pytest.mark.gpu
@pytest.mark.parametrize("method", ON_IMAGES)
def test_a_training_on_the_gpu_agrees_with_one_on_the_cpu(method: str) -> None:
    options: dict[str, Any] = {"seeds": 2, "steps": 20, "dtype": torch.float64}
    cpu, gpu = (quick(pictures(), method, device=d, **options) for d in ("cpu", "cuda"))
    for name, value in cpu.params.items():
        torch.testing.assert_close(gpu.params[name], value, rtol=1e-5, atol=1e-6)
    obs = pictures(5).episodes[0].obs[:1]
    on_gpu = gpu.to(torch.device("cuda"))
    actions_taken = [
        Acting(p, [0], "sample", 0).actions(p.tensor(obs).expand(2, 1, -1)) for p in (gpu, on_gpu)
    ]
    torch.testing.assert_close(actions_taken[0], actions_taken[1].cpu(), rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
@pytest.mark.parametrize("method", ON_IMAGES)
def test_two_trainings_on_the_gpu_give_the_same_bits(method: str) -> None:
    first, second = (quick(pictures(), method, seeds=2, device="cuda", steps=30) for _ in range(2))
    assert all(torch.equal(first.params[k], v) for k, v in second.params.items())
