"""Goals without labels."""

from __future__ import annotations

import counterbc as cb
from counterbc.demonstrators import UniformNoise
from reproduction.studies import intents


def test_the_end_of_every_episode_is_hidden() -> None:
    demos = cb.demonstrate("intersection", UniformNoise(0.3), 40, seed=0)
    assert [len(e) for e in intents.hide(demos, 0.25).episodes] == [15, 15]
    assert intents.hide(demos, 0.0).pairs == 40


def test_groups_may_have_their_numbers_exchanged() -> None:
    row = {"episodes": 4, "groups": 2, "share": 0.75, "wilson": (0.3, 0.95)}
    row["gain"] = {"2": [0.5, 0.1], "3": [-0.5, 0.1]}
    assert intents.markdown({"both": row}).splitlines()[2] == (
        "| both | 4 | 2 | 75.0 % [30.0, 95.0] | +0.50 ± 0.10 | −0.50 ± 0.10 |"
    )
