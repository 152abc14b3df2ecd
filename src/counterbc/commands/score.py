"""counterbc score"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from rich.console import RenderableType

from counterbc.commands.command import Json, explained_lines, plain_table, suggestion
from counterbc.commands.data_command import DATA_OPTIONS, Demos, check_numbered
from counterbc.commands.diagnosis_command import DiagnosisCommand

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.diagnosis import scores
    from counterbc.diagnosis.meaning import Meaning

UNITS = "each action dimension spans [-1, 1]"
_OUTLIERS = "Unlike what most others agree on (not always the largest distances above)"
_DISTANCES = ("distance", "90 %", "noise", "persistent")
_MOVES = ("speed", "smoothness", "jerk", "idle", "efficiency", "saturation")


@dataclass(frozen=True)
class ScoreCommand(DiagnosisCommand):
    """Score episodes and operators by how far they are from what held-out policies predict.

    Where these explain too little of the actions, nothing is ranked, excluded or written. The exit
    status is 0, or 1 if nothing can be scored, or 3 with --fail-on if one is too far."""

    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    order: Literal["worst", "best", "file"] = "worst"
    """The order of the episodes."""
    show: int = 20
    """Number of episodes to print; --json has all of them."""
    worst: int | None = None
    """Number of the worst episodes to exclude; by default those that clearly differ from the
    others, by policies that learn from the two thirds that agree best."""
    weights: Path | None = None
    """Write one weight per pair to this Parquet file."""
    episode_list: Path | None = None
    """Write the numbers of the kept episodes to this JSON file, for LeRobot."""
    write_mask: str | None = None
    """Name of a mask for the kept episodes, written to --out (a copy of the robomimic file)."""
    out: Path | None = None
    """The copy that --write-mask writes."""
    fail_on: float | None = None
    """Exit with status 3 if the distance of an episode or operator is above this."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.diagnosis.scores import correlations

        self._check()
        meaning = self.diagnose(self.demos)
        if not (meaning.explained.tells or self.force):
            return self._refuse(meaning)
        ranking = sorted(range(len(meaning.episodes)), key=lambda i: -_known(meaning.episodes[i]))
        worst = self._worst(meaning, ranking)
        files = self._write(meaning, worst)
        payload: Json = {
            **self._facts(meaning),
            "ranked": True,
            "correlations": {k: asdict(v) for k, v in correlations(meaning.episodes).items()},
            "episodes": [{"index": i, **s.as_dict()} for i, s in enumerate(meaning.episodes)],
            "operators": [s.as_dict() for s in meaning.operators],
            "worst": worst,
            **files,
        }
        payload["above"] = self._above(meaning)
        order = {"worst": ranking, "best": ranking[::-1], "file": sorted(ranking)}[self.order]
        episodes = [meaning.episodes[i] for i in order[: max(self.show, 0)]]
        output = [*explained_lines(meaning.explained), *_tables(meaning, episodes)]
        payload["next"] = [self._train_command(meaning, worst)]
        return payload, [*output, *_disguise(meaning), self._advice(meaning, worst, files)]

    def status(self, payload: Json) -> int:
        if not payload["ranked"]:
            return 1
        return 3 if payload["above"] else 0

    def _facts(self, meaning: Meaning) -> Json:
        return {
            "source": meaning.demos.source,
            "units": UNITS,
            "radius": meaning.radius,
            "lag": meaning.lag,
            "history": meaning.history,
            "kernel": self.kernel,
            "explained": meaning.explained.as_dict(),
        }

    def _refuse(self, meaning: Meaning) -> tuple[Json, list[RenderableType]]:
        """Return what is known without policies: how the episodes move, in the file's order."""
        names = ("name", "operator", "pairs", "kinematics")
        episodes = [{k: s.as_dict()[k] for k in names} for s in meaning.episodes]
        payload: Json = {
            **self._facts(meaning),
            "ranked": False,
            "episodes": [{"index": i, **e} for i, e in enumerate(episodes)],
            "operators": [],
            "worst": [],
            "above": [],
        }
        columns = ("episode", "operator", "pairs", *_MOVES)
        rows = [
            (s.name, s.operator or "", f"{s.pairs}", *_moves(s))
            for s in meaning.episodes[: max(self.show, 0)]
        ]
        output = [*explained_lines(meaning.explained), plain_table(columns, rows)]
        return payload, [
            *output,
            "\nNothing is ranked, excluded or written; --force does it all the same. The columns "
            "above do not depend on policies.",
        ]

    def _check(self) -> None:
        """Refuse what cannot be written, before the work."""
        from counterbc.diagnosis.clean import check_mask
        from counterbc.errors import OptionError
        from counterbc.files import check_free, check_suffix

        if (self.write_mask is None) != (self.out is None):
            raise OptionError("--write-mask NAME and --out FILE only work together; give both")
        check_numbered("weights", self.weights, self.demos, self.choice, ".parquet")
        check_numbered("episode-list", self.episode_list, self.demos, self.choice, ".json")
        if self.out is not None:
            check_free(self.out)
            check_suffix(self.out, (".hdf5", ".h5", ""), "file")
        if self.write_mask is not None:
            formats = self.formats(self.demos)
            if formats != ("robomimic",):
                raise OptionError(
                    f"a mask is written into a copy of one robomimic file, not of "
                    f"{', '.join(formats)}; convert with: counterbc convert IN demos.hdf5"
                )
            check_mask(self.demos[0], self.write_mask)

    def check_demos(self, demos: Demonstrations) -> None:
        from counterbc.errors import OptionError

        most = len(demos) - 1
        if self.worst is not None and not 0 <= self.worst <= most:
            raise OptionError(f"worst is {self.worst} of {most + 1} episodes; give 0 to {most}")

    def _worst(self, meaning: Meaning, ranking: list[int]) -> list[int]:
        """Return the episodes to exclude: as many of the worst as typed, or the outliers."""
        from counterbc.diagnosis.exclusion import find_outliers

        if self.worst is None:
            return find_outliers(
                meaning, self.held_out_policies, force=self.force, device=self.device,
                kernel=self.kernel,
            )  # fmt: skip
        return sorted(ranking[: self.worst])

    def _write(self, meaning: Meaning, worst: list[int]) -> Json:
        from counterbc.diagnosis.clean import write_mask
        from counterbc.diagnosis.weights import write_weights
        from counterbc.formats.lerobot.episode_list import write_episodes

        if self.episode_list is not None:
            write_episodes(self.episode_list, len(meaning.episodes), worst)
        if self.weights is not None:
            write_weights(meaning, self.weights)
        if self.write_mask is not None and self.out is not None:
            excluded = set(worst)
            names = [e.name for i, e in enumerate(meaning.demos.episodes) if i not in excluded]
            write_mask(self.demos[0], self.out, self.write_mask, names)
        files = {"mask": self.write_mask, "out": self.out, "weights": self.weights}
        files["episode_list"] = self.episode_list
        return {k: None if v is None else str(v) for k, v in files.items()}

    def _above(self, meaning: Meaning) -> list[str]:
        limit = float("inf") if self.fail_on is None else self.fail_on
        return [s.name for s in (*meaning.operators, *meaning.episodes) if s.distance > limit]

    def _advice(self, meaning: Meaning, worst: list[int], files: Json) -> str:
        lines = [*self._exclusion(meaning, worst, files)]
        if files["weights"] is not None:
            lines.append(f"Weights of {len(meaning.shown)} pairs: {files['weights']}")
            lines += [] if any(meaning.radius) else ["The radius is 0, so all weights are 1."]
        if above := self._above(meaning):
            lines.append(f"Above {self.fail_on:g}: {', '.join(above)}")
        return "\n".join(lines)

    def _exclusion(self, meaning: Meaning, worst: list[int], files: Json) -> Iterator[str]:
        """Yield how other trainers leave out the worst episodes."""
        from counterbc.diagnosis.exclusion import why_none
        from counterbc.formats.lerobot.episode_list import episodes_option

        if not worst:
            advice = "; use --worst N" if meaning.explained.tells else ""
            yield f"\n{why_none(meaning, force=self.force)}{advice}."
            return
        names = ", ".join(meaning.demos.episodes[i].name for i in worst)
        which = _OUTLIERS if self.worst is None else "The worst"
        yield f"\n{which}, which the next command excludes: {names}"
        if len(self.demos) == 1 and self.choice.is_all:  # otherwise the numbers are others
            yield f"  LeRobot    {episodes_option(len(meaning.episodes), worst)}"
        if files["mask"] is not None:
            yield f'  robomimic  config.train.hdf5_filter_key = "{files["mask"]}"'
            yield f"             in {files['out']}"
        elif self.formats(self.demos) == ("robomimic",):
            yield f"  robomimic  {self._mask_command(meaning)}"

    def _train_command(self, meaning: Meaning, worst: list[int]) -> str:
        """Return the command that trains without the worst episodes."""
        names = tuple(meaning.demos.episodes[i].name for i in worst)
        changes = {"exclude": (*self.exclude, *names)} if names else {}
        typed = self.as_typed(*DATA_OPTIONS, "settings", "device", changes=changes)
        return suggestion("train", *self.demos, *typed)

    def _mask_command(self, meaning: Meaning) -> str:
        """Return the same command with the radius that was chosen, which writes the mask."""
        from counterbc.data.lags import typed_lag
        from counterbc.data.radii import radius_of

        radius, demos = meaning.radius, meaning.demos
        if radius_of(radius[0], [demos]) == radius:  # one number says it
            radius = radius[:1]
        changes: Json = {"radius": radius}
        if any(meaning.lag):
            changes["lag"] = typed_lag(meaning.lag, demos.operators)
        if "kernel" in self.given_options("settings"):
            changes["kernel"] = self.kernel
        if self.worst is not None:
            changes["worst"] = self.worst
        changes |= {"write_mask": "good", "out": "marked.hdf5"}
        typed = self.as_typed("held_out", *DATA_OPTIONS, "device", "force", changes=changes)
        return suggestion("score", self.demos[0], *typed)


def _known(score: scores.Score) -> float:
    """Return the distance, or 0 for an episode that a lag leaves without pairs."""
    return score.distance if score.pairs else 0.0


def _tables(meaning: Meaning, episodes: list[scores.Score]) -> list[RenderableType]:
    from counterbc.acting.member import radius_text
    from counterbc.data.lags import lag_text

    lag = f", lag {lag_text(meaning.lag, meaning.demos.rate)}" if any(meaning.lag) else ""
    output: list[RenderableType] = [
        "How far demonstrated actions are from what held-out policies predict (RMS over pairs;\n"
        f"{UNITS}; larger is worse; radius {radius_text(meaning.radius)}{lag}).\n"
        "Noise changes at every step; persistent errors stay over many steps; – is no more than\n"
        "the model error.\n"
    ]
    if meaning.operators:
        columns = ("operator", "episodes", *_DISTANCES, "bias", *_MOVES)
        rows = [
            (s.name, f"{s.episodes}", *_distances(s), _bias(s), *_moves(s))
            for s in sorted(meaning.operators, key=lambda s: -s.distance)
        ]
        output += [plain_table(columns, rows), ""]
    columns = ("episode", "operator", "pairs", *_DISTANCES, *_MOVES)
    rows = [(s.name, s.operator or "", f"{s.pairs}", *_distances(s), *_moves(s)) for s in episodes]
    output.append(plain_table(columns, rows))
    if len(episodes) < len(meaning.episodes):
        output.append(f"… {len(meaning.episodes) - len(episodes)} more episodes with --json")
    return output


def _disguise(meaning: Meaning) -> list[RenderableType]:
    """Return how the distance correlates with speed and length, and a warning if it does."""
    from counterbc.diagnosis.exclusion import followed_measures
    from counterbc.diagnosis.scores import correlations

    pairs = correlations(meaning.episodes).items()
    if not pairs:
        return []
    text = ", ".join(f"{measure} {value}" for measure, value in pairs)
    lines = [f"\nRank correlation of the distance with {text}."]
    if followed := followed_measures(meaning.episodes):
        lines.append(
            f"Careful: the ranking follows {' and '.join(followed)}. That alone does not make a "
            "demonstration bad; look at episodes before you exclude them."
        )
    return ["\n".join(lines)]


def _distances(score: scores.Score) -> list[str]:
    """Return the distance with its interval, and its components."""
    return [score.amount, score.interval, *score.components]


def _moves(score: scores.Score) -> list[str]:
    return [f"{score.kinematics[m]:.2f}" for m in _MOVES]


def _bias(score: scores.Score) -> str:
    """Return the bias of each dimension, or the largest one of many."""
    text = [f"{b:+.2f}" for b in score.bias]
    return " ".join(text) if len(text) <= 4 else f"{max(text, key=lambda t: abs(float(t)))} at most"
