"""counterbc convert"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json, streams

if TYPE_CHECKING:
    from counterbc.formats.stream import RawEpisode


@dataclass(frozen=True)
class Convert(Command):
    """Write demonstrations in another format, and tell what it could not carry over."""

    source: Positional[Path]
    """A file or folder of demonstrations, in any format."""
    out: Positional[Path]
    """What to write; it must not exist yet."""
    to: str | None = None
    """robomimic, lerobot, minari or npz; by default told by the ending of OUT."""
    mask: str | None = None
    """Convert only the episodes that this mask of the file names."""
    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation keys to convert, one --obs each; by default all that are not images."""
    format: str | None = None
    """The format of the source; by default found out."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.files import check_free
        from counterbc.formats import format_to_write, save

        check_free(self.out)
        to = format_to_write(self.out, self.to)
        (stream,) = streams([self.source], self.obs, self.mask, self.format)
        count = _Count()
        counted = replace(stream, raw_episodes=count.passing(stream.raw_episodes))
        lost = [*stream.header.left_out, *save(counted, self.out, format=to)]
        said: Json = {
            "source": str(self.source),
            "out": str(self.out),
            "format": to,
            "episodes": count.episodes,
            "pairs": count.pairs,
            "not_carried_over": lost,
        }
        text = f"{count.episodes} episodes, {count.pairs} pairs, written to {self.out} ({to})."
        if lost:
            text = "\n  ".join([f"{text}\nNot carried over:", *lost])
        return said, [text]


class _Count:
    """How many episodes and pairs went by."""

    def __init__(self) -> None:
        self.episodes = self.pairs = 0

    def passing(self, raw_episodes: Iterator[RawEpisode]) -> Iterator[RawEpisode]:
        for r in raw_episodes:
            self.episodes += 1
            self.pairs += len(r.action)
            yield r
