"""What commands that choose numbers by cross-validation have in common."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import RenderableType

from counterbc.commands.command import Json, suggestion
from counterbc.commands.data_command import DATA_OPTIONS
from counterbc.commands.method_command import MethodCommand

_REPEATED = (*DATA_OPTIONS, "method", "preset", "settings", "device")


@dataclass(frozen=True, kw_only=True)
class SelectionCommand(MethodCommand):
    """A command that chooses numbers of a training by predicting held-out actions."""

    plot: Path | None = None
    """Draw the held-out errors to a .png or .svg file."""

    @abstractmethod
    def choose(self) -> Any:
        """Return the choice, which has `as_dict` and `plot`."""

    @abstractmethod
    def describe(self, choice: Any) -> list[RenderableType]:
        """Return the choice and its evidence, to be printed."""

    def chosen_options(self, choice: Any) -> dict[str, Any]:
        """Return the options of `counterbc train` that the choice adds to those typed here."""
        return {}

    def can_tell(self, choice: Any) -> bool:
        """Return whether the data predict enough for the choice to be recommended."""
        return True

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.files import check_free
        from counterbc.selection.radius_figure import check_kind

        if self.plot is not None:
            check_kind(self.plot)
            check_free(self.plot)
        choice = self.choose()
        output, payload = self.describe(choice), choice.as_dict()
        if self.plot is not None:
            choice.plot(self.plot)
            payload["plot"] = str(self.plot)
            output.append(f"Picture: {self.plot}")
        payload["next"] = [self._next(choice)]
        return payload, output

    def _next(self, choice: Any) -> str:
        """Return the command that trains with the choice, or that looks at the data again."""
        if not self.can_tell(choice):
            return suggestion("inspect", *self.demos, *self.as_typed(*DATA_OPTIONS))
        typed = self.as_typed(*_REPEATED, changes=self.chosen_options(choice))
        return suggestion("train", *self.demos, *typed)
