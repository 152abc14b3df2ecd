"""A person at a page, who stays known to the server when the connection breaks."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from counterbc.errors import OptionError
from counterbc.studio.frames import Frame
from counterbc.studio.limits import PEOPLE
from counterbc.studio.outbox import Outbox

FORGOTTEN = 15 * 60.0
"""Seconds after which a person whose page is gone is forgotten, unless they are busy; their
recordings stay."""


class Person:
    """Who sits at a page; `rooms` holds what they do in each view."""

    def __init__(self) -> None:
        self.id = secrets.token_urlsafe(16)
        self.rooms: dict[str, Any] = {}
        self.left_at: float | None = time.monotonic()
        self.outbox: Outbox | None = None
        self.consent_sha256 = ""
        """The SHA-256 of the consent text that their page was sent last."""

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the page, if it is connected."""
        if (outbox := self.outbox) is not None:
            outbox.post(message)

    def draw(self, frame: Frame) -> None:
        """Send a drawing to the page, if it is connected."""
        if (outbox := self.outbox) is not None:
            outbox.draw(frame)

    def attach(self, outbox: Outbox) -> None:
        """Connect a page; one that was connected before hears that it is not any more.

        What the earlier page steered is paused: its devices no longer report.
        """
        old, self.outbox, self.left_at = self.outbox, outbox, None
        if old is not None:
            old.post({"type": "replaced", "text": "This session continues in another tab."})
            old.close()
            self._leave_rooms()

    def detach(self, outbox: Outbox) -> None:
        """Note that a page is gone; everything that it steered is paused."""
        if self.outbox is not outbox:
            return
        self.outbox, self.left_at = None, time.monotonic()
        self._leave_rooms()

    @property
    def is_busy(self) -> bool:
        """Whether work that they started and that needs no one to watch is still running."""
        return any(room.is_busy for room in self.rooms.values())

    def rest(self) -> None:
        """Pause everything unless a page is connected: a request may end after its page is gone."""
        if self.outbox is None:
            self._leave_rooms()

    def _leave_rooms(self) -> None:
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
    _lock: threading.RLock = field(default_factory=threading.RLock)

    def welcome(self, id: str) -> Person:
        """Return the person of an id, or a new one."""
        with self._lock:
            if (person := self.by_id.get(id)) is not None:
                if person.left_at is not None:
                    person.left_at = time.monotonic()  # not forgotten before they are connected
                return person
            forgotten = self._take_out_absent(time.monotonic()) or self._make_room()
            person = self._add()
        for absent in forgotten:
            absent.close()
        return person

    def _make_room(self) -> list[Person]:
        """Take out whoever has been gone for longest, if there are too many people."""
        if len(self.by_id) < PEOPLE:
            return []
        absent = [p for p in self.by_id.values() if p.left_at is not None]
        if not absent:
            raise OptionError(
                f"{PEOPLE} people use this studio already; close a page that is not needed"
            )
        return [self.by_id.pop(min(absent, key=lambda p: (p.is_busy, p.left_at or 0.0)).id)]

    def _add(self) -> Person:
        person = Person()
        person.rooms = self.make_rooms(person)
        self.by_id[person.id] = person
        return person

    def forget(self, now: float | None = None) -> None:
        """Forget people whose pages have been gone for long; call it from time to time."""
        now = time.monotonic() if now is None else now
        with self._lock:
            forgotten = self._take_out_absent(now)
        for person in forgotten:  # without the lock: files are written, and nobody waits for that
            person.close()

    def _take_out_absent(self, now: float) -> list[Person]:
        people = [p for p in self.by_id.values() if not p.is_busy]
        absent = [p for p in people if p.left_at is not None and now - p.left_at > FORGOTTEN]
        return [self.by_id.pop(person.id) for person in absent]

    def close(self) -> None:
        """Complete what everybody records."""
        with self._lock:
            everybody = list(self.by_id.values())
            self.by_id.clear()
        for person in everybody:
            person.close()
