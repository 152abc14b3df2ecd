"""What a member was trained with, in words and in a run folder."""

import json
from dataclasses import asdict

from counterbc.acting.member import Member, radius_text


def test_a_member_survives_json() -> None:
    offsets = (("ada", (0.1, 0.0)), ("bob", (-1 / 3, 2.0)))
    member = Member(4, (0.2, 0.0), 1, "abc", lag=(1.0, 2.5), steps=200, offsets=offsets)
    assert Member.of(json.loads(json.dumps(asdict(member)))) == member


def test_a_member_of_the_first_release_has_no_lag_steps_or_offsets() -> None:
    fields = {"seed": 4, "radius": [0.2], "dataset": 0, "fingerprint": ""}
    assert Member.of(fields) == Member(4, (0.2,))


def test_a_name_says_what_differs_from_the_usual() -> None:
    assert Member(1, (0.4, 0.4)).name == "seed 1, radius 0.4"
    member = Member(1, (0.4, 0.0), lag=(2.0,), steps=200, offsets=(("ada", (0.1, 0.0)),))
    assert member.name == "seed 1, radius 0.4/0, lag 2, 200 steps, without the offset of ada"
    assert radius_text((0.1, 0.1)) == "0.1"
