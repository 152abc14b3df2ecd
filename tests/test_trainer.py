"""train(): one contract for every method."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import CounterBCError, DataError, OptionError
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianGRU, GaussianMLP
from counterbc.selection.radius import DoubtfulRadius, RadiusSearch, choose_radius
from counterbc.selection.tuner import tune
from counterbc.selection.tuning import TuneSearch
from counterbc.supports import Ball
from counterbc.trainer import train
from counterbc.training.progress import Quiet
from counterbc.weightings import Uniform
from tests.equality import assert_near
from tests.fixture_types import Make, Train
from tests.selection.datasets import late_demos, noisy_demos

every_method = pytest.mark.parametrize("method", list(METHODS))


@every_method
def test_a_method_trains_a_population_that_acts(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, method, seeds=3, steps=150)
    assert len(policies) == 3
    assert policies.method == method
    assert [m.seed for m in policies.members] == [0, 1, 2]
    shards = METHODS[method].shards
    assert all(v.shape[0] == 3 * shards for v in policies.params.values())
    assert not policies.diverged.any()
    assert policies.curve is not None
    loss = policies.curve.loss
    assert loss.shape == (len(policies.curve.steps), 3)
    assert bool(loss.isfinite().all())
    round_ = loss[-150 // METHODS[method].rounds :]
    assert bool((round_[-5:].mean(0) < round_[:5].mean(0)).all())
    action = policies[1].actor().act(np.array([0.1, 0.2, 0.3]))
    assert action.shape == (2,)
    assert action.dtype == np.float32
    assert bool((np.abs(action) <= 1).all())


def test_a_method_of_ones_own_is_trained_by_name_or_value(
    tiny: Demonstrations, quick: Train
) -> None:
    assert quick(tiny, METHODS["bc"]).method == "bc"
    own_method = Method(support=Ball(count=5), weighting=Uniform(), policy=GaussianMLP(history=3))
    policies = quick(tiny, own_method, steps=100)
    assert policies.method == "custom"
    assert policies.curve is not None
    assert policies.curve.loss[-10:].mean().item() < policies.curve.loss[:10].mean().item()
    assert policies[0].actor().act(tiny.obs[0]).shape == (2,)


def test_a_gru_of_one_observation_trains(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, Method(policy=GaussianGRU(history=1)))
    assert policies[0].actor().act(tiny.obs[0]).shape == (2,)


def test_members_are_radii_times_seeds(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "counter-bc", seeds=[3, 7], radii=[0.0, (0.2, 0.3)])
    assert [m.name for m in policies.members] == [
        "seed 3, radius 0", "seed 7, radius 0",
        "seed 3, radius 0.2/0.3", "seed 7, radius 0.2/0.3",
    ]  # fmt: skip
    assert policies.members[2].radius == (0.2, 0.3)


def test_radii_and_seeds_may_come_from_numpy(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "counter-bc", seeds=np.int64(2), radii=np.array([0.1, 0.25]))
    assert [m.radius for m in policies.members] == [(0.1, 0.1)] * 2 + [(0.25, 0.25)] * 2
    solo = quick(tiny, "counter-bc", radius=np.float32(0.25))
    assert solo.members[0].radius == (0.25, 0.25)


def test_methods_without_counterfactuals_ignore_the_radius(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", radii=[0.1, 0.2])
    assert len(policies) == 1
    assert policies.members[0].radius == (0.0, 0.0)


def test_a_radius_per_dimension_moves_only_its_dimension(
    tiny: Demonstrations, quick: Train
) -> None:
    options = {"steps": 60, "dtype": torch.float64}
    half = quick(tiny, "counter-bc", radius=(0.4, 0.0), **options)
    assert half.members[0].radius == (0.4, 0.0)
    for radius in (0.0, 0.4):
        other_run = quick(tiny, "counter-bc", radius=radius, **options)
        assert not torch.allclose(half.params["head.weight"], other_run.params["head.weight"])


@pytest.mark.parametrize("method", ["bc", "counter-bc", "weighted-bc", "bc-rnn"])
def test_a_single_pair_is_enough(method: str, quick: Train) -> None:
    one_pair = Demonstrations((Episode(obs=np.ones((1, 3)), action=np.full((1, 2), 0.5)),))
    policies = quick(one_pair, method)
    assert not policies.diverged.any()
    assert bool(np.isfinite(policies[0].actor().act(np.ones(3))).all())


def test_bcnd_refuses_fewer_pairs_than_parts(make_demos: Make, quick: Train) -> None:
    with pytest.raises(
        DataError, match="divides its pairs among 4 networks, but there are 3; give"
    ):
        quick(make_demos(episodes=1, length=3), "bcnd")
    assert not quick(make_demos(episodes=1, length=4), "bcnd").diverged.any()


@every_method
def test_held_out_episodes_give_a_curve_of_their_own(
    method: str, make_demos: Make, quick: Train
) -> None:
    demos = make_demos(episodes=8)
    policies = quick(demos, method, seeds=2, held_out=0.25)
    assert policies.curve is not None
    assert policies.curve.held_out is not None
    points = 20 * METHODS[method].rounds
    assert policies.curve.steps.tolist() == list(range(1, points + 1))
    assert policies.curve.loss.shape == policies.curve.held_out.shape == (points, 2)
    assert bool(policies.curve.held_out.isfinite().all())
    assert policies.config["data"][0]["pairs"] == 60
    kept_demos, _ = demos.split(0.25, seed=0)
    second_run = quick(kept_demos, method, seeds=2)
    assert_near(policies, second_run, within=0.0)


def test_a_training_without_held_out_has_no_such_curve(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bc")
    assert policies.curve is not None
    assert policies.curve.held_out is None
    with pytest.raises(DataError, match="at least 2 episodes"):
        quick(Demonstrations(tiny.episodes[:1]), "bc", held_out=0.5)


def test_start_goes_on_with_new_pairs_and_the_old_scales(make_demos: Make, quick: Train) -> None:
    first = quick(make_demos(), "counter-bc", seeds=2, steps=100)
    new_demos = make_demos(seed=9).map_actions(lambda a: 0.5 * a)
    second = quick(new_demos, "counter-bc", start=first, steps=1)
    assert torch.equal(second.scales.obs_mean, first.scales.obs_mean)
    assert [m.seed for m in second.members] == [0, 1]
    assert second.members[0].fingerprint == new_demos.fingerprint()
    largest_change = (second.params["head.weight"] - first.params["head.weight"]).abs().max().item()
    assert 0 < largest_change < 1.1e-3  # one step of Adam


def test_start_keeps_every_members_radius(tiny: Demonstrations, quick: Train) -> None:
    first = quick(tiny, "counter-bc", seeds=2, radii=[0.1, 0.2])
    second = quick(tiny, "counter-bc", start=first)
    assert [m.name for m in second.members] == [m.name for m in first.members]


def test_start_keeps_the_lag_and_the_size_of_the_ensemble(
    tiny: Demonstrations, quick: Train
) -> None:
    first = quick(tiny, "counter-bc", lag=(1.0, 2.5), ensemble=3)
    second = quick(tiny, "counter-bc", start=first)
    assert (second.members[0].lag, second.shards) == ((1.0, 2.5), 3)
    assert quick(tiny, "counter-bc", start=first, lag=1).members[0].lag == (1.0,)
    nameless = replace(tiny, episodes=tuple(replace(e, operator=None) for e in tiny.episodes))
    with pytest.raises(OptionError, match="one lag per operator of other data"):
        quick(nameless, "counter-bc", start=first)
    bcnd = quick(tiny, "bcnd")
    assert quick(tiny, "bcnd", start=bcnd).shards == 4


def test_train_cross_validates_the_radius_and_records_it(make_demos: Make, quick: Train) -> None:
    demos = [make_demos(episodes=6, seed=s) for s in (0, 1)]
    policies = quick(demos, "counter-bc", radius="auto", seeds=2, search=RadiusSearch())
    assert policies.config["radius_from"] == "cross-validation"
    choices = [c for c in policies.config["choices"] if "radius" in c]
    assert [m.radius for m in policies.members] == [(c["radius"],) * 2 for c in choices]
    assert "(cross-validation)" in repr(policies)
    own_choice = choose_radius(demos[1], hidden=(8, 8), steps=20, progress=False)
    assert own_choice.radius == choices[1]["radius"]
    assert own_choice.error == pytest.approx(choices[1]["error"], rel=1e-5)
    fixed_run = quick(demos, "counter-bc", radii=[c["radius"] for c in choices], seeds=2)
    for name, value in policies[1].params.items():
        torch.testing.assert_close(value, fixed_run[3].params[name], rtol=1e-5, atol=1e-5)


class Phases(Quiet):
    """A progress that remembers its phases, and the steps that each of them showed."""

    def __init__(self) -> None:
        self.steps: dict[str, list[float]] = {}

    def __call__(self, phase: str) -> Phases:
        self.shown_steps = self.steps.setdefault(phase, [])
        return self

    def update(self, step: float, loss: torch.Tensor) -> None:
        self.shown_steps.append(step)


def test_a_given_progress_shows_the_choice_before_it_ends_and_then_the_training(
    make_demos: Make, quick: Train
) -> None:
    phases = Phases()
    quick(make_demos(episodes=6), "counter-bc", radius="auto", progress=phases)
    assert list(phases.steps) == ["choosing", "training counter-bc"]
    assert len(phases.steps["choosing"]) > 1
    assert phases.steps["training counter-bc"][-1] == 20


class Stop(Quiet):
    """Ctrl-C at the first step."""

    def update(self, step: float, loss: torch.Tensor) -> None:
        raise KeyboardInterrupt


def test_a_stopped_training_chooses_the_same_radius_when_it_goes_on(
    make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    demos, out = make_demos(episodes=6), tmp_path / "run"
    with pytest.raises(KeyboardInterrupt):
        quick(
            demos, "counter-bc", radius="auto", out=out,
            progress=lambda phase: Quiet() if phase == "choosing" else Stop(),
        )  # fmt: skip
    resumed_run = quick(demos, "counter-bc", radius="auto", out=out, resume=True)
    assert Policies.load(out).members == resumed_run.members
    with pytest.raises(CounterBCError, match="already exists"):
        quick(demos, "counter-bc", radius="auto", out=out)


@pytest.mark.parametrize("steps", [20, 600])
def test_with_a_number_of_steps_train_chooses_the_radius_of_tune(steps: int) -> None:
    demos = noisy_demos(0.4, 0.0)
    options: dict[str, Any] = {"steps": steps, "hidden": (8,), "progress": False}
    choice, policies = tune(demos, **options), train(demos, **options)
    (member,) = policies.members
    assert member.radius == (choice.radius,) * 2
    assert member.steps is None  # all of the training
    (evidence,) = policies.config["choices"]
    assert [t["error"]["value"] for t in evidence["trials"]] == [
        t.error.value for t in choice.trials
    ]
    given = train(demos, radius=choice.radius, **options)
    for name, value in policies.params.items():
        assert torch.equal(value, given.params[name])


def test_a_method_of_several_networks_is_tuned_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    search = TuneSearch(step_counts=(5, 10), folds=2)
    monkeypatch.setattr("counterbc.selection.tuner.TuneSearch", lambda: search)
    monkeypatch.setattr("counterbc.trainer.TuneSearch", lambda: search)
    policies = train(noisy_demos(0.3), "bcnd", hidden=(8,), progress=False)
    assert policies.shards == 4


def test_methods_without_counterfactuals_choose_no_radius(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", radius="auto")
    assert policies.config["radius_from"] == "not used"
    assert all("radius" not in choice for choice in policies.config["choices"])


def test_what_goes_on_keeps_its_radius(tiny: Demonstrations, quick: Train) -> None:
    before = quick(tiny, "counter-bc", radius=0.25)
    with pytest.raises(OptionError, match="keep their radius"):
        quick(tiny, "counter-bc", radius="auto", start=before)


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_train_warns_of_a_doubtful_radius() -> None:
    options: dict[str, Any] = {"steps": 500, "hidden": (32, 32), "progress": False}
    with pytest.warns(DoubtfulRadius, match="Δ = 0 predicts best"):
        train(noisy_demos(0.0), radius="auto", search=RadiusSearch(), **options)
    with pytest.warns(DoubtfulRadius) as caught:
        train(noisy_demos(0.1, goals=0.7), radius="auto", **options)
    peaks, largest = [str(w.message) for w in caught if w.category is DoubtfulRadius]
    assert peaks.startswith("the errors of action[0] have more than one peak")
    assert largest.startswith("Δ 0.5 predicts best, the largest radius tried")


def test_lags_per_operator_follow_names_into_the_held_out_episodes() -> None:
    demos = late_demos(1, 1, 3, episodes=12)
    options: dict[str, Any] = {"steps": 5, "hidden": (8,), "radius": 0.0, "offsets": "none"}
    policies = train(demos, "bc", lag=(1, 1, 3), held_out=0.3, progress=False, **options)
    assert policies.curve is not None
    assert policies.curve.held_out is not None
