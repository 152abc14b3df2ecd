"""What a format has no place for, as one JSON object that travels beside the data.

written_by, action_low, action_high, action_set, action_names, obs_keys, obs_names, rate, masks
episodes: name, length, operator, success; reward: whether the data hold it, or the numbers;
selected, where the data have no place for it
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

import counterbc
from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats import json_files
from counterbc.formats.stream import Header, RawEpisode


@dataclass(frozen=True)
class Extras:
    """The object, read and checked."""

    header: dict[str, Any]
    """Fields of a `Header`, observations apart, since a reader may choose among them."""
    obs_keys: tuple[tuple[str, int], ...]
    obs_names: tuple[str, ...]
    episodes: list[dict[str, Any]]

    def restored(self, recording: RawEpisode, index: int) -> RawEpisode:
        """A recording with what is known about it; one that is not described stays as it is."""
        if index >= len(self.episodes):
            return recording
        known = self.episodes[index]
        reward, selected = known.get("reward"), known.get("selected")
        return replace(
            recording,
            name=str(known.get("name", recording.name)),
            operator=known.get("operator"),
            success=known.get("success"),
            reward=np.array(reward, np.float32) if isinstance(reward, list)
            else recording.reward if reward else None,
            selected=recording.selected if selected is None else np.array(selected, bool),
        )  # fmt: skip

    def check_fits(self, lengths: Sequence[int], where: str) -> None:
        """Refuse to tell by position whose episodes these are, where somebody changed them."""
        told = [e.get("length", n) for e, n in zip(self.episodes, lengths, strict=False)]
        if len(self.episodes) == len(lengths) and told == list(lengths):
            return
        differ = (i for i, (a, b) in enumerate(zip(told, lengths, strict=False)) if a != b)
        first = next(differ, len(told))
        raise FormatError(
            f"{where} does not fit this dataset: it describes {len(self.episodes)} episodes, the "
            f"dataset has {len(lengths)}, and from episode {first} on they differ; remove it to "
            "read without operators and names"
        )


def of(header: Header, episodes: list[dict[str, Any]]) -> dict[str, Any]:
    """The object for a dataset whose episodes were described by `about`."""
    low, high = header.action_low, header.action_high
    return {
        "written_by": f"counterbc {counterbc.__version__}",
        "action_low": None if low is None else low.tolist(),
        "action_high": None if high is None else high.tolist(),
        "action_set": header.action_set,
        "action_names": header.action_names,
        "obs_keys": header.obs_keys,
        "obs_names": header.obs_names,
        "rate": header.rate,
        "masks": header.masks,
        "episodes": episodes,
    }


def about(recording: RawEpisode, reward_held: bool, selected_held: bool = True) -> dict[str, Any]:
    """What to remember of one episode; also what the data have no place for."""
    reward: Any = recording.reward is not None
    if recording.reward is not None and not reward_held:
        reward = recording.reward.tolist()
    kept = {"operator": recording.operator, "success": recording.success, "reward": reward}
    if recording.selected is not None and not selected_held:
        kept["selected"] = recording.selected.astype(bool).tolist()
    told = {"name": recording.name, "length": len(recording.action)}
    return told | {k: v for k, v in kept.items() if v is not None}


def read(values: Mapping[str, Any], where: str) -> Extras:
    """Check the object; it may have been edited by hand."""
    pairs = json_files.entry(values, "obs_keys", list, where)
    if not all(isinstance(p, list) and [type(x) for x in p] == [str, int] for p in pairs):
        raise FormatError(f"{where}: obs_keys are {pairs!r:.60}; expected [name, width] pairs")
    masks = json_files.entry(values, "masks", dict, where)
    episodes = json_files.entry(values, "episodes", list, where)
    for episode in episodes:
        _check_episode(episode, where)
    return Extras(
        header={
            **{k: _numbers(values, k, where) for k in ("action_low", "action_high")},
            "action_set": json_files.entry(values, "action_set", str, where),
            "action_names": texts(values, "action_names", where),
            "rate": None if values.get("rate") is None else json_files.rate(values, "rate", where),
            "masks": {m: texts(masks, m, where) for m in masks},
        },
        obs_keys=tuple((key, width) for key, width in pairs),
        obs_names=texts(values, "obs_names", where),
        episodes=episodes,
    )


def lost_digits(dtypes: Iterable[Any]) -> list[str]:
    """What becomes of numbers with more bits than an `Episode` keeps, for a reader's left_out."""
    wide = any(np.dtype(dtype).itemsize > 4 for dtype in dtypes)
    return ["digits beyond 32 bits"] if wide else []


def _check_episode(episode: Any, where: str) -> None:
    if not isinstance(episode, dict):
        raise FormatError(f"{where}: episodes are not all objects; repair or remove them")
    kinds = {"name": str, "operator": str, "success": bool, "length": int, "selected": list}
    for key, kind in kinds.items():
        if key in episode:
            json_files.entry(episode, key, kind, where)
    if not all(isinstance(one, bool) for one in episode.get("selected", ())):
        raise FormatError(f"{where}: selected is not a list of true and false; repair or remove it")
    if isinstance(episode.get("reward"), list):
        _numbers(episode, "reward", where)


def _numbers(values: Mapping[str, Any], key: str, where: str) -> Array | None:
    """A list of numbers under `key`, or None."""
    if values.get(key) is None:
        return None
    try:
        return np.array(json_files.entry(values, key, list, where), np.float32)
    except (TypeError, ValueError):
        raise FormatError(f"{where}: {key} is not a list of numbers; repair or remove it") from None


def texts(values: Mapping[str, Any], key: str, where: str) -> tuple[str, ...]:
    """A list of texts under `key`."""
    found = json_files.entry(values, key, list, where)
    if not all(isinstance(text, str) for text in found):
        raise FormatError(f"{where}: {key} is {found!r:.60}; expected a list of texts; repair it")
    return tuple(found)
