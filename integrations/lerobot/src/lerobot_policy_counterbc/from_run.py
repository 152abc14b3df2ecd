"""Checkpoints of LeRobot from runs of `counterbc train`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from lerobot.configs.types import FeatureType, PolicyFeature

from counterbc.acting.policies import Policies, policy_kind
from counterbc.data.names import shape_text
from counterbc.errors import OptionError
from counterbc.files import aside, check_free

from .configuration_counterbc import ENVIRONMENT, STATE, CounterBCConfig
from .modeling_counterbc import CounterBCPolicy, described
from .processor_counterbc import make_counterbc_pre_post_processors

_PREFIX = "observation."


def write_checkpoint(
    run: str | Path,
    out: str | Path,
    features: Mapping[str, int] | None = None,
    member: int = 0,
    act: str = "mean",
) -> CounterBCPolicy:
    """Write a checkpoint that lerobot-eval and its kin load, and return its policy.

    `features` are the LeRobot features that form the observation vector, in order, with their
    widths. By default they are the keys that the run was trained on, if these are features, or
    observation.state for a single key.
    """
    policies = Policies.load(run)[member]
    policies = replace(policies, curve=None, weighting_params={})
    policy = CounterBCPolicy(_config(policies, features, act))
    tensors = policies.contents()[1]
    missing, _ = policy.load_state_dict({k.replace(".", ":"): v for k, v in tensors.items()})
    assert not missing
    check_free(out := Path(out))
    with aside(out) as folder:
        policy.save_pretrained(folder)
        for processor in make_counterbc_pre_post_processors(policy.config):
            processor.save_pretrained(folder)
    return policy.eval()


def _config(policies: Policies, features: Mapping[str, int] | None, act: str) -> CounterBCConfig:
    observed, policy = policies.observed, policies.policy
    widths = _vector_features(policies, features) if observed.size else {}
    inputs = {key: PolicyFeature(_kind(key), (width,)) for key, width in widths.items()}
    for name, (height, width, channels) in zip(observed.cameras, observed.images, strict=True):
        key = name if name.startswith(_PREFIX) else f"{_PREFIX}images.{name}"
        inputs[key] = PolicyFeature(FeatureType.VISUAL, (channels, height, width))
    run, tensors = policies.contents()
    return CounterBCConfig(
        kind=policy_kind(policy),
        hidden=list(policy.hidden),
        n_obs_steps=policy.history,
        chunk_size=policy.horizon,
        n_action_steps=policy.execute,
        radius=max(policies.members[0].radius),
        act=act,
        obs_keys=list(widths),
        run=described(run, tensors),
        input_features=inputs,
        output_features={"action": PolicyFeature(FeatureType.ACTION, (policies.action_size,))},
        device="cpu",
        push_to_hub=False,
    )


def _vector_features(policies: Policies, features: Mapping[str, int] | None) -> dict[str, int]:
    """Return the features of the vector with their widths, which add up to its size."""
    size, keys = policies.observed.size, policies.run_config.obs_keys
    if features is None:
        names = [name.partition("[")[0] for name in policies.run_config.obs_names]
        widths = {key: names.count(key) for key in keys}
        if len(keys) <= 1:
            key = keys[0] if keys and keys[0].startswith(_PREFIX) else STATE
            widths = {key: size}
        if not all(key.startswith(_PREFIX) for key in widths) or sum(widths.values()) != size:
            raise OptionError(
                f"the run reads {' and '.join(keys)}, which are not names of LeRobot features; "
                f"give the features that form its vector of {size} numbers with their widths, such "
                f"as --features {ENVIRONMENT}:{size - 2} {STATE}:2"
            )
        return widths
    if sum(features.values()) != size:
        text = " + ".join(shape_text((width,)) for width in features.values())
        raise OptionError(f"the features have {text} numbers; the run reads {size}")
    return dict(features)


def _kind(key: str) -> FeatureType:
    return FeatureType.ENV if key == ENVIRONMENT else FeatureType.STATE
