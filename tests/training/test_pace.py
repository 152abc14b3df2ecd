"""How many steps a block has, and how long the rest will take."""

from __future__ import annotations

import pytest

from counterbc.training.pace import BLOCK, Pace


def run(step_seconds: float, steps: int, longest: int = 100) -> list[int]:
    """Return the lengths of the blocks of a training whose steps take this long."""
    pace, lengths = Pace(longest), list[int]()
    while sum(lengths) < steps:
        lengths.append(pace.block)
        pace.choose_block(pace.block, pace.block * step_seconds)
    return lengths


@pytest.mark.parametrize("step_seconds", [1e-6, 1e-3, 0.004, 0.1, 0.3, 0.5])
def test_no_block_takes_longer_than_its_time(step_seconds: float) -> None:
    lengths = run(step_seconds, 5000)
    assert max(lengths) * step_seconds <= BLOCK + 1e-9
    assert max(lengths) <= 100
    assert lengths[:2] in ([1, 1], [1, 2], [1, 4])
    assert len(lengths) < 5000 / max(lengths) + 5, "few blocks are shorter than they could be"


def test_a_block_has_one_step_where_that_takes_longer() -> None:
    assert set(run(3.0, 20)) == {1}


def test_blocks_shrink_at_once_when_steps_become_slow_and_grow_by_degrees() -> None:
    pace = Pace(1000)
    pace.block = 400
    pace.choose_block(400, 40.0)
    assert pace.block == 5
    pace.choose_block(5, 0.001)
    assert pace.block == 20


def test_an_estimate_leaves_out_the_first_sample_and_weighs_the_others_by_states() -> None:
    pace = Pace(10)
    pace.measure(10, 30.0)  # compiling
    pace.measure(10, 1.0)
    pace.measure(30, 2.0)
    verdicts = [pace.is_known]
    pace.measure(40, 1.0)
    verdicts.append(pace.is_known)
    assert verdicts == [False, True]
    assert pace.seconds_for(800) == pytest.approx(800 * 4 / 80)


def test_an_estimate_waits_for_half_a_second_of_steps() -> None:
    pace, verdicts = Pace(10), list[bool]()
    for _ in range(60):
        pace.measure(1, 0.01)
        verdicts.append(pace.is_known)
    assert verdicts.index(True) in (50, 51)
