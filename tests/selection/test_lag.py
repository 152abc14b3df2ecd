"""The lag from the data: known delays, simulated teachers, and data that cannot tell."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import HUMAN_TEACHERS, Chain, Delay, UniformNoise, demonstrate
from counterbc.selection.lag import _valley, choose_lags, middle
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.lag_errors import LagErrors, LagSearch
from counterbc.training.progress import Quiet
from tests.fixture_types import Make
from tests.selection.datasets import fast_demos, joined, late_demos, training

SHORT = LagSearch(longest=4)


def lag_of_one(demos: Demonstrations, search: LagSearch = SHORT) -> LagChoice:
    (choice,) = choose_lags([demos], training(), search)
    return choice


def errors_of(*squares: np.ndarray, lags: tuple[int, ...] = ()) -> LagErrors:
    """Return errors of lags on actions in clusters of their own."""
    errors = LagErrors(
        lags=lags or tuple(range(len(squares))), action=np.zeros((10, 1)), predicted=np.empty(0),
        by_step=np.zeros(10), step=np.arange(10), own_past=None, cluster=np.arange(10),
    )  # fmt: skip
    vars(errors)["squares"] = np.stack(squares)
    return errors


# What is chosen


@pytest.mark.parametrize("late", [0, 1, 3])
def test_a_known_delay_is_chosen(late: int) -> None:
    choice = lag_of_one(late_demos(late))
    assert choice.lag == (float(late),)
    assert choice.verdict == ("late" if late else "not late")
    assert choice.confident is (late > 0)
    assert choice.above[late] == choice.above_se[late] == 0
    assert choice.explained is not None
    assert choice.explained.value > 0.7


def test_a_teacher_who_reacts_0_2_seconds_late_in_cartpole_is_10_steps_late() -> None:
    demos = demonstrate("cartpole", Chain((Delay(0.2), UniformNoise(0.1))), 400, 1000)
    choice = lag_of_one(demos, LagSearch())
    assert choice.lag == (10.0,)
    assert choice.explanation.startswith("The demonstrators react 0.2 s (10 steps) late")


def test_a_teacher_who_reacts_at_once_in_air_hockey_is_not_late() -> None:
    choice = lag_of_one(demonstrate("air-hockey", UniformNoise(0.1), 400, 1000), LagSearch())
    assert (choice.lag, choice.verdict) == ((0.0,), "not late")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("late", "smooth"),
    [(17, 2), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((26, 1), (0, 2)))],
)
def test_at_a_high_rate_half_of_the_lags_give_the_answer_of_all(
    late: int, smooth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    demos = fast_demos(late, smooth=smooth)
    choice = lag_of_one(demos, LagSearch())
    monkeypatch.setattr("counterbc.selection.lag_grid.COARSE", 1000)
    whole = lag_of_one(demos, LagSearch())
    assert whole.lags == tuple(range(43))  # half of an episode
    assert len(choice.lags) <= 25
    answer = (choice.lag, choice.verdict, choice.confident)
    assert answer == (whole.lag, whole.verdict, whole.confident)
    assert abs(choice.lag[0] - late) <= 2  # 0.01 s
    assert choice.error == pytest.approx([whole.error[k] for k in choice.lags], rel=1e-9)


def test_at_20_steps_per_second_every_lag_is_tried() -> None:
    choice = lag_of_one(replace(late_demos(2), rate=20.0), LagSearch())
    assert choice.lags == tuple(range(9))  # 0.4 s
    assert (choice.lag, choice.verdict, choice.confident) == ((2.0,), "late", True)


class Steps(Quiet):
    """A progress that remembers what it was shown."""

    def __init__(self) -> None:
        self.total, self.steps, self.stops = 0, list[int](), 0

    def start(self, step: int, total: int, kernel: str) -> None:
        assert (step, kernel) == (0, "lags")
        self.total += total

    def update(self, step: float, loss: torch.Tensor) -> None:
        assert loss.isfinite().all()
        self.steps.append(int(step))

    def stop(self) -> None:
        self.stops += 1


def test_every_lag_of_all_datasets_is_shown_in_one_bar(make_demos: Make) -> None:
    progress, plan = Steps(), replace(training(), progress=Quiet())
    datasets = [late_demos(2), make_demos(episodes=1, length=50), late_demos(0)]
    choose_lags(datasets, replace(plan, progress=progress), SHORT)
    count = 2 * len(datasets[::2]) * len(SHORT.lags(datasets[0]))  # with and without past actions
    assert (progress.total, progress.steps, progress.stops) == (count, [*range(1, count + 1)], 1)
    silent = Steps()
    choose_lags(datasets[1:2], replace(plan, progress=silent), SHORT)  # too few pairs
    assert (silent.total, silent.stops) == (0, 0)


def test_several_datasets_have_lags_of_their_own_and_agree_with_each_alone() -> None:
    datasets = [late_demos(2), late_demos(0)]
    together = choose_lags(datasets, training(), SHORT)
    assert [c.lag for c in together] == [(2.0,), (0.0,)]
    assert together[1].error == lag_of_one(datasets[1]).error


def test_operators_who_differ_have_lags_of_their_own() -> None:
    choice = lag_of_one(late_demos(1, 1, 3, episodes=24))
    assert (choice.lag, choice.operators) == ((1.0, 1.0, 3.0), ("p0", "p1", "p2"))
    assert "p1 reacts 1 step late; p2 reacts 3 steps late" in choice.explanation


def test_operators_whom_the_sample_lacks_have_a_lag_too() -> None:
    demos = late_demos(1, 1, 3, episodes=24)
    rare = replace(demos.episodes[0], operator="q", name="rare")
    choice = lag_of_one(replace(demos, episodes=(*demos.episodes, rare)), replace(SHORT, pairs=600))
    assert choice.operators == ("p0", "p1", "p2", "q")
    assert choice.lag[:3] == (1.0, 1.0, 3.0)


def test_operators_who_do_not_differ_share_one_lag() -> None:
    choice = lag_of_one(late_demos(2, 2, episodes=20))
    assert (choice.lag, choice.operators) == ((2.0,), ())


def test_one_long_episode_is_enough() -> None:
    demos = late_demos(2)
    assert lag_of_one(replace(demos, episodes=(joined(demos),))).lag == (2.0,)


def test_much_data_are_searched_in_whole_episodes() -> None:
    choice = lag_of_one(late_demos(2, episodes=20), replace(SHORT, pairs=200))
    assert choice.lag == (2.0,)


_SPREAD = np.resize([0.3, -0.3], 10)
VALLEY = (1.3 + _SPREAD, 1.05 + _SPREAD, np.ones(10))
"""Errors of ten actions: far above the best (0.3 ± 0.1), near it (0.05 ± 0.1), and the best."""


def test_the_lag_lies_in_the_middle_of_those_as_good_as_the_best() -> None:
    far, near, best = VALLEY
    assert middle(errors_of(far, far, best, far)) == 2.0
    assert middle(errors_of(far, near, best, far)) == 1.5
    assert middle(errors_of(near, near, best, far)) == 1.5  # 0 is not a lag
    assert middle(errors_of(best, near, far)) == 0.5
    assert middle(errors_of(far, far, best, near)) == 2.5
    assert middle(errors_of(far, near, best, near)) == 2.0
    assert middle(errors_of(far, far, far, near, best, lags=(0, 4, 8, 12, 13))) == 12.5


def test_lags_of_another_valley_do_not_move_the_middle() -> None:
    far, near, best = VALLEY
    assert middle(errors_of(far, near, far, far, best, near)) == 4.5
    assert middle(errors_of(far, best, near, far, near)) == 1.5


def test_images_are_searched_too() -> None:
    demos = late_demos(2, episodes=12)
    pixels = [
        np.round(100 * e.obs + 127).astype(np.uint8)[:, :, None, None] for e in demos.episodes
    ]
    frames = [
        Episode(np.tile(x, (4, 4, 1)), e.action)
        for x, e in zip(pixels, demos.episodes, strict=True)
    ]
    choice = lag_of_one(replace(demos, episodes=tuple(frames), obs_names=(), obs_keys=()))
    assert (choice.lag, choice.verdict) == ((2.0,), "late")


def test_a_policy_with_history_has_a_flat_curve_that_is_only_shown() -> None:
    (choice,) = choose_lags([late_demos(2)], training("bc-rnn", hidden=None), SHORT)
    assert choice.lag == (2.0,)
    alone, beside = np.array(choice.error), np.array(choice.history_error)
    assert alone[0] > 2 * alone[2]
    # It reads the state that was answered, whatever the lag up to the delay.
    assert beside[0] < 0.2 * alone[0]


# What cannot be told


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m: late_demos(2).sample_pairs(200, 0), "the pairs are scattered"),
        (lambda m: m(episodes=9), "90 pairs are too few; record 100 or more"),
        (lambda m: m(episodes=1, length=90), "90 pairs are too few; record 100 or more"),
        (lambda m: late_demos(2).map_actions(np.zeros_like), "all actions are the same"),
        (lambda m: m(episodes=120, length=1), "the episodes are too short"),
        (
            lambda m: m(episodes=1, length=100, rate=50.0),
            "the episodes are too few and too short; record 5 or more",
        ),
    ],
)
def test_data_that_cannot_tell_are_answered_in_one_sentence_without_training(
    make: Callable[[Make], Demonstrations], words: str, make_demos: Make
) -> None:
    choice = lag_of_one(make(make_demos), LagSearch())
    assert (choice.lag, choice.verdict, choice.lags) == ((0.0,), "cannot tell", ())
    assert choice.explanation.startswith("Cannot tell how late the demonstrators react: ")
    assert words in choice.explanation
    assert "\n" not in choice.explanation


@pytest.mark.parametrize("shape", [(1, 125), (60, 2)])
def test_short_data_are_searched_without_the_second_criterion(
    shape: tuple[int, int], make_demos: Make
) -> None:
    demos = make_demos(episodes=shape[0], length=shape[1], rate=50.0)
    choice = lag_of_one(demos)
    assert choice.error
    assert choice.own_past_error == ()
    assert not choice.confident


def test_short_episodes_without_a_lag_cannot_tell_whether_a_longer_one_is_there() -> None:
    demos = replace(late_demos(0), rate=50.0)  # 0.4 s are 20 steps, and half an episode is 15
    choice = lag_of_one(demos, LagSearch())
    assert (choice.lag, choice.verdict, choice.lags[-1]) == ((0.0,), "cannot tell", 15)
    assert choice.reason == (
        "no lag up to 0.3 s (15 steps) explains the actions better than 0, and the episodes are "
        "too short to try longer ones"
    )
    longer = replace(demos, rate=25.0)  # 0.4 s are 10 steps
    assert lag_of_one(longer, LagSearch()).verdict == "not late"


def test_a_lag_that_is_found_in_short_episodes_is_an_answer() -> None:
    choice = lag_of_one(replace(late_demos(3), rate=50.0), LagSearch())
    assert (choice.lag, choice.verdict) == ((3.0,), "late")


@pytest.mark.slow
def test_operators_of_a_crowd_in_cartpole_have_lags_of_their_own() -> None:
    demos = demonstrate("cartpole", HUMAN_TEACHERS["crowd"], 400, 1000)
    choice = lag_of_one(demos, LagSearch())
    assert (choice.verdict, choice.confident, choice.reason) == ("late", False, "")
    assert choice.operators == demos.operators
    assert 0.2 < np.mean(choice.lag) / 50 < 0.3


def test_actions_that_nothing_explains_cannot_tell() -> None:
    rng = np.random.default_rng(0)
    demos = late_demos(2).map_actions(lambda a: rng.uniform(-1, 1, a.shape))
    choice = lag_of_one(demos)
    assert (choice.lag, choice.verdict) == ((0.0,), "cannot tell")
    assert "of held-out actions, and the lower end must reach 10%" in choice.reason


def test_the_longest_lag_tried_is_not_sure() -> None:
    choice = lag_of_one(late_demos(3), replace(SHORT, longest=3))
    assert (choice.lag, choice.confident) == ((3.0,), False)
    assert choice.explanation.endswith("this is the longest lag tried, so try longer ones")


def test_a_second_valley_is_named_where_no_lag_is_found() -> None:
    cluster = np.arange(40)
    rng = np.random.default_rng(0)
    curve = np.array([1.0, 1.5, 2.0, 1.8, 1.2, 1.6, 2.0])
    squares = curve[:, None] + 0.1 * rng.normal(size=(7, 40))
    assert _valley(squares, cluster) == 4
    assert _valley(np.sort(squares, axis=0), cluster) == 0
