"""Actions of two values, as a gripper's, get no radius unless each dimension is given one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.radii import radius_of, two_valued
from counterbc.errors import OptionError
from counterbc.trainer import train


@pytest.fixture
def demos() -> Demonstrations:
    """Forty pairs; the second action dimension is −1 or 1."""
    rng = np.random.default_rng(0)
    action = np.stack([rng.uniform(-1, 1, 40), np.repeat([-1.0, 1.0], 20)], axis=1)
    episode = Episode(rng.normal(size=(40, 3)), action)
    return Demonstrations(
        (episode,),
        action_low=-np.ones(2),
        action_high=np.ones(2),
        action_names=("move", "gripper"),
    )


def test_dimensions_of_two_values_are_found_among_enough_pairs(demos: Demonstrations) -> None:
    assert two_valued([demos]).tolist() == [False, True]
    three = demos.map_actions(lambda a: np.where(np.arange(40)[:, None] == 3, 0.5, a))
    assert two_valued([three]).tolist() == [False, False]
    still = demos.map_actions(lambda a: np.ones_like(a))
    assert two_valued([still]).tolist() == [False, False]
    two_pairs = replace(demos, selected=np.array([0, 30]))  # any two numbers are two values
    assert two_valued([two_pairs]).tolist() == [False, False]


def test_one_radius_leaves_them_out_and_one_per_dimension_does_not(demos: Demonstrations) -> None:
    assert radius_of(0.4, [demos]) == (0.4, 0.0)
    assert radius_of((0.4, 0.4), [demos]) == (0.4, 0.4)


def test_a_wrong_number_of_radii_is_refused_in_the_plural_and_the_singular(
    demos: Demonstrations,
) -> None:
    with pytest.raises(OptionError, match=r"^3 radii for 2 action dimensions; give 1 or 2$"):
        radius_of((0.1, 0.2, 0.3), [demos])
    action = demos.episodes[0].action[:, :1]
    one = Demonstrations((replace(demos.episodes[0], action=action),), -np.ones(1), np.ones(1))
    with pytest.raises(OptionError, match=r"^2 radii for one action dimension; give one$"):
        radius_of((0.1, 0.2), [one])


def test_a_training_uses_and_says_it(demos: Demonstrations) -> None:
    def train_radii(radius: float | tuple[float, ...]) -> tuple[tuple[float, ...], str]:
        policies = train(demos, "counter-bc", radius=radius, steps=2, progress=False, device="cpu")
        return policies.members[0].radius, repr(policies)

    radius, text = train_radii(0.4)
    assert radius == (0.4, 0.0)
    assert "0.4/0 (given); 0 for gripper, which takes two values only" in text
    radius, text = train_radii((0.4, 0.4))
    assert radius == (0.4, 0.4)
    assert "gripper" not in text
