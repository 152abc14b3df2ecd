"""Laws of the losses: what Counter-BC adds vanishes with its radius, lag and weights."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch
from lerobot.configs.types import FeatureType, NormalizationMode, PolicyFeature
from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.diffusion.modeling_diffusion import DiffusionPolicy
from lerobot_policy_counterbc.configuration_counter_act import CounterACTConfig
from lerobot_policy_counterbc.configuration_counter_diffusion import CounterDiffusionConfig
from lerobot_policy_counterbc.configuration_counterbc import CounterBCConfig
from lerobot_policy_counterbc.counter_options import lagged_indices, normalized_radius, undo_lag
from lerobot_policy_counterbc.frame_weights import FrameWeights
from lerobot_policy_counterbc.modeling_counter_act import CounterACTPolicy
from lerobot_policy_counterbc.modeling_counter_diffusion import CounterDiffusionPolicy
from lerobot_policy_counterbc.modeling_counterbc import CounterBCPolicy

STATE, ENVIRONMENT = "observation.state", "observation.environment_state"
FEATURES = {
    "input_features": {
        STATE: PolicyFeature(FeatureType.STATE, (2,)),
        ENVIRONMENT: PolicyFeature(FeatureType.ENV, (3,)),
    },
    "output_features": {"action": PolicyFeature(FeatureType.ACTION, (2,))},
    "device": "cpu",
}
STATS = {
    name: {
        "mean": torch.zeros(size), "std": torch.ones(size), "min": -torch.full((size,), 4.0),
        "max": torch.full((size,), 4.0),
    }
    for name, size in ((STATE, 2), (ENVIRONMENT, 3), ("action", 2))
}  # fmt: skip
ACT: dict[str, Any] = {
    "dim_model": 16, "n_heads": 2, "dim_feedforward": 16, "n_encoder_layers": 1,
    "n_vae_encoder_layers": 1, "chunk_size": 4, "n_action_steps": 2, "dropout": 0.0, **FEATURES,
}  # fmt: skip
DIFFUSION: dict[str, Any] = {
    "down_dims": (8, 16), "n_groups": 4, "diffusion_step_embed_dim": 8, "horizon": 4,
    "n_action_steps": 2, "num_train_timesteps": 10, **FEATURES,
}  # fmt: skip
OURS: dict[str, Any] = {"hidden": [8, 8], "chunk_size": 4, "n_action_steps": 2, **FEATURES}


def batch(length: int = 4, history: int | None = None, pad: int = 0) -> dict[str, torch.Tensor]:
    """Return six samples; the last `pad` actions of the first one lie beyond its episode."""
    generator = torch.Generator().manual_seed(0)
    shape = (6,) if history is None else (6, history)
    is_pad = torch.zeros(6, length, dtype=torch.bool)
    if pad:
        is_pad[0, -pad:] = True
    return {
        STATE: torch.randn(*shape, 2, generator=generator),
        ENVIRONMENT: torch.randn(*shape, 3, generator=generator),
        f"{STATE}_is_pad": torch.zeros(shape, dtype=torch.bool),
        "action": torch.randn(6, length, 2, generator=generator),
        "action_is_pad": is_pad,
        "index": torch.arange(6),
    }


def loss(policy: Any, data: dict[str, torch.Tensor], **options: Any) -> torch.Tensor:
    torch.manual_seed(1)
    value: torch.Tensor = policy.train().forward(data, **options)[0]
    return value


def test_act_with_radius_0_has_the_loss_of_act() -> None:
    torch.manual_seed(0)
    plain = ACTPolicy(ACTConfig(**ACT))
    ours = CounterACTPolicy(CounterACTConfig(radius=0.0, **ACT), dataset_stats=STATS)
    ours.load_state_dict(plain.state_dict())
    torch.testing.assert_close(loss(ours, batch()), loss(plain, batch()))


def test_diffusion_with_radius_0_has_the_loss_of_diffusion() -> None:
    torch.manual_seed(0)
    plain = DiffusionPolicy(DiffusionConfig(**DIFFUSION))
    ours = CounterDiffusionPolicy(CounterDiffusionConfig(radius=0.0, **DIFFUSION))
    ours.load_state_dict(plain.state_dict())
    torch.testing.assert_close(loss(ours, batch(4, 2)), loss(plain, batch(4, 2)))


@pytest.mark.parametrize(
    ("plain_kind", "plain_config", "kind", "config", "options", "shape"),
    [
        (ACTPolicy, ACTConfig, CounterACTPolicy, CounterACTConfig, ACT, (6,)),
        (
            DiffusionPolicy, DiffusionConfig, CounterDiffusionPolicy, CounterDiffusionConfig,
            DIFFUSION | {"use_group_norm": True, "crop_shape": None}, (6, 2),
        ),
    ],
)  # fmt: skip
def test_losses_on_images_are_those_of_lerobot_with_radius_0(
    plain_kind: Any, plain_config: Any, kind: Any, config: Any, options: Any, shape: Any
) -> None:
    key = "observation.images.top"
    inputs = FEATURES["input_features"] | {key: PolicyFeature(FeatureType.VISUAL, (3, 64, 64))}
    options = options | {"input_features": inputs, "pretrained_backbone_weights": None}
    torch.manual_seed(0)
    plain = plain_kind(plain_config(**options))
    ours = kind(config(radius=0.0, **options), dataset_stats=STATS)
    ours.load_state_dict(plain.state_dict())
    data = batch(4, shape[1] if len(shape) > 1 else None)
    data[key] = torch.rand(*shape, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(loss(ours, data), loss(plain, data))


def make_act(**options: Any) -> CounterACTPolicy:
    torch.manual_seed(0)
    return CounterACTPolicy(CounterACTConfig(**ACT, **options), dataset_stats=STATS)


def make_diffusion(**options: Any) -> CounterDiffusionPolicy:
    torch.manual_seed(0)
    return CounterDiffusionPolicy(CounterDiffusionConfig(**DIFFUSION, **options))


def make_flow(**options: Any) -> CounterBCPolicy:
    return CounterBCPolicy(CounterBCConfig(kind="flow", **OURS, **options), dataset_stats=STATS)


def make_mixture(**options: Any) -> CounterBCPolicy:
    return CounterBCPolicy(CounterBCConfig(kind="chunk", **OURS, **options), dataset_stats=STATS)


ALL = [(make_act, None), (make_diffusion, 2), (make_flow, None), (make_mixture, None)]


def test_act_pays_nothing_within_the_radius_and_less_than_act_outside() -> None:
    policies = [make_act(radius=r, kl_weight=0.0) for r in (0.0, 0.1, 10.0)]
    losses = [loss(policy, batch()).item() for policy in policies]
    assert losses[2] == 0
    assert 0 < losses[1] < losses[0]


@pytest.mark.parametrize(("make", "history"), ALL)
def test_losses_per_sample_average_to_the_loss(make: Any, history: int | None) -> None:
    policy, data = make(radius=0.0), batch(4, history)
    each = loss(policy, data, reduction="none")
    assert each.shape == (6,)
    torch.testing.assert_close(each.mean(), loss(policy, data))


@pytest.mark.parametrize(("make", "history"), ALL)
def test_gradients_reach_every_parameter(make: Any, history: int | None) -> None:
    policy = make(radius=0.2)
    loss(policy, batch(4, history)).backward()
    assert all(p.grad is not None for p in policy.parameters() if p.requires_grad)


@pytest.mark.parametrize(("make", "history"), ALL)
def test_a_frame_of_weight_0_does_not_count(make: Any, history: int | None, tmp_path: Path) -> None:
    path = tmp_path / "weights.parquet"
    weights = pa.table({"index": [5, 4, 3, 2, 1, 0], "weight": [1.0, 1.0, 1.0, 1.0, 1.0, 0.0]})
    pq.write_table(weights, path)
    policy = make(radius=0.0, weights_path=str(path))
    data = batch(4, history)
    expected = loss(policy, data)
    data["action"][0] = 100.0
    torch.testing.assert_close(loss(policy, data), expected)


WEIGHTS = [0.2, 0.4, 0.6, 0.8, 1.0, 3.0]  # 1 on average


@pytest.mark.parametrize(("make", "history"), ALL)
def test_weights_multiply_the_loss_of_each_frame(
    make: Any, history: int | None, tmp_path: Path
) -> None:
    path, data = tmp_path / "weights.parquet", batch(4, history)
    pq.write_table(pa.table({"index": list(range(6)), "weight": WEIGHTS}), path)
    plain, policy = make(radius=0.1), make(radius=0.1, weights_path=str(path))
    each = loss(plain, data, reduction="none") * torch.tensor(WEIGHTS)
    torch.testing.assert_close(loss(policy, data, reduction="none"), each)
    torch.testing.assert_close(loss(policy, data), each.mean())


@pytest.mark.parametrize(("make", "history"), ALL)
def test_weights_count_in_a_batch_of_one(make: Any, history: int | None, tmp_path: Path) -> None:
    path = tmp_path / "weights.parquet"
    pq.write_table(pa.table({"index": list(range(6)), "weight": WEIGHTS}), path)
    plain, policy = make(radius=0.1), make(radius=0.1, weights_path=str(path))
    for i, weight in enumerate(WEIGHTS):
        one = {name: x[i : i + 1] for name, x in batch(4, history, pad=1).items()}
        torch.testing.assert_close(loss(policy, one), weight * loss(plain, one))


def test_weights_multiply_the_kl_term_of_act(tmp_path: Path) -> None:
    path = tmp_path / "weights.parquet"
    pq.write_table(pa.table({"index": list(range(6)), "weight": WEIGHTS}), path)
    plain, policy = (  # nothing lies outside this radius, so that only the KL term is left
        make_act(radius=100.0, kl_weight=10.0, **options)
        for options in ({}, {"weights_path": str(path)})
    )
    each = loss(plain, batch(), reduction="none")
    assert (each > 0).all()
    assert each.std() > 1e-4 * each.mean()
    torch.testing.assert_close(loss(policy, batch()), (each * torch.tensor(WEIGHTS)).mean())


def test_weights_are_scaled_to_an_average_of_1(tmp_path: Path) -> None:
    for factor in (1.0, 0.01, 1000.0):
        path = tmp_path / f"{factor}.parquet"
        table = {"index": [5, 4, 3, 2, 1, 0], "weight": [factor * w for w in WEIGHTS[::-1]]}
        pq.write_table(pa.table(table), path)
        torch.testing.assert_close(FrameWeights(path).at(torch.arange(6)), torch.tensor(WEIGHTS))
    pq.write_table(pa.table({"index": [0, 1], "weight": [0.0, 0.0]}), path)
    with pytest.raises(ValueError, match="nothing is left to learn from"):
        FrameWeights(path)


@pytest.mark.parametrize(("make", "history"), ALL)
def test_a_lag_leaves_out_frames_without_an_answer(make: Any, history: int | None) -> None:
    policy = make(radius=0.0, lag=1.0)
    data = batch(4, history, pad=4)
    expected = loss(policy, data)
    data["action"][0] += 50.0
    torch.testing.assert_close(loss(policy, data), expected)


def test_a_lag_asks_for_later_actions_and_a_fraction_lies_between_two() -> None:
    assert lagged_indices([0, 1, 2], 0.0) == [0, 1, 2]
    assert lagged_indices([0, 1, 2], 2.0) == [2, 3, 4]
    assert lagged_indices([-1, 0], 1.5) == [0, 1, 2]
    data = {"action": torch.tensor([[[0.0], [2.0], [6.0]]]), "action_is_pad": torch.zeros(1, 3) > 0}
    assert undo_lag(data, 0.25)["action"].flatten().tolist() == [0.5, 3.0]
    assert undo_lag(data, 1.0) is data


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("MIN_MAX", 0.5), ("MEAN_STD", 2.0), ("IDENTITY", 2.0)],
)
def test_the_radius_is_measured_in_half_the_range_of_actions(mode: str, expected: float) -> None:
    config = CounterACTConfig(radius=0.5, **ACT)
    config.normalization_mapping["ACTION"] = NormalizationMode(mode)
    radius = normalized_radius(config, STATS)
    assert radius is not None
    assert radius.tolist() == [expected, expected]


def test_weights_that_do_not_number_all_frames_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "weights.parquet"
    nan = float("nan")
    for index, weight in (([0, 2], [1.0, 1.0]), ([0, 1], [1.0, -1.0]), ([0, 1], [1.0, nan])):
        pq.write_table(pa.table({"index": index, "weight": weight}), path)
        with pytest.raises(ValueError, match="write it again"):
            FrameWeights(path)
    pq.write_table(pa.table({"index": [0, 1], "weight": [1.0, 0.5]}), path)
    with pytest.raises(ValueError, match="has 2 weights"):
        FrameWeights(path).at(torch.tensor([2]))


@pytest.mark.parametrize(
    ("kind", "options", "text"),
    [
        (CounterACTConfig, {"radius": -1.0}, "radius is -1"),
        (CounterDiffusionConfig, {"lag": -1.0}, "lag is -1"),
        (CounterDiffusionConfig, {"counterfactuals": -1}, "counterfactuals is -1"),
        (CounterBCConfig, {"kind": "mlp"}, "choose one of gaussian-mlp"),
    ],
)
def test_options_that_mean_nothing_are_refused(kind: Any, options: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        kind(device="cpu", **options)


def test_a_new_policy_of_counterbc_warns_of_cameras_that_it_does_not_read() -> None:
    camera = {"observation.images.top": PolicyFeature(FeatureType.VISUAL, (3, 64, 64))}
    options = OURS | {"input_features": FEATURES["input_features"] | camera}
    with pytest.warns(UserWarning, match=r"does not read observation\.images\.top, only .*state"):
        CounterBCPolicy(CounterBCConfig(kind="flow", **options), dataset_stats=STATS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        make_flow()
    assert not any("does not read" in str(warning.message) for warning in caught)
