"""What every command has: its options as fields, and a result for machines and for people."""

from __future__ import annotations

import math
import shlex
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar, Self

import tyro
from rich.console import RenderableType
from rich.table import Table

from counterbc.commands import options
from counterbc.commands.arguments import repeat_options
from counterbc.commands.option_names import unknown_option
from counterbc.commands.option_values import wrong_value
from counterbc.commands.options import Group
from counterbc.printing import printable, sentence

if TYPE_CHECKING:
    from counterbc.selection.shares import Explained

Json = dict[str, Any]
before_real_time: list[Callable[[], None]] = []
"""What has to end before an arm is driven or a studio serves, such as the watch over imports."""
_DIMENSIONS = 8  # action dimensions whose share is printed
COPIES = (".hdf5", ".h5", ".npz", "")
"""Endings of files that `Demonstrations.save` writes."""


def prepare_real_time() -> None:
    """End what would take time from a control loop."""
    for act in before_real_time:
        act()


@dataclass(frozen=True, kw_only=True)
class Command(ABC):
    """A command whose fields are its options.

    Modules of commands import the library inside functions, so that `counterbc --help` is quick.
    """

    json: bool = False
    """Print one JSON object to stdout, and everything else to stderr."""

    @abstractmethod
    def run(self) -> tuple[Json, list[RenderableType]]:
        """Do the work; return the JSON object, and what is printed without --json."""

    def session(self) -> AbstractContextManager[None]:
        """Return the context that the command runs in."""
        return nullcontext()

    def status(self, payload: Json) -> int:
        """Return the exit status for a result."""
        return 0

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        """Return the registry of names for each field that takes one, for the help."""
        return {}

    @classmethod
    def option_notes(cls) -> dict[str, str]:
        """Return sentences that follow the docstrings of fields in the help."""
        return {}

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        """Return the dataclasses of the library whose fields are options, by attribute."""
        return {}

    @classmethod
    def complete(cls) -> type[Self]:
        """Return the command with all its options; this imports the modules that define them."""
        return options.add_options(
            cls, cls.option_choices(), cls.option_groups(), cls.option_notes()
        )

    @classmethod
    def parse(cls, prog: str, arguments: Sequence[str]) -> Self:
        """Return the command with what was typed; exit with the help or an explanation instead."""
        command = cls.complete()
        words = repeat_options(command, arguments)
        text = unknown_option(command, prog, arguments)
        if not {"--help", "-h"} & set(words):
            text = text or wrong_value(command, prog, words)
        if text:
            print(sentence(f"error: {text}"), file=sys.stderr)
            sys.exit(2)
        return tyro.cli(command, prog=prog, args=words)

    def given_options(self, group: str) -> dict[str, Any]:
        """Return the options of a group that were typed."""
        return options.given_values(getattr(self, group))

    def as_typed(self, *names: str, changes: Mapping[str, Any] | None = None) -> list[str]:
        """Return these fields and groups as they were typed; defaults are left out.

        `changes` are options that replace those typed, or are added to them.
        """
        values: dict[str, Any] = {}
        for f in (f for f in fields(self) if f.name in names):
            if f.name in self.option_groups():
                labels = {g.name: g.metadata["option"] for g in fields(getattr(self, f.name))}
                values |= {labels[n]: v for n, v in self.given_options(f.name).items()}
            elif (value := getattr(self, f.name)) != f.default:
                values[f.name] = value
        return options.as_typed(values | dict(changes or {}))


@dataclass(frozen=True, kw_only=True)
class DeviceCommand(Command):
    """A command that trains policies."""

    device: str | None = None
    """cpu or cuda; by default cuda if there is a GPU."""


@dataclass(frozen=True, kw_only=True)
class TrainingCommand(DeviceCommand):
    """A command whose work may take long: it is announced, and kept when it is stopped."""

    quicker: ClassVar[str] = "fewer --steps"
    """What would take less time."""

    yes: bool = False
    """Continue without a question where the work will take long."""

    @contextmanager
    def session(self) -> Iterator[None]:
        from counterbc.training.session import LIMIT, Session, search_folder, use_session

        limit = math.inf if self.yes else LIMIT
        kept = search_folder(getattr(self, "out", None))
        with use_session(Session(limit, ask=agrees, quicker=self.advise, kept=kept)):
            yield

    def advise(self, step_seconds: float) -> str:
        """Return what would take less time, given the seconds of a step of one network."""
        return f"{self.quicker}, or a machine with a GPU"


def agrees(text: str) -> bool:
    """Ask in the terminal whether to continue; return False where there is none."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        return False
    print(f"{text} Continue? [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def suggestion(*words: object) -> str:
    """Return a command to paste into a shell."""
    return shlex.join(["counterbc", *map(str, words)])


def explained_lines(explained: Explained) -> list[RenderableType]:
    """Return how much of the actions can be predicted, from what, and what follows from it."""
    rows = [(label, str(share)) for label, share in explained.rows]
    each = [(f"  … of {name}", str(share)) for name, share in explained.dimensions]
    more = [(f"  … of {len(each) - _DIMENSIONS} more actions with --json", "")]
    if len(each) > 1:
        rows[1:1] = each[:_DIMENSIONS] + (more if len(each) > _DIMENSIONS else [])
    table = plain_table(("explained of the actions' variance", "share [90 %]"), rows)
    return [table, *(f"{sentence}." for sentence in explained.verdict), ""]


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Return a table whose first column is text and whose other columns are numbers."""
    table = Table(box=None, pad_edge=False)
    for i, column in enumerate(columns):
        table.add_column(printable(column), justify="left" if i == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(printable, row))
    return table
