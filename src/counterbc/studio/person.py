"""A person at a page, who stays known to the server when the connection breaks."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from counterbc.errors import OptionError
from counterbc.studio.frames import Frame
from counterbc.studio.limits import PEOPLE
from counterbc.studio.outbox import Outbox

FORGOTTEN = 15 * 60.0
"""Seconds after which a person whose page is gone is forgotten; their recordings stay."""


class Person:
    """Who sits at a page; `rooms` holds what they do in each view."""

    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(16)
        self.rooms: dict[str, Any] = {}
        self.left_at: float | None = time.monotonic()
        self.outbox: Outbox | None = None

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the page, if it is connected."""
        if (outbox := self.outbox) is not None:
            outbox.post(message)

    def draw(self, frame: Frame) -> None:
        """Send a drawing to the page, if it is connected."""
        if (outbox := self.outbox) is not None:
            outbox.draw(frame)

    def attach(self, outbox: Outbox) -> None:
        """Connect a page; one that was connected before hears that it is not any more."""
        if (old := self.outbox) is not None:
            old.post({"type": "replaced", "text": "This session continues in another tab."})
            old.close()
        self.outbox, self.left_at = outbox, None

    def detach(self, outbox: Outbox) -> None:
        """Note that a page is gone; everything that it steered is paused."""
        if self.outbox is not outbox:
            return
        self.outbox, self.left_at = None, time.monotonic()
        for room in self.rooms.values():
            room.leave()

    def close(self) -> None:
        """End what the person was doing; recordings are completed."""
        for room in self.rooms.values():
            room.close()


@dataclass
class People:
    """Everybody the server knows, by the id that only their page has."""

    make_rooms: Callable[[Person], dict[str, Any]]
    by_id: dict[str, Person] = field(default_factory=dict)

    def welcome(self, id: str) -> Person:
        """Return the person of an id, or a new one."""
        if (person := self.by_id.get(id)) is not None:
            return person
        self.forget()
        if len(self.by_id) >= PEOPLE:
            absent = [p for p in self.by_id.values() if p.left_at is not None]
            if not absent:
                raise OptionError(
                    f"{PEOPLE} people use this studio already; close a page that is not needed"
                )
            self._forget(min(absent, key=lambda p: p.left_at or 0.0))
        person = Person()
        person.rooms = self.make_rooms(person)
        self.by_id[person.id] = person
        return person

    def forget(self, now: float | None = None) -> None:
        """Forget people whose pages have been gone for long."""
        now = time.monotonic() if now is None else now
        for person in list(self.by_id.values()):
            if person.left_at is not None and now - person.left_at > FORGOTTEN:
                self._forget(person)

    def _forget(self, person: Person) -> None:
        del self.by_id[person.id]
        person.close()

    def close(self) -> None:
        """Complete what everybody records."""
        for person in list(self.by_id.values()):
            self._forget(person)
