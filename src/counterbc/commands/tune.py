"""counterbc tune"""

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
    from counterbc.selection.tuning import Tuning

_REPEATED = ("obs", "format", "method", "preset", "settings", "device")


@dataclass(frozen=True)
class Tune(DataCommand, DeviceCommand):
    """Choose lag, radius, steps and ensemble from the data, by predicting held-out actions."""

    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    method: str = "counter-bc"
    """The method that will be trained."""
    preset: str = "default"
    """The settings that it will be trained with. Those of paper and authors fix every choice."""
    plot: Path | None = None
    """Draw the errors to a .png or .svg file."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.methods import METHODS
        from counterbc.settings import PRESETS

        return {**super().option_choices(), "method": METHODS, "preset": PRESETS}

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.selection.lag_errors import LagSearch
        from counterbc.selection.tuning import TuneSearch
        from counterbc.settings import PRESETS, Settings

        settings = Group(kind=Settings, presets=PRESETS, without=("held_out",), text=SETTINGS)
        lag = Group(kind=LagSearch, only=("seconds", "longest", "lag_steps"))
        return {"search": Group(kind=TuneSearch), "lag_search": lag, "settings": settings}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.files import check_free
        from counterbc.selection.lag_errors import LagSearch
        from counterbc.selection.radius_figure import check_kind
        from counterbc.selection.tuner import tune
        from counterbc.selection.tuning import TuneSearch

        if self.plot is not None:
            check_kind(self.plot)
            check_free(self.plot)
        tuning = tune(
            self.read(self.demos), self.method, preset=self.preset, device=self.device,
            search=TuneSearch(**self.given_options("search")),
            lag_search=LagSearch(**self.given_options("lag_search")),
            **self.given_options("settings"),
        )  # fmt: skip
        output = self._output(tuning)
        payload: Json = tuning.as_dict()
        if self.plot is not None:
            tuning.plot(self.plot)
            payload["plot"] = str(self.plot)
            output.append(f"Picture: {self.plot}")
        words = ["counterbc", "train", *map(str, self.demos), *self.as_typed(*_REPEATED)]
        output.append(f"\nNext: {shlex.join(words)}")
        return payload, output

    def _output(self, tuning: Tuning) -> list[RenderableType]:
        output: list[RenderableType] = [f"{sentence}." for sentence in tuning.sentences]
        if tuning.trials:
            counts = sorted({t.steps for t in tuning.trials})
            errors = {(t.radius, t.steps): t for t in tuning.trials}
            rows = []
            for radius in sorted({t.radius for t in tuning.trials}):
                texts = [f"{errors[radius, n].error.value:.4f}" for n in counts]
                rows.append((f"Δ {radius:g}", *texts))
            columns = ("held-out squared error", *(f"{n} steps" for n in counts))
            output += ["", plain_table(columns, rows), tuning.protocol]
        return output + [f"Careful: {doubt.text}." for doubt in tuning.doubts]
