"""counterbc demo"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import RenderableType

from counterbc.commands.command import DeviceCommand, Json, plain_table, suggestion
from counterbc.commands.method_command import SETTINGS
from counterbc.commands.options import Group
from counterbc.printing import without_nan

if TYPE_CHECKING:
    from counterbc.acting.act import Act
    from counterbc.experiments.comparison import Outcome

WORLD = "intersection"
_DATA = ("noise", "sigma", "teacher", "pairs")
RADIUS = 0.4  # fixed, so that the demo takes minutes and not the time of a cross-validation


@dataclass(frozen=True)
class Demo(DeviceCommand):
    """Compare the paper's five methods on noisy synthetic demonstrations; no downloads."""

    seeds: int = 10
    """End-to-end runs; each has its own demonstrations."""
    pairs: int = 400
    """State-action pairs that each run learns from."""
    noise: str | None = None
    """The noise on the expert's actions; by default uniform."""
    sigma: float | None = None
    """Strength of the noise, where actions span [-1, 1]; by default 0.5."""
    teacher: str | None = None
    """A model of a human, or a crowd of them, instead of a noise; the quick ones react sooner than
    people can."""
    episodes: int = 100
    """Test starts of each run."""
    preset: str = "default"
    """The settings to start from."""
    out: Path | None = None
    """New folder for table, figure and rows; by default counterbc-demo or the next free name."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.demonstrators import NOISES, TEACHERS
        from counterbc.settings import PRESETS

        teachers = [name for name, teacher in TEACHERS.items() if teacher.acts_in(WORLD)]
        return {"noise": NOISES, "teacher": teachers, "preset": PRESETS}

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.settings import PRESETS, Settings

        presets = {
            name: replace(
                preset,
                radius=RADIUS if preset.radius == "auto" else preset.radius,
                steps=preset.step_count,
            )
            for name, preset in PRESETS.items()
        }
        only = ("radius", "steps", "kernel")
        return {"settings": Group(kind=Settings, only=only, presets=presets, text=SETTINGS)}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.demonstrators import DEFAULT_TEACHER, find_teacher
        from counterbc.errors import OptionError
        from counterbc.experiments.comparison import Comparison, run
        from counterbc.experiments.method_figures import comparison_figure
        from counterbc.experiments.simulated_cell import SimulatedCell
        from counterbc.files import aside, check_free, next_free

        out = self.out or next_free(Path("counterbc-demo"))
        check_free(out)
        if self.seeds < 2:
            raise OptionError(f"seeds is {self.seeds}; an interval needs 2 runs or more")
        find_teacher(self.teacher, self.noise, self.sigma, world=WORLD)  # or refuse it
        sigma = DEFAULT_TEACHER.sigma if self.sigma is None else self.sigma
        changes = self._changes()
        cell = SimulatedCell(
            world=WORLD, teacher=self.teacher or self.noise or DEFAULT_TEACHER.name,
            sigma=None if self.teacher else sigma, pairs=self.pairs, method="bc",
            radius=changes.pop("radius", None), seeds=self.seeds, episodes=self.episodes,
            preset=self.preset, steps=changes.pop("steps", None), changes=changes,
        )  # fmt: skip
        outcome = run(Comparison(cell, device=self.device))
        with aside(out) as folder:
            folder.mkdir()
            comparison_figure(outcome, folder, "demo")
            outcome.write(folder / "rows.parquet")
            table = json.dumps(without_nan(outcome.table()), indent=2)
            (folder / "table.json").write_text(table + "\n")
        payload: Json = {
            "folder": str(out),
            "expert_return": outcome.expert,
            "demonstrated_return": outcome.demonstrated,
            "same_starts": asdict(outcome.same_starts),
            "table": outcome.table(),
            "next": [suggestion("demonstrate", WORLD, *self.as_typed(*_DATA))],
        }
        return payload, [*_describe(outcome), f"\nFigure, table and rows are in {out}/"]

    def _changes(self) -> dict[str, Any]:
        """Return the settings that differ from the preset's."""
        from counterbc.settings import settings_for

        auto = settings_for(self.preset).radius == "auto"
        radius: dict[str, Any] = {"radius": RADIUS} if auto else {}
        return radius | self.given_options("settings")


def _describe(outcome: Outcome) -> list[RenderableType]:
    """Return the result in words and one table per way of acting."""
    from counterbc.acting.act import ACTS
    from counterbc.experiments.method_figures import ACT_TITLES

    cell, starts = outcome.comparison.cell, outcome.same_starts
    text = (
        f"World: Intersection, where a car must reach its goal and avoid another car. The "
        f"demonstrator is\nan expert with errors ({cell.demonstrator()}). "
        f"{cell.seeds} independent runs learn from {cell.pairs} state-action pairs each.\n\n"
        f"Return of the demonstrations: {starts.demonstrated:.2f}. The expert without errors earns "
        f"{starts.expert:.2f} from the same\nstarts: the difference is "
        f"{starts.difference.mean:+.2f} ± {starts.difference.se:.2f} (standard error over runs)."
    )
    parts: list[RenderableType] = [text]
    for act in ACTS:
        title = (
            f"\nPolicies that take the {ACT_TITLES[act]} (act={act}), "
            f"from {cell.episodes} new starts per run:"
        )
        parts += [title, _act_table(outcome, act)]
    note = (
        "\nReturn is the mean reward per episode; more is better. Brackets are 95 % intervals over "
        "runs.\nThe gain over BC is paired by run: all methods learn from the same demonstrations "
        "and are tested\nfrom the same starts. "
        f"From 1000 other starts the expert earns {outcome.expert:.2f}."
    )
    return [*parts, note]


def _act_table(outcome: Outcome, act: Act) -> RenderableType:
    from counterbc.acting.intervals import mean_interval, paired_difference

    rows = []
    for method in outcome.comparison.methods:
        runs, base = outcome.runs(method, act), outcome.runs("bc", act)
        gain = "" if method == "bc" else str(paired_difference(runs, base).interval)
        seconds = f"{outcome.seconds(method):.0f} s"
        rows.append((method, str(mean_interval(runs)), gain, seconds))
    return plain_table(("method", "return [95 %]", "gain over BC [95 %]", "training"), rows)
