"""The arrays of an .npz file that hold images of cameras."""

from __future__ import annotations

from collections.abc import Sequence

from counterbc.errors import FormatError
from counterbc.formats.npz.members import Members
from counterbc.formats.npz.writer import camera_array


def camera_arrays(members: Members, names: Sequence[str] | None) -> dict[str, str]:
    """Return the array of each camera by its name.

    `names` are those that our writer stored, None in other files, where every array of images is a
    camera.
    """
    images = [name for name in members.names if members.is_image(name)]
    if names is None or ("obs" in images and not names):  # as earlier versions wrote it
        return {"image" if name == "obs" else name: name for name in images}
    arrays = ["obs"] if "obs" in images else []
    arrays += [camera_array(i) for i in range(len(names) - len(arrays))]
    if absent := [array for array in arrays if array not in images]:
        raise FormatError(
            f"{members.path}: {absent[0]} should hold the images of a camera; save the file again"
        )
    return dict(zip(names, arrays, strict=True))


def split_choice(
    obs: Sequence[str] | None, cameras: dict[str, str], is_all: bool
) -> tuple[list[str] | None, dict[str, str]]:
    """Return the names in `obs` that are no cameras, and the cameras to read.

    By default these are all of them, or only the array `obs` if it holds images.
    """
    if obs is None:
        default = {name: array for name, array in cameras.items() if is_all or array == "obs"}
        return None, default
    in_obs = {n: a for name in obs for n, a in cameras.items() if name in (n, a)}
    return [n for n in obs if n not in in_obs and n not in in_obs.values()], in_obs
