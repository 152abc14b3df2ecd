"""counterbc score"""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import RenderableType

from counterbc.commands.command import Json, plain_table
from counterbc.commands.data_command import Demos
from counterbc.commands.diagnosis_command import DiagnosisCommand

if TYPE_CHECKING:
    from counterbc.diagnosis import scores
    from counterbc.diagnosis.meaning import Meaning

UNITS = "each action dimension spans [-1, 1]"
_REPEATED = ("held_out", "obs", "format", "device")  # options that the next command repeats
_FAR = ("distance", "90 %", "noise", "lasting")
_MOVES = ("smoothness", "jerk", "idle", "efficiency", "saturation")


@dataclass(frozen=True)
class Score(DiagnosisCommand):
    """Tell how far demonstrations lie from what is believed to be meant, per episode and operator.

    The status is 0, 1 where they cannot be judged, and with --fail-on 3 where one is too far."""

    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    order: Literal["worst", "best", "file"] = "worst"
    """Which episode is shown first."""
    show: int = 20
    """How many episodes are shown; --json holds all."""
    exclude: int | None = None
    """How many of the worst episodes to leave out; by default a tenth."""
    weights: Path | None = None
    """Write one weight per pair to this Parquet file."""
    write_mask: str | None = None
    """Write a copy of a robomimic file to --out with a mask of this name, without the worst."""
    out: Path | None = None
    """The copy of --write-mask."""
    fail_on: float | None = None
    """Exit with status 3 where the distance of an episode or operator is above this."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        self._check()
        meaning = self.diagnose(self.demos)
        ranked = sorted(range(len(meaning.episodes)), key=lambda i: -meaning.episodes[i].distance)
        worst = sorted(ranked[: self._excluded(len(ranked))])
        written = self._write(meaning, worst)
        said: Json = {
            "source": meaning.demos.source,
            "units": UNITS,
            "radius": meaning.radius,
            "episodes": [{"index": i, **s.as_dict()} for i, s in enumerate(meaning.episodes)],
            "operators": [s.as_dict() for s in meaning.operators],
            "worst": worst,
            **written,
        }
        said["above"] = self._above(meaning)
        order = {"worst": ranked, "best": ranked[::-1], "file": sorted(ranked)}[self.order]
        shown = [meaning.episodes[i] for i in order[: max(self.show, 0)]]
        return said, [*_tables(meaning, shown), self._advice(meaning, worst, written)]

    def status(self, said: Json) -> int:
        return 3 if said["above"] else 0

    def _check(self) -> None:
        """Refuse what cannot be written before any work is done."""
        from counterbc.diagnosis.clean import check_mask
        from counterbc.errors import OptionError
        from counterbc.files import check_free

        if (self.write_mask is None) != (self.out is None):
            raise OptionError("--write-mask NAME and --out FILE belong together; give both")
        if self.exclude is not None and self.exclude < 0:
            raise OptionError(f"exclude is {self.exclude}; give 0 or more")
        if self.weights is not None and len(self.demos) > 1:
            raise OptionError(
                "weights are numbered within one dataset; give one, or merge them first"
            )
        for path in (self.weights, self.out):
            if path is not None:
                check_free(path)
        if self.write_mask is not None:
            formats = self.formats(self.demos)
            if formats != ("robomimic",):
                raise OptionError(
                    f"a mask is written into a copy of one robomimic file, not of "
                    f"{', '.join(formats)}; convert with: counterbc convert IN demos.hdf5"
                )
            check_mask(self.demos[0], self.write_mask)

    def _excluded(self, episodes: int) -> int:
        from counterbc.errors import OptionError

        if self.exclude is not None and self.exclude >= episodes:
            raise OptionError(
                f"exclude is {self.exclude} of {episodes} episodes; leave one or more"
            )
        return episodes // 10 if self.exclude is None else self.exclude

    def _write(self, meaning: Meaning, worst: list[int]) -> Json:
        from counterbc.diagnosis.clean import write_mask
        from counterbc.diagnosis.weights import write_weights

        if self.weights is not None:
            write_weights(meaning, self.weights)
        if self.write_mask is not None and self.out is not None:
            names = [e.name for i, e in enumerate(meaning.demos.episodes) if i not in worst]
            write_mask(self.demos[0], self.out, self.write_mask, names)
        wrote = {"weights": self.weights, "mask": self.write_mask, "out": self.out}
        return {k: None if v is None else str(v) for k, v in wrote.items()}

    def _above(self, meaning: Meaning) -> list[str]:
        limit = float("inf") if self.fail_on is None else self.fail_on
        return [s.name for s in (*meaning.operators, *meaning.episodes) if s.distance > limit]

    def _advice(self, meaning: Meaning, worst: list[int], written: Json) -> str:
        lines = [*self._exclusion(meaning, worst, written)]
        if written["weights"] is not None:
            lines.append(f"Weights of {len(meaning.shown)} pairs: {written['weights']}")
            if not any(meaning.radius):
                lines.append("The radius is 0, so all weights are 1.")
        above = self._above(meaning)
        if above:
            lines.append(f"Above {self.fail_on:g}: {', '.join(above)}")
        return "\n".join(lines)

    def _exclusion(self, meaning: Meaning, worst: list[int], written: Json) -> Iterator[str]:
        """What to paste to learn without the worst."""
        if not worst:
            yield "\nNone is left out of so few episodes; --exclude N says how many of the worst."
            return
        names = ", ".join(meaning.demos.episodes[i].name for i in worst)
        yield f"\nTo leave out the worst ({names}):"
        if len(self.demos) == 1:  # else the numbers are of the merged data
            yield f"  LeRobot    --dataset.exclude_episodes='{worst}'"
        if written["mask"] is not None:
            yield f'  robomimic  config.train.hdf5_filter_key = "{written["mask"]}"'
            yield f"             in {written['out']}"
        elif self.formats(self.demos) == ("robomimic",):
            yield f"  robomimic  {self._again(meaning, len(worst))}"

    def _again(self, meaning: Meaning, exclude: int) -> str:
        """This command, with the radius that was found, that writes the mask."""
        words = ["counterbc", "score", str(self.demos[0])]
        for radius in meaning.radius if len(set(meaning.radius)) > 1 else meaning.radius[:1]:
            words += ["--radius", f"{radius:g}"]
        words += self.as_typed(*_REPEATED)
        words += ["--exclude", f"{exclude}", "--write-mask", "good", "--out", "marked.hdf5"]
        return shlex.join(words)


def _tables(meaning: Meaning, episodes: list[scores.Score]) -> list[RenderableType]:
    from counterbc.acting.policies import radius_text

    shown: list[RenderableType] = [
        f"How far what was shown lies from what is believed (RMS over pairs; {UNITS};\n"
        f"larger is worse; radius {radius_text(meaning.radius)}): noise changes with every step, "
        "what lasts stays\n"
    ]
    if meaning.operators:
        columns = ("operator", "episodes", *_FAR, "bias", *_MOVES)
        rows = [
            (s.name, f"{s.episodes}", *_far(s), _bias(s), *_moves(s))
            for s in sorted(meaning.operators, key=lambda s: -s.distance)
        ]
        shown += [plain_table(columns, rows), ""]
    columns = ("episode", "operator", "pairs", *_FAR, *_MOVES)
    rows = [(s.name, s.operator or "", f"{s.pairs}", *_far(s), *_moves(s)) for s in episodes]
    shown.append(plain_table(columns, rows))
    if len(episodes) < len(meaning.episodes):
        shown.append(f"… {len(meaning.episodes) - len(episodes)} more episodes with --json")
    return shown


def _far(score: scores.Score) -> list[str]:
    return [f"{score.distance:.3f}", score.interval, f"{score.noise:.3f}", f"{score.lasting:.3f}"]


def _moves(score: scores.Score) -> list[str]:
    return [f"{score.kinematics[m]:.2f}" for m in _MOVES]


def _bias(score: scores.Score) -> str:
    """The largest ones of many dimensions."""
    text = [f"{b:+.2f}" for b in score.bias]
    return " ".join(text) if len(text) <= 4 else f"{max(text, key=lambda t: abs(float(t)))} at most"
