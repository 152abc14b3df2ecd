"""Policies as ONNX files: what a robot runs is what was trained."""

from __future__ import annotations

import json
import re
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import counterbc as cb
from counterbc.acting import parity
from counterbc.acting.forward import Forward
from counterbc.acting.onnx import metadata, to_onnx
from counterbc.acting.onnx_session import Session
from counterbc.acting.ops import Numpy
from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import CounterBCError
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianMLP
from tests.fixture_types import Make, Train

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")


def save_onnx(policies: Policies, path: Path, **options: Any) -> Path:
    cb.export(policies, path, **options)
    return path


@pytest.mark.parametrize("method", METHODS)
def test_a_file_acts_as_the_actor_does_episode_after_episode(
    method: str, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, method, seeds=2, steps=5)
    file = Session(save_onnx(policies, tmp_path / "p.onnx", member=1), 1)
    actor = policies[1].actor()
    for episode in tiny.episodes[:2]:
        for obs in episode.obs:
            assert file.act(obs)[0] == pytest.approx(actor.act(obs), abs=1e-6)
        actor.reset()
        file.reset()


@pytest.mark.parametrize("method", ["bc", "bc-rnn", "bcnd"])
def test_rows_of_a_batch_are_independent(
    method: str, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    path = save_onnx(quick(tiny, method), tmp_path / "p.onnx")
    batch, single = Session(path, 7), [Session(path, 1) for _ in range(7)]
    for obs in tiny.obs[:28].reshape(4, 7, 3):
        single_actions = [s.act(o)[0] for s, o in zip(single, obs, strict=True)]
        assert batch.act(obs) == pytest.approx(np.stack(single_actions), abs=1e-6)


@pytest.mark.parametrize("method", ["bc", "bc-rnn", "bcnd"])
def test_a_sampling_file_is_decided_by_its_noise(
    method: str, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, method)
    sample = Session(save_onnx(policies, tmp_path / "sample.onnx", act="sample"), 1)
    noise = np.ones(sample.shapes["noise"], np.float32)
    mean = sample.act(tiny.obs[0], 0 * noise)
    assert mean[0] == pytest.approx(policies.actor().act(tiny.obs[0]), abs=1e-6)
    up = []
    for _ in range(2):
        sample.reset()
        up.append(sample.act(tiny.obs[0], 0.1 * noise))
    assert np.array_equal(up[0], up[1])
    assert bool((up[0] > mean).all())


@pytest.fixture(scope="module")
def stuck(make_demos: Make, quick: Train, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A policy whose second observation never varied, and its file."""
    demos = make_demos()
    episodes = [replace(e, obs=e.obs * np.array([1, 0, 100]) + [0, 7, 0]) for e in demos.episodes]
    policies = quick(replace(demos, episodes=tuple(episodes)), "bc")
    assert policies.scales.obs_scale[0, 1] == 1
    return policies, save_onnx(policies, tmp_path_factory.mktemp("stuck") / "p.onnx")


@settings(max_examples=50)
@given(obs=arrays(np.float32, 3, elements=st.floats(-1e4, 1e4, width=32)))
def test_scaling_agrees_also_where_an_observation_never_varied(obs: Any, stuck: Any) -> None:
    policies, path = stuck
    rounding = 2e-6 * (1 + float(np.abs(obs).max()))  # what float32 leaves of numbers so large
    assert Session(path, 1).act(obs)[0] == pytest.approx(policies.actor().act(obs), abs=rounding)


def test_a_missing_number_is_not_turned_into_an_action(stuck: Any) -> None:
    assert bool(np.isnan(Session(stuck[1], 1).act(np.array([0, np.nan, 0], np.float32))).all())


def test_the_file_says_what_it_is(tiny: Demonstrations, quick: Train, tmp_path: Path) -> None:
    low, high = np.array([-3.0, 2.0]), np.array([5.0, 2.5])
    demos = replace(tiny, obs_names=("x", "y", "angle"), action_low=low, action_high=high)
    path = save_onnx(quick(demos, "counter-bc", radius=(0.25, 0)), tmp_path / "p.onnx")
    session = onnxruntime.InferenceSession(path)
    about = session.get_modelmeta().custom_metadata_map
    assert json.loads(about["obs_names"]) == ["x", "y", "angle"]
    assert json.loads(about["action_names"]) == ["action[0]", "action[1]"]
    assert (json.loads(about["action_low"]), json.loads(about["action_high"])) == (
        [-3, 2],
        [5, 2.5],
    )
    assert json.loads(about["radius"]) == [0.25, 0]
    assert (about["method"], about["act"], about["history"]) == ("counter-bc", "mean", "1")
    assert about["counterbc"] == cb.__version__
    assert [(i.name, i.shape) for i in session.get_inputs()] == [("obs", ["batch", 3])]
    assert [(o.name, o.shape) for o in session.get_outputs()] == [("action", ["batch", 2])]


@pytest.mark.parametrize(
    ("env", "rate"),
    [("air-hockey", "20"), ("PickPlaceCan", "20"), ("CartPole-v1", None), (None, None)],
)
def test_the_file_names_the_rate_of_the_demonstrations_or_of_a_known_world(
    env: str | None, rate: str | None, tiny: Demonstrations, quick: Train
) -> None:
    policy = quick(tiny, "bc")[0]
    policy = replace(policy, config=policy.config | {"env": env})
    assert metadata(policy, "mean").get("rate") == rate
    assert metadata(quick(replace(tiny, rate=12.5), "bc")[0], "mean")["rate"] == "12.5"


def test_a_file_with_a_memory_declares_it(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    path = save_onnx(quick(tiny, "bc-rnn"), tmp_path / "p.onnx", act="sample")
    session = onnxruntime.InferenceSession(path)
    shapes = {i.name: i.shape[1:] for i in (*session.get_inputs(), *session.get_outputs())}
    memory = {"window": [5, 3], "next_window": [5, 3]}
    assert shapes == {"obs": [3], "noise": [2], "action": [2]} | memory
    about = session.get_modelmeta().custom_metadata_map
    assert about["window"].startswith("zeros when an episode starts")
    assert about["radius"] == "not used"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["p.onnx"]


def test_a_file_of_chunks_says_how_to_call_it(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    options: dict[str, Any] = {"relative": "state[1],-", "angles": "state[2]", "temperature": 0.25}
    policies = quick(tiny, policy="flow", horizon=6, execute=4, **options)
    session = onnxruntime.InferenceSession(save_onnx(policies, tmp_path / "p.onnx"))
    shapes = {i.name: i.shape[1:] for i in (*session.get_inputs(), *session.get_outputs())}
    assert shapes == {"obs": [2, 3], "noise": [12], "actions": [4, 2]}
    about = session.get_modelmeta().custom_metadata_map
    numbers = [about[key] for key in ("horizon", "execute", "history", "temperature", "euler")]
    assert numbers == ["6", "4", "2", "0.25", "10"]
    assert about["obs"].startswith("the last 2 observations, oldest first; before")
    assert about["obs"].endswith("repeat its first one")
    assert about["actions"].startswith("execute these 4 actions in order")
    assert "multiplies them by the temperature" in about["noise"]
    assert about["relative"].endswith("added: action[0] to state[1]")
    assert about["angles"].endswith("as cosine and sine: state[2]")


def test_a_file_without_noise_or_with_averages_says_so(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, policy="flow", horizon=4, temperature=0.0, average_chunks=True)
    session = onnxruntime.InferenceSession(save_onnx(policies, tmp_path / "p.onnx"))
    shapes = {i.name: i.shape[1:] for i in (*session.get_inputs(), *session.get_outputs())}
    assert shapes == {"obs": [2, 3], "actions": [4, 2]}
    about = session.get_modelmeta().custom_metadata_map
    assert "call at every step, and average what the last 4 calls say" in about["actions"]
    gaussian = quick(tiny, horizon=2, history=3)
    session = onnxruntime.InferenceSession(save_onnx(gaussian, tmp_path / "q.onnx"))
    before = json.loads(session.get_modelmeta().custom_metadata_map["obs_before_start"])
    assert before == pytest.approx(gaussian.scales.obs_mean[0].tolist())


@pytest.mark.parametrize(
    ("options", "act", "sentence"),
    [
        ({"policy": "chunk"}, "sample", "samples of a Chunk cannot be exported.*act=mean"),
        ({"horizon": 2, "history": 2, "angles": "state[1]"}, "mean", "no angle stands for"),
    ],
)
def test_chunks_that_have_no_file_are_refused(
    options: dict[str, Any], act: str, sentence: str, tiny: Demonstrations, quick: Train,
    tmp_path: Path,
) -> None:  # fmt: skip
    with pytest.raises(CounterBCError, match=sentence):
        cb.export(quick(tiny, **options), tmp_path / "p.onnx", act=act)  # type: ignore[arg-type]  # a text


def test_weights_shared_by_steps_are_stored_once(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bc-rnn", hidden=(64, 64))
    numbers = sum(int(np.prod(v.shape)) for v in policies.params.values())
    stored_numbers = sum(int(np.prod(i.dims)) for i in to_onnx(policies, "mean").graph.initializer)
    assert stored_numbers < 1.1 * numbers


def test_a_file_that_would_act_otherwise_is_not_written(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parity, "TOLERANCE", -1.0)  # less than any difference
    with pytest.raises(CounterBCError, match=r"p.onnx was not written.*differ by up to"):
        cb.export(quick(tiny, "bc"), tmp_path / "p.onnx")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("library", ["onnx", "onnxruntime"])
def test_a_missing_library_gives_the_line_that_installs_it(
    library: str, tiny: Demonstrations, quick: Train, tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(CounterBCError, match=rf"{library}, .*pip install 'counterbc\[export\]'"):
        cb.export(quick(tiny, "bc"), tmp_path / "p.onnx")


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("p.onnx", {"member": 2}, "member 2 does not exist; there are 0 … 1"),
        ("p.onnx", {"member": -1}, "member -1 does not exist"),
        ("p.onnx", {"act": "best"}, "unknown way of acting 'best'; allowed: mean, sample"),
        ("p.pt", {}, "name the file .onnx"),
        ("no/p.onnx", {}, "does not exist; create it first"),
        ("taken.onnx", {}, "already exists"),
        ("p.onnx", {"member": 1}, "member 1 diverged.*learning rate"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_words(
    name: str, options: dict[str, Any], sentence: str, tiny: Demonstrations, quick: Train,
    tmp_path: Path,
) -> None:  # fmt: skip
    policies = quick(tiny, "bc", seeds=2)
    policies.params["head.bias"][1] = torch.nan
    (tmp_path / "taken.onnx").write_text("")
    with pytest.raises(CounterBCError, match=sentence):
        cb.export(policies, tmp_path / name, **options)
    assert [p.name for p in tmp_path.iterdir()] == ["taken.onnx"]


@dataclass(frozen=True)
class OwnForward(GaussianMLP):
    """May compute anything."""


def test_a_policy_of_ones_own_is_not_exported(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, Method(policy=OwnForward()))
    with pytest.raises(
        CounterBCError, match=r"OwnForward cannot be exported.*GaussianMLP, Gaussian"
    ):
        cb.export(policies, tmp_path / "p.onnx")


def test_the_lines_of_the_guide_run(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plain, remembers = quick(tiny, "bc"), quick(tiny, "bc-rnn")
    save_onnx(plain, Path("policy.onnx"))
    save_onnx(remembers, Path("remembers.onnx"))
    flow = quick(tiny, policy="flow", horizon=6, execute=4)
    save_onnx(flow, Path("flow.onnx"))
    guide = (Path(__file__).parents[2] / "docs" / "export.md").read_text()
    first, second, third, fourth = re.findall(r"```python\n(.*?)```", guide, re.S)
    names: dict[str, Any] = {"episode": tiny.episodes[0].obs}
    exec(first, names)
    assert names["action"][0] == pytest.approx(plain.actor().act(np.zeros(3)), abs=1e-6)
    exec(second, names)
    actor = remembers.actor()
    last = [actor.act(obs) for obs in tiny.episodes[0].obs][-1]
    assert names["action"][0] == pytest.approx(last, abs=1e-6)
    exec(third, names)
    rng, forward = np.random.default_rng(0), Forward(flow, Numpy())
    for t in (0, 4, 8):  # it decides at every fourth step
        window = tiny.episodes[0].obs[[max(t - 1, 0), t]]
        chunk = forward.chunk(window[None], rng.standard_normal((1, 12), np.float32))[0]
        for action, from_numpy in zip(names["taken"][t : t + 4], chunk, strict=False):
            assert action == pytest.approx(from_numpy, abs=2e-6)
    assert len(names["taken"]) == 10
    images = np.random.default_rng(0).integers(0, 256, (10, 36, 36, 3), np.uint8)
    sees = quick(Demonstrations((Episode(images, tiny.action[:10]),)), hidden=(8,))
    save_onnx(sees, Path("sees.onnx"))
    names["frames"] = images
    exec(fourth, names)
    actor = sees.actor()
    last = [actor.act(frame) for frame in images][-1]
    assert names["action"][0] == pytest.approx(last, abs=1e-6)
