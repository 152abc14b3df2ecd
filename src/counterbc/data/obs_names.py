"""The names of a dataset's dimensions, observation keys and cameras: checked, and filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from counterbc.data.dimensions import Named
from counterbc.errors import DataError


class Unnamed(Named, Protocol):
    """A dataset whose names may be missing."""

    @property
    def obs_shape(self) -> tuple[int, ...]: ...
    @property
    def action_size(self) -> int: ...
    @property
    def camera(self) -> str: ...
    @property
    def images(self) -> Mapping[str, Any]: ...


def filled_names(demos: Unnamed) -> dict[str, Any]:
    """Return the fields of a dataset that name its actions and the parts of its observations."""
    width = demos.action_size
    action_names = demos.action_names or tuple(f"action[{i}]" for i in range(width))
    if (count := len(action_names)) != width:
        raise DataError(f"{count} action names for {width} action dimensions; give one each")
    of_obs = _image_names(demos) if len(demos.obs_shape) > 1 else _vector_names(demos)
    return {"action_names": action_names, **of_obs}


def _image_names(demos: Unnamed) -> dict[str, Any]:
    if demos.obs_keys or demos.obs_names:
        raise DataError("obs_keys and obs_names are for vectors; leave them out for images")
    camera = demos.camera or "image"
    _check_different({camera}, demos)
    return {"camera": camera}


def _vector_names(demos: Unnamed) -> dict[str, Any]:
    (size,) = demos.obs_shape
    if demos.camera:
        raise DataError("camera names images in obs; leave it out where obs are vectors")
    keys = demos.obs_keys or (("state", size),)
    names = demos.obs_names or tuple(f"{key}[{i}]" for key, w in keys for i in range(w))
    if len({key for key, _ in keys}) < len(keys):
        raise DataError(f"obs_keys {keys} name a part twice; rename one")
    if min(w for _, w in keys) < 1 or sum(w for _, w in keys) != size:
        raise DataError(f"obs_keys {keys} do not add up to {size}; correct the widths")
    if (count := len(names)) != size:
        raise DataError(f"{count} obs names for {size} obs dimensions; give one each")
    _check_different({key for key, _ in keys}, demos)
    return {"obs_keys": keys, "obs_names": names}


def _check_different(names: set[str], demos: Unnamed) -> None:
    """Refuse a camera with the name of another part of the observation."""
    if twice := names & set(demos.images):
        raise DataError(f"two parts of the observation are named {twice.pop()!r}; rename one")
