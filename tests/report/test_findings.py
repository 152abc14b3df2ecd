"""What is found is what the other functions find, and what cannot be done has a reason."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.diagnosis.exclusion import find_outliers
from counterbc.diagnosis.meaning import meaning
from counterbc.errors import OptionError
from counterbc.report import ReportOptions, find
from counterbc.report.advice import Inputs, advice
from counterbc.report.findings import Source
from counterbc.report.html_goals import modes
from counterbc.report.html_scores import ranking
from counterbc.report.html_sections import radius
from counterbc.report.words import headline, lengths
from counterbc.selection.held_out import HeldOut
from counterbc.selection.radius import RadiusSearch, choose_radius
from counterbc.selection.shares import Explained, Share

QUICK: dict[str, Any] = {
    "held_out": HeldOut(repeats=1, steps=20), "search": RadiusSearch(steps=20), "force": True
}  # fmt: skip


def test_it_says_what_the_other_functions_say(tiny: Demonstrations) -> None:
    findings = find([tiny], ReportOptions(**QUICK))
    choice = choose_radius(tiny, search=RadiusSearch(steps=20), progress=False)
    expected_meaning = meaning(
        tiny, radius=choice.radius, held_out=HeldOut(repeats=1, steps=20), progress=False
    )  # fmt: skip
    assert findings.choice is not None
    assert findings.meaning is not None
    assert findings.choice.error == choice.error
    assert findings.radius == expected_meaning.radius
    np.testing.assert_array_equal(findings.meaning.meant, expected_meaning.meant)
    assert findings.distance == pytest.approx(np.sqrt((expected_meaning.distance**2).mean()))


@pytest.mark.slow
def test_an_episode_that_does_the_opposite_stands_out(make_demos: Any) -> None:
    demos = make_demos(episodes=20, length=40)
    bad = replace(demos.episodes[4], action=-demos.episodes[4].action)
    demos = replace(demos, episodes=(*demos.episodes[:4], bad, *demos.episodes[5:]))
    options = ReportOptions(radius=0.2, intents=False, held_out=HeldOut(repeats=1, steps=400))
    findings = find([demos], options)
    assert findings.outliers == (4,)
    assert findings.meaning is not None
    assert list(findings.outliers) == find_outliers(findings.meaning, options.held_out)
    assert findings.ranking[0] == 4
    assert "1 episode stands out." in headline(findings)


@pytest.mark.slow
def test_nothing_stands_out_where_the_ranking_follows_length(make_demos: Any) -> None:
    demos = make_demos(episodes=20, length=40)
    rng = np.random.default_rng(0)
    episodes = []
    for i, episode in enumerate(demos.episodes):  # errors grow with the length
        end = 20 + i
        noise = 0.03 * i * rng.normal(size=(end, demos.action_size))
        episodes.append(Episode(episode.obs[:end], episode.action[:end] + noise))
    demos = replace(demos, episodes=tuple(episodes))
    options = ReportOptions(radius=0.2, intents=False, held_out=HeldOut(repeats=1, steps=400))
    findings = find([demos], options)
    assert findings.outliers == ()
    assert findings.why_no_outliers is not None
    assert "The ranking follows length" in findings.why_no_outliers
    assert not any("out." in sentence.split() for sentence in headline(findings))
    assert findings.why_no_outliers in str(ranking(findings))
    titles = [step.title for step in advice(findings, Inputs((Path("a"),), ("npz",)))]
    assert "Exclude outliers" not in titles


def test_few_episodes_have_none_that_stands_out(tiny: Demonstrations) -> None:
    findings = find([tiny], ReportOptions(radius=0.2, intents=False, **QUICK))
    assert findings.why_no_outliers == "There are too few episodes to detect outliers."
    assert findings.outliers == ()
    assert not any("out" in sentence.split() for sentence in headline(findings))


def test_what_is_not_asked_for_has_a_reason(tiny: Demonstrations) -> None:
    findings = find([tiny], ReportOptions(radius=0.2, scores=False, intents=False))
    assert [findings.choice, findings.meaning, findings.intents] == [None] * 3
    assert set(findings.reasons) == {"radius", "scores", "intents"}


def test_images_are_inspected_and_the_rest_is_explained() -> None:
    rng = np.random.default_rng(0)
    frames = rng.integers(0, 255, (6, 8, 8, 3), np.uint8)
    episodes = tuple(Episode(frames, rng.uniform(-1, 1, (6, 2))) for _ in range(8))
    findings = find([Demonstrations(episodes)], ReportOptions(**QUICK))
    assert findings.inspection.episodes == 8
    assert "images" in findings.reasons["radius"]
    assert "--radius" in findings.reasons["scores"]
    assert "images" in findings.reasons["intents"]


def test_too_few_episodes_for_goals_are_explained(make_demos: Any) -> None:
    findings = find([make_demos(episodes=1, length=60)], ReportOptions(radius=0.2, **QUICK))
    assert findings.meaning is not None
    assert "1 episodes are too few" in findings.reasons["intents"]


def test_a_wrong_option_is_refused_before_any_work(tiny: Demonstrations) -> None:
    with pytest.raises(OptionError):
        find([tiny], ReportOptions(radius=(0.1, 0.2, 0.3), **QUICK))


def test_merged_datasets_keep_the_names_of_their_episodes(make_demos: Any) -> None:
    first_demos, two = make_demos(episodes=2), make_demos(episodes=3, seed=1)
    findings = find(
        [replace(first_demos, source="a.hdf5"), replace(two, source="b.hdf5")],
        ReportOptions(radius=0.2, scores=False, intents=False),
    )
    assert findings.sources == (
        Source("a.hdf5", ("demo_0", "demo_1")),
        Source("b.hdf5", ("demo_0", "demo_1", "demo_2")),
    )
    assert len(findings.demos) == 5


def test_lengths_are_told_in_seconds_where_the_rate_is_known(tiny: Demonstrations) -> None:
    bare = ReportOptions(radius=0.2, scores=False, intents=False)
    assert lengths(find([tiny], bare)) == "10 pairs each"
    longer = replace(tiny.episodes[0], obs=tiny.obs[:30], action=tiny.action[:30], reward=None)
    timed_demos = replace(tiny, episodes=(longer, *tiny.episodes[1:]), rate=20.0)
    assert lengths(find([timed_demos], bare)) == (
        "10 pairs (0.5 s) to 30 pairs (1.5 s), median 10 pairs (0.5 s)"
    )


def test_scores_are_left_out_where_nothing_can_be_told(make_demos: Any) -> None:
    demos = make_demos(episodes=10, length=20)
    noise = np.random.default_rng(0).uniform(-1, 1, (10, 20, demos.action_size))
    episodes = [replace(e, action=a) for e, a in zip(demos.episodes, noise, strict=True)]
    noisy = replace(demos, episodes=tuple(episodes))
    options = ReportOptions(radius=0.2, intents=False, held_out=HeldOut(repeats=1, steps=100))
    findings = find([noisy], options)
    assert findings.meaning is None
    assert findings.ranking == []
    assert findings.outliers == ()
    assert [s.name for s in findings.unranked] == [e.name for e in noisy.episodes]
    page = str(ranking(findings))
    assert "The first 10 of 10 episodes" in page
    assert "distance" not in page
    assert "too little of the actions is explained" in findings.reasons["scores"]
    assert any("Cannot tell" in sentence for sentence in headline(findings))
    with_force = find([noisy], replace(options, force=True))
    assert with_force.meaning is not None
    assert not findings.is_radius_a_guess  # it was given


def test_a_radius_that_predicts_nothing_is_not_recommended(make_demos: Any) -> None:
    options = ReportOptions(search=RadiusSearch(steps=20), scores=False, intents=False)
    findings = find([make_demos()], options)
    nothing = Share(-0.1, -0.2, 0.0)
    guess = replace(findings, explained=Explained(nothing, (nothing, nothing), ("x", "y")))
    assert guess.is_radius_a_guess
    assert not any("Δ" in sentence for sentence in headline(guess))
    titles = [step.title for step in advice(guess, Inputs((Path("a.hdf5"),), ("robomimic",)))]
    assert "Train" not in titles
    assert "Make the actions predictable" in titles
    assert guess.choice is not None
    assert guess.explained is not None
    hopeless = replace(guess, choice=replace(guess.choice, explained=guess.explained))
    text = str(radius(hopeless))
    assert "No radius is named" in text
    assert f"Δ {guess.choice.radius:g}" not in text
    assert "would choose" not in text
    assert "none is chosen" in text
    assert "Not tested: the test needs policies that predict" in modes(hopeless)


def test_actions_that_are_repeated_are_not_called_hard_to_predict(
    make_demos: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Explained, "may_only_repeat", True)  # of a position that is a target
    held_out = HeldOut(repeats=1, steps=20)
    options = ReportOptions(search=RadiusSearch(steps=20), intents=False, held_out=held_out)
    findings = find([make_demos(episodes=10, length=20)], options)
    reason = "policies may only repeat the previous action"
    assert findings.reasons["scores"] == f"{reason}, so episodes are not ranked"
    assert f"No radius is named: {reason}" in str(radius(findings))
    assert reason in str(modes(findings))
    steps = {step.title: step for step in advice(findings, Inputs((Path("a.hdf5"),), ("npz",)))}
    assert "Leave out the observation" in steps["Record what demonstrators respond to"].why
    assert "too little of the actions" not in f"{radius(findings)}{modes(findings)}"
