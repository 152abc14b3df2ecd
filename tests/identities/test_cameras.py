"""Images and a vector together, through files, training, saving and acting."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.actor import Acting
from counterbc.acting.onnx import export
from counterbc.acting.onnx_session import Session
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.obs_rows import obs_rows
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.experiments.held_out_cell import deterministic_actions
from counterbc.formats import load, save
from counterbc.methods import METHODS
from counterbc.policies import FlowCNN, GaussianCNN, GaussianCNNGRU
from counterbc.selection.radius import DoubtfulRadius, RadiusSearch
from counterbc.settings import Settings
from counterbc.trainer import train
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import plan_view
from tests.equality import same
from tests.formats.datasets import assert_same
from tests.identities.test_images import ON_IMAGES
from tests.training.interruption import interrupted

TOP, WRIST = (36, 36, 3), (37, 36, 1)


def scenes(seed: int = 0, episodes: int = 4, length: int = 12) -> Demonstrations:
    """Two cameras see a bar each; the state is a number. Each decides one action dimension."""
    rng, episode_list = np.random.default_rng(seed), []
    for i in range(episodes):
        place, state = rng.integers(0, 30, (2, length)), rng.uniform(-3, 5, (length, 2))
        images = {"top": np.zeros((length, *TOP), np.uint8)}
        images["wrist"] = np.zeros((length, *WRIST), np.uint8)
        for t in range(length):
            for camera, at in zip(images.values(), place[:, t], strict=True):
                camera[t, :, at : at + 6] = 255
        action = np.stack([*(place / 15 - 1), (state[:, 0] - 1) / 4], axis=1)
        operator = ("ada", "bob")[i % 2]
        episode_list.append(Episode(state, action, -np.ones(length), operator, images=images))
    bounds = -np.ones(3), np.ones(3)
    return Demonstrations(tuple(episode_list), *bounds, obs_keys=(("joints", 2),))


def quick(demos: Any, method: str = "bc", **options: Any) -> Policies:
    small: dict[str, Any] = {"steps": 3, "progress": False, "hidden": (8,), "batch": 8}
    small |= {"radius": 0.4, "lag": 0.0}
    small |= {"hidden": (8, 4, 4)} if method == "bc-rnn" else {}
    return train(demos, method, **(small | options))


def observations(demos: Demonstrations, t: int) -> dict[str, Any]:
    """The observation at step t of the first episode, by name."""
    episode = demos.episodes[0]
    return {"joints": episode.obs[t]} | {n: image[t] for n, image in episode.images.items()}


@pytest.mark.parametrize("method", ON_IMAGES)
def test_methods_that_read_images_read_every_part(method: str) -> None:
    policies = quick([scenes(0), scenes(1)], method, seeds=2)
    assert not policies.diverged.any()
    kind = GaussianCNNGRU if method == "bc-rnn" else GaussianCNN
    assert type(policies.policy) is kind
    assert (policies.policy.images, policies.policy.reads_vector) == ((TOP, WRIST), True)
    assert policies.run_config.cameras == ["top", "wrist"]


@pytest.mark.parametrize("options", [{}, {"horizon": 4}, {"policy": "flow-cnn", "horizon": 4}])
def test_chunks_lags_and_a_held_out_share_are_learned(options: dict[str, Any]) -> None:
    small = {"hidden": (8, 8)} if "policy" in options else {}
    policies = quick(scenes(), "counter-bc", lag=1.0, held_out=0.25, **options, **small)
    assert not policies.diverged.any()
    assert policies.curve is not None
    assert policies.curve.held_out is not None
    assert type(policies.policy) is (FlowCNN if "policy" in options else GaussianCNN)


@pytest.mark.slow
def test_a_policy_learns_from_each_camera_and_from_the_vector() -> None:
    demos = scenes(episodes=10, length=30)
    policies = quick(demos, "bc", hidden=(64,), steps=250, batch=64, learning_rate=1e-3, history=1)
    actor, errors = policies.actor(), []
    for t in range(len(demos.episodes[0])):
        errors.append(actor.act(observations(demos, t)) - demos.episodes[0].action[t])
    shares = np.square(errors).mean(0) / demos.action.var(0)
    assert (shares < 0.2).all(), shares


def test_zero_radius_is_bc() -> None:
    bc, counter = (quick(scenes(), m, radius=0.0, steps=5) for m in ("bc", "counter-bc"))
    for name, value in bc.params.items():
        assert torch.equal(value, counter.params[name]), name


def test_a_member_alone_is_the_member_in_its_population() -> None:
    datasets = [scenes(0), scenes(1)]
    together = quick(datasets, "counter-bc", seeds=[3, 4], dtype=torch.float64, steps=5)
    for i, (seed, demos) in enumerate(zip([3, 4], datasets, strict=True)):
        solo = quick(demos, "counter-bc", seeds=[seed], dtype=torch.float64, steps=5)
        for name, value in solo.params.items():
            torch.testing.assert_close(value[0], together.params[name][i])


def test_a_stopped_training_resumes_to_the_bit(tmp_path: Path) -> None:
    options: dict[str, Any] = {"steps": 4, "method": "counter-bc"}
    whole = quick(scenes(), **options)
    with interrupted(after=2):
        quick(scenes(), **options, out=tmp_path / "run")
    continued = quick(scenes(), **options, out=tmp_path / "run", resume=True)
    assert same(whole, continued)


def test_saved_policies_act_alike_and_keep_their_normalization(tmp_path: Path) -> None:
    demos = scenes()
    policies = quick(demos, "counter-bc")
    policies.save(tmp_path / "run")
    reloaded = Policies.load(tmp_path / "run")
    assert reloaded.observed == policies.observed
    assert torch.equal(reloaded.scales.obs_mean, policies.scales.obs_mean)
    actors = policies.actor(), reloaded.actor()
    for t in range(5):
        first, second = (actor.act(observations(demos, t)) for actor in actors)
        np.testing.assert_array_equal(first, second)


ACTING: dict[str, tuple[str, dict[str, Any]]] = {
    "gaussian": ("bc", {}),
    "gaussian of one frame": ("bc", {"history": 1}),
    "gaussian of three actions": ("bc", {"horizon": 3, "execute": 2}),
    "gru": ("bc-rnn", {}),
    "gru of one frame": ("bc-rnn", {"history": 1}),
    "four networks": ("bcnd", {}),
    "flow": ("bc", {"policy": "flow", "hidden": (8, 8), "horizon": 3, "execute": 2}),
    "relative flow of angles": (
        "bc",
        {
            "policy": "flow", "hidden": (8, 8), "horizon": 2, "relative": "-,joints[1],joints[0]",
            "angles": "joints[1]",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", ACTING)
def test_policies_act_alike_in_torch_in_python_and_in_a_file(case: str, tmp_path: Path) -> None:
    method, options = ACTING[case]
    demos = scenes()
    policies = quick(demos, method, **({"seeds": 1, "learning_rate": 0.01} | options))
    assert export(policies, tmp_path / "p.onnx").agrees
    acting, actor = Acting(policies, [0], "mean", seed=0), policies.actor()
    assert (actor._forward or actor._acting.forward) is not None  # it does without torch
    file = Session(tmp_path / "p.onnx", 1)
    actions = []
    for t in range(7):
        obs, noise = observations(demos, t), acting.noise()
        parts = {name: values[None] for name, values in obs.items()}
        torch_action = acting.actions(policies.tensor(parts)[None])[0, 0].numpy()
        assert actor.act(obs) == pytest.approx(torch_action, abs=5e-6)
        feeds = {"obs" if name == "joints" else name: x for name, x in obs.items()}
        assert file.act(feeds, noise)[0] == pytest.approx(torch_action, abs=5e-6)
        actions.append(torch_action)
    assert len(np.unique(np.round(actions, 4), axis=0)) > 3


def test_an_exported_file_reads_every_part_by_name(tmp_path: Path) -> None:
    export(quick(scenes()), tmp_path / "p.onnx")
    file = Session(tmp_path / "p.onnx", 1)
    inputs = {i.name: (i.type, i.shape[1:]) for i in file.session.get_inputs()}
    byte = "tensor(uint8)"
    assert inputs == {
        "top": (byte, [4, *TOP]), "wrist": (byte, [4, *WRIST]), "obs": ("tensor(float)", [4, 2]),
    }  # fmt: skip
    assert json.loads(file.about["cameras"]) == ["top", "wrist"]
    assert file.about["obs"].endswith("fill with obs_before_start and black images")
    episodes = tuple(replace(e, images={"obs": e.images["top"]}) for e in scenes().episodes)
    export(quick(replace(scenes(), episodes=episodes)), tmp_path / "q.onnx")
    names = [i.name for i in Session(tmp_path / "q.onnx", 1).session.get_inputs()]
    assert names == ["image obs", "obs"]


def test_windows_of_data_are_what_acting_sees() -> None:
    demos = scenes()
    policies = quick(demos, "counter-bc", relative="none")
    actor = policies.actor()
    actions = np.stack([actor.act(observations(demos, t)) for t in range(6)])
    np.testing.assert_allclose(deterministic_actions(policies, demos)[:6], actions, rtol=1e-5)


def test_images_are_stored_once_for_members_with_other_lags_and_scales() -> None:
    demos = scenes()
    settings = Settings(batch=8)
    method = settings.apply(METHODS["bc"], demos.obs_shape, image=demos.image)
    members = seed_members([demos], [0, 1], [[0], [0]])
    members = [replace(m, lag=(float(i),)) for i, m in enumerate(members)]
    plan = plan_training([demos], method, settings, members)
    store = plan_view(plan, torch.device("cpu"), torch.float32).store
    assert store.pixels is not None
    assert store.pixels.dtype == torch.uint8
    assert len(store.pixels) == demos.pairs
    assert len(store.obs) == len(members) * demos.pairs


@pytest.mark.parametrize("suffix", ["demos.hdf5", "demos.npz", "demos"])
def test_files_of_ours_read_back_every_part(tmp_path: Path, suffix: str) -> None:
    demos, path = scenes(), tmp_path / suffix
    save(demos, path, format=None if "." in suffix else "lerobot")
    reloaded = load(path)
    assert_same(reloaded, replace(demos, source=reloaded.source, rate=reloaded.rate))
    assert reloaded.cameras == demos.cameras
    for a, b in zip(reloaded.episodes, demos.episodes, strict=True):
        for camera, image in b.images.items():
            np.testing.assert_array_equal(a.images[camera], image)
    only = load(path, obs=["wrist"])
    assert (only.camera, only.blind_to) == ("wrist", ("top",))
    assert load(path, obs=["wrist", "joints"]).cameras == {"wrist": WRIST}


def test_what_cannot_read_images_says_so_in_one_sentence(tmp_path: Path) -> None:
    demos = scenes()
    with pytest.raises(OptionError, match="are or have images; choose"):
        quick(demos, "ileed")
    with pytest.raises(OptionError, match="or only vectors with --obs"):
        quick(demos, policy="chunk")
    with pytest.raises(CounterBCError, match="Minari is written with vectors or one camera"):
        save(demos, tmp_path / "minari", format="minari")
    with pytest.raises(DataError, match="differ in their cameras"):
        quick([demos, load_without(demos)], seeds=2)


def load_without(demos: Demonstrations) -> Demonstrations:
    """The same data without their cameras."""
    return replace(demos, episodes=tuple(replace(e, images={}) for e in demos.episodes))


@pytest.mark.slow
def test_radius_and_lag_are_chosen_by_cross_validation() -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=3, folds=2)
    with pytest.warns(DoubtfulRadius, match="training steps are too few"):
        policies = quick(
            scenes(episodes=6, length=20), "counter-bc", radius="auto", lag="auto", search=search
        )
    assert policies.run_config.radius_from == "cross-validation"
    assert policies.members[0].radius[0] in np.arange(0, 0.41, 0.05).round(2)


@pytest.mark.gpu
@pytest.mark.parametrize("options", [{}, {"policy": "flow-cnn", "horizon": 4, "hidden": (8, 8)}])
def test_a_training_on_the_gpu_agrees_with_one_on_the_cpu(options: dict[str, Any]) -> None:
    options = {"seeds": 2, "steps": 20, "dtype": torch.float64, **options}
    cpu, gpu = (quick(scenes(), "counter-bc", device=d, **options) for d in ("cpu", "cuda"))
    for name, value in cpu.params.items():
        torch.testing.assert_close(gpu.params[name], value, rtol=1e-5, atol=1e-6)
    rows = gpu.tensor(obs_rows(scenes(), np.arange(3))).expand(2, 3, -1)
    on_gpu = gpu.to(torch.device("cuda"))
    actions = [Acting(p, range(3), "sample", 0).actions(rows).cpu() for p in (gpu, on_gpu)]
    torch.testing.assert_close(actions[0], actions[1], rtol=1e-4, atol=1e-4)


@pytest.mark.gpu
def test_two_trainings_on_the_gpu_give_the_same_bits() -> None:
    first, second = (quick(scenes(), "counter-bc", device="cuda", steps=30) for _ in range(2))
    assert same(first, second)
