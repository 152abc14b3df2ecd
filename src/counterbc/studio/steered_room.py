"""What Collect and Watch share: a world on a clock, and a person who may steer in it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from counterbc.acting.clock import Clock, WallClock
from counterbc.studio.collecting import DEVICES, Input
from counterbc.studio.messages import Message, read_choice, read_number, read_vector
from counterbc.studio.person import Person
from counterbc.studio.study_folder import StudyFolder

Handlers = dict[str, Callable[[Message], dict[str, Any] | None]]
_LATEST = 2.0**53  # milliseconds


class SteeredRoom:
    """A view of one person, in which worlds run on a clock of their own."""

    def __init__(
        self, study: StudyFolder, person: Person, make_clock: Callable[[], Clock] = WallClock
    ) -> None:
        self.study, self.person, self.make_clock = study, person, make_clock


def read_input(message: Message, size: int) -> Input:
    """Return the input of a device: an action of this size, and when it was given if known."""
    action = tuple(read_vector(message, "action", size))
    has_time = message.get("at") is not None
    at = read_number(message, "at", 0.0, _LATEST) if has_time else None
    return Input(action, read_choice(message, "device", DEVICES), at)
