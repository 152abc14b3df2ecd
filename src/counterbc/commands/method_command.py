"""What commands that train a method on demonstrations have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from counterbc.commands.command import TrainingCommand
from counterbc.commands.data_command import DataCommand, Demos
from counterbc.commands.options import Group

if TYPE_CHECKING:
    from counterbc.methods import Method
    from counterbc.settings import Settings

_SPAN = 2.0
_LARGEST_RATE = 1.0
SETTINGS = "How to train. A setting that is not given is as the preset has it."


@dataclass(frozen=True, kw_only=True)
class MethodCommand(DataCommand, TrainingCommand):
    """A command that trains a method on demonstrations."""

    without: ClassVar[tuple[str, ...]] = ()
    """Settings that are not options of the command."""
    demos: Demos
    """Files or folders of demonstrations; several are merged."""
    method: str = "counter-bc"
    """The method."""
    preset: str = "default"
    """The settings to start from: ours (default), those of the paper's text (paper), or those of
    the authors' released code (authors)."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.methods import METHODS
        from counterbc.settings import PRESETS

        return {**super().option_choices(), "method": METHODS, "preset": PRESETS}

    @classmethod
    def option_groups(cls) -> Mapping[str, Group]:
        from counterbc.settings import PRESETS, Settings

        group = Group(kind=Settings, presets=PRESETS, without=cls.without, text=SETTINGS)
        return {"settings": group}

    def checked_settings(self) -> dict[str, Any]:
        """Return the settings that were typed; raise what is wrong with them before data are read,
        which may take long."""
        from counterbc.acting.device import find_device
        from counterbc.methods import find_method
        from counterbc.settings import settings_for

        find_device(self.device)
        _, method = find_method(self.method)
        changes = self.given_options("settings")
        settings = settings_for(self.preset, **changes)
        settings.apply(method)
        refuse_nonsense(settings, method)
        return changes


def refuse_nonsense(settings: Settings, method: Method) -> None:
    """Refuse settings that are allowed, but with which nothing sensible can be learned."""
    from counterbc.errors import OptionError
    from counterbc.methods import METHODS

    refuse_radius(settings)
    if (settings.learning_rate or 0) > _LARGEST_RATE:
        raise OptionError(
            f"learning_rate is {settings.learning_rate:g}, with which no policy learns; give "
            f"at most {_LARGEST_RATE:g}"
        )
    if settings.counterfactuals == 0 and method == METHODS["counter-bc"]:
        raise OptionError(
            "counter-bc without counterfactuals is plain BC; use --method bc, or give "
            "--counterfactuals 1 or more"
        )


def refuse_radius(settings: Settings, radii: Sequence[float] = ()) -> None:
    """Refuse a radius, or one of those to try, within which every action lies."""
    from counterbc.errors import OptionError

    radius = settings.radius
    numbers = (0.0,) if radius == "auto" else radius if isinstance(radius, tuple) else (radius,)
    numbers = (*numbers, *radii)
    if settings.scale_actions and max(numbers) > _SPAN:
        raise OptionError(
            f"radius is {max(numbers):g}, but actions span [-1, 1], so that every action would be "
            f"a counterfactual of every other; give at most {_SPAN:g}"
        )
