"""What commands that read trained policies have in common: options of how these act."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from counterbc.commands.command import Command, Json

if TYPE_CHECKING:
    from counterbc.acting.policies import Policies


@dataclass(frozen=True, kw_only=True)
class ActingCommand(Command):
    """A command that reads trained policies."""

    execute: int | None = None
    """Number of actions of a chunk that are executed before the policy predicts again, at most its
    horizon; by default as in training."""
    temperature: float | None = None
    """Scale of the initial noise of flows, instead of the one they were trained with; 0 is
    deterministic."""
    euler: int | None = None
    """Number of Euler steps of flows; fewer take less time. By default as in training."""

    def load(self, folder: Path) -> Policies:
        """Return the policies of a run, with the numbers that were typed."""
        from counterbc.acting.policies import Policies

        return Policies.load(folder).acting_with(
            execute=self.execute, temperature=self.temperature, euler=self.euler
        )

    @property
    def changes(self) -> Json:
        """The numbers that were typed."""
        numbers = {name: getattr(self, name) for name in ("execute", "temperature", "euler")}
        return {name: value for name, value in numbers.items() if value is not None}
