"""How many steps a block has, and how long the rest will take."""

from __future__ import annotations

import numpy as np
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


def test_an_estimate_leaves_out_the_first_sample_and_takes_the_median_over_states() -> None:
    pace = Pace(10)
    pace.measure(10, 30.0)  # compiling
    pace.measure(10, 2.0)
    pace.measure(30, 3.0)
    verdicts = [pace.is_known]
    pace.measure(40, 2.0)
    assert [*verdicts, pace.is_known] == [False, True]
    assert pace.seconds_for(800) == pytest.approx(800 * 2 / 40), "half of 80 states took 0.05 s"


def test_a_pause_of_the_machine_does_not_change_an_estimate() -> None:
    pace = Pace(10)
    for seconds in (0.5, 0.5, 0.5, 8.0, 0.5, 0.5):
        pace.measure(100, seconds)
    assert pace.seconds_for(1000) == pytest.approx(5.0)


def test_an_estimate_waits_for_three_seconds_of_steps() -> None:
    pace, verdicts = Pace(10), list[bool]()
    for _ in range(60):
        pace.measure(1, 0.1)
        verdicts.append(pace.is_known)
    assert verdicts.index(True) in (30, 31)


@pytest.mark.parametrize(("seconds", "samples"), [(2.0, 3), (5.0, 3), (6.5, 1), (60.0, 1)])
def test_one_slow_step_after_the_first_is_enough_for_an_estimate(
    seconds: float, samples: int
) -> None:
    pace, verdicts = Pace(10), list[bool]()
    for _ in range(1 + samples):  # the first one compiles
        verdicts.append(pace.is_known)
        pace.measure(36, seconds)
    assert not any(verdicts)
    assert pace.is_known
    assert pace.seconds_for(360) == pytest.approx(10 * seconds)


def test_a_slow_step_of_one_kernel_says_nothing_of_another() -> None:
    pace = Pace(10, [("fast", 1), ("slow", 1)])
    for _ in range(2):
        pace.measure(10, 60.0, "slow")
    assert not pace.is_known


def test_later_work_that_was_timed_is_slowed_down_by_the_load_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pace = Pace(10)
    for _ in range(4):
        pace.measure(10, 2.0)  # 0.2 s for a state; the first sample is left out
    monkeypatch.setattr("time.process_time", lambda: pace.began + 3.0)  # for 30 states
    assert pace.alone == pytest.approx(0.1)
    assert pace.seconds_for_later(50, 0.03) == pytest.approx(50 * 0.03 * 2)
    assert pace.seconds_for_later(50, 0.0) == pytest.approx(50 * 0.2)


class SharedCore:
    """A core that a training shares with other programs, which take turns at random."""

    def __init__(self, rng: np.random.Generator, rivals: int) -> None:
        self.rng, self.rivals, self.now, self.rest = rng, rivals, 0.0, 0.0

    def work(self, seconds: float) -> float:
        """Return how long this much work takes."""
        began = self.now
        while seconds > 0:
            if self.rest <= 0:  # the others' turns, and sometimes a pause of the whole machine
                turns = self.rng.exponential(0.01, self.rivals).sum()
                self.now += turns + (0.5 if self.rng.random() < 0.0005 else 0.0)
                self.rest = self.rng.exponential(0.01)
            part = min(seconds, self.rest)
            seconds, self.rest, self.now = seconds - part, self.rest - part, self.now + part
        return self.now - began


@pytest.mark.parametrize("rivals", [0, 1, 2, 4])
@pytest.mark.parametrize("step_seconds", [0.0004, 0.05])
def test_an_estimate_holds_within_a_factor_of_two_beside_other_programs(
    rivals: int, step_seconds: float
) -> None:
    total = int(30 / step_seconds)
    for seed in range(10):
        core, pace, steps = SharedCore(np.random.default_rng(seed), rivals), Pace(100), 0
        estimate = 0.0
        while steps < total:
            count = min(pace.block, total - steps)
            seconds = core.work(count * step_seconds)
            steps += count
            pace.measure(count, seconds)
            pace.choose_block(count, seconds)
            if not estimate and pace.is_known:
                estimate, began = pace.seconds_for(total - steps), core.now
        assert 0.5 < estimate / (core.now - began) < 2


def test_each_kernel_counts_by_its_networks_where_one_is_fast_and_one_slow() -> None:
    pace = Pace(10, [("fast", 10), ("slow", 20)])
    for _ in range(3):
        pace.measure(10, 1.0, "fast")
        pace.measure(20, 8.0, "slow")
    assert pace.seconds_for(300) == pytest.approx(100 * 0.1 + 200 * 0.4)
    assert pace.mean == pytest.approx(9 / 30)


def test_an_estimate_waits_until_every_kernel_was_measured() -> None:
    pace = Pace(10, [("fast", 1), ("slow", 1)])
    for _ in range(5):
        pace.measure(1, 2.0, "fast")
    verdicts = [pace.is_known]
    for _ in range(2):
        pace.measure(1, 2.0, "slow")
        verdicts.append(pace.is_known)
    assert verdicts == [False, False, True], "the first sample includes compiling"
