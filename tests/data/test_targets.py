"""Actions that are targets of an observed quantity, and those that are not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.episode_block import EpisodeBlock
from counterbc.data.raw_episode import raw_episodes
from counterbc.data.targets import FEW, Targets, action_targets
from counterbc.demonstrators import UniformNoise, demonstrate
from counterbc.formats import load


def followed(
    action_of: Callable[[Array], Array] = lambda target: target,
    offset: float = 0.0,
    length: int = 40,
    episodes: int = 3,
) -> Demonstrations:
    """Return a point that moves by 0.4 of the way to a target that wanders; obs 1 is noise."""
    rng = np.random.default_rng(0)
    recordings = []
    for _ in range(episodes):
        target = offset + 10 * rng.normal() + rng.normal(size=length).cumsum()  # (T,)
        place = [target[0]]
        for goal in target[:-1]:
            place.append(place[-1] + 0.4 * (goal - place[-1]))
        obs = np.stack([rng.normal(size=length), place], axis=1)
        recordings.append(Episode(obs, action_of(target)[:, None]))
    return Demonstrations(tuple(recordings), obs_names=("noise", "place"))


def test_a_target_is_detected_with_the_measures_of_its_definition() -> None:
    demos = followed()
    (target,) = action_targets(demos)
    assert (target.kind, target.action, target.obs) == ("target", "action[0]", "place")
    assert (target.action_dim, target.obs_dim) == (0, 1)
    action = np.concatenate([e.action[:-1, 0] for e in demos.episodes])
    place = np.concatenate([e.obs[:-1, 1] for e in demos.episodes])
    rms = np.sqrt(np.mean((action - place) ** 2, dtype=np.float64))
    assert target.nearness == pytest.approx(rms / action.std(dtype=np.float64), rel=1e-4)
    assert target.correlation == pytest.approx(1, rel=1e-4)  # it always moves 0.4 of the way


def test_an_offset_that_action_and_observation_share_costs_no_digits() -> None:
    (near,), (far,) = action_targets(followed()), action_targets(followed(offset=2.0**16))
    assert far.nearness == pytest.approx(near.nearness, rel=1e-2)  # float32 leaves 1/128 there
    assert far.correlation == pytest.approx(near.correlation, rel=1e-2)


@pytest.mark.parametrize(
    "action_of",
    [
        lambda target: 2 * target,
        lambda target: target + 30,
        lambda target: -target,
        lambda target: np.gradient(target),
        lambda target: np.zeros_like(target),
    ],
    ids=["other units", "other origin", "other sign", "velocity", "constant"],
)
def test_an_action_that_is_not_the_target_itself_is_none(
    action_of: Callable[[Array], Array],
) -> None:
    assert action_targets(followed(action_of)) == ()


def wandering(action_of: Callable[[Array], Array]) -> Demonstrations:
    """Return places that wander, and actions that are computed from them."""
    rng = np.random.default_rng(1)
    places = [rng.normal(size=60).cumsum() for _ in range(3)]
    return Demonstrations(tuple(Episode(p[:, None], action_of(p)[:, None]) for p in places))


def test_the_next_observation_is_another_kind() -> None:
    (target,) = action_targets(wandering(lambda place: np.append(place[1:], place[-1])))
    assert target.kind == "next observation"


@pytest.mark.parametrize(
    "action_of",
    [
        lambda place: place,
        lambda place: np.append(place[0], place[:-1]),
        lambda place: place + np.random.default_rng(2).normal(size=len(place)),
    ],
    ids=["the observation", "the observation before", "the observation with noise"],
)
def test_a_copy_of_what_was_seen_is_no_target(action_of: Callable[[Array], Array]) -> None:
    assert action_targets(wandering(action_of)) == ()


def test_few_pairs_images_and_single_pairs_tell_nothing() -> None:
    assert action_targets(followed(length=FEW // 5 + 1, episodes=5)) != ()  # FEW have a successor
    assert action_targets(followed(length=FEW // 5, episodes=5)) == ()
    assert action_targets(Demonstrations((Episode(np.zeros((1, 2)), np.zeros((1, 1))),))) == ()
    frames = np.zeros((30, 8, 8, 3), np.uint8)
    assert action_targets(Demonstrations((Episode(frames, np.zeros((30, 1))),))) == ()


def test_pairs_that_are_not_finite_are_left_out() -> None:
    demos = followed()
    targets = Targets(demos)
    for raw in raw_episodes(demos):
        raw.obs.flags.writeable = raw.action.flags.writeable = True
        raw.obs[3], raw.action[9] = np.nan, np.inf
        targets.see(EpisodeBlock.of([raw]))
    (target,) = targets.detect()
    assert target.correlation == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("name", ["pusht_human_206.hdf5", "pusht_other_goal_151.hdf5"])
def test_people_draw_the_disc_of_push_t_to_targets(data: Path, name: str) -> None:
    detected_targets = action_targets(load(data / name))
    assert [(f.kind, f.obs) for f in detected_targets] == [
        ("target", "state[0]"),
        ("target", "state[1]"),
    ]


def test_noise_of_a_tenth_of_the_table_does_not_hide_the_targets_of_push_t(data: Path) -> None:
    rng = np.random.default_rng(0)
    noisy = load(data / "pusht_human_206.hdf5").map_actions(
        lambda action: action + rng.uniform(-51, 51, action.shape)
    )
    assert [f.obs for f in action_targets(noisy)] == ["state[0]", "state[1]"]


def test_joints_of_a_robot_follow_the_actions_of_the_same_name(data: Path) -> None:
    detected_targets = action_targets(load(data / "fixtures/lerobot_v21_g1"))
    assert len(detected_targets) == 23  # of 26; two joints rest, and one thumb stays at its end
    assert all(f.kind == "target" and f.action == f.obs for f in detected_targets)


@pytest.mark.filterwarnings("ignore::counterbc.errors.AbsentEpisodes")
@pytest.mark.parametrize(
    "name",
    [
        "adroit_door_human_25.hdf5",
        "fixtures/robomimic_ph_lift_low_dim_excerpt.hdf5",
        "fixtures/robomimic_mg_can_low_dim_excerpt.hdf5",
    ],
)
def test_scaled_actions_and_small_motions_are_no_targets(data: Path, name: str) -> None:
    assert action_targets(load(data / name)) == ()


@pytest.mark.parametrize("world", ["intersection", "cartpole", "cartpole-hard", "air-hockey"])
@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_actions_in_our_worlds_are_no_targets(world: str, noise: float) -> None:
    assert action_targets(demonstrate(world, UniformNoise(noise), 600, seed=0)) == ()
