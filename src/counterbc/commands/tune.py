"""counterbc tune"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from rich.console import RenderableType
from rich.table import Table

from counterbc.commands.command import explained_lines, plain_table
from counterbc.commands.method_command import refuse_radius
from counterbc.commands.options import Group
from counterbc.commands.selection_command import SelectionCommand

if TYPE_CHECKING:
    from counterbc.selection.tuning import Tuning


_TITLE = "Held-out squared error ± standard error (*: within one standard error of the choice)"


@dataclass(frozen=True, kw_only=True)
class Tune(SelectionCommand):
    """Choose lag, radius, steps and ensemble from the data, by predicting held-out actions."""

    quicker: ClassVar[str] = "--step-counts 200 800, smaller --pairs, or fewer --radii"
    """What would take less time."""
    without: ClassVar[tuple[str, ...]] = ("held_out",)
    """No loss curve is drawn."""
    preset: str = "default"
    """The settings that it will be trained with. Those of paper and authors fix every choice."""

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.selection.lag_errors import LagSearch
        from counterbc.selection.tuning import TuneSearch

        lag = Group(kind=LagSearch, only=("seconds", "longest"))
        return {"search": Group(kind=TuneSearch), "lag_search": lag, **super().option_groups()}

    def choose(self) -> Tuning:
        from counterbc.selection.lag_errors import LagSearch
        from counterbc.selection.tuner import tune
        from counterbc.selection.tuning import TuneSearch
        from counterbc.settings import settings_for

        search = TuneSearch(**self.given_options("search"))
        lag_search = LagSearch(**self.given_options("lag_search"))
        settings = self.checked_settings()
        refuse_radius(settings_for(self.preset, **settings), search.radii)
        return tune(
            self.read(self.demos), self.method, search=search, lag_search=lag_search,
            preset=self.preset, device=self.device, **settings,
        )  # fmt: skip

    def chosen_options(self, choice: Tuning) -> dict[str, Any]:
        """Return what the settings leave to the data, as it was chosen."""
        from counterbc.data.lags import typed_lag
        from counterbc.data.offsets import offsets_json
        from counterbc.methods import find_method
        from counterbc.settings import settings_for
        from counterbc.supports import Demonstrated

        settings = settings_for(self.preset, **self.given_options("settings"))
        _, method = find_method(self.method)
        offsets = dict(choice.offsets.offsets)
        options: dict[str, Any] = {
            "lag": typed_lag(choice.lag.lag, choice.lag.operators),
            "offsets": offsets_json(offsets) if offsets else "none",
        }
        if not isinstance(method.support, Demonstrated):
            options["radius"] = choice.radius
        if method.rounds == 1:  # --steps would shorten the earlier of several rounds too
            options["steps"] = choice.steps
        if method.shards == 1:  # the others average networks already
            options["ensemble"] = choice.ensemble
        return {name: v for name, v in options.items() if getattr(settings, name) == "auto"}

    def can_tell(self, choice: Tuning) -> bool:
        return choice.shares is None or choice.shares.tells

    def describe(self, choice: Tuning) -> list[RenderableType]:
        shares = choice.shares
        output: list[RenderableType] = [] if shares is None else explained_lines(shares)
        guess = (f"Until then these numbers are a guess: {choice.summary}",)
        sentences = choice.sentences if self.can_tell(choice) else guess
        output += [f"{sentence}." for sentence in sentences]
        if choice.trials:
            output += ["", _TITLE, _error_table(choice), choice.protocol]
        return output + [f"Careful: {doubt.text}." for doubt in choice.doubts]


def _error_table(choice: Tuning) -> Table:
    """Return the held-out errors of radii × steps with their standard errors."""
    from counterbc.selection.plateaus import is_as_good

    counts = sorted({t.steps for t in choice.trials})
    errors = {
        (t.radius, t.steps): f"{'*' * is_as_good(t)}{t.error.value:.4f} ± {t.error.se:.4f}"
        for t in choice.trials
    }
    rows = []
    for radius in sorted({t.radius for t in choice.trials}):
        texts = [errors.get((radius, n), "diverged") for n in counts]
        rows.append((f"Δ {radius:.3g}", *texts))
    return plain_table(("", *(f"{n} steps" for n in counts)), rows)
