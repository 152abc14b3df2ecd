"""counterbc clean"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.commands.command import Json
from counterbc.commands.diagnosis_command import DiagnosisCommand

if TYPE_CHECKING:
    from counterbc.diagnosis.meaning import Meaning


@dataclass(frozen=True)
class Clean(DiagnosisCommand):
    """Write a copy of demonstrations in which every action is what was meant."""

    demos: Positional[Path]
    """A file or folder of demonstrations."""
    out: Path
    """What to write, in the same format; it must not exist yet."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        import warnings

        from counterbc.diagnosis.clean import check_cleanable
        from counterbc.errors import InfeasibleActions
        from counterbc.files import check_free

        check_free(self.out)
        kind = self._format()
        if kind == "robomimic":
            check_cleanable(self.demos)
        else:
            check_free(self._beside)
        with warnings.catch_warnings():  # here infeasible actions are not kept as they are
            warnings.simplefilter("ignore", InfeasibleActions)
            meaning = self.diagnose((self.demos,))
        lost = self._write(meaning, kind)
        said: Json = {
            "source": str(self.demos),
            "out": str(self.out),
            "format": kind,
            "radius": meaning.radius,
            **_moved(meaning),
            "not_carried_over": lost,
        }
        return said, [_text(said)]

    def _format(self) -> str:
        """That of the source, which must be one that can be written."""
        from counterbc.errors import OptionError
        from counterbc.formats import detect, format_to_write

        kind = self.format or detect(self.demos)
        try:
            return format_to_write(self.out, kind)
        except OptionError:
            raise OptionError(
                f"{self.demos} is in the format {kind}, which cannot be written; convert it first: "
                f"counterbc convert {self.demos} demos.hdf5"
            ) from None

    def _write(self, meaning: Meaning, kind: str) -> list[str]:
        """Returns what the copy lacks, or still holds as it was shown."""
        import numpy as np

        from counterbc.diagnosis.clean import write_cleaned
        from counterbc.files import aside
        from counterbc.formats import open_stream, save

        if kind == "robomimic":
            how = {"radius": meaning.radius, "shape": meaning.shape}
            left = write_cleaned(meaning, self.demos, self.out, how)
            return [f"{key}: still as it was shown" for key in left]
        stream = open_stream(self.demos, self.obs or None, format=kind)
        lost = [*stream.header.left_out, *save(meaning.cleaned, self.out, format=kind)]
        with aside(self._beside) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, actions_shown=meaning.shown)
        return [*lost, f"what was shown: kept in {self._beside}"]

    @property
    def _beside(self) -> Path:
        """What was shown, where the format has no place for it."""
        return self.out.with_name(f"{self.out.name}.shown.npz")


_HARDLY = 0.005  # of half an action's range


def _moved(meaning: Meaning) -> Json:
    """How far actions went, where each dimension spans [−1, 1]."""
    import numpy as np

    moved = meaning.moved
    return {
        "pairs": len(moved),
        "moved_rms": float(np.sqrt((moved**2).mean())),
        "moved_most": float(moved.max()),
        "limited": int(meaning.limited.sum()),
    }


def _text(said: Json) -> str:
    lines = [
        f"{said['pairs']} actions written to {said['out']} as they were meant, moved by "
        f"{said['moved_rms']:.3f} (RMS; each action dimension spans [-1, 1]).",
        f"{said['limited']} of them would have gone further than the radius or the bounds allow.",
    ]
    if not any(said["radius"]):
        lines.append("The radius is 0, so nothing was moved but what was out of bounds.")
    elif said["moved_rms"] < _HARDLY:
        lines.append(
            "Hardly anything moved: the judges disagree by as much as the demonstrators err; more "
            "--repeats or --steps make them surer."
        )
    if said["not_carried_over"]:
        lines += ["Not carried over:", *(f"  {text}" for text in said["not_carried_over"])]
    return "\n".join(lines)
