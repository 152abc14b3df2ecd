"""Datasets read and written episode by episode, so that memory stays flat whatever their size.

A format module gives

    recognizes(path) -> bool                        by content, cheaply; raises where it is damaged
    stream(path, obs=None) -> Stream                to read; `obs` chooses keys, in that order
    write(data, path) -> list[str]                  where it can; what could not be carried over

A `Stream` is a `Header` and an iterator of `RawEpisode`s. Readers hand out episodes as they lie
in the file, so that `inspect` can report what is wrong with them; `Stream.checked` and
`Stream.demonstrations` check them as `Demonstrations` does. Writers begin with
`Stream.of(data).checked()`, and so need no checks of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode, check_agree
from counterbc.data.raw_episode import Header, RawEpisode, raw_episodes, selection
from counterbc.errors import DataError, FormatError, unknown

__all__ = ["Header", "RawEpisode", "Stream"]


@dataclass(frozen=True, eq=False)
class Stream:
    """A dataset that passes by once, episode after episode."""

    header: Header
    raw_episodes: Iterator[RawEpisode]

    @classmethod
    def of(cls, data: Demonstrations | Stream) -> Stream:
        """The stream of what is in memory; a stream is itself."""
        if isinstance(data, Stream):
            return data
        return cls(Header.of(data), raw_episodes(data))

    def demonstrations(self) -> Demonstrations:
        """All of it in memory, checked."""
        episodes, chosen = [], []
        with _named(self.header.source):
            for recording in self.raw_episodes:
                episodes.append(recording.episode())
                chosen.append(recording.selected)
            return self.header.joined(episodes, selection([len(e) for e in episodes], chosen))

    def checked(self) -> Stream:
        """The same with all names filled in, each episode checked as it passes."""
        with _named(self.header.source):
            first = next(self.raw_episodes, None)
            if first is None:
                raise DataError("a dataset needs at least one episode; this one has none")
            one = self.header.joined([first.episode()])
        known = {"operators": self.header.operators, "left_out": self.header.left_out}
        return Stream(Header.of(one, **known), self._agreeing(first, one.episodes[0]))

    def _agreeing(self, first: RawEpisode, model: Episode) -> Iterator[RawEpisode]:
        """The raw_episodes with their arrays as an `Episode` holds them."""
        names = {model.name}
        yield _filled(first, model)
        with _named(self.header.source):
            for i, recording in enumerate(self.raw_episodes, 1):
                named = replace(recording, name=recording.name or f"demo_{i}")
                episode = named.episode()
                check_agree((model, episode))
                if episode.name in names:
                    raise DataError(f"two episodes are named {episode.name!r}; names must differ")
                names.add(episode.name)
                yield _filled(named, episode)

    def choose(self, obs: Sequence[str] | None) -> Stream:
        """The same with these observation keys only, in this order; all of them for None."""
        if obs is None:
            return self
        header, at, places = self.header, 0, {}
        for key, width in header.obs_keys:
            places[key] = range(at, at + width)
            at += width
        for key in obs:
            if key not in places:
                allowed = ", ".join(places) or "none can be chosen here"
                raise FormatError(f"{header.source} has no obs {key}; allowed: {allowed}")
        columns = [i for key in obs for i in places[key]]
        names = [header.obs_names[i] for i in columns] if header.obs_names else []
        keys = tuple((key, len(places[key])) for key in obs)
        left_out = (*header.left_out, *(f"obs/{key}" for key in places if key not in obs))
        chosen = replace(header, obs_keys=keys, obs_names=tuple(names), left_out=left_out)
        return Stream(chosen, (replace(r, obs=r.obs[:, columns]) for r in self.raw_episodes))

    def subset(self, mask: str | None) -> Stream:
        """The episodes that a mask names; all of them for None."""
        if mask is None:
            return self
        masks = self.header.masks
        if mask not in masks:
            raise unknown("mask", mask, masks or ("there are none",))
        kept = set(masks[mask])
        within = {m: tuple(n for n in names if n in kept) for m, names in masks.items()}
        return Stream(replace(self.header, masks=within), self._members(mask))

    def _members(self, mask: str) -> Iterator[RawEpisode]:
        members, found = set(self.header.masks[mask]), False
        for r in self.raw_episodes:
            if r.name in members:
                found = True
                yield r
        if not found:
            raise DataError(
                f"{self.header.source}: none of its episodes is in the mask {mask!r}; "
                "choose another mask"
            )


def _filled(recording: RawEpisode, episode: Episode) -> RawEpisode:
    return RawEpisode(
        episode.obs, episode.action, episode.reward, episode.operator, episode.success,
        episode.name, recording.selected,
    )  # fmt: skip


@contextmanager
def _named(source: str) -> Iterator[None]:
    """Errors in the data say where the data came from."""
    try:
        yield
    except DataError as error:
        said = str(error)
        raise DataError(said if said.startswith(source) else f"{source}: {said}") from None
