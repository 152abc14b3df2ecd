"""counterbc clean"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import Json, explained_lines, suggestion
from counterbc.commands.data_command import DATA_OPTIONS
from counterbc.commands.diagnosis_command import DiagnosisCommand

if TYPE_CHECKING:
    from counterbc.diagnosis.meaning import Meaning


@dataclass(frozen=True)
class Clean(DiagnosisCommand):
    """Write a copy of demonstrations with the actions that were meant.

    Where held-out policies explain too little of the actions, nothing is written, and the exit
    status is 1."""

    default_lag: ClassVar[str] = "auto"
    """A delay is undone in the cleaned copy."""
    removes_offsets: ClassVar[bool] = True
    """So are constant offsets of operators."""
    policy_settings: ClassVar[tuple[str, ...]] = ("policy", "hidden", "relative", "angles")
    """Flows keep several ways of doing a task apart, and learn relative actions best."""
    demos: Positional[Path]
    """A file or folder of demonstrations."""
    out: Path | None = None
    """The file or folder to write, in the same format; by default named like DEMOS with -meant, or
    the next free name."""
    smooth: bool = True
    """Also use the neighbouring steps of an action, not only other episodes, in dimensions that
    show errors; all others stay as recorded."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        import warnings

        from counterbc.diagnosis.clean import check_cleanable
        from counterbc.errors import InfeasibleActions
        from counterbc.files import check_free
        from counterbc.formats.lerobot.relabel import check_relabelable

        check_free(self.copy)
        kind = self._format()
        if kind == "robomimic" and self.choice.is_all:
            check_cleanable(self.demos)
        else:
            check_free(self._beside)
        if kind == "lerobot" and self.choice.is_all:
            check_relabelable(self.demos, self.action or None)
        with warnings.catch_warnings():  # the copy has no infeasible actions
            warnings.simplefilter("ignore", InfeasibleActions)
            meaning = self.diagnose((self.demos,), smooth=self.smooth)
        if not (meaning.explained.tells or self.force):
            return self._refuse(meaning)
        not_carried_over = self._write(meaning, kind)
        payload: Json = {
            "source": str(self.demos),
            "out": str(self.copy),
            "format": kind,
            "radius": meaning.radius,
            "smooth": bool(meaning.reach),
            "reach": meaning.reach,
            "lag": meaning.lag,
            "offsets": dict(meaning.offsets),
            "rate": meaning.demos.rate,
            "weight_0": int((~meaning.has_answer).sum()),
            "policy": self.policy,
            "kernel": self.kernel,
            "explained": meaning.explained.as_dict(),
            **_moves(meaning),
            "not_carried_over": not_carried_over,
            **self._test_commands(meaning, kind),
            "next": [suggestion("compare", self.demos, *self.as_typed(*DATA_OPTIONS, "device"))],
        }
        return payload, [*explained_lines(meaning.explained), _text(payload)]

    def _test_commands(self, meaning: Meaning, kind: str) -> Json:
        """Return the commands that train on the demonstrations and on the copy, and one that tests
        both, None where no environment can."""
        from counterbc.acting.fit import Spaces, reason_not_tested
        from counterbc.files import next_free

        # The copy has the source's keys.
        is_whole = kind in ("robomimic", "lerobot") and self.choice.is_all
        fixed = ("--method", "bc", "--lag", 0, "--offsets", "none")
        runs = [next_free(Path(name)) for name in ("run-shown", "run-meant")]
        options = (DATA_OPTIONS, DATA_OPTIONS if is_whole else ("env", "trusted"))
        train = [
            suggestion("train", path, *fixed, *self.as_typed(*names, "device"), "--out", run)
            for path, names, run in zip((self.demos, self.copy), options, runs, strict=True)
        ]
        env, spaces = meaning.demos.env, Spaces.of_data(meaning.demos)
        is_possible = env and not reason_not_tested(env, spaces, is_typed=self.env is not None)
        test = suggestion("evaluate", *runs, *self.as_typed("env")) if is_possible else None
        return {"train": train, "evaluate": test}

    def status(self, payload: Json) -> int:
        return 1 if payload["out"] is None else 0

    def _refuse(self, meaning: Meaning) -> tuple[Json, list[RenderableType]]:
        """Return why actions are not moved towards predictions that explain too little of them."""
        explained = meaning.explained
        payload: Json = {"source": str(self.demos), "out": None, "explained": explained.as_dict()}
        return payload, [
            *explained_lines(explained),
            "No copy was written; --force writes it all the same.",
        ]

    def _format(self) -> str:
        """Return the format of the source, which must be one that can be written."""
        from counterbc.errors import OptionError
        from counterbc.formats import FORMATS, detect, format_to_write

        kind = self.format or detect(self.demos)
        try:
            format_to_write(self.copy, kind)
        except OptionError:
            raise OptionError(
                f"{self.demos} is in the format {kind}, which cannot be written; convert it first: "
                + suggestion("convert", self.demos, "demos.hdf5", *self.as_typed(*DATA_OPTIONS))
            ) from None
        suffixes = {suffix: name for name, f in FORMATS.items() for suffix in f.suffixes}
        endings = (*FORMATS[kind].suffixes, self.demos.suffix.lower(), "")
        is_file = bool(FORMATS[kind].suffixes)  # a folder may have any name
        ending = self.copy.suffix.lower()
        if suffixes.get(ending, kind) != kind or (is_file and ending not in endings):
            raise OptionError(
                f"a copy of {self.demos} has its format, {kind}, for which {self.copy} has another "
                f"ending; leave --out out, or convert the copy afterwards"
            )
        return kind

    def _write(self, meaning: Meaning, kind: str) -> list[str]:
        """Write the copy, and return what it lacks or still holds as it was demonstrated."""
        import numpy as np

        from counterbc.diagnosis.clean import write_cleaned
        from counterbc.files import aside
        from counterbc.formats import save
        from counterbc.formats.lerobot.relabel import write_relabeled

        if kind == "robomimic" and self.choice.is_all:
            options: Json = {"radius": meaning.radius, "shape": meaning.shape, "lag": meaning.lag}
            options["offsets"] = dict(meaning.offsets)
            options |= {"smooth": True, "reach": meaning.reach} if meaning.reach else {}
            options |= {} if self.policy is None else {"policy": self.policy}
            unchanged = write_cleaned(meaning, self.demos, self.copy, options)
            return [f"{key}: still as it was demonstrated" for key in unchanged]
        if kind == "lerobot" and self.choice.is_all:
            write_relabeled(self.demos, self.copy, meaning.meant, self.action or None)
            not_stored = _unmarked(meaning)
        else:
            (stream,) = self.streams([self.demos])
            not_stored = [*stream.header.left_out, *save(meaning.cleaned, self.copy, format=kind)]
        with aside(self._beside) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, actions_shown=meaning.shown)
        return [*not_stored, f"the demonstrated actions: kept in {self._beside}"]

    @property
    def policy(self) -> str | None:
        """The policy that was typed."""
        name: str | None = self.given_options("settings").get("policy")
        return name

    @cached_property
    def copy(self) -> Path:
        """The file or folder to write."""
        from counterbc.files import next_free

        source = self.demos.resolve()
        return self.out or next_free(Path(f"{source.stem}-meant{source.suffix}"))

    @property
    def _beside(self) -> Path:
        """The file with the demonstrated actions, for formats that cannot store them."""
        return self.copy.with_name(f"{self.copy.name}.shown.npz")


def _unmarked(meaning: Meaning) -> list[str]:
    """Return what a copy of a LeRobot dataset cannot store about pairs without a meant action."""
    count = int((~meaning.has_answer).sum())
    return [f"which {count} pairs have no meant action: they keep the recorded one"] * bool(count)


_NEGLIGIBLE = 0.005  # of half an action's range


def _moves(meaning: Meaning) -> Json:
    """Return how far actions were moved, in units in which each dimension spans [−1, 1]."""
    import numpy as np

    distance = meaning.moved[meaning.has_answer]
    return {
        "pairs": len(distance),
        "moved_rms": float(np.sqrt((distance**2).mean())),
        "moved_most": float(distance.max()),
        "limited": int(meaning.limited.sum()),
    }


def _lag(lag: tuple[float, ...], rate: float | None) -> str:
    from math import ceil

    from counterbc.data.lags import lag_text

    last = "/".join(dict.fromkeys(str(ceil(k)) for k in lag))
    ends = "step of each episode has" if last == "1" else f"{last} steps of each episode have"
    return (
        f"Undid a lag of {lag_text(lag, rate)}; the last {ends} weight 0: the recorded action is "
        "kept there, and `selected` is false."
    )


def _text(payload: Json) -> str:
    from counterbc.diagnosis.flow_labels import is_flow

    lines = [
        f"Estimates of {payload['pairs']} intended actions were written to {payload['out']}; they "
        f"differ from the demonstrated ones by {payload['moved_rms']:.3f} (RMS; each action "
        "dimension spans [-1, 1]).",
        f"The radius or the bounds limited {payload['limited']} of them.",
    ]
    if any(payload["lag"]):
        lines.append(_lag(payload["lag"], payload["rate"]))
    if payload["offsets"]:
        lines.append(f"Removed constant offsets of {', '.join(payload['offsets'])}.")
    reach = payload.get("reach")
    if not any(reach or payload["radius"]):
        reason = "No errors were detected" if reach else "The radius is 0"
        lines.append(f"{reason}, so only actions out of bounds were moved.")
    elif payload["moved_rms"] < _NEGLIGIBLE and not is_flow(payload.get("policy")):
        lines.append(
            "The actions hardly moved: held-out policies disagree by as much as the demonstrators "
            "err. Use more --repeats or --steps."
        )
    if payload["not_carried_over"]:
        lines += ["Not carried over:", *(f"  {text}" for text in payload["not_carried_over"])]
    lines += [
        "Policies trained on the copy are not always better than those trained on the "
        "demonstrations as recorded (docs/clean.md). To test both:",
        *(f"  {line}" for line in payload["train"]),
        f"  {payload['evaluate']}" if payload["evaluate"] else "Only policies that act can decide.",
    ]
    return "\n".join(lines)
