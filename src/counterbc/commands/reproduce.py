"""counterbc reproduce, which only names the command that replaced it."""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Literal

from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json
from counterbc.errors import OptionError


@dataclass(frozen=True, kw_only=True)
class Reproduce(Command):
    """Print the command that replaced this one: python -m reproduction, in a checkout.

    It takes the options of its last release, so that the new command can be printed whole.
    """

    what: Positional[str] = "all"
    quick: bool = False
    paper_size: bool = False
    env: UseAppendAction[tuple[str, ...]] = ()
    noise: UseAppendAction[tuple[str, ...]] = ()
    pairs: UseAppendAction[tuple[int, ...]] = ()
    seeds: int | None = None
    steps: int | None = None
    episodes: int | None = None
    preset: str = "default"
    data: Path | None = None
    sd: float | None = None
    device: str | None = None
    on: Literal["local", "ray"] = "local"
    address: str | None = None
    workers: int | None = None
    mixed: bool = False
    out: Path = Path("reproduction")

    def run(self) -> tuple[Json, list[RenderableType]]:
        """Refuse with the sentence that names the new command."""
        names = [f.name for f in fields(self) if f.name not in ("what", "json")]
        command = " ".join([self.what, *self.as_typed(*names)])
        raise OptionError(
            "the paper's figures are not part of the package any more; in a checkout of the "
            f"repository run: python -m reproduction run {command}"
        )
