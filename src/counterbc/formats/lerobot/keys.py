"""Observation keys of a LeRobot dataset: each is a feature, or a part of one that we joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from counterbc.errors import FormatError
from counterbc.formats.extras import Extras
from counterbc.formats.lerobot.info import Feature, Info

STATE, ENVIRONMENT = "observation.state", "observation.environment_state"


@dataclass(frozen=True)
class Key:
    """Numbers start … start + width of a feature, or all its pixels."""

    name: str
    feature: Feature
    start: int
    width: int
    names: tuple[str, ...]


def of_features(info: Info) -> list[Key]:
    """The observation.* features, the robot's state and its surroundings first."""
    first = {STATE: 0, ENVIRONMENT: 1}
    names = sorted(info.features, key=lambda n: first.get(n, 2))
    return [
        _whole(info.features[n])
        for n in names
        if n.startswith("observation.") and info.features[n].dtype != "string"
    ]


def of_extras(info: Info, extras: Extras, features: Sequence[str], where: str) -> list[Key]:
    """The keys that were joined when the dataset was written, and the cameras."""
    keys, used, end = [], dict.fromkeys(features, 0), 0
    if len(features) != len(extras.obs_keys):
        raise FormatError(f"{where}: {len(features)} features for {len(extras.obs_keys)} obs_keys")
    for (name, width), held_by in zip(extras.obs_keys, features, strict=True):
        feature = info.features.get(held_by)
        if feature is None or width < 1 or used[held_by] + width > feature.width:
            raise FormatError(
                f"{where}: feature {held_by!r:.80} does not hold the key {name!r:.80}"
            )
        names = extras.obs_names[end : end + width]
        keys.append(Key(name, feature, used[held_by], width, names))
        used[held_by] += width
        end += width
    return keys + [k for k in of_features(info) if k.feature.camera]


def chosen(keys: Sequence[Key], wanted: Sequence[str] | None, info: Info) -> list[Key]:
    """The wanted keys in their order; without a wish all vectors, or else the one camera."""
    if not keys:
        raise FormatError(
            f"{info.path}: no feature is an observation; it has {', '.join(info.features)}; "
            "observations are called observation.state, observation.…"
        )
    picked = [k for k in keys if k.feature.vector] or list(keys)
    if wanted is not None:
        picked = [_found(keys, name, info) for name in wanted]
    if not picked or (len(picked) > 1 and any(k.feature.camera for k in picked)):
        raise FormatError(
            f"{info.path}: cannot join {', '.join(k.name for k in picked) or 'nothing'}; "
            f"choose one camera, or vectors only, of {', '.join(k.name for k in keys)}"
        )
    return picked


def _found(keys: Sequence[Key], name: str, info: Info) -> Key:
    """By its name, or without the words that every name begins with."""
    spellings = (name, f"observation.{name}", f"observation.images.{name}")
    for spelling in spellings:
        for key in keys:
            if key.name == spelling:
                return key
    allowed = ", ".join(k.name for k in keys)
    raise FormatError(f"{info.path}: no observation {name!r}; allowed: {allowed}")


def _whole(feature: Feature) -> Key:
    return Key(feature.name, feature, 0, feature.width, names(feature))


def names(feature: Feature) -> tuple[str, ...]:
    """The recorded names, or the feature's name with numbers; none for pixels."""
    if feature.camera:
        return ()
    return feature.names or tuple(f"{feature.name}[{i}]" for i in range(feature.width))
