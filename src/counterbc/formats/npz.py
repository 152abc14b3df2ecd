"""numpy .npz: long arrays, episodes end to end.

    obs (N, S), or images (N, H, W, C) uint8        action (N, A)        reward (N,), optional
    episode (N,) ids, or episode_ends (E,): the row after each episode's last; neither: one episode
    operator (N,) or (E,), optional                 selected (N,), optional

What arrays have no place for lies in `counterbc`, a text of JSON that our writer adds and that is
taken at its word. Nothing is ever unpickled, and arrays are read row by row.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.demonstrations import Demonstrations
from counterbc.episode import Array
from counterbc.errors import FormatError
from counterbc.formats.guard import guarded
from counterbc.formats.npz_members import Members
from counterbc.formats.npz_writer import write
from counterbc.formats.rows import column, lengths_from_ends, runs
from counterbc.formats.stream import Header, Recording, Stream

__all__ = ["read", "recognizes", "stream", "write"]

_READ = {"obs", "action", "reward", "episode", "episode_ends", "operator", "selected", "counterbc"}


def recognizes(path: Path) -> bool:
    """A zip archive, which every .npz is."""
    if not path.is_file():
        return False
    with guarded(path), path.open("rb") as file:
        return file.read(4) == b"PK\x03\x04"


def read(path: str | Path, obs: Sequence[str] | None = None) -> Demonstrations:
    return stream(path, obs).demonstrations()


def stream(path: str | Path, obs: Sequence[str] | None = None) -> Stream:
    """Episode by episode; without `counterbc` the observation has the one key `state`."""
    path = Path(path)
    with Members(path) as members:
        shape, total = members.shape("obs"), _check_rows(members)
        known = _read_known(members)
        episodes = _read_episodes(members, total, known.get("episodes"))
        fields = _header_fields(known, path)
        fields.setdefault("obs_keys", () if len(shape) > 2 else (("state", shape[-1]),))
        if len(shape) == 1:
            fields["obs_keys"] = (("state", 1),)
        left_out = tuple(n for n in members.names if n not in _READ)
        header = Header(**fields, source=str(path), left_out=left_out)
    return Stream(header, _recordings(path, episodes)).choose(obs)


@dataclass(frozen=True)
class _Told:
    """What is known of an episode beside its rows."""

    length: int
    name: str
    operator: str | None = None
    success: bool | None = None
    rewarded: bool = True


def _recordings(path: Path, episodes: Sequence[_Told]) -> Iterator[Recording]:
    with Members(path) as members:
        obs, action = members.rows("obs"), members.rows("action")
        reward = members.rows("reward") if "reward" in members.names else None
        selected = members.rows("selected") if "selected" in members.names else None
        for told in episodes:
            rewards = None if reward is None else reward.take(told.length)
            yield Recording(
                obs=column(obs.take(told.length)),
                action=column(action.take(told.length)),
                reward=rewards if told.rewarded else None,
                operator=told.operator,
                success=told.success,
                name=told.name,
                selected=None if selected is None else selected.take(told.length),
            )


def _check_rows(members: Members) -> int:
    """The number of rows, which all arrays share."""
    total = members.shape("action")[0]
    for name in ("obs", "reward", "episode", "selected"):
        rows = members.shape(name)[0] if name in members.names else total
        if rows != total:
            raise FormatError(
                f"{members.path}: {name} has {rows} rows but action has {total}; "
                "each action needs the state at which it was shown"
            )
    return total


def _read_episodes(members: Members, total: int, known: Any) -> list[_Told]:
    if "episode_ends" in members.names:
        what = f"{members.path}: episode_ends"
        lengths = lengths_from_ends(members.array("episode_ends"), total, what)
        names = [f"demo_{i}" for i in range(len(lengths))]
    elif "episode" in members.names and total:
        names, lengths = runs(members.array("episode"), f"{members.path}: episode")
    else:
        names, lengths = ["demo_0"], np.array([total])
    if known is not None:
        return _told_by_us(known, lengths, members.path)
    operators = _read_operators(members, lengths, total)
    both = zip(lengths.tolist(), names, operators, strict=True)
    return [_Told(length, name, operator) for length, name, operator in both]


def _read_operators(members: Members, lengths: Array, total: int) -> list[str | None]:
    """One for each episode; an empty text is nobody."""
    if "operator" not in members.names:
        return [None] * len(lengths)
    found = members.array("operator")
    if found.shape == (total,) and total != len(lengths):
        first = np.cumsum(lengths) - lengths
        same = found == np.repeat(found[first], lengths)
        if not same.all():
            row = int(np.flatnonzero(~same)[0])
            raise FormatError(f"{members.path}: operator changes within an episode, in row {row}")
        found = found[first]
    if found.shape != (len(lengths),):
        raise FormatError(
            f"{members.path}: operator has shape {found.shape}; expected one for each of {total} "
            f"rows or {len(lengths)} episodes"
        )
    texts = [o.decode(errors="replace") if isinstance(o, bytes) else str(o) for o in found.tolist()]
    return [o or None for o in texts]


# What our writer adds


def _read_known(members: Members) -> dict[str, Any]:
    if "counterbc" not in members.names:
        return {}
    try:
        known = json.loads(str(members.array("counterbc")[()]))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{members.path}: counterbc is not JSON ({error}); remove it") from None
    if not isinstance(known, dict):
        raise FormatError(f"{members.path}: counterbc is not a JSON object; remove it")
    return known


def _told_by_us(known: Any, lengths: Array, path: Path) -> list[_Told]:
    kinds = ((str,), (str, type(None)), (bool, type(None)), (bool,))
    proper = isinstance(known, list) and len(known) == len(lengths)
    for entry in known if proper else ():
        proper &= isinstance(entry, list) and len(entry) == len(kinds)
        proper = proper and all(isinstance(e, k) for e, k in zip(entry, kinds, strict=True))
    if not proper:
        raise FormatError(
            f"{path}: counterbc does not tell of {len(lengths)} episodes their name, operator, "
            "success and whether they were rewarded; remove it"
        )
    return [_Told(n, *entry) for n, entry in zip(lengths.tolist(), known, strict=True)]


def _header_fields(known: dict[str, Any], path: Path) -> dict[str, Any]:
    """The fields of a header, from JSON's lists to tuples, each of its kind."""
    kinds = {
        "action_low": list, "action_high": list, "action_set": str, "action_names": list,
        "obs_names": list, "obs_keys": list, "rate": float, "env_args": dict, "masks": dict,
    }  # fmt: skip
    fields = {k: v for k, v in known.items() if k in kinds and v is not None}
    try:
        for key, value in fields.items():
            if not isinstance(value, kinds[key]):
                raise TypeError(f"{key} is {value!r:.40}")
        for key in ("action_names", "obs_names"):
            fields[key] = tuple(map(_as_text, fields.get(key, ())))
        if "obs_keys" in fields:
            fields["obs_keys"] = tuple((_as_text(k), int(w)) for k, w in fields["obs_keys"])
        masks = fields.get("masks", {})
        fields["masks"] = {m: tuple(map(_as_text, names)) for m, names in masks.items()}
    except (TypeError, ValueError) as error:
        raise FormatError(f"{path}: counterbc is not as we write it ({error}); remove it") from None
    return fields


def _as_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r:.40} is no name")
    return value
