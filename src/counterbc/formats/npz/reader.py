"""numpy .npz: long arrays, episodes end to end.

    obs (N, S), or images (N, H, W, C) uint8        action (N, A)        reward (N,), optional
    episode (N,) ids, or episode_ends (E,): the row after each episode's last; neither: one episode
    operator (N,) or (E,), optional                 selected (N,), optional

What arrays have no place for lies in `counterbc`, a text of JSON that our writer adds and that is
taken at its word. Nothing is ever unpickled, and arrays are read row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Array
from counterbc.errors import FormatError
from counterbc.formats import extras, json_files
from counterbc.formats.extras import Extras
from counterbc.formats.guard import guarded
from counterbc.formats.npz.members import Members
from counterbc.formats.npz.writer import write
from counterbc.formats.rows import column, lengths_from_ends, runs
from counterbc.formats.stream import Header, RawEpisode, Stream

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
        image, width = len(shape) > 2, 1 if len(shape) == 1 else shape[-1]
        header = Header(
            obs_keys=() if image else (("state", width),),
            source=str(path),
            left_out=_left_out(members),
        )
        known = None
        if "counterbc" in members.names:
            known, header = _read_known(members, header)
        episodes = _read_episodes(members, total)
    raw_episodes = _recordings(path, episodes)
    if known is not None:
        raw_episodes = (known.restored(r, i) for i, r in enumerate(raw_episodes))
    return Stream(header, raw_episodes).choose(obs)


def _left_out(members: Members) -> tuple[str, ...]:
    """What the file holds beyond what is read."""
    numbers = [n for n in ("obs", "action", "reward") if n in members.names]
    digits = extras.lost_digits(members.rows(n).take(0).dtype for n in numbers)
    return (*(n for n in members.names if n not in _READ), *digits)


@dataclass(frozen=True)
class _Place:
    """An episode's rows, and what is known beside them."""

    length: int
    name: str
    operator: str | None


def _recordings(path: Path, episodes: Sequence[_Place]) -> Iterator[RawEpisode]:
    with Members(path) as members:
        obs, action = members.rows("obs"), members.rows("action")
        reward = members.rows("reward") if "reward" in members.names else None
        selected = members.rows("selected") if "selected" in members.names else None
        for place in episodes:
            yield RawEpisode(
                obs=column(obs.take(place.length)),
                action=column(action.take(place.length)),
                reward=None if reward is None else reward.take(place.length),
                operator=place.operator,
                name=place.name,
                selected=None if selected is None else selected.take(place.length),
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


def _read_episodes(members: Members, total: int) -> list[_Place]:
    if "episode_ends" in members.names:
        what = f"{members.path}: episode_ends"
        lengths = lengths_from_ends(members.array("episode_ends"), total, what)
        names = [f"demo_{i}" for i in range(len(lengths))]
    elif "episode" in members.names and total:
        names, lengths = runs(members.array("episode"), f"{members.path}: episode")
    else:
        names, lengths = ["demo_0"], np.array([total])
    operators = _read_operators(members, lengths, total)
    return [_Place(*one) for one in zip(lengths.tolist(), names, operators, strict=True)]


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


def _read_known(members: Members, header: Header) -> tuple[Extras, Header]:
    """What our writer added, and the header with it."""
    where = f"{members.path}: counterbc"
    values = json_files.loads(str(members.array("counterbc")[()]), dict, where)
    known = extras.read(values, where)
    env_args = json_files.entry(values, "env_args", dict, where)
    keys = known.obs_keys or header.obs_keys
    return known, replace(
        header, **known.header, obs_keys=keys, obs_names=known.obs_names, env_args=env_args
    )
