"""What a format has no field for, as one JSON object that is stored beside the data.

| key | meaning |
|---|---|
| written_by | the version of this library |
| action_low, action_high, action_set, action_names | the action space |
| actions_are | whether actions are those asked or taken; null where unknown |
| relative | what actions are relative to; null where nothing is declared |
| angles | observation dimensions that are angles in radians |
| obs_keys, obs_names, rate, masks | as in `Demonstrations` |
| cameras | the names of the cameras, in order |
| episodes | for each episode: name, length, operator, success |
| episodes: reward | whether the data store it; the numbers if the data have no column for it |
| episodes: selected | only if the data have no column for it |
| checksum | of all other keys, where the file has no checksums of its own |
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.version import __version__
from counterbc.errors import FormatError
from counterbc.formats import json_files
from counterbc.formats.stream import Header, RawEpisode

ACTION_FACTS = (
    "action_low",
    "action_high",
    "action_set",
    "action_names",
    "actions_are",
    "relative",
)
"""Fields of a `Header` that only hold for the action they were written with."""


@dataclass(frozen=True)
class Extras:
    """The JSON object of a dataset, with the types of its values checked."""

    header: dict[str, Any]
    """Fields of a `Header`, except for observations, of which a reader may choose some."""
    obs_keys: tuple[tuple[str, int], ...]
    obs_names: tuple[str, ...]
    cameras: tuple[str, ...]
    episodes: list[dict[str, Any]]

    def name(self, index: int) -> str:
        """Return the name of an episode."""
        episode = self.episodes[index] if index < len(self.episodes) else {}
        return str(episode.get("name", f"demo_{index}"))

    def restore(self, raw: RawEpisode, index: int) -> RawEpisode:
        """Return an episode with its description added; one without description as it is."""
        if index >= len(self.episodes):
            return raw
        episode = self.episodes[index]
        reward, selected = episode.get("reward"), episode.get("selected")
        rows = slice(raw.begin, raw.begin + len(raw.action))
        return replace(
            raw,
            name=str(episode.get("name", raw.name)),
            operator=episode.get("operator"),
            success=episode.get("success"),
            reward=np.array(reward, np.float32)[rows] if isinstance(reward, list)
            else raw.reward if reward else None,
            selected=raw.selected if selected is None else np.array(selected, bool)[rows],
        )  # fmt: skip

    def without_action(self) -> Extras:
        """Return the same without the facts of the action, for one that is chosen by name."""
        facts = {k: v for k, v in self.header.items() if k not in ACTION_FACTS}
        return replace(self, header=facts)

    def check_fits(self, lengths: Sequence[int], label: str) -> None:
        """Raise a `FormatError` if the episodes changed, since they are matched by position."""
        expected_lengths = [
            e.get("length", n) for e, n in zip(self.episodes, lengths, strict=False)
        ]
        if len(self.episodes) == len(lengths) and expected_lengths == list(lengths):
            return
        differ = (
            i for i, (a, b) in enumerate(zip(expected_lengths, lengths, strict=False)) if a != b
        )
        first = next(differ, len(expected_lengths))
        raise FormatError(
            f"{label} does not fit this dataset: it describes {len(self.episodes)} episodes, the "
            f"dataset has {len(lengths)}, and they differ from episode {first} on; remove it to "
            "read the dataset without operators and names"
        )


def extras_json(
    header: Header, episodes: list[dict[str, Any]], cameras: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the JSON object for a dataset; `episodes` come from `describe`."""
    low, high = header.action_low, header.action_high
    return {
        "written_by": f"counterbc {__version__}",
        "action_low": None if low is None else low.tolist(),
        "action_high": None if high is None else high.tolist(),
        "action_set": header.action_set,
        "actions_are": header.actions_are,
        "relative": header.relative,
        "angles": header.angles,
        "action_names": header.action_names,
        "obs_keys": header.obs_keys,
        "obs_names": header.obs_names,
        "cameras": list(cameras),
        "rate": header.rate,
        "masks": header.masks,
        "episodes": episodes,
    }


def with_checksum(values: dict[str, Any]) -> dict[str, Any]:
    """Return a JSON object with the checksum of its keys, so that damage to it is noticed."""
    try:
        return values | {"checksum": _checksum(json.loads(json.dumps(values)))}
    except (TypeError, ValueError):  # not JSON: the writer explains it
        return values


def _checksum(values: Mapping[str, Any]) -> str:
    """Return the SHA-256 of what was read from JSON, however it is laid out in a file."""
    content = {key: value for key, value in values.items() if key != "checksum"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def describe(
    raw: RawEpisode, *, stores_reward: bool, stores_selected: bool = True
) -> dict[str, Any]:
    """Return the entry for one episode, with the values that the data have no column for."""
    reward: Any = raw.reward is not None
    if raw.reward is not None and not stores_reward:
        reward = raw.reward.tolist()
    optional = {"operator": raw.operator, "success": raw.success, "reward": reward}
    if raw.selected is not None and not stores_selected:
        optional["selected"] = raw.selected.astype(bool).tolist()
    entry = {"name": raw.name, "length": len(raw.action)}
    return entry | {key: value for key, value in optional.items() if value is not None}


def read_extras(values: Mapping[str, Any], label: str) -> Extras:
    """Read and check the JSON object, which may have been edited by hand."""
    if "checksum" in values and values["checksum"] != _checksum(values):
        raise FormatError(
            f"{label} changed since it was written; copy or download the dataset again, or remove "
            "its checksum if you edited it"
        )
    pairs = json_files.entry(values, "obs_keys", list, label)
    if not all(isinstance(p, list) and [type(x) for x in p] == [str, int] for p in pairs):
        raise FormatError(
            f"{label}: obs_keys is {pairs!r:.60}; expected a list of [name, width] pairs; repair it"
        )
    masks = json_files.entry(values, "masks", dict, label)
    episodes = json_files.entry(values, "episodes", list, label)
    for episode in episodes:
        _check_episode(episode, label)
    return Extras(
        header={
            **{k: _numbers(values, k, label) for k in ("action_low", "action_high")},
            "action_set": json_files.entry(values, "action_set", str, label),
            "actions_are": values.get("actions_are"),
            "relative": values.get("relative"),
            "angles": json_files.texts({"angles": [], **values}, "angles", label),
            "action_names": json_files.texts(values, "action_names", label),
            "rate": None if values.get("rate") is None else json_files.rate(values, "rate", label),
            "masks": {m: json_files.texts(masks, m, label) for m in masks},
        },
        obs_keys=tuple((key, width) for key, width in pairs),
        obs_names=json_files.texts(values, "obs_names", label),
        cameras=json_files.texts({"cameras": [], **values}, "cameras", label),
        episodes=episodes,
    )


def lost_digits(dtypes: Iterable[Any]) -> list[str]:
    """Return a note for `Header.left_out` if numbers have more bits than an `Episode` stores."""
    wide = any(np.dtype(dtype).itemsize > 4 for dtype in dtypes)
    return ["digits beyond 32 bits"] if wide else []


def _check_episode(episode: Any, label: str) -> None:
    if not isinstance(episode, dict):
        raise FormatError(f"{label}: episodes has an entry that is not an object; repair it")
    kinds = {"name": str, "operator": str, "success": bool, "length": int, "selected": list}
    for key, kind in kinds.items():
        if key in episode:
            json_files.entry(episode, key, kind, label)
    if not all(isinstance(flag, bool) for flag in episode.get("selected", ())):
        raise FormatError(f"{label}: selected is not a list of true and false; repair it")
    if isinstance(episode.get("reward"), list):
        _numbers(episode, "reward", label)


def _numbers(values: Mapping[str, Any], key: str, label: str) -> Array | None:
    """Return the list of numbers under `key`, or None if there is none."""
    if values.get(key) is None:
        return None
    try:
        return np.array(json_files.entry(values, key, list, label), np.float32)
    except (TypeError, ValueError, OverflowError):
        raise FormatError(f"{label}: {key} is not a list of numbers; repair it") from None
