"""counterbc radius"""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json, plain_table, read
from counterbc.commands.train import Family

if TYPE_CHECKING:
    from counterbc.selection.radius import RadiusChoice, RadiusSearch

_AGAIN = ("obs", "format", "method", "preset", "policy", "modes", "device")


@dataclass(frozen=True)
class Radius(Command):
    """Choose Δ from the data, by how well policies predict actions they did not learn from."""

    demos: Positional[tuple[Path, ...]]
    """Files or folders of demonstrations; several are merged."""
    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation keys to read, one --obs each; by default all that are not images."""
    format: str | None = None
    """robomimic, d4rl, npz, csv, lerobot or minari; by default found out."""
    per_dimension: bool = False
    """Also show the radius that each action dimension would choose for itself."""
    plot: Path | None = None
    """Draw the curve: a .png or .svg."""
    radii: UseAppendAction[tuple[float, ...]] = ()
    """The radii to try, one --radii each, from 0 on; by default 0, 0.1, … 0.8."""
    folds: int | None = None
    """Parts that are held out in turn; by default 5."""
    repeats: int | None = None
    """How often the folds are dealt anew; by default 1."""
    steps: int | None = None
    """Gradient steps of each policy; by default 3600, more for fewer than 400 pairs, and for a
    mixture as many as its training takes."""
    pairs: int | None = None
    """Of more pairs than these, so many are drawn at random; by default 2000."""
    seed: int | None = None
    """Deals the folds and draws the pairs; by default 0."""
    method: str = "counter-bc"
    """The method that will be trained."""
    preset: str = "default"
    """default, paper (the paper's text) or authors (their released code)."""
    policy: Family | None = None
    """The family of policies that will be trained, in place of the method's own."""
    modes: int | None = None
    """How many Gaussians a mixture has; 5 by default."""
    device: str | None = None
    """cpu or cuda; by default cuda where there is one."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.files import check_free
        from counterbc.selection.radius import choose_radius
        from counterbc.selection.radius_figure import check_kind

        if self.plot is not None:
            check_kind(self.plot)
            check_free(self.plot)
        search, demos = self._search(), read(self.demos, self.obs, format=self.format)
        choice = choose_radius(
            demos, self.method, search=search, preset=self.preset, device=self.device,
            policy=self.policy, modes=self.modes,
        )  # fmt: skip
        shown = self._shown(choice)
        said: Json = choice.as_dict()
        if self.plot is not None:
            choice.plot(self.plot)
            said["plot"] = str(self.plot)
            shown.append(f"Picture: {self.plot}")
        shown.append(f"\nNext: {self._next(choice)}")
        return said, shown

    def _next(self, choice: RadiusChoice) -> str:
        """The line that trains with this radius what was asked about here."""
        words = ["counterbc", "train", *map(str, self.demos), *self.given(*_AGAIN)]
        for radius in choice.per_dimension if self.per_dimension else (choice.radius,):
            words += ["--radius", f"{radius:g}"]
        return shlex.join(words)

    def _search(self) -> RadiusSearch:
        from counterbc.selection.radius import RadiusSearch

        names = ("radii", "folds", "repeats", "steps", "pairs", "seed")
        given = {name: getattr(self, name) for name in names}
        return RadiusSearch(**{k: v for k, v in given.items() if v not in (None, ())})

    def _shown(self, choice: RadiusChoice) -> list[RenderableType]:
        rows = []
        for i, radius in enumerate(choice.radii):
            mark = "best or as good" if radius in choice.plateau else ""
            error = f"{choice.error[i]:.4f} ± {choice.error_se[i]:.4f}"
            above = f"{choice.difference[i]:+.4f} ± {choice.difference_se[i]:.4f}"
            rows.append((f"{radius:g}", error, above, mark))
        columns = ("Δ", "held-out squared error", "above Δ = 0", "")
        shown: list[RenderableType] = [plain_table(columns, rows), f"\n{choice.explanation}"]
        if self.per_dimension:
            each = zip(choice.action_names, choice.per_dimension, strict=True)
            shown += [plain_table(("dimension", "Δ"), [(n, f"{r:g}") for n, r in each])]
        return shown + [f"Careful: {doubt}." for doubt in choice.warnings]
