"""counterbc export"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import Positional

from counterbc.acting.act import Act
from counterbc.commands.acting_command import ActingCommand
from counterbc.commands.command import Json
from counterbc.printing import stage

if TYPE_CHECKING:
    from counterbc.acting.policies import Policies


@dataclass(frozen=True)
class Export(ActingCommand):
    """Write one policy of a run as an ONNX file, which runs without counterbc and torch."""

    folder: Positional[Path]
    """The folder that counterbc train wrote."""
    file: Positional[Path | None] = None
    """The .onnx file to write; by default named after the folder, or the next free name."""
    member: int = 0
    """The policy to export, counted from 0."""
    act: Act = "mean"
    """Give the deterministic action, or a sample computed from an input `noise`."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.acting.onnx import export
        from counterbc.acting.parity import TOLERANCE
        from counterbc.files import next_free

        policies = self.load(self.folder)
        name = self.folder.resolve().name
        file = self.file or next_free(Path(f"{name}.onnx"))
        with stage("writing the file, and comparing it with torch"):
            parity = export(policies, file, self.member, self.act)
        payload: Json = {
            "file": str(file),
            "bytes": file.stat().st_size,
            "method": policies.method,
            "member": self.member,
            "act": self.act,
            "history": policies.policy.history,
            "horizon": policies.policy.horizon,
            "execute": policies.policy.execute,
            "tolerance": TOLERANCE,
            **{k: v for k, v in asdict(parity).items() if k != "agrees"},
        }
        ties = f"; {parity.undecided} more depend on rounding" if parity.undecided else ""
        output: list[RenderableType] = [
            f"{policies.method}, member {self.member} ({_about(policies, self.member)}), "
            f"act={self.act}: {_interface(policies)}",
            f"Largest difference to torch: {parity.difference:.2g} in the units of the action, on "
            f"{parity.inputs} inputs{ties}. Allowed: {TOLERANCE:g} of the action's range.",
            f"Written to {file}, {payload['bytes'] / 1000:.0f} kB.",
        ]
        return payload, output


def _about(policies: Policies, index: int) -> str:
    """Return what a member was trained with; its radius only where one was used."""
    member = policies.members[index]
    has_radius = policies.run_config.radius_from != "not used"
    return member.name if has_radius else f"seed {member.seed}"


def _observed(policies: Policies) -> str:
    """Return the size of an observation, or its parts, which are inputs of their own."""
    observed = policies.observed
    return f"({observed.text})" if observed.is_mixed else str(policies.obs_size)


def _interface(policies: Policies) -> str:
    """Return the sizes of what the file reads and gives."""
    from counterbc.acting.forward import decides_by_chunk

    policy, sizes = policies.policy, (_observed(policies), policies.action_size)
    if not decides_by_chunk(policy):
        return f"obs {sizes[0]} → action {sizes[1]}"
    count = policy.horizon if policy.average_chunks else policy.execute
    how = ", to average with those of the steps before" if policy.average_chunks else ""
    return f"obs {policy.history} × {sizes[0]} → actions {count} × {sizes[1]}{how}"
