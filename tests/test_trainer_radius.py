"""train() chooses the radius."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import CounterBCError, OptionError
from counterbc.selection.radius import DoubtfulRadius, choose_radius
from counterbc.trainer import train
from counterbc.training.progress import Quiet

Make = Callable[..., Demonstrations]
Train = Callable[..., Policies]


SMALL: dict[str, Any] = {"hidden": (32, 32), "progress": False}


def shown(*sigma: float, goals: float = 0.0, episodes: int = 10) -> Demonstrations:
    """Episodes of 12 pairs: each action is half a state, ± goals in the last, ± uniform errors."""
    rng, size, made = np.random.default_rng(0), len(sigma), []
    for _ in range(episodes):
        obs = rng.uniform(-1, 1, (12, 3))
        action = 0.5 * obs[:, :size] + np.array(sigma) * rng.uniform(-1, 1, (12, size))
        action[:, -1] += goals * rng.choice([-1, 1], 12)
        made.append(Episode(obs, action))
    return Demonstrations(tuple(made), np.full(size, -1.0), np.ones(size))


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
        torch.testing.assert_close(value, fixed[3].params[name], rtol=1e-5, atol=1e-5)


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
