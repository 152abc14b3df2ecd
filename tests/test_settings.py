"""Settings and presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from counterbc.methods import METHODS, Method
from counterbc.policies import POLICIES, Flow, FlowCNN, GaussianCNN, GaussianMLP
from counterbc.settings import PRESETS, Settings
from counterbc.weightings import Advantage, StateExpertise
from tests.equality import assert_near, same
from tests.fixture_types import Train

LAGS = "a number of steps of 0 or more, one per operator, seconds such as 0.2s, or auto"


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        ("gail", {}, "unknown method 'gail'; allowed: bc, counter-bc, weighted-bc, bc-rnn, bcnd"),
        ("bc", {"preset": "best"}, "unknown preset 'best'; allowed: default, paper, authors"),
        ("bc", {"epochs": 3}, "unknown setting 'epochs'; allowed: radius, shape"),
        ("bc", {"steps": 0}, "steps is 0; it must be an integer of 1 or more"),
        ("bc", {"batch": 0}, "batch is 0; it must be an integer of 1 or more"),
        (
            "bc",
            {"learning_rate": 0.0},
            "learning_rate is 0.0; it must be a number above 0",
        ),
        ("bc", {"held_out": 1.0}, "held_out is 1.0; it must be a number of at least 0 and"),
        ("bc", {"feasible": "drop"}, "feasible is 'drop'; it must be project or keep"),
        ("bc", {"hidden": ()}, "give one positive width per layer"),
        ("bc", {"seeds": 0}, r"seeds is (0|\[\]); ask for 1 or more"),
        (
            "counter-bc",
            {"shape": "star"},
            "shape is 'star'; it must be ball, box, student-t or gaussian",
        ),
        ("counter-bc", {"counterfactuals": -1}, "counterfactuals is -1"),
        ("counter-bc", {"radius": -0.1}, r"radius is -0.1; it must be a number of 0 or more"),
        ("counter-bc", {"radius": np.nan}, "radius is nan; it must be a number of 0 or more"),
        ("counter-bc", {"radius": np.inf}, "radius is inf; it must be a number of 0 or more"),
        ("counter-bc", {"radius": "wide"}, "radius is 'wide'; it must be"),
        ("counter-bc", {"radius": (0.1, 0.2, 0.3)}, "3 radii for 2 action dimensions; give 1 or 2"),
        ("counter-bc", {"radii": [0.1, -1.0]}, "radius is -1.0"),
    ],
)
def test_a_bad_option_is_refused_in_one_sentence(
    tiny: Demonstrations, quick: Train, method: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(OptionError, match=sentence):
        quick(tiny, method, **options)


@pytest.mark.parametrize(
    ("name", "value", "allowed_words"),
    [
        ("steps", "many", "an integer of 1 or more, or auto"),
        ("steps", 2.5, "an integer of 1 or more, or auto"),
        ("steps", True, "an integer of 1 or more, or auto"),
        ("steps", None, "an integer of 1 or more, or auto"),
        ("ensemble", 0, "an integer of 1 or more, or auto"),
        ("ensemble", "all", "an integer of 1 or more, or auto"),
        ("ensemble", 2.0, "an integer of 1 or more, or auto"),
        ("lag", -1, LAGS),
        ("lag", (0.0, -0.5), LAGS),
        ("lag", np.nan, LAGS),
        ("lag", "-0.2s", LAGS),
        ("lag", ("ann=0.2s", "bob=-1"), LAGS),
        ("lag", (1.0, None), LAGS),
        ("lag", None, LAGS),
        ("lag", True, LAGS),
        ("batch", "all", "an integer of 1 or more"),
        ("modes", 2.0, "an integer of 1 or more"),
        ("counterfactuals", (3,), "an integer of 0 or more"),
        ("hidden", 8, "one integer for each layer"),
        ("hidden", (8, 2.5), "one integer for each layer"),
        ("hidden", "64", "one integer for each layer"),
        ("learning_rate", "x", "a number above 0"),
        ("learning_rate", np.inf, "a number above 0"),
        ("memory", np.nan, "a number of 0 or more"),
        ("held_out", "half", "a number of at least 0 and below 1"),
        ("radius", None, "a number of 0 or more, one for each action dimension, or auto"),
        ("radius", True, "a number of 0 or more, one for each action dimension, or auto"),
        ("radius", (0.1, "auto"), "a number of 0 or more, one for each action dimension, or auto"),
        ("limited", "no", "True or False"),
        ("scale_obs", None, "True or False"),
        ("feasible", 1, "project or keep"),
        ("kernel", ("torch",), "auto, torch, numba, triton or cuda"),
        (
            "policy",
            3,
            "gaussian-mlp, gaussian-gru, mixture, gaussian-cnn, gaussian-cnn-gru, chunk, flow "
            "or flow-cnn",
        ),
    ],
)
def test_a_value_of_another_type_is_refused(name: str, value: Any, allowed_words: str) -> None:
    with pytest.raises(OptionError) as error:
        Settings(**{name: value})
    assert str(error.value) == f"{name} is {value!r}; it must be {allowed_words}"


@pytest.mark.parametrize(
    ("name", "value", "same_value"),
    [
        ("steps", np.int64(7), 7),
        ("ensemble", np.int64(4), 4),
        ("lag", np.float32(1.5), 1.5),
        ("lag", [1, 2], (1, 2)),
        ("lag", {"ann": 0.5, "bob": "0.2s"}, ("ann=0.5", "bob=0.2s")),
        ("learning_rate", np.float32(0.5), 0.5),
        ("learning_rate", 1, 1.0),
        ("limited", np.bool_(True), True),
        ("hidden", [8, 8], (8, 8)),
        ("hidden", np.array([8, 8]), (8, 8)),
        ("radius", [0.25, 0.5], (0.25, 0.5)),
        ("radius", np.array([0.25, 0.5], np.float32), (0.25, 0.5)),
        ("radius", torch.tensor(0.25), 0.25),
        ("radius", np.float32(0.25), 0.25),
        ("radius", 0, 0.0),
    ],
)
def test_numbers_and_lists_of_other_libraries_are_taken(
    name: str, value: Any, same_value: Any
) -> None:
    assert Settings(**{name: value}) == Settings(**{name: same_value})


def test_the_default_leaves_lag_radius_steps_and_ensemble_to_the_data() -> None:
    chosen = PRESETS["default"]
    assert (chosen.lag, chosen.radius, chosen.steps, chosen.ensemble) == ("auto",) * 4
    assert chosen.step_count == 10_000


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_the_presets_of_the_paper_choose_nothing_from_the_data(
    preset: str, tiny: Demonstrations, quick: Train
) -> None:
    fixed = PRESETS[preset]
    assert (fixed.lag, fixed.steps, fixed.ensemble) == (0.0, 10_000, 1)
    policies = quick(tiny, "counter-bc", preset=preset)
    assert (policies.members[0].lag, policies.shards) == ((0.0,), 1)
    assert policies.config["choices"] == []


def test_an_ensemble_acts_by_the_average_of_networks_that_learn_from_the_same_pairs(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", ensemble=4, lag=0.0)
    assert policies.shards == 4
    first = quick(tiny, "bc", ensemble=1, lag=0.0)
    for name, value in first.params.items():  # the first network is the one without ensemble
        torch.testing.assert_close(policies.params[name][:1], value, rtol=1e-5, atol=1e-6)
    obs = policies.scales.obs(torch.tensor(tiny.obs[:1], dtype=torch.float32)[None])
    head = policies.policy.head(policies.params, obs.expand(4, -1, -1))
    average = policies.scales.restore(policies.policy.mean(head).mean(0, keepdim=True))
    action = policies[0].actor().act(tiny.obs[0])
    np.testing.assert_allclose(action, average[0, 0].detach().numpy(), rtol=1e-5, atol=1e-6)


def test_a_method_that_averages_networks_already_takes_no_ensemble(
    tiny: Demonstrations, quick: Train
) -> None:
    with pytest.raises(OptionError, match="ensemble is 2, but this method averages 4 networks al"):
        quick(tiny, "bcnd", ensemble=2)
    assert quick(tiny, "bcnd", ensemble=1).shards == 4


@pytest.mark.parametrize(("pairs", "batch"), [(5, 1), (40, 4), (99, 9), (5000, 256)])
def test_a_batch_is_a_tenth_of_the_pairs_within_limits(pairs: int, batch: int) -> None:
    assert Settings().batch_size(pairs) == batch
    assert Settings(batch=7).batch_size(pairs) == min(7, pairs)


@pytest.mark.parametrize("preset", ["default", "paper", "authors"])
def test_every_preset_trains_every_kind_of_policy(
    preset: str, tiny: Demonstrations, quick: Train
) -> None:
    for method in ("counter-bc", "bc-rnn"):
        policies = quick(tiny, method, preset=preset)
        assert policies.config["preset"] == preset
        assert policies.scales.scale_actions is (preset != "authors")


def test_the_number_of_counterfactuals_and_their_shape_are_used(
    tiny: Demonstrations, quick: Train
) -> None:
    ball = quick(tiny, "counter-bc")
    assert not same(ball, quick(tiny, "counter-bc", shape="box"))
    assert not same(ball, quick(tiny, "counter-bc", counterfactuals=10))
    bc = quick(tiny, "bc", dtype=torch.float64)
    without_counterfactuals = quick(tiny, "counter-bc", counterfactuals=0, dtype=torch.float64)
    assert_near(without_counterfactuals, bc, within=1e-9)


@dataclass(frozen=True)
class SmallMLP(GaussianMLP):
    """A registered policy with layers of its own."""

    hidden: tuple[int, ...] = (4,)
    history: int = 2


def test_a_registered_policy_keeps_its_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(POLICIES, "small-mlp", SmallMLP)
    settings = Settings(policy="small-mlp")
    assert settings.apply(METHODS["counter-bc"]).policy == SmallMLP(hidden=(4,), history=2)
    assert settings.apply(METHODS["bc-rnn"]).policy == SmallMLP(hidden=(4,), history=5)
    wide = Method(policy=GaussianMLP(hidden=(32,)))
    assert settings.apply(wide).policy == SmallMLP(hidden=(32,))
    small_mlp = Settings(policy="small-mlp", hidden=(7,))
    assert small_mlp.apply(METHODS["bc"]).policy == SmallMLP(hidden=(7,))


@pytest.mark.parametrize("name", ["gaussian-mlp", "gaussian-gru", "mixture", "gaussian-cnn"])
@pytest.mark.parametrize("method", METHODS)
def test_a_policy_of_the_library_has_two_layers_of_64_in_every_method(
    name: str, method: str
) -> None:
    kind, base = POLICIES[name], METHODS[method].policy
    history = base.history if type(base) is kind else max(base.history, kind.history)
    applied_policy = Settings(policy=name).apply(METHODS[method]).policy
    assert applied_policy == kind(hidden=(64, 64), history=history)


def test_a_gaussian_cnn_in_place_of_a_flow_has_its_usual_layers() -> None:
    policy = Settings(policy="gaussian-cnn").apply(Method(policy=Flow())).policy
    assert policy == GaussianCNN(hidden=(256,))


@pytest.mark.parametrize("name", ["flow", "flow-cnn"])
def test_a_flow_keeps_its_layers_and_reads_images_where_observations_are_images(name: str) -> None:
    assert Settings(policy=name).apply(METHODS["bc"]).policy == POLICIES[name]().sized(None)
    settings, image = Settings(policy=name, hidden=(32, 32)), (36, 40, 3)
    for_images = FlowCNN(hidden=(32, 32), image=image)
    assert settings.apply(METHODS["bc"], image).policy == for_images
    long_flow = Method(policy=Flow(horizon=24, temperature=0.25))
    for_images = FlowCNN(horizon=24, temperature=0.25, image=image).sized(None)
    assert Settings().apply(long_flow, image).policy == for_images


@pytest.mark.parametrize("method", ["bcnd", "ileed", "epsilon-insensitive"])
def test_a_method_that_needs_a_likelihood_refuses_a_flow(method: str) -> None:
    words = f"^{method} needs the likelihood of an action, which a Flow does not have; choose"
    with pytest.raises(OptionError, match=words):
        Settings(policy="flow").apply(METHODS[method])
    assert Settings(policy="chunk").apply(METHODS[method]).policy.has_density


def test_a_method_that_cannot_read_images_names_those_that_can(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(METHODS, "half-bc", Method(weighting=StateExpertise(hidden=(3,))))
    words = (
        "choose bc or counter-bc or weighted-bc or bc-rnn or bcnd or posterior or "
        "epsilon-insensitive or half-bc$"
    )
    for name in ("ileed", "discriminator-bc", "advantage-bc"):
        with pytest.raises(OptionError, match=f"^{name} reads states that are vectors.*{words}"):
            Settings().apply(METHODS[name], (36, 36, 3))
    with pytest.raises(OptionError, match=r"^Advantage reads states"):
        Settings().apply(Method(weighting=Advantage(form="exponential")), (36, 36, 3))
