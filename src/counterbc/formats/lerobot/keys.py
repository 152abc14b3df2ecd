"""Observation keys of a LeRobot dataset: each is a feature, or a part of one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from counterbc.errors import FormatError
from counterbc.formats.extras import Extras
from counterbc.formats.lerobot.info import Feature, Info

STATE, ENVIRONMENT = "observation.state", "observation.environment_state"
INDICES = ("timestamp", "frame_index", "episode_index", "index", "task_index")
LABELS = (
    *INDICES, "reward", "success", "done", "terminated", "truncated", "selected", "task",
    "annotation",
)  # fmt: skip
"""Features that are no observation, whatever else a dataset has."""
FEATURE_KEY = re.compile(r"observation\.[\w.\- ]+")
"""The names of keys that are also names of features."""
_CAMERA_NAME = re.compile(r"[\w.\- ]+")


@dataclass(frozen=True)
class Key:
    """Numbers start … start + width of each row of a feature, or all its pixels."""

    name: str
    feature: Feature
    start: int
    width: int
    names: tuple[str, ...]


def feature_keys(info: Info, actions: Sequence[Feature] = ()) -> list[Key]:
    """Return what can be an observation: features that are no text, label or action.

    The state of the robot and its environment come first, then the other observation.* features.
    """
    first = {STATE: 0, ENVIRONMENT: 1}
    names = sorted(info.features, key=lambda n: first.get(n, 2 if _is_observation(n) else 3))
    others = {*LABELS, *(f.name for f in actions)}
    return [
        _whole(info.features[n])
        for n in names
        if info.features[n].dtype != "string" and n not in others and not n.startswith("next.")
    ]


def action_features(info: Info, action: Sequence[str] | None = None) -> list[Feature]:
    """Return the features that `action` names; by default `action`, its parts action.arm,
    action.gripper, …, or `actions`."""
    features = info.features
    parts = [name for name in features if name.startswith("action.")]
    usual = ["action"] if "action" in features else parts or ["actions"]
    names = usual if action is None else action
    for name in names:
        if name not in features or not features[name].numeric:
            raise FormatError(
                f"{info.path}: there is no numeric feature named "
                f"{'action' if action is None else name}; it has {', '.join(features) or 'none'}; "
                "choose the action from these with --action, or action=[…] in Python"
            )
    return [features[name] for name in names]


def extras_keys(info: Info, extras: Extras, features: Sequence[str], label: str) -> list[Key]:
    """Return the keys that our writer joined into `features`, and the cameras."""
    keys, starts, end = [], dict.fromkeys(features, 0), 0
    if len(features) != len(extras.obs_keys):
        raise FormatError(
            f"{label}: obs_features has {len(features)} entries but obs_keys has "
            f"{len(extras.obs_keys)}; remove this file to read the features instead"
        )
    for (name, width), feature_name in zip(extras.obs_keys, features, strict=True):
        feature = info.features.get(feature_name)
        if feature is None or width < 1 or starts[feature_name] + width > feature.width:
            raise FormatError(
                f"{label}: feature {feature_name!r:.80} does not hold the key {name!r:.80}; "
                "remove this file to read the features instead"
            )
        names = extras.obs_names[end : end + width]
        keys.append(Key(name, feature, starts[feature_name], width, names))
        starts[feature_name] += width
        end += width
    for number, name in enumerate(extras.cameras):
        feature = info.features.get(camera_feature(name, number))
        if feature is None or not feature.camera:
            raise FormatError(
                f"{label}: there is no feature with the images of the camera {name!r:.80}; "
                "remove this file to read the features instead"
            )
        keys.append(replace(_whole(feature), name=name))
    names_read = {k.feature.name for k in keys}
    cameras = [k for k in feature_keys(info) if k.feature.camera]
    unread = [k for k in cameras if k.feature.name not in names_read]
    return keys + [k for k in unread if _is_observation(k.name)]


def camera_feature(name: str, number: int) -> str:
    """Return the name of the feature of a camera; an odd one is replaced by its number."""
    if FEATURE_KEY.fullmatch(name):
        return name
    plain = name if _CAMERA_NAME.fullmatch(name) else f"camera_{number}"
    return f"observation.images.{plain}"


def choose_keys(keys: Sequence[Key], obs: Sequence[str] | None, info: Info) -> list[Key]:
    """Return the keys that `obs` names, in that order; by default all vectors, or all cameras.

    If any key is named observation.…, the others are only read if they are chosen, except for
    `state` beside cameras alone. What is called an action is only read if it is chosen.
    """
    if not keys:
        raise FormatError(
            f"{info.path}: no feature is an observation; it has {', '.join(info.features)}; "
            "name observations observation.state, observation.…"
        )
    usual = [k for k in keys if _is_observation(k.feature.name)]
    usual = usual or [k for k in keys if not k.name.startswith("action")]
    vectors = [k for k in usual if k.feature.vector]
    vectors = vectors or [k for k in keys if k.name == "state" and k.feature.vector]
    choice = vectors or list(usual)
    if obs is not None:
        choice = [_find(keys, name, info) for name in obs]
    choice = list(dict.fromkeys(choice))
    if not choice:
        raise FormatError(
            f"{info.path}: no observation was chosen; choose from {', '.join(k.name for k in keys)}"
        )
    return choice


def _find(keys: Sequence[Key], name: str, info: Info) -> Key:
    """Return the key of this name, with or without observation. or observation.images."""
    spellings = (name, f"observation.{name}", f"observation.images.{name}")
    for spelling in spellings:
        for key in keys:
            if key.name == spelling:
                return key
    names = ", ".join(k.name for k in keys)
    raise FormatError(f"{info.path}: there is no observation {name!r}; allowed: {names}")


def _is_observation(name: str) -> bool:
    return name.startswith("observation.")


def _whole(feature: Feature) -> Key:
    return Key(feature.name, feature, 0, feature.width, dimension_names(feature))


def dimension_names(feature: Feature) -> tuple[str, ...]:
    """Return the recorded names, or the name of the feature with numbers; none for pixels."""
    if feature.camera:
        return ()
    return feature.names or tuple(f"{feature.name}[{i}]" for i in range(feature.width))
