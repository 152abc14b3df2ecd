"""counterbc radius"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType

from counterbc.commands.command import DeviceCommand, Json, plain_table
from counterbc.commands.data_command import DataCommand, Demos
from counterbc.commands.options import Group
from counterbc.commands.train import SETTINGS

if TYPE_CHECKING:
    from counterbc.selection.radius import RadiusChoice

_DATA_OPTIONS = ("obs", "format", "method", "preset", "settings", "device")


@dataclass(frozen=True)
class Radius(DataCommand, DeviceCommand):
    """Choose the radius Δ from the data: the one whose policies best predict held-out actions."""

    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    method: str = "counter-bc"
    """The method that will be trained."""
    preset: str = "default"
    """The settings that it will be trained with."""
    per_dimension: bool = False
    """Also show the radius that each action dimension would choose for itself."""
    plot: Path | None = None
    """Draw the curve to a .png or .svg file."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.methods import METHODS
        from counterbc.settings import PRESETS

        return {**super().option_choices(), "method": METHODS, "preset": PRESETS}

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.selection.radius import RadiusSearch
        from counterbc.settings import PRESETS, Settings

        settings = Group(
            kind=Settings, presets=PRESETS, without=("radius", "steps", "held_out"), text=SETTINGS
        )
        return {"search": Group(kind=RadiusSearch), "settings": settings}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.files import check_free
        from counterbc.selection.radius import RadiusSearch, choose_radius
        from counterbc.selection.radius_figure import check_kind

        if self.plot is not None:
            check_kind(self.plot)
            check_free(self.plot)
        search, demos = RadiusSearch(**self.given_options("search")), self.read(self.demos)
        choice = choose_radius(
            demos, self.method, search=search, preset=self.preset, device=self.device,
            **self.given_options("settings"),
        )  # fmt: skip
        output = self._output(choice)
        payload: Json = choice.as_dict()
        if self.plot is not None:
            choice.plot(self.plot)
            payload["plot"] = str(self.plot)
            output.append(f"Picture: {self.plot}")
        output.append(f"\nNext: {self._next(choice)}")
        return payload, output

    def _next(self, choice: RadiusChoice) -> str:
        """Return the command that trains the same method with this radius."""
        words = ["counterbc", "train", *map(str, self.demos), *self.as_typed(*_DATA_OPTIONS)]
        for radius in choice.per_dimension if self.per_dimension else (choice.radius,):
            words += ["--radius", f"{radius:g}"]
        return shlex.join(words)

    def _output(self, choice: RadiusChoice) -> list[RenderableType]:
        rows = []
        for i, radius in enumerate(choice.radii):
            mark = "best or as good" if radius in choice.plateau else ""
            error = f"{choice.error[i]:.4f} ± {choice.error_se[i]:.4f}"
            above = f"{choice.difference[i]:+.4f} ± {choice.difference_se[i]:.4f}"
            rows.append((f"{radius:g}", error, above, mark))
        columns = ("Δ", "held-out squared error", "above Δ = 0", "")
        output: list[RenderableType] = [plain_table(columns, rows), f"\n{choice.explanation}"]
        if self.per_dimension:
            dimensions = zip(choice.action_names, choice.per_dimension, strict=True)
            output += [plain_table(("dimension", "Δ"), [(n, f"{r:g}") for n, r in dimensions])]
        return output + [f"Careful: {doubt}." for doubt in choice.warnings]
