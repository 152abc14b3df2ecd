"""Streams: datasets that are read and written one episode at a time, in constant memory.

A format is a module or an object with these functions:

    recognizes(path) -> bool            whether the content of a path has this format; must be fast
    stream(path, obs, action) -> Stream open a dataset; `obs` and `action` name keys, in that order,
                                        or are None; `action` is only given if the user chose it
    write(data, path) -> list[str]      optional: write a dataset, return what could not be stored

A `Stream` is a `Header` and an iterator of `RawEpisode`s. Readers yield episodes as the file holds
them, so `inspect` can report their problems. `Stream.checked` and `Stream.demonstrations` check
them as `Demonstrations` does. Writers begin with `Stream.of(data).checked()` and need no further
checks.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.data.bounds import checked_bounds
from counterbc.data.censoring import check_actions_are
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.dimensions import known_angles
from counterbc.data.episode import Episode, check_agree, is_image
from counterbc.data.episode_choice import EpisodeChoice
from counterbc.data.raw_episode import STREAM_FIELDS as STREAM
from counterbc.data.raw_episode import Header, RawEpisode, raw_episodes, selection
from counterbc.data.relative import check_relative, relative_dims
from counterbc.data.resizing import resize, resizing
from counterbc.errors import DataError, FormatError, OptionError, unknown
from counterbc.files import boundary
from counterbc.formats.asked import WHOLE, AskedPart, asked_rows, asking, is_asked
from counterbc.formats.untrusted import Tally, trusting

__all__ = ["Header", "RawEpisode", "Stream", "camera_names"]


@dataclass(frozen=True, eq=False)
class Stream:
    """A dataset whose episodes can be read once, one after the other."""

    header: Header
    raw_episodes: Iterator[RawEpisode]

    @classmethod
    def of(cls, data: Demonstrations | Stream) -> Stream:
        """Return the stream of a dataset in memory; a stream is returned unchanged."""
        if isinstance(data, Stream):
            return data
        return cls(Header.of(data), raw_episodes(data))

    def guarded(
        self, path: Path, trusted: bool = False, size: tuple[int, ...] = (), part: AskedPart = WHOLE
    ) -> Stream:
        """Return this stream with an explanation for whatever goes wrong while it is read.

        Unless the file is `trusted`, its memory and time are bounded. Images are resized to `size`
        if it is given. Only `part` is read.
        """
        raws = self.raw_episodes if part == WHOLE else _read_part(self.raw_episodes, part)
        raw_episodes = _guard(raws, path, trusted, size)
        return Stream(replace(self.header, image_size=size), raw_episodes)

    def with_known_angles(self) -> Stream:
        """Return this stream without angles of its file that are not among the observations."""
        header = self.header
        return replace(self, header=replace(header, angles=known_angles(header, header.angles)))

    def demonstrations(self) -> Demonstrations:
        """Read all episodes into memory and check them."""
        episodes, flags = [], []
        with _name_source(self.header.source):
            for raw in self.raw_episodes:
                episodes.append(raw.episode())
                flags.append(raw.selected)
            return self.header.with_episodes(episodes, selection([len(e) for e in episodes], flags))

    def checked(self) -> Stream:
        """Return this stream with all names filled in; each episode is checked when it is read."""
        header = self.header
        with _name_source(header.source):
            first = next(self.raw_episodes, None)
            if first is None:
                raise DataError("a dataset needs at least one episode; this one has none")
            sample = header.with_episodes([first.episode()])
        full = Header.of(sample, **{name: getattr(header, name) for name in STREAM})
        return Stream(full, self._check(first, sample.episodes[0]))

    def _check(self, first: RawEpisode, model: Episode) -> Iterator[RawEpisode]:
        """Yield the episodes with arrays as in an `Episode`; all must agree with `model`."""
        names = {model.name}
        yield _from_episode(model, first)
        with _name_source(self.header.source):
            for i, raw in enumerate(self.raw_episodes, 1):
                episode = replace(raw, name=raw.name or f"demo_{i}").episode()
                check_agree((model, episode))
                if episode.name in names:
                    raise DataError(f"two episodes are named {episode.name!r}; rename one of them")
                names.add(episode.name)
                yield _from_episode(episode, raw)

    def choose(self, obs: Sequence[str] | None) -> Stream:
        """Return this stream with only these observation keys, in this order; None: with all."""
        if obs is None:
            return self
        header, end, columns_of = self.header, 0, {}
        for key, width in header.obs_keys:
            columns_of[key] = range(end, end + width)
            end += width
        for key in obs:
            if key not in columns_of:
                keys = ", ".join(columns_of) or "none, since the observations are images"
                raise FormatError(
                    f"{header.source} has no observation key {key!r}; allowed: {keys}"
                )
        columns = [i for key in obs for i in columns_of[key]]
        subset = replace(
            header,
            obs_keys=tuple((key, len(columns_of[key])) for key in obs),
            obs_names=tuple(header.obs_names[i] for i in columns) if header.obs_names else (),
            left_out=(*header.left_out, *(f"obs/{key}" for key in columns_of if key not in obs)),
        )
        return Stream(
            subset,
            (
                raw if raw.error is not None else replace(raw, obs=raw.obs[:, columns])
                for raw in self.raw_episodes
            ),
        )

    def pick(self, choice: EpisodeChoice) -> Stream:
        """Return this stream with the episodes of a choice only."""
        if choice.is_all:
            return self
        raw_episodes = choice.filter(self.raw_episodes, self.header.source)
        return replace(self, raw_episodes=raw_episodes).subset(choice.mask)

    def subset(self, mask: str | None) -> Stream:
        """Return the episodes that a mask names; None: all of them."""
        if mask is None:
            return self
        masks = self.header.masks
        if mask not in masks:
            raise unknown("mask", mask, masks or ("there are none",))
        members = set(masks[mask])
        within = {m: tuple(n for n in names if n in members) for m, names in masks.items()}
        return Stream(replace(self.header, masks=within), self._members(mask))

    def declare(self, actions_are: str) -> Stream:
        """Return this stream with what its actions are, which its file must not contradict."""
        declared: Any = actions_are
        if self.header.actions_are not in (None, declared):
            raise OptionError(
                f"{self.header.source} declares that its actions are {self.header.actions_are}, "
                f"not {declared}; leave actions_are out, or correct the file"
            )
        check_actions_are(declared)
        return replace(self, header=replace(self.header, actions_are=declared))

    def declare_env(self, env: str) -> Stream:
        """Return this stream with the environment that a person names, whatever its file does."""
        return replace(self, header=replace(self.header, env_args={"env_name": env}))

    def declare_environment(self, keys: Sequence[str]) -> Stream:
        """Return this stream with the observation keys that describe the environment."""
        if not keys:
            return self
        full = self.checked()
        names = [name for name, _ in full.header.obs_keys]
        for key in keys:
            if key not in names:
                raise unknown("observation key of the environment", key, names)
        return replace(full, header=replace(full.header, environment_keys=tuple(keys)))

    def declare_bounds(self, low: Sequence[float], high: Sequence[float]) -> Stream:
        """Return this stream with bounds of its actions: one for all dimensions, or one each."""
        begin: list[RawEpisode] = []
        for raw in self.raw_episodes:  # up to the first one that can be read
            begin.append(raw)
            if raw.error is None:
                break
        size = begin[-1].action.shape[-1] if begin else 0
        if {len(low), len(high)} - {1, size}:
            raise OptionError(
                f"{len(low)} lower and {len(high)} upper bounds for {size} action dimensions; "
                "give --low and --high once for all, or once for each"
            )
        bounds = [np.broadcast_to(np.asarray(x, np.float32), (size,)) for x in (low, high)]
        checked_bounds(bounds[0], bounds[1], self.header.action_set, size)
        header = replace(self.header, action_low=bounds[0], action_high=bounds[1])
        return Stream(header, chain(begin, self.raw_episodes))

    def declare_angles(self, angles: Sequence[str]) -> Stream:
        """Return this stream with observations that are angles, besides those of its file."""
        header = replace(self.header, angles=(*self.header.angles, *angles))
        return replace(self, header=header)

    def declare_relative(self, relative: str) -> Stream:
        """Return this stream with what its actions are relative to, whatever its file declares."""
        check_relative(relative)
        full = self.checked()
        relative_dims(full.header, relative)
        return replace(full, header=replace(full.header, relative=relative))

    def _members(self, mask: str) -> Iterator[RawEpisode]:
        members, is_empty = set(self.header.masks[mask]), True
        for raw in self.raw_episodes:
            if raw.name in members:
                is_empty = False
                yield raw
        if is_empty:
            raise DataError(
                f"{self.header.source}: none of its episodes is in the mask {mask!r}; "
                "choose another mask"
            )


def camera_names(header: Header, raw: RawEpisode) -> list[str]:
    """Return the names of the cameras of an episode, that of `obs` first."""
    return [*([header.camera] if header.camera else []), *raw.images]


def _from_episode(episode: Episode, raw: RawEpisode) -> RawEpisode:
    """Return a raw episode with the checked arrays and the name of `episode`."""
    return RawEpisode(
        obs=episode.obs,
        action=episode.action,
        reward=episode.reward,
        operator=episode.operator,
        success=episode.success,
        name=episode.name,
        selected=raw.selected,
        images=episode.images,
    )


def _guard(
    raw_episodes: Iterator[RawEpisode], source: Path, trusted: bool, size: tuple[int, ...]
) -> Iterator[RawEpisode]:
    """Yield the same episodes; an error while one is read, and one without rows, is explained."""
    tally = Tally(source)
    while True:
        with trusting(trusted), boundary(source), resizing(size):
            raw = next(raw_episodes, None)
            if raw is None:
                return
            raw = _resized(raw, size) if size else raw
            tally.add(raw.action.nbytes + (raw.obs.nbytes if raw.obs.ndim < 4 else 0))
        for label, values in (("observation", raw.obs), ("action", raw.action)):
            if values.ndim == 0:
                raise FormatError(
                    f"{source}: the {label} of episode {raw.name!r} is a single number; "
                    "store one row per pair"
                )
        yield raw


def _read_part(raw_episodes: Iterator[RawEpisode], part: AskedPart) -> Iterator[RawEpisode]:
    """Yield the episodes that are asked for, up to the last of them, with the rows asked for."""
    missing_count = None if part.names is None else len(part.names)
    while missing_count != 0:
        with asking(part):
            raw = next(raw_episodes, None)
            if raw is None:
                return
            if not is_asked(raw.name):
                continue
            rows = asked_rows(len(raw.action))
        if missing_count is not None:
            missing_count -= 1
        yield raw if raw.begin or raw.error is not None else raw.take(rows)


def _resized(raw: RawEpisode, size: tuple[int, ...]) -> RawEpisode:
    """Return an episode with images of this height and width."""
    obs = resize(raw.obs, size) if is_image(raw.obs) else raw.obs
    images = {name: resize(x, size) if is_image(x) else x for name, x in raw.images.items()}
    return replace(raw, obs=obs, images=images)


@contextmanager
def _name_source(source: str) -> Iterator[None]:
    """Add the source of the data to errors in the data; explain other errors on data of a file."""
    try:
        with boundary(source) if source else nullcontext():
            yield
    except DataError as error:
        text = str(error)
        raise DataError(text if text.startswith(source) else f"{source}: {text}") from None
