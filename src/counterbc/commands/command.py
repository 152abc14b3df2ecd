"""What a command owes."""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, RenderableType
from rich.progress import Progress, SpinnerColumn, TextColumn
from rich.table import Table

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.formats.stream import RawEpisode, Stream

Json = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Command(ABC):
    """Options come as fields; libraries are imported when it runs, so that --help is quick."""

    json: bool = False
    """One JSON object on stdout, everything else on stderr."""

    @abstractmethod
    def run(self) -> tuple[Json, list[RenderableType]]:
        """Do it; what to say to machines, and what to people."""

    def status(self, said: Json) -> int:
        """The exit status after what was said."""
        return 0

    def given(self, *names: str) -> list[str]:
        """These options as they were typed, without those left as they are by default."""
        words = []
        for field in (f for f in fields(self) if f.name in names):
            value = getattr(self, field.name)
            if value != field.default:
                each = value if isinstance(value, tuple) else (value,)
                words += [word for one in each for word in (f"--{field.name}", str(one))]
        return words


def streams(
    paths: Sequence[Path], obs: Sequence[str] = (), mask: str | None = None,
    format: str | None = None,
) -> Iterator[Stream]:  # fmt: skip
    """The files episode by episode, in whatever format they are."""
    from counterbc.errors import OptionError
    from counterbc.formats import open_stream

    if not paths:
        raise OptionError("no demonstrations were given; name one file or more")
    for path in paths:
        stream = open_stream(path, obs or None, format=format).subset(mask)
        yield replace(stream, raw_episodes=_watched(stream.raw_episodes, path.name))


def _watched(raw_episodes: Iterator[RawEpisode], title: str) -> Iterator[RawEpisode]:
    """The same, counted on stderr where people watch."""
    columns = (SpinnerColumn(), TextColumn("{task.description}: {task.completed} episodes"))
    console, watched = Console(stderr=True), sys.stderr.isatty()
    with Progress(*columns, console=console, transient=True, disable=not watched) as bar:
        task = bar.add_task(title, total=None)
        for recording in raw_episodes:
            yield recording
            bar.advance(task)


def read(
    paths: Sequence[Path], obs: Sequence[str] = (), mask: str | None = None,
    format: str | None = None,
) -> Demonstrations:  # fmt: skip
    """Several files as one dataset, the file naming the operator where none is recorded."""
    from counterbc.data.merge import merge

    return merge([s.demonstrations() for s in streams(paths, obs, mask, format)])


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table for people; the first column is text, the others numbers."""
    table = Table(box=None, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    return table
