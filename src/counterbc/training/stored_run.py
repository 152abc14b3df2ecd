"""What was chosen for a training whose folder exists, so that nothing is searched again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from counterbc.acting import run_folder
from counterbc.acting.member import Member
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.radii import radius_of
from counterbc.errors import FormatError
from counterbc.files import Guard
from counterbc.settings import Settings
from counterbc.training.plan import RecordedChoice


@dataclass(frozen=True)
class StoredRun:
    """The members of a run, finished or not, and the evidence for what was chosen."""

    folder: Path
    members: tuple[Member, ...]
    shards: int
    steps: int
    choices: tuple[RecordedChoice, ...]

    @staticmethod
    def read(folder: Path) -> StoredRun | None:
        """Return what a folder holds; None where a version before this one began it."""
        contents = run_folder.read_config(folder)
        with Guard(folder / run_folder.CONFIG, "train again in another folder"):
            config = contents["unfinished"] if "unfinished" in contents else contents["config"]
            steps = config.get("settings", {}).get("steps")
            if "members" not in contents or not isinstance(steps, int):
                return None
            members = tuple(Member.of(m) for m in contents["members"])
            choices = tuple(RecordedChoice(dict(c)) for c in config["choices"])
            return StoredRun(folder, members, int(contents["shards"]), steps, choices)

    def resume(
        self,
        settings: Settings,
        datasets: Sequence[Demonstrations],
        seeds: Sequence[int],
        radii: Sequence[Any],
    ) -> tuple[Settings, list[Member]]:
        """Return settings and members of the training that continues, with the steps given.

        Refuse other seeds, and other radii than were given or chosen.
        """
        rows = [(radius, seed) for radius in radii for seed in seeds]
        same_seeds = [m.seed for m in self.members] == [seed for _, seed in rows]
        if not same_seeds or any(
            radius != "auto" and m.radius != radius_of(radius, [datasets[m.dataset]])
            for m, (radius, _) in zip(self.members, rows, strict=True)
        ):
            raise FormatError(
                f"{self.folder} was started differently: other members; resume it with the same "
                "data, options and versions, or choose another folder"
            )
        if settings.steps == "auto":
            return replace(settings, steps=self.steps), list(self.members)
        if settings.steps == self.steps:
            return settings, list(self.members)
        return settings, [replace(m, steps=None) for m in self.members]
