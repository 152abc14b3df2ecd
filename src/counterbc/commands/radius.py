"""counterbc radius"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType

from counterbc.commands.command import explained_lines, plain_table
from counterbc.commands.options import Group
from counterbc.commands.selection_command import SelectionCommand

if TYPE_CHECKING:
    from counterbc.selection.radius_choice import RadiusChoice


@dataclass(frozen=True, kw_only=True)
class Radius(SelectionCommand):
    """Choose the radius Δ from the data: the one whose policies best predict held-out actions."""

    quicker: ClassVar[str] = "smaller --steps and --pairs, or fewer --radii"
    """What would take less time."""
    without: ClassVar[tuple[str, ...]] = ("radius", "steps", "held_out")
    """The radius is searched, with a number of steps of the search."""
    per_dimension: bool = False
    """Also show the radius that each action dimension would choose for itself."""

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.selection.radius import RadiusSearch

        return {"search": Group(kind=RadiusSearch), **super().option_groups()}

    def choose(self) -> RadiusChoice:
        from counterbc.selection.radius import RadiusSearch, choose_radius

        search = RadiusSearch(**self.given_options("search"))
        settings = self.checked_settings()
        return choose_radius(
            self.read(self.demos), self.method, search=search, preset=self.preset,
            device=self.device, **settings,
        )  # fmt: skip

    def chosen_options(self, choice: RadiusChoice) -> dict[str, Any]:
        if choice.is_flat:
            return {"radius": 0.0}
        return {"radius": choice.per_dimension if self.per_dimension else choice.radius}

    def can_tell(self, choice: RadiusChoice) -> bool:
        return choice.explained.tells

    def describe(self, choice: RadiusChoice) -> list[RenderableType]:
        rows = []
        for i, radius in enumerate(choice.radii):
            mark = "best or as good" if radius in choice.plateau else ""
            error = f"{choice.error[i]:.4f} ± {choice.error_se[i]:.4f}"
            above = f"{choice.difference[i]:+.4f} ± {choice.difference_se[i]:.4f}"
            rows.append((f"{radius:g}", error, above, mark))
        rows.append(("mean action", f"{choice.mean_action_error:.4f}", "", "for reference"))
        columns = ("Δ", "held-out squared error", "above Δ = 0", "")
        output = [*explained_lines(choice.explained), plain_table(columns, rows), ""]
        output.append(choice.explanation)
        if self.per_dimension:
            dimensions = zip(choice.action_names, choice.per_dimension, strict=True)
            output += [plain_table(("dimension", "Δ"), [(n, f"{r:g}") for n, r in dimensions])]
        doubts = [d.text for d in choice.doubts if d.kind != "nothing predicted"]  # said above
        return output + [f"Careful: {doubt}." for doubt in doubts]
