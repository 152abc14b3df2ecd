"""Settings and presets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import (
    OptionError,
)
from tests.equality import assert_near, same

Make = Callable[..., Demonstrations]
Train = Callable[..., Policies]


@pytest.mark.parametrize(
    ("method", "options", "sentence"),
    [
        ("gail", {}, "unknown method 'gail'; allowed: bc, counter-bc, weighted-bc, bc-rnn, bcnd"),
        ("bc", {"preset": "best"}, "unknown preset 'best'; allowed: default, paper, authors"),
        ("bc", {"epochs": 3}, "unknown setting 'epochs'; allowed: radius, shape"),
        ("bc", {"steps": 0}, "steps is 0; it must be ≥ 1"),
        ("bc", {"batch": 0}, "batch is 0; it must be ≥ 1"),
        ("bc", {"learning_rate": 0.0}, "learning_rate is 0.0; it must be > 0"),
        ("bc", {"held_out": 1.0}, "held_out is 1.0; it must be at least 0 and below 1"),
        ("bc", {"feasible": "drop"}, "feasible is 'drop'; it must be project or keep"),
        ("bc", {"hidden": ()}, "give one positive width per layer"),
        ("bc", {"seeds": 0}, r"seeds is (0|\[\]); ask for 1 or more"),
        ("counter-bc", {"shape": "star"}, "shape is 'star'; it must be ball, box"),
        ("counter-bc", {"counterfactuals": -1}, "counterfactuals is -1"),
        ("counter-bc", {"radius": -0.1}, r"radius is -0.1; it must be 0 or more"),
        ("counter-bc", {"radius": np.nan}, "radius is nan; it must be 0 or more"),
        ("counter-bc", {"radius": np.inf}, "radius is inf; it must be 0 or more"),
        ("counter-bc", {"radius": "wide"}, "radius is 'wide'; it must be"),
        ("counter-bc", {"radius": (0.1, 0.2, 0.3)}, "3 radii for 2 action dimensions; give 1 or 2"),
        ("counter-bc", {"radii": [0.1, -1.0]}, "radius is -1.0"),
    ],
)
def test_a_bad_option_is_refused_in_one_sentence(
    tiny: Demonstrations, quick: Train, method: str, options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(OptionError, match=sentence):
        quick(tiny, method, **options)


@pytest.mark.parametrize(("pairs", "batch"), [(5, 1), (40, 4), (99, 9), (5000, 256)])
def test_a_batch_is_a_tenth_of_the_pairs_within_limits(pairs: int, batch: int) -> None:
    from counterbc.settings import Settings

    assert Settings().batch_size(pairs) == batch
    assert Settings(batch=7).batch_size(pairs) == min(7, pairs)


@pytest.mark.parametrize("preset", ["default", "paper", "authors"])
def test_every_preset_trains_every_kind_of_policy(
    preset: str, tiny: Demonstrations, quick: Train
) -> None:
    for method in ("counter-bc", "bc-rnn"):
        policies = quick(tiny, method, preset=preset)
        assert policies.config["preset"] == preset
        assert policies.scales.scale_actions is (preset != "authors")


def test_the_number_of_counterfactuals_and_their_shape_are_used(
    tiny: Demonstrations, quick: Train
) -> None:
    ball = quick(tiny, "counter-bc")
    assert not same(ball, quick(tiny, "counter-bc", shape="box"))
    assert not same(ball, quick(tiny, "counter-bc", counterfactuals=10))
    bc = quick(tiny, "bc", dtype=torch.float64)
    none = quick(tiny, "counter-bc", counterfactuals=0, dtype=torch.float64)
    assert_near(none, bc, within=1e-9)
