"""What is said about long work, and who agrees to it."""

from __future__ import annotations

import pytest

from counterbc.errors import SlowWork
from counterbc.training.session import Session, current_session, use_session


def test_long_work_is_announced_once_and_short_work_never() -> None:
    session = Session()
    assert session.announcement(5) == ""
    assert session.announcement(150) == (
        "Estimated time left at the present load: about 2.5 minutes."
    )
    assert session.announcement(150) == ""
    assert session.announcement(200) == "", "the estimate holds within a factor of one and a half"


def test_an_estimate_that_turns_out_too_short_is_announced_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = [1000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    session = Session()
    session.announcement(150)
    now[0] += 100
    assert session.announcement(50) == "", "50 seconds are left, as announced"
    assert session.announcement(70) == ""
    assert session.announcement(150) == (
        "Estimated time left at the present load: about 2.5 minutes, longer than announced."
    )
    assert session.announcement(150) == ""
    now[0] += 200
    assert session.announcement(20) == "", "too short to be worth a line"


def test_work_beyond_the_limit_needs_agreement_once_and_not_on_a_gpu() -> None:
    questions: list[str] = []

    def ask(text: str) -> bool:
        questions.append(text)
        return True

    session = Session(limit=1200, ask=ask, quicker=lambda seconds: f"{seconds:g} s a step")
    assert not session.needs_agreement(1100, is_gpu=False)
    assert not session.needs_agreement(9000, is_gpu=True)
    assert session.needs_agreement(9000, is_gpu=False)
    session.agree(9000, 0.25)
    assert questions == [
        "This takes about 2.5 hours at the present load without a GPU. Quicker: 0.25 s a step."
    ]
    assert not session.needs_agreement(9000, is_gpu=False)
    assert session.announcement(9000) == "", "it was said in the question"


def test_nobody_agrees_to_long_work() -> None:
    session = Session(limit=1, ask=lambda text: False, quicker=lambda seconds: "fewer steps")
    sentence = (
        "take about 2.5 hours at the present load without a GPU; quicker: fewer steps; add --yes"
    )
    with pytest.raises(SlowWork, match=sentence):
        session.agree(9000, 1.0)


def test_smaller_data_are_the_first_advice() -> None:
    session = Session(ask=lambda text: False, quicker=lambda seconds: "fewer steps")
    session.smaller_data = "--image-size 96 128"
    with pytest.raises(SlowWork, match="GPU; quicker: --image-size 96 128, fewer steps; add --yes"):
        session.agree(9000, 1.0)


def test_trainings_belong_to_the_session_of_their_block() -> None:
    assert current_session().limit == float("inf")
    with use_session(Session(limit=7)) as session:
        assert current_session() is session
    assert current_session() is not session


def test_an_estimate_says_what_it_leaves_out() -> None:
    session = Session()
    session.begin("testing in a world")
    text = session.announcement(120)
    assert text.startswith("Estimated time left at the present load, without testing in a world: ")
    session.begin("")
    text = session.announcement(300)
    assert text.startswith("Estimated time left at the present load: "), "another part of the work"
    assert "longer than announced" not in text
