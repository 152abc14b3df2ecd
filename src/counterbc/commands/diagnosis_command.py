"""What commands that compare demonstrations with held-out policies have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from counterbc.commands.command import TrainingCommand
from counterbc.commands.data_command import DataCommand
from counterbc.commands.method_command import refuse_radius
from counterbc.commands.options import Group
from counterbc.printing import stage

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.diagnosis.meaning import Meaning
    from counterbc.selection.held_out import HeldOut
    from counterbc.selection.radius import RadiusSearch


@dataclass(frozen=True, kw_only=True)
class DiagnosisCommand(DataCommand, TrainingCommand):
    """A command that compares demonstrated actions with what held-out policies predict."""

    quicker: ClassVar[str] = "give --radius, or smaller --steps, --repeats and --rounds"
    """What would take less time."""
    SHARED: ClassVar[tuple[str, ...]] = ("radius", "held_out", "search", "device", "kernel")
    """What `checked_options` returns."""
    default_lag: ClassVar[float | str | None] = 0.0
    """The lag where none is typed; None for commands that always compare at the same step."""
    removes_offsets: ClassVar[bool] = False
    """Whether constant offsets of operators are found and removed."""
    policy_settings: ClassVar[tuple[str, ...]] = ()
    """The settings of the held-out policies that are options of the command."""

    force: bool = False
    """Rank and write even where held-out policies explain too little of the actions."""

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.diagnosis import HeldOut
        from counterbc.settings import Settings

        settings = Group(
            kind=Settings,
            only=cls._setting_names(),
            presets={"default": Settings(lag=cls.default_lag or 0.0)},
            text="How far an intended action may be from the demonstrated one, how late that was "
            "shown, and what trains the policies.",
        )
        return {"held_out": Group(kind=HeldOut), "settings": settings}

    @classmethod
    def _setting_names(cls) -> tuple[str, ...]:
        """Return the settings that are options of the command."""
        names = ("radius", "kernel") if cls.default_lag is None else ("radius", "lag", "kernel")
        return (*names, *(("offsets",) if cls.removes_offsets else ()), *cls.policy_settings)

    def diagnose(self, paths: tuple[Path, ...], *, smooth: bool = False) -> Meaning:
        """Return what the demonstrators meant, by policies that did not see their episodes."""
        from counterbc.diagnosis.meaning import meaning

        default = "auto" if self.removes_offsets else "none"
        typed = self.given_options("settings")
        options = self.checked_options() | {"lag": self.lag}
        options["offsets"] = typed.get("offsets", default)
        options |= {name: typed[name] for name in self.policy_settings if name in typed}
        demos = self.read(paths)
        self.check_demos(demos)
        result = meaning(demos, **options)
        with stage("comparing predictions with what was shown"):
            result = result.smooth() if smooth and not result.is_sampled else result
            _ = result.explained  # computed once, and kept
        return result

    def check_demos(self, demos: Demonstrations) -> None:
        """Raise what is wrong with the options for these data, before anything is trained."""

    def checked_options(self) -> dict[str, Any]:
        """Return what the held-out policies are trained with; raise what is wrong with it before
        data are read, which may take long."""
        from counterbc.acting.device import find_device
        from counterbc.diagnosis.flow_labels import check_flow
        from counterbc.settings import Settings

        find_device(self.device)
        refuse_radius(Settings(**self.given_options("settings")))
        if self.is_flow:
            check_flow(self.radius, self.held_out_policies)
        values = self.radius, self.held_out_policies, self.search, self.device, self.kernel
        return dict(zip(self.SHARED, values, strict=True))

    @property
    def radius(self) -> Any:
        """The radius that was typed; None: chosen from the data."""
        radius = self.given_options("settings").get("radius", "auto")
        return None if radius == "auto" else radius

    @property
    def lag(self) -> Any:
        """The lag that was typed, or the default of the command."""
        return self.given_options("settings").get("lag", self.default_lag or 0.0)

    @property
    def kernel(self) -> Any:
        """The kernel that was typed; by default that of the settings."""
        from counterbc.settings import Settings

        return self.given_options("settings").get("kernel", Settings.kernel)

    @property
    def search(self) -> RadiusSearch | None:
        """How Δ is chosen: as `counterbc radius` does with the same number of steps."""
        from counterbc.selection.radius import RadiusSearch

        steps = self.given_options("held_out").get("steps")
        return None if steps is None else RadiusSearch(steps=steps)

    @property
    def is_flow(self) -> bool:
        """Whether the held-out policies are flows."""
        from counterbc.diagnosis.flow_labels import is_flow

        return is_flow(self.given_options("settings").get("policy"))

    @property
    def held_out_policies(self) -> HeldOut:
        """How the held-out policies are trained."""
        from counterbc.diagnosis.flow_labels import FLOW_HELD_OUT
        from counterbc.selection.held_out import HeldOut

        default = FLOW_HELD_OUT if self.is_flow else HeldOut()
        return replace(default, **self.given_options("held_out"))
