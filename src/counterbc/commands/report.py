"""counterbc report"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console, RenderableType
from tyro.conf import UseAppendAction

from counterbc.commands.command import Json
from counterbc.commands.data_command import Demos
from counterbc.commands.diagnosis_command import DiagnosisCommand

if TYPE_CHECKING:
    from counterbc.report import Findings, ReportOptions
    from counterbc.report.advice import Given


@dataclass(frozen=True)
class Report(DiagnosisCommand):
    """Write one HTML page about demonstrations: what is in them, and what was meant."""

    demos: Demos
    """Files or folders of demonstrations; several are looked at as one."""
    out: Path = Path("report.html")
    """The page to write; it must not exist yet."""
    scores: bool = True
    """Whether to judge episodes and operators, which takes longest."""
    intents: bool = True
    """Whether to look for groups of episodes with different goals."""
    angle: UseAppendAction[tuple[str, ...]] = ()
    """Observations that are angles in radians, by name, one --angle each, for the goals."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from datetime import UTC, datetime

        from counterbc.files import aside, check_free
        from counterbc.report import find, page
        from counterbc.report.advice import Given

        check_free(self.out)
        options = self._options()
        datasets = [s.demonstrations() for s in self.streams(self.demos)]
        found = find(datasets, options, _stage)
        given = Given(self.demos, self.formats(self.demos), self.obs)
        hashes = {p.name: _sha256(p) for p in self.demos if p.is_file()}
        text = page(found, given, datetime.now(UTC), hashes).encode("utf-8", "replace")
        with aside(self.out) as temporary:
            temporary.write_bytes(text)
        said = _said(found, given) | {"out": str(self.out), "bytes": len(text)}
        return said, [_text(said)]

    def _options(self) -> ReportOptions:
        from counterbc.report import ReportOptions

        return ReportOptions(
            radius=self.radius, judges=self.held_out_policies, scores=self.scores, intents=self.intents,
            angles=self.angle, device=self.device, search=self.search,
        )  # fmt: skip


@contextmanager
def _stage(title: str) -> Iterator[None]:
    """The title on stderr, while it lasts where people watch."""
    if not sys.stderr.isatty():
        print(title, file=sys.stderr, flush=True)
        yield
        return
    with Console(stderr=True).status(title):
        yield


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _said(found: Findings, given: Given) -> Json:
    from counterbc.report.advice import advice
    from counterbc.report.words import headline

    judged, intents = found.meaning, found.intents
    return {
        "source": found.demos.source,
        "fingerprint": found.inspection.fingerprint,
        "headline": headline(found),
        "next": [asdict(step) for step in advice(found, given)],
        "episodes": len(found.demos),
        "pairs": found.demos.pairs,
        "problems": [asdict(p) for p in found.inspection.problems],
        "radius": found.radius,
        "radius_choice": None if found.choice is None else found.choice.as_dict(),
        "distance": found.distance,
        "operators": None if judged is None else [s.as_dict() for s in judged.operators],
        "stand_out": found.outstanding,
        "stands_out_above": found.fence,
        "groups": None if intents is None else intents.sizes,
        "not_done": found.reasons,
    }


def _text(said: Json) -> str:
    lines = [*said["headline"], *(f"Not done: {why}" for why in said["not_done"].values())]
    return "\n".join([*lines, f"\nThe page is {said['out']} ({said['bytes'] / 1000:.0f} kB)."])
