"""counterbc report"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.console import RenderableType

from counterbc.commands.command import Json
from counterbc.commands.data_command import DATA_OPTIONS, Demos
from counterbc.commands.diagnosis_command import DiagnosisCommand
from counterbc.commands.options import Group
from counterbc.printing import stage

if TYPE_CHECKING:
    from counterbc.report import Findings
    from counterbc.report.advice import Inputs


@dataclass(frozen=True)
class Report(DiagnosisCommand):
    """Write one HTML page about demonstrations: contents, problems, radius, scores and goals."""

    default_lag: ClassVar[None] = None
    """A page shows the actions as they were recorded."""
    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    out: Path | None = None
    """The page to write; by default report.html or the next free name."""

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.report import ReportOptions

        page = Group(
            kind=ReportOptions, without=(*cls.SHARED, "force"), text="What the page covers."
        )
        return {"page": page, **super().option_groups()}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from datetime import UTC, datetime

        from counterbc.data.merge import merge
        from counterbc.files import aside, check_free, check_suffix, next_free, sha256
        from counterbc.report import ReportOptions, find, page
        from counterbc.report.advice import Inputs

        out = self.out or next_free(Path("report.html"))
        check_free(out)
        check_suffix(out, (".html", ".htm"), "page")
        typed = self.given_options("page")
        options = ReportOptions(**typed, **self.checked_options(), force=self.force)
        datasets = self.read_each(self.demos)
        if not self.choice.is_all:
            datasets = [self.choice.of(merge(datasets))]
        findings = find(datasets, options, stage)
        typed_data = tuple(self.as_typed(*DATA_OPTIONS))
        inputs = Inputs(self.demos, self.formats(self.demos), typed_data, self.choice.is_all)
        hashes = {p.name: sha256(p) for p in self.demos if p.is_file()}
        text = page(findings, inputs, datetime.now(UTC), hashes).encode("utf-8", "replace")
        with aside(out) as temporary:
            temporary.write_bytes(text)
        payload = _payload(findings, inputs) | {"out": str(out), "bytes": len(text)}
        return payload, [_text(payload)]


def _payload(findings: Findings, inputs: Inputs) -> Json:
    from counterbc.report.advice import advice, last_commands
    from counterbc.report.words import headline

    steps = advice(findings, inputs)
    scores, intents, explained = findings.meaning, findings.intents, findings.explained
    return {
        "source": findings.demos.source,
        "fingerprint": findings.inspection.fingerprint,
        "headline": headline(findings),
        "advice": [asdict(step) for step in steps],
        "next": last_commands(steps),
        "episodes": len(findings.demos),
        "pairs": findings.demos.pairs,
        "problems": [asdict(p) for p in findings.inspection.problems],
        "explained": None if explained is None else explained.as_dict(),
        "radius": findings.radius,
        "kernel": findings.options.kernel,
        "radius_choice": None if findings.choice is None else findings.choice.as_dict(),
        "distance": findings.distance,
        "operators": None if scores is None else [s.as_dict() for s in scores.operators],
        "stand_out": findings.outliers,
        "groups": None if intents is None else intents.sizes,
        "not_done": findings.reasons,
    }


def _text(payload: Json) -> str:
    lines = [
        *payload["headline"],
        *(f"Not done: {reason}" for reason in payload["not_done"].values()),
    ]
    return "\n".join(
        [*lines, f"\nThe page is {payload['out']} ({payload['bytes'] / 1000:.0f} kB)."]
    )
