"""People stay known when their connection breaks, and are forgotten after a while."""

from __future__ import annotations

import threading

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
        self.is_busy = False

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


def test_rooms_are_left_when_another_page_takes_over() -> None:
    people, room = make()
    person = people.welcome("")
    person.attach(Outbox())  # type: ignore[arg-type]
    assert room.left_count == 0
    person.attach(Outbox())  # type: ignore[arg-type]
    assert room.left_count == 1


def test_absent_people_are_forgotten_and_their_recordings_completed() -> None:
    people, room = make()
    person = people.welcome("")
    assert person.left_at is not None
    people.forget(person.left_at + FORGOTTEN - 1)
    assert people.welcome(person.id) is person
    people.forget(person.left_at + FORGOTTEN + 1)
    assert room.closed_count == 1
    assert people.welcome(person.id) is not person


def test_a_person_whose_training_runs_is_not_forgotten() -> None:
    people, room = make()
    person = people.welcome("")
    room.is_busy = True
    assert person.left_at is not None
    people.forget(person.left_at + FORGOTTEN + 1)
    assert people.welcome(person.id) is person
    room.is_busy = False
    people.forget(person.left_at + FORGOTTEN + 1)
    assert person.id not in people.by_id
    assert room.closed_count == 1


@pytest.mark.parametrize("end", ["forget", "limit", "close"])
def test_nobody_waits_while_the_recordings_of_others_are_completed(end: str) -> None:
    people, room = make()
    person, other = people.welcome(""), people.welcome("")
    other.attach(Outbox())  # type: ignore[arg-type]
    welcomed = []

    def close() -> None:  # as slow as a disk: it ends when somebody else was welcomed
        thread = threading.Thread(target=people.welcome, args=(other.id,), daemon=True)
        thread.start()
        thread.join(timeout=10)
        welcomed.append(not thread.is_alive())

    room.close = close  # type: ignore[method-assign]
    assert person.left_at is not None
    if end == "forget":
        people.forget(person.left_at + FORGOTTEN + 1)
    elif end == "limit":
        for _ in range(PEOPLE - 2):
            people.welcome("").attach(Outbox())  # type: ignore[arg-type]
        people.welcome("")
    else:
        people.close()
    assert welcomed
    assert all(welcomed)


def test_somebody_who_comes_back_late_is_still_known() -> None:
    people, room = make()
    person = people.welcome("")
    person.left_at = -2 * FORGOTTEN
    assert people.welcome(person.id) is person
    assert room.closed_count == 0


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
