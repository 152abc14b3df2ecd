"""People stay known when their connection breaks, and are forgotten after a while."""

from __future__ import annotations

import pytest

from counterbc.errors import OptionError
from counterbc.studio.limits import PEOPLE
from counterbc.studio.person import FORGOTTEN, People, Person


class Outbox:
    """What a page would be sent."""

    def __init__(self) -> None:
        self.messages: list[str] = []
        self.is_closed = False

    def post(self, message: dict[str, str]) -> None:
        self.messages.append(message["type"])

    def close(self) -> None:
        self.is_closed = True


class Room:
    """A room that counts how often it was left and closed."""

    def __init__(self) -> None:
        self.left_count = self.closed_count = 0

    def leave(self) -> None:
        self.left_count += 1

    def close(self) -> None:
        self.closed_count += 1


def make() -> tuple[People, Room]:
    room = Room()
    return People(lambda person: {"room": room}), room


def test_a_person_is_found_by_the_id_that_only_their_page_has() -> None:
    people, _ = make()
    person = people.welcome("")
    assert people.welcome(person.id) is person
    assert people.welcome("another") is not person
    assert len(person.id) >= 20


def test_a_second_tab_takes_the_session_over_and_the_first_hears_of_it() -> None:
    person, first, second = Person(), Outbox(), Outbox()
    person.attach(first)  # type: ignore[arg-type]
    person.attach(second)  # type: ignore[arg-type]
    assert (first.messages, first.is_closed) == (["replaced"], True)
    person.detach(first)  # type: ignore[arg-type]  # its socket closes later
    assert person.outbox is second  # type: ignore[comparison-overlap]


def test_rooms_are_left_when_the_page_is_gone() -> None:
    people, room = make()
    person, outbox = people.welcome(""), Outbox()
    person.attach(outbox)  # type: ignore[arg-type]
    person.detach(outbox)  # type: ignore[arg-type]
    assert room.left_count == 1
    person.send({"type": "anything"})  # nobody is there


def test_absent_people_are_forgotten_and_their_recordings_completed() -> None:
    people, room = make()
    person = people.welcome("")
    assert person.left_at is not None
    people.forget(person.left_at + FORGOTTEN - 1)
    assert people.welcome(person.id) is person
    people.forget(person.left_at + FORGOTTEN + 1)
    assert room.closed_count == 1
    assert people.welcome(person.id) is not person


def test_there_is_a_limit_and_absent_people_make_room() -> None:
    people, _ = make()
    everybody = [people.welcome("") for _ in range(PEOPLE)]
    for person in everybody:
        person.attach(Outbox())  # type: ignore[arg-type]
    with pytest.raises(OptionError, match=f"{PEOPLE} people"):
        people.welcome("")
    everybody[3].left_at = 0.0
    people.welcome("")
    assert everybody[3].id not in people.by_id


def test_closing_completes_everything() -> None:
    people, room = make()
    people.welcome("")
    people.close()
    assert (room.closed_count, people.by_id) == (1, {})
