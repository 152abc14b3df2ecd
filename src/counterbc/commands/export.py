"""counterbc export"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.acting.act import Act
from counterbc.commands.command import Command, Json


@dataclass(frozen=True)
class Export(Command):
    """Write one policy of a run as an ONNX file, which runs without counterbc and torch."""

    folder: Positional[Path]
    """The folder that counterbc train wrote."""
    file: Positional[Path]
    """The .onnx file to write."""
    member: int = 0
    """The policy to export, counted from 0."""
    act: Act = "mean"
    """Give the deterministic action, or a sample computed from an input `noise`."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.onnx import export
        from counterbc.acting.parity import TOLERANCE
        from counterbc.acting.policies import Policies

        policies = Policies.load(self.folder)
        parity = export(policies, self.file, self.member, self.act)
        payload: Json = {
            "file": str(self.file),
            "bytes": self.file.stat().st_size,
            "method": policies.method,
            "member": self.member,
            "act": self.act,
            "history": policies.policy.history,
            "tolerance": TOLERANCE,
            **{k: v for k, v in asdict(parity).items() if k != "agrees"},
        }
        ties = f"; {parity.undecided} more depend on rounding" if parity.undecided else ""
        output: list[RenderableType] = [
            f"{policies.method}, member {self.member} ({policies.members[self.member].name}), "
            f"act={self.act}: obs {policies.obs_size} → action {policies.action_size}",
            f"Largest difference to torch: {parity.difference:.2g} in the units of the action, on "
            f"{parity.inputs} inputs{ties}. Allowed: {TOLERANCE:g} of the action's range.",
            f"Written to {self.file}, {payload['bytes'] / 1000:.0f} kB.",
        ]
        return payload, output
