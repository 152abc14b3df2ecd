"""counterbc reproduce, which only names the command that replaced it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from rich.console import RenderableType

from counterbc.commands.command import Command, Json
from counterbc.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Reproduce(Command):
    """Print the command that replaced this one: python -m reproduction, in a checkout."""

    words: tuple[str, ...] = ()
    """Everything that was typed, for the new command; its options are not checked here."""

    @classmethod
    def parse(cls, prog: str, arguments: Sequence[str]) -> Self:
        return cls(words=tuple(arguments))

    def run(self) -> tuple[Json, list[RenderableType]]:
        """Refuse with the sentence that names the new command."""
        raise OptionError(
            "the paper's figures are not part of the package any more; in a checkout of the "
            f"repository run: python -m reproduction run {shlex.join(self.words) or 'all'}"
        )
