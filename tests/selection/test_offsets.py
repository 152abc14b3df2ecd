"""Offsets of operators: found, not invented, or "cannot tell"."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.selection.offsets import LEVEL, OffsetChoice, choose_offsets, find_offsets
from tests.selection.datasets import crowd_demos

OFFSETS = (0.4, -0.3, 0.0, 0.0, -0.1)


def relabelled(demos: Demonstrations, name: Callable[[int], str | None]) -> Demonstrations:
    """Return the demonstrations with other operators, by number of the episode."""
    episodes = [replace(e, operator=name(i)) for i, e in enumerate(demos.episodes)]
    return replace(demos, episodes=tuple(episodes))


def with_obs(demos: Demonstrations, change: Callable[[Episode], np.ndarray]) -> Demonstrations:
    episodes = tuple(replace(e, obs=change(e)) for e in demos.episodes)
    return replace(demos, episodes=episodes, obs_names=(), obs_keys=())


def test_known_offsets_are_estimated_and_the_significant_ones_removed() -> None:
    choice = choose_offsets(crowd_demos(*OFFSETS))
    estimate = np.array([o.offset[0] for o in choice.operators])
    se = np.array([o.se[0] for o in choice.operators])
    assert (np.abs(estimate - np.array(OFFSETS)) < 3 * se).all()
    assert estimate.sum() == pytest.approx(0, abs=1e-9)
    assert choice.verdict == "to one side"
    removed = dict(choice.offsets)
    assert removed["p0"] == choice.operators[0].offset
    assert {"p0", "p1"} <= set(removed) <= {"p0", "p1", "p4"}
    for o in choice.operators:
        assert (o.operator in removed) == (o.p[0] <= LEVEL)


def test_offsets_are_in_units_of_the_action() -> None:
    demos = crowd_demos(*OFFSETS)
    wide = replace(
        demos.map_actions(lambda a: 100 * a), action_low=np.full(1, -200.0),
        action_high=np.full(1, 200.0),
    )  # fmt: skip
    estimates = [[o.offset[0] for o in choose_offsets(d).operators] for d in (demos, wide)]
    np.testing.assert_allclose(estimates[1], 100 * np.array(estimates[0]), rtol=1e-4, atol=1e-4)


def test_no_offset_is_invented_in_95_percent_of_40_datasets() -> None:
    datasets = [crowd_demos(0.0, 0.0, 0.0, 0.0, episodes=4, seed=s) for s in range(40)]
    verdicts = [choose_offsets(d).verdict for d in datasets]
    assert verdicts.count("none") >= 38


def test_the_finding_in_words_and_as_json() -> None:
    choice = choose_offsets(crowd_demos(0.5, 0.0, 0.0, 0.0, 0.0))
    assert choice.explanation.startswith("p0 acts 0.")
    assert " too high in steer" in choice.explanation
    assert choice.explanation.endswith("compared with all operators; undone")
    facts = json.loads(json.dumps(choice.as_dict()))
    assert facts["verdict"] == "to one side"
    assert facts["operators"][0]["operator"] == "p0"
    assert facts["explanation"] == choice.explanation
    calm = choose_offsets(crowd_demos(0.0, 0.0, 0.0))
    assert calm.sentences == ("No operator errs to one side clearly more than the others",)
    assert choose_offsets(relabelled(crowd_demos(0.0), lambda i: None)).sentences == ()


def test_the_lag_is_undone_first() -> None:
    demos = crowd_demos(*OFFSETS, late=2)
    assert choose_offsets(demos, (0.0,)).verdict == "cannot tell"
    assert set(dict(choose_offsets(demos, (2.0,)).offsets)) >= {"p0", "p1"}


def test_scattered_pairs_are_enough() -> None:
    demos = crowd_demos(*OFFSETS).sample_pairs(200, seed=1)
    assert set(dict(choose_offsets(demos).offsets)) >= {"p0", "p1"}


@pytest.mark.parametrize(
    ("demos", "reason"),
    [
        (crowd_demos(0.3), "there is one operator; record 3 or more"),
        (crowd_demos(0.3, -0.3), "of two operators, either may err; record 3 or more"),
        (relabelled(crowd_demos(*OFFSETS), lambda i: None), "no operators are recorded"),
        (
            relabelled(crowd_demos(*OFFSETS), lambda i: f"p{i % 5}" if i else None),
            "not every episode names its operator",
        ),
        (crowd_demos(*OFFSETS).map_actions(np.ones_like), "all actions are the same"),
        (
            replace(crowd_demos(*OFFSETS), actions_are="taken"),
            "recorded actions were cut at the bounds, which hides offsets",
        ),
    ],
)
def test_what_no_data_can_tell(demos: Demonstrations, reason: str) -> None:
    choice = choose_offsets(demos)
    assert (choice.verdict, choice.reason, choice.offsets) == ("cannot tell", reason, ())
    assert choice.explanation == f"Cannot tell whether operators err to one side: {reason}"


def test_images_cannot_tell() -> None:
    images = with_obs(crowd_demos(*OFFSETS), lambda e: np.zeros((len(e), 4, 4, 3), np.uint8))
    assert choose_offsets(images).reason == "on images no offset is searched"


def test_an_operator_in_states_of_their_own_keeps_their_offset() -> None:
    demos = crowd_demos(0.4, 0.0, 0.0, 0.0)
    apart = with_obs(demos, lambda e: e.obs + (50 if e.operator == "p0" else 0))
    choice = choose_offsets(apart)
    assert choice.offsets == ()
    assert choice.operators[0].reason == "too few states shared with the others"
    assert choice.operators[0].shared == 0
    assert choice.operators[0].offset == ()
    assert choice.explanation.endswith(
        "(cannot tell about p0: too few states shared with the others)"
    )


def test_operators_who_share_no_states_cannot_be_compared() -> None:
    demos = crowd_demos(0.4, 0.0, -0.4)
    apart = with_obs(demos, lambda e: e.obs + 50 * int(str(e.operator)[1:]))
    assert choose_offsets(apart).explanation == (
        "Cannot tell whether operators err to one side: nothing can be said about 3 of 3 "
        "operators: too few states shared with the others"
    )


def test_actions_that_states_do_not_explain_cannot_tell() -> None:
    rng = np.random.default_rng(0)
    demos = crowd_demos(*OFFSETS).map_actions(lambda a: rng.uniform(-1, 1, a.shape))
    choice = choose_offsets(demos)
    assert choice.verdict == "cannot tell"
    assert choice.reason.endswith("actions unlike those of the others in the same states")
    assert not any(o.explained.is_enough for o in choice.operators if o.explained)


def test_a_switch_has_no_offset() -> None:
    plain = crowd_demos(*OFFSETS)
    actions = [np.concatenate([e.action, np.sign(e.obs[:, 1:])], 1) for e in plain.episodes]
    pairs = zip(plain.episodes, actions, strict=True)
    episodes = tuple(replace(e, action=a) for e, a in pairs)
    demos = Demonstrations(episodes, np.full(2, -2.0), np.full(2, 2.0))
    choice = choose_offsets(demos)
    assert dict(choice.offsets)["p0"][0] > 0
    assert all(offset[1] == 0 for _, offset in choice.offsets)


def test_given_offsets_are_not_searched() -> None:
    demos = crowd_demos(*OFFSETS)
    (none,) = find_offsets([demos], [(0.0,)], "none")
    assert none == OffsetChoice((), "given", action_names=("steer",))
    assert none.explanation == "Offsets of operators are not removed, as given"
    assert none.sentences == ()
    (given,) = find_offsets([demos], [(0.0,)], '{"p3": [-0.25]}')
    assert given.explanation == "p3 acts 0.25 too low in steer; removed, as given"
