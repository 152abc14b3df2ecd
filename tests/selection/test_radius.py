"""Δ from the data: folds, the population behind them, what is chosen, and doubts about it."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Array, Demonstrations, Episode
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.methods import find_method
from counterbc.selection.folds import CrossFit, crossfit, split_folds
from counterbc.selection.radius import (
    DoubtfulRadius,
    RadiusSearch,
    best_radius,
    choose_radius,
    least_radius,
    plateau,
)
from counterbc.selection.unimodality import departure, two_peaks
from counterbc.settings import settings_for
from counterbc.trainer import train
from counterbc.training.plan import Job
from counterbc.training.progress import Quiet

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")

Make = Callable[..., Demonstrations]
Train = Callable[..., Policies]
Call = Callable[..., tuple[int, str, str]]
CallJson = Callable[..., dict[str, Any]]
SMALL: dict[str, Any] = {"hidden": (32, 32), "progress": False}
COARSE = RadiusSearch(radii=(0.0, 0.2, 0.4, 0.6, 0.8), steps=2000)


def shown(*sigma: float, goals: float = 0.0, episodes: int = 10) -> Demonstrations:
    """Episodes of 12 pairs: each action is half a state, ± goals in the last, ± uniform errors."""
    rng, size, made = np.random.default_rng(0), len(sigma), []
    for _ in range(episodes):
        obs = rng.uniform(-1, 1, (12, 3))
        action = 0.5 * obs[:, :size] + np.array(sigma) * rng.uniform(-1, 1, (12, size))
        action[:, -1] += goals * rng.choice([-1, 1], 12)
        made.append(Episode(obs, action))
    return Demonstrations(tuple(made), np.full(size, -1.0), np.ones(size))


# Folds


def test_no_episode_is_both_learned_from_and_held_out(make_demos: Make) -> None:
    demos = make_demos(episodes=13, length=7)
    folds = split_folds(demos, 5, seed=3)
    assert (folds.kind, folds.gap, len(folds)) == ("episodes", 0, 5)
    for held_out, learned in zip(folds.held_out, folds.learned, strict=True):
        assert not set(demos.starts[held_out]) & set(demos.starts[learned])
        assert sorted([*held_out, *learned]) == list(range(13 * 7))
    assert sorted(np.concatenate(folds.held_out)) == list(range(13 * 7))
    sizes = [len(h) for h in folds.held_out]
    assert max(sizes) - min(sizes) <= 7
    other = split_folds(demos, 5, seed=4)
    assert any(not np.array_equal(*x) for x in zip(folds.held_out, other.held_out, strict=True))


def test_few_episodes_are_cut_into_blocks_with_a_gap(make_demos: Make) -> None:
    demos = make_demos(episodes=2, length=100)
    folds = split_folds(demos, 5, seed=0)
    assert (folds.kind, folds.gap) == ("blocks", 10)
    assert sorted(np.concatenate(folds.held_out)) == list(range(200))
    for held_out, learned in zip(folds.held_out, folds.learned, strict=True):
        assert list(held_out) == list(range(held_out[0], held_out[-1] + 1))
        for pair in learned:
            together = held_out[demos.starts[held_out] == demos.starts[pair]]
            assert not len(together) or np.abs(together - pair).min() > 10
    assert set(range(100)) <= set(folds.learned[4])  # the other episode stays whole


def test_folds_deal_only_the_pairs_that_are_learned_from(make_demos: Make) -> None:
    for demos in (make_demos(episodes=12), make_demos(episodes=3, length=40)):
        some = demos.sample_pairs(60, seed=1)
        folds = split_folds(some, 5, seed=0)
        assert sorted(np.concatenate(folds.held_out)) == some.learned.tolist()
        assert set(np.concatenate(folds.learned)) <= set(some.learned)


# One population


def fit(demos: Demonstrations, **changes: Any) -> CrossFit:
    settings = settings_for("default", **({"hidden": (8, 8), "steps": 50} | changes))
    name, method = find_method("counter-bc")
    folds = [split_folds(demos, 5, 0)]
    (found,) = crossfit(
        [demos], [folds], (0.0, 0.3), (name, settings.apply(method)), settings,
        torch.device("cpu"), Quiet(),
    )  # fmt: skip
    return found


def test_a_member_of_the_population_is_the_same_member_alone_on_its_fold(make_demos: Make) -> None:
    demos = make_demos(episodes=10)
    folds = split_folds(demos, 5, 0)
    settings = settings_for("default", hidden=(8, 8), steps=50, radius=0.3)
    name, method = find_method("counter-bc")
    job = Job([demos], name, settings.apply(method), settings, "default", None)
    job.assign([3])
    job.assign_lists(job.members, [folds.learned[3]])
    alone = job.run(torch.device("cpu"), torch.float32, None, False, Quiet())
    pairs = folds.held_out[3]
    acted = [alone.actor().act(obs) for obs in demos.obs[pairs]]
    together = fit(demos).residual[0, 1, pairs]
    np.testing.assert_allclose(together, demos.action[pairs] - acted, atol=2e-5)
    job.assign_lists(job.members, [folds.learned[2]])
    other = job.run(torch.device("cpu"), torch.float32, None, False, Quiet())
    assert not np.allclose(other.actor().act(demos.obs[0]), alone.actor().act(demos.obs[0]))


def test_pairs_lie_in_memory_once_however_many_folds_learn_from_them(make_demos: Make) -> None:
    demos = make_demos(episodes=10)
    folds = split_folds(demos, 5, 0)
    settings = settings_for("default")
    name, method = find_method("counter-bc")
    job = Job([demos], name, method, settings, "default", None)
    job.assign(5)
    job.assign_lists(job.members, list(folds.learned))
    view = job.view(job.datasets, torch.device("cpu"), torch.float32, job.lists)
    assert len(view.store.obs) == 100
    for row, learned in zip(view.nets.pairs, folds.learned, strict=True):
        assert row.tolist() == learned.tolist()


def test_a_policy_with_memory_is_judged_on_what_it_saw_before(
    make_demos: Make, quick: Train
) -> None:
    from counterbc.selection.folds import _residuals

    demos = make_demos(episodes=5)
    policies = quick(demos, "bc-rnn", seeds=2)
    pairs = np.array([10, 11, 13, 27])
    found, _ = _residuals(policies, demos, pairs)
    for i, pair in enumerate(pairs):
        actor = policies[1].actor()
        actor.reset()
        for obs in demos.obs[demos.starts[pair] : pair + 1]:
            action = actor.act(obs)
        np.testing.assert_allclose(found[1, i], demos.action[pair] - action, atol=1e-5)


def test_errors_are_means_of_squares_within_a_fold() -> None:
    residual = np.array([[[[1.0], [3.0], [2.0]]]])  # one repeat, one radius, three pairs
    np.testing.assert_allclose(CrossFit(residual, np.array([[0, 0, 1]])).errors(), [[[[5]], [[4]]]])


# What is chosen


def test_without_errors_a_radius_near_zero_is_chosen() -> None:
    choice = choose_radius(shown(0.0), search=COARSE, **SMALL)
    assert choice.plateau[0] == 0
    assert choice.plateau[-1] < 0.4
    assert choice.radius == choice.plateau[-1] / 2
    assert any("Δ = 0 predicts best" in w for w in choice.warnings)


def test_uniform_errors_choose_a_radius_about_as_large() -> None:
    choice = choose_radius(shown(0.4), search=COARSE, **SMALL)
    assert 0.2 < choice.radius < 0.5
    assert choice.warnings == ()
    assert "whole episodes" in choice.explanation
    assert choice.difference[0] == choice.difference_se[0] == 0
    np.testing.assert_allclose(choice.error, np.sum(choice.dimension_error, 0), rtol=1e-6)
    above = np.subtract(choice.error, choice.error[0])
    np.testing.assert_allclose(choice.difference, above, atol=1e-7)


def test_a_dimension_without_errors_chooses_none_for_itself() -> None:
    choice = choose_radius(shown(0.5, 0.0), search=COARSE, **SMALL)
    assert 0.2 < choice.per_dimension[0] < 0.6
    assert choice.per_dimension[1] < 0.05


def test_the_least_of_a_parabola_is_found_between_the_radii() -> None:
    radii = (0.0, 0.1, 0.2, 0.3)
    curve = (np.array(radii) - 0.14) ** 2
    assert least_radius(radii, curve[None, None]) == pytest.approx(0.14)
    assert least_radius(radii, curve[::-1][None, None]) == pytest.approx(0.16)
    assert least_radius(radii, np.array([[[1.0, 2.0, 3.0, 4.0]]])) == 0
    assert least_radius(radii, np.array([[[4.0, 3.0, 2.0, 1.0]]])) == 0.3
    assert least_radius(radii, np.array([[[4.0, 3.0, 2.0, np.nan]]])) == 0.2


def test_the_radius_leans_towards_the_largest_that_is_as_good() -> None:
    radii = (0.0, 0.1, 0.2, 0.3)
    folds = np.array([[[4.0, 3.0, 3.3, 5.0], [4.0, 3.0, 2.9, 5.0]]])  # 0.2 is 0.1 ± 0.2 above 0.1
    assert plateau(radii, folds) == (0.1, 0.2)
    least = least_radius(radii, folds)
    assert 0.1 < least < 0.2
    assert best_radius(radii, folds) == pytest.approx((least + 0.2) / 2, abs=1e-3)
    steep = np.array([[[4.0, 3.0, 4.0, 5.0], [4.0, 3.0, 4.0, 5.0]]])
    assert best_radius(radii, steep) == pytest.approx(0.1)


def test_the_same_call_twice_chooses_the_same_and_repeats_deal_anew(make_demos: Make) -> None:
    demos = make_demos(episodes=8)
    few: dict[str, Any] = {"radii": (0.0, 0.2, 0.4), "steps": 30}
    first, again, more = (
        choose_radius(demos, search=RadiusSearch(**few, repeats=r), **SMALL) for r in (1, 1, 2)
    )
    assert first.as_dict() == again.as_dict()
    assert more.error != first.error
    assert "2 repeats" in more.protocol


def test_of_much_data_a_part_is_used_and_said(make_demos: Make) -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=5, pairs=50)
    choice = choose_radius(make_demos(episodes=12), search=search, **SMALL)
    assert (choice.pairs, choice.pairs_used) == (120, 50)
    assert "50 pairs of 120" in choice.explanation


# Doubts


def test_two_goals_at_the_same_state_are_noticed() -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=600)
    choice = choose_radius(shown(0.1, 0.1, goals=0.5, episodes=30), search=search, **SMALL)
    (doubt,) = [w for w in choice.warnings if "peak" in w]
    assert "action[1]" in doubt
    assert "action[0]" not in doubt
    assert "1%" in doubt


def test_errors_with_one_peak_are_rarely_said_to_have_two() -> None:
    rng = np.random.default_rng(0)
    alarms = [bool(two_peaks(rng.uniform(-1, 1, (80, 2)))) for _ in range(400)]
    assert np.mean(alarms) <= 0.02
    assert two_peaks(np.concatenate([rng.normal(m, 0.3, (100, 1)) for m in (-1, 1)])) == [0]


def test_departure_is_nothing_where_the_distribution_has_one_peak_by_hand() -> None:
    one = np.concatenate([-(np.arange(1, 20) ** 1.5), np.arange(20) ** 1.5])
    assert departure(one) == pytest.approx(0, abs=1e-12)
    # Three values at each end: F is flat between, half of it lies above the chord 1/6 … 5/6.
    assert departure(np.array([0.0, 0.01, 0.02, 1.0, 1.01, 1.02])) > 0.25


# Train


def test_train_cross_validates_the_radius_and_records_it(make_demos: Make, quick: Train) -> None:
    demos = [make_demos(episodes=6, seed=s) for s in (0, 1)]
    policies = quick(demos, "counter-bc", radius="auto", seeds=2)
    assert policies.config["radius_from"] == "cross-validation"
    choices = policies.config["radius_choices"]
    assert [m.radius for m in policies.members] == [(c["radius"],) * 2 for c in choices]
    assert "(cross-validation)" in repr(policies)
    own = choose_radius(demos[1], hidden=(8, 8), steps=20, progress=False)
    assert own.radius == choices[1]["radius"]
    assert own.error == pytest.approx(choices[1]["error"], rel=1e-5)
    fixed = quick(demos, "counter-bc", radii=[c["radius"] for c in choices], seeds=2)
    for name, value in policies[1].params.items():
        torch.testing.assert_close(value, fixed[3].params[name], rtol=0, atol=1e-5)


class Stop(Quiet):
    """Ctrl-C at the first step."""

    def update(self, done: int, loss: torch.Tensor) -> None:
        raise KeyboardInterrupt


def test_a_stopped_training_chooses_the_same_radius_when_it_goes_on(
    make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    demos, out = make_demos(episodes=6), tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        quick(demos, "counter-bc", radius="auto", out=out, progress=Stop())
    done = quick(demos, "counter-bc", radius="auto", out=out, resume=True)
    assert Policies.load(out).members == done.members
    with pytest.raises(CounterBCError, match="already exists"):
        quick(demos, "counter-bc", radius="auto", out=out)


def test_methods_without_counterfactuals_choose_no_radius(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", radius="auto")
    assert policies.config["radius_from"] == "not used"
    assert policies.config["radius_choices"] == []


def test_what_goes_on_keeps_its_radius(tiny: Demonstrations, quick: Train) -> None:
    before = quick(tiny, "counter-bc", radius=0.25)
    with pytest.raises(OptionError, match="keep their radius"):
        quick(tiny, "counter-bc", radius="auto", start=before)


def test_train_warns_of_a_doubtful_radius() -> None:
    with pytest.warns(DoubtfulRadius, match="Δ = 0 predicts best"):
        train(shown(0.0), radius="auto", steps=500, **SMALL)


def test_a_short_search_says_what_it_did_not_look_for() -> None:
    search = RadiusSearch(radii=(0.0, 0.2, 0.4), steps=499)
    (doubt,) = choose_radius(shown(0.0), search=search, **SMALL).warnings
    assert "policies of 499 steps are too young to look for several modes, or for a Δ of 0" in doubt
    longer = choose_radius(shown(0.0), search=RadiusSearch(search.radii, steps=500), **SMALL)
    assert [w for w in longer.warnings if "too young" in w] == []


# Refusals


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda m: m(episodes=1, length=19), "needs 20 pairs or more; there are 19"),
        (lambda m: m(noise=0).map_actions(np.zeros_like), "all 40 actions are the same"),
        (
            lambda m: Demonstrations((Episode(np.zeros((30, 8, 8, 3), np.uint8), _ramp(30)),)),
            "images are .*; the convolutions need 36×36",
        ),
        (
            lambda m: Demonstrations(m(episodes=1, length=4000).episodes, selected=np.arange(25)),
            "a gap of 10 steps leave . pairs to learn from",
        ),
    ],
)
def test_data_that_cannot_choose_are_refused_in_one_sentence(
    make: Callable[[Make], Demonstrations], words: str, make_demos: Make
) -> None:
    with pytest.raises(DataError, match=words) as refused:
        choose_radius(make(make_demos), steps=5, **SMALL)
    assert "\n" not in str(refused.value)


def _ramp(count: int) -> Array:
    return np.linspace(-1, 1, count)[:, None]


def test_one_episode_is_enough_when_it_is_long(make_demos: Make) -> None:
    choice = choose_radius(make_demos(episodes=1, length=60), steps=5, **SMALL)
    assert (choice.folds_by, choice.gap) == ("blocks", 3)
    assert "blocks, gap 3 steps" in choice.explanation


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"radii": (0.0, 0.1)}, "radii is .* it must be 0 and two or more above it"),
        ({"radii": (0.1, 0.2, 0.3)}, "radii is"),
        ({"radii": (0.0, 0.3, 0.2)}, "radii is"),
        ({"folds": 1}, "folds is 1; it must be 2 or more"),
        ({"repeats": 0}, "repeats is 0"),
        ({"steps": 0}, "steps is 0"),
        ({"pairs": 19}, "pairs is 19; it must be 20 or more"),
    ],
)
def test_a_search_that_cannot_be_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(OptionError, match=words):
        RadiusSearch(**changes)


def test_a_method_without_radius_is_refused(tiny: Demonstrations) -> None:
    with pytest.raises(OptionError, match="bc has no counterfactuals"):
        choose_radius(tiny, "bc", progress=False)


# The command


@pytest.fixture
def file(make_demos: Make, tmp_path: Path) -> Path:
    path = tmp_path / "demos.hdf5"
    make_demos(episodes=6).save(path)
    return path


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_command_shows_the_curve_and_draws_it(
    kind: str, file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    picture = tmp_path / f"curve.{kind}"
    few = ("--steps", 5, "--radii", 0, "--radii", 0.2, "--radii", 0.4)
    answer = call_json("radius", file, *few, "--plot", picture)
    assert answer["radii"] == [0, 0.2, 0.4]
    assert picture.stat().st_size > 1000
    _, out, _ = call("radius", file, *few, "--per-dimension")
    assert f"Δ {answer['radius']:g}" in out
    assert "0.2 for experts to 0.5 for novices" in out
    option = " ".join(f"--radius {r:g}" for r in answer["per_dimension"])
    assert out.rstrip().endswith(f"counterbc train {file} {option}")


def test_the_line_to_paste_trains_what_the_radius_was_chosen_for(
    file: Path, tmp_path: Path, call: Call, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spaced = file.rename(tmp_path / "my demos.hdf5")
    again = ("--obs", "state", "--format", "robomimic", "--preset", "paper", "--policy", "mixture",
             "--modes", "2")  # fmt: skip
    few = ("--steps", "5", "--radii", "0", "--radii", "0.2", "--radii", "0.4")
    radius = call_json("radius", spaced, *again, *few)["radius"]
    _, out, _ = call("radius", spaced, *again, *few)
    line = out.splitlines()[-1].removeprefix("Next: counterbc ")
    assert shlex.split(line) == ["train", str(spaced), *again, "--radius", f"{radius:g}"]
    settings = call_json(*shlex.split(line), "--steps", 2)["settings"]
    assert (settings["policy"], settings["modes"], settings["limited"]) == ("mixture", 2, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--plot", "curve.pdf"), "cannot draw curve.pdf; allowed: .png, .svg"),
        (("--folds", "1"), "folds is 1"),
        (("--method", "bc"), "needs no radius"),
        (("--modes", "3"), "choose the policy mixture"),
    ],
)
def test_the_command_refuses_in_one_sentence(
    options: tuple[str, ...], words: str, file: Path, call: Call
) -> None:
    status, out, err = call("radius", file, *options)
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.splitlines()) == 1


def test_the_train_command_chooses_the_radius_unless_told(
    file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    def config(name: str, *options: object) -> dict[str, Any]:
        return call_json("train", file, "--steps", 5, "--out", tmp_path / name, *options)

    chosen = config("auto")
    assert (chosen["radius_from"], chosen["settings"]["radius"]) == ("cross-validation", "auto")
    assert config("same", "--radius", "auto")["members"] == chosen["members"]
    assert config("number", "--radius", 0.2)["members"] == ["seed 0, radius 0.2"]
    assert config("each", "--radius", 0.2, "--radius", 0)["members"] == ["seed 0, radius 0.2/0"]
    assert config("paper", "--preset", "paper")["members"] == ["seed 0, radius 0.4"]
    assert config("authors", "--preset", "authors")["members"] == ["seed 0, radius 0.5"]
    on = config("on", "--start", tmp_path / "number")
    assert on["members"] == ["seed 0, radius 0.2"]
    _, out, _ = call("train", file, "--steps", 5, "--out", tmp_path / "told")
    assert "5 folds of whole episodes, 60 pairs" in out
    mixed = ("--radius", "auto", "--radius", 0.2)
    status, _, err = call("train", file, *mixed, "--out", tmp_path / "x")
    assert status == 1
    assert "give auto alone" in err
