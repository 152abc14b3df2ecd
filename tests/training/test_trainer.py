"""train(): one contract for every method, members alone and together, stops and refusals."""

from __future__ import annotations

import gc
import signal
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.errors import (
    CounterBCError,
    DataError,
    Diverged,
    FormatError,
    InfeasibleActions,
    OptionError,
)
from counterbc.methods import METHODS, Method
from counterbc.policies import GaussianGRU, GaussianMLP, Params
from counterbc.supports import Ball
from counterbc.training.counterfactuals import Counterfactuals
from counterbc.training.loop import Loop
from counterbc.training.network_stack import NetworkStack
from counterbc.weightings import Batch, Uniform, Weighting

Make = Callable[..., Demonstrations]
Train = Callable[..., Policies]

every_method = pytest.mark.parametrize("method", list(METHODS))


def same(a: Policies, b: Policies) -> bool:
    """Whether parameters and loss curves are equal to the bit."""
    assert a.curve is not None
    assert b.curve is not None
    held = [c.held_out for c in (a.curve, b.curve) if c.held_out is not None]
    return (
        a.params.keys() == b.params.keys()
        and all(torch.equal(v, b.params[k]) for k, v in a.params.items())
        and torch.equal(a.curve.steps, b.curve.steps)
        and torch.equal(a.curve.loss, b.curve.loss)
        and (not held or torch.equal(*held))
    )


def assert_near(a: Policies, b: Policies, within: float) -> None:
    for name, value in a.params.items():
        torch.testing.assert_close(value, b.params[name], rtol=within, atol=within)


# The contract of every method


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


@every_method
def test_one_member_of_a_population_is_a_population_of_one(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, method, seeds=3)
    obs = np.array([0.1, 0.2, 0.3])
    each = [p.actor().act(obs) for p in policies]
    assert len({a.tobytes() for a in each}) == 3
    assert policies[-1].members == policies[2].members
    assert np.array_equal(policies[1:][0].actor().act(obs), each[1])
    assert policies[1].curve is not None
    assert policies[1].curve.loss.shape[1] == 1


def test_a_member_is_chosen_by_any_integer(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bc", seeds=2)
    assert policies[np.int64(1)].members == policies[1].members  # type: ignore[index]  # on purpose
    assert policies[np.int64(0)].members == policies[0].members  # type: ignore[index]  # on purpose


@every_method
def test_what_is_saved_acts_as_before_to_the_bit(
    method: str, tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, method, seeds=2)
    policies.save(tmp_path / "run")
    loaded = Policies.load(tmp_path / "run")
    assert same(policies, loaded)
    assert loaded.members == policies.members
    assert repr(loaded) == repr(policies)
    for act in ("mean", "sample"):
        before, after = (p[1].actor(act) for p in (policies, loaded))
        for obs in tiny.obs[:6]:
            assert np.array_equal(before.act(obs), after.act(obs))


@every_method
def test_the_same_call_twice_gives_the_same_bits_and_touches_no_global_generator(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    before = torch.get_rng_state(), str(np.random.get_state(legacy=False))
    first = quick(tiny, method, seeds=2)
    first[0].actor("sample").act(np.zeros(3))
    assert torch.equal(torch.get_rng_state(), before[0])
    assert str(np.random.get_state(legacy=False)) == before[1]
    torch.rand(1)
    assert same(first, quick(tiny, method, seeds=2))


@every_method
def test_a_member_agrees_with_the_same_member_alone_for_50_steps(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    together = quick(tiny, method, seeds=3, steps=50 // METHODS[method].rounds)
    alone = quick(tiny, method, seeds=[1], steps=50 // METHODS[method].rounds)
    assert_near(together[1], alone, within=1e-5)


@every_method
def test_a_member_agrees_with_the_same_member_alone_over_a_whole_training_in_float64(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    steps = 400 // METHODS[method].rounds
    together = quick(tiny, method, seeds=3, steps=steps, dtype=torch.float64)
    alone = quick(tiny, method, seeds=[2], steps=steps, dtype=torch.float64)
    assert_near(together[2], alone, within=1e-6)


@every_method
def test_a_member_with_a_dataset_of_its_own_agrees_with_itself_alone(
    method: str, make_demos: Make, quick: Train
) -> None:
    datasets = [make_demos(seed=s) for s in range(3)]
    together = quick(datasets, method, seeds=[4, 5, 6], steps=40, dtype=torch.float64)
    assert [m.dataset for m in together.members] == [0, 1, 2]
    alone = quick(datasets[1], method, seeds=[5], steps=40, dtype=torch.float64)
    assert_near(together[1], alone, within=1e-6)
    assert torch.equal(together[1].scales.obs_mean, alone.scales.obs_mean)


def test_a_member_agrees_with_itself_among_other_radii(tiny: Demonstrations, quick: Train) -> None:
    options = {"steps": 50, "dtype": torch.float64}
    together = quick(tiny, "counter-bc", seeds=2, radii=[0.1, 0.5], **options)
    alone = quick(tiny, "counter-bc", seeds=[1], radius=0.5, **options)
    assert together.members[3] == alone.members[0]
    assert_near(together[3], alone, within=1e-6)
    other = together[1].params["head.weight"] - together[3].params["head.weight"]
    assert other.abs().max().item() > 1e-3


def test_counter_bc_does_not_depend_on_whether_counterfactuals_are_kept(
    tiny: Demonstrations, quick: Train
) -> None:
    exact = {"seeds": 2, "dtype": torch.float64}
    kept = quick(tiny, "counter-bc", **exact)
    assert same(kept, quick(tiny, "counter-bc", **exact, memory=0.0))
    kept = quick(tiny, "counter-bc", seeds=2)  # by native steps, which round differently
    assert_near(kept, quick(tiny, "counter-bc", seeds=2, memory=0.0), within=1e-5)
    assert not same(kept, quick(tiny, "counter-bc", seeds=2, resample=True))


def test_float64_policies_act_and_are_saved_too(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    policies = quick(tiny, "bc", seeds=2, dtype=torch.float64)
    action = policies[0].actor().act(tiny.obs[0])
    policies.save(tmp_path / "run")
    assert np.array_equal(Policies.load(tmp_path / "run")[0].actor().act(tiny.obs[0]), action)


def test_a_method_of_ones_own_is_trained_by_name_or_value(
    tiny: Demonstrations, quick: Train
) -> None:
    assert quick(tiny, METHODS["bc"]).method == "bc"
    own = Method(support=Ball(count=5), weighting=Uniform(), policy=GaussianMLP(history=3))
    policies = quick(tiny, own, steps=100)
    assert policies.method == "custom"
    assert policies.curve is not None
    assert policies.curve.loss[-10:].mean().item() < policies.curve.loss[:10].mean().item()
    assert policies[0].actor().act(tiny.obs[0]).shape == (2,)


@dataclass(frozen=True)
class Alone(Weighting):
    """Counter-BC as a user would write it: for one network, without a closed form."""

    def weights(self, params: Params, batch: Batch, log_pi: torch.Tensor) -> torch.Tensor:
        assert log_pi.ndim == 2
        return log_pi.softmax(1)


@dataclass(frozen=True)
class OneNetwork(GaussianMLP):
    """A policy written for one network."""

    stacks: ClassVar[bool] = False

    def head(self, params: Params, obs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        assert obs.ndim == 2
        return super().head(params, obs)


@pytest.mark.parametrize(
    "own",
    [
        Method(support=Ball(), weighting=Alone()),
        replace(METHODS["counter-bc"], policy=OneNetwork()),
        Method(support=Ball(), weighting=Alone(), policy=OneNetwork()),
    ],
    ids=["weighting", "policy", "both"],
)
def test_what_is_written_for_one_network_serves_a_population(
    own: Method, tiny: Demonstrations, quick: Train
) -> None:
    ours = quick(tiny, "counter-bc", seeds=3, dtype=torch.float64)
    assert_near(quick(tiny, own, seeds=3, dtype=torch.float64), ours, within=1e-9)


def test_a_gru_of_one_observation_trains(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, Method(policy=GaussianGRU(history=1)))
    assert policies[0].actor().act(tiny.obs[0]).shape == (2,)


# Memory


def test_bc_rnn_remembers_until_it_is_reset(tiny: Demonstrations, quick: Train) -> None:
    actor = quick(tiny, "bc-rnn")[0].actor()
    first = actor.act(tiny.obs[0])
    second = actor.act(tiny.obs[0])
    assert not np.array_equal(first, second)
    actor.reset()
    assert np.array_equal(actor.act(tiny.obs[0]), first)
    assert np.array_equal(actor.act(tiny.obs[0]), second)


def test_bc_rnn_acts_on_what_it_was_trained_on(tiny: Demonstrations, quick: Train) -> None:
    """The window that an actor builds is the window that training gathers."""
    policies = quick(tiny, "bc-rnn")
    window = torch.zeros(1, 5, 3)
    window[0, 2:] = policies.scales.obs(torch.from_numpy(tiny.obs[:3].copy())[None])[0]
    head = policies.policy.head({k: v[0] for k, v in policies.params.items()}, window)
    actor = policies[0].actor()
    for obs in tiny.obs[:3]:
        action = actor.act(obs)
    expected = policies.scales.restore(policies.policy.mean(head)[None])[0, 0].numpy()
    assert action == pytest.approx(expected, abs=1e-6)


def test_bcnd_acts_by_the_average_of_its_parts(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bcnd", seeds=2)
    obs = policies[1].scales.obs(torch.from_numpy(tiny.obs[:1].copy())[None])[0]
    own = {k: v[4:] for k, v in policies.params.items()}
    means = torch.stack(
        [policies.policy.head({k: v[i] for k, v in own.items()}, obs)[0] for i in range(4)]
    )
    assert policies[1].actor().act(tiny.obs[0]) == pytest.approx(means.mean(0)[0].numpy(), abs=1e-6)


def test_sampling_is_reproducible_and_differs_from_the_mean(
    tiny: Demonstrations, quick: Train
) -> None:
    policy = quick(tiny, "bc")[0]
    one, again, other = (policy.actor("sample", seed=s) for s in (0, 0, 1))
    first = one.act(tiny.obs[0])
    assert np.array_equal(first, again.act(tiny.obs[0]))
    assert not np.array_equal(first, other.act(tiny.obs[0]))
    assert not np.array_equal(first, policy.actor().act(tiny.obs[0]))


def test_an_actor_is_one_member_and_reads_one_observation(
    tiny: Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, "bc", seeds=2)
    with pytest.raises(OptionError, match=r"there are 2; take policies\[0\]"):
        policies.actor()
    with pytest.raises(DataError, match=r"obs has shape \(4,\); this policy reads \(3,\)"):
        policies[0].actor().act(np.zeros(4))
    with pytest.raises(OptionError, match="unknown way of acting 'best'; allowed: mean, sample"):
        policies[0].actor("best")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(IndexError, match="member 2 does not exist; there are 0 … 1"):
        policies[2]


# Who the members are


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
    alone = quick(tiny, "counter-bc", radius=np.float32(0.25))
    assert alone.members[0].radius == (0.25, 0.25)


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
        other = quick(tiny, "counter-bc", radius=radius, **options)
        assert not torch.allclose(half.params["head.weight"], other.params["head.weight"])


def test_the_number_of_counterfactuals_and_their_shape_are_used(
    tiny: Demonstrations, quick: Train
) -> None:
    ball = quick(tiny, "counter-bc")
    assert not same(ball, quick(tiny, "counter-bc", shape="box"))
    assert not same(ball, quick(tiny, "counter-bc", counterfactuals=10))
    bc = quick(tiny, "bc", dtype=torch.float64)
    none = quick(tiny, "counter-bc", counterfactuals=0, dtype=torch.float64)
    assert_near(none, bc, within=1e-9)


# Bad options


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
        ("counter-bc", {"shape": "star"}, "shape is 'star'; it must be ball or box"),
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


@pytest.mark.parametrize("method", ["bc", "counter-bc", "weighted-bc", "bc-rnn"])
def test_a_single_pair_is_enough(method: str, quick: Train) -> None:
    one = Demonstrations((Episode(obs=np.ones((1, 3)), action=np.full((1, 2), 0.5)),))
    policies = quick(one, method)
    assert not policies.diverged.any()
    assert bool(np.isfinite(policies[0].actor().act(np.ones(3))).all())


def test_bcnd_refuses_fewer_pairs_than_parts(make_demos: Make, quick: Train) -> None:
    with pytest.raises(
        DataError, match="divides its pairs among 4 networks, but there are 3; give"
    ):
        quick(make_demos(episodes=1, length=3), "bcnd")
    assert not quick(make_demos(episodes=1, length=4), "bcnd").diverged.any()


def test_datasets_must_be_alike_and_one_per_seed(make_demos: Make, quick: Train) -> None:
    with pytest.raises(DataError, match="2 datasets for 3 seeds; give one, or one per seed"):
        quick([make_demos(seed=0), make_demos(seed=1)], "bc", seeds=3)
    with pytest.raises(DataError, match=r"datasets differ: \(3,\) → 2 .* \(4,\) → 2"):
        quick([make_demos(), make_demos(obs_size=4)], "bc", seeds=2)
    with pytest.raises(DataError, match="differ in their action set"):
        quick([make_demos(), make_demos(action_set="ball")], "bc", seeds=2)
    with pytest.raises(DataError, match="no demonstrations were given"):
        quick([], "bc")


@pytest.mark.parametrize(("pairs", "batch"), [(5, 1), (40, 4), (99, 9), (5000, 256)])
def test_a_batch_is_a_tenth_of_the_pairs_within_limits(pairs: int, batch: int) -> None:
    from counterbc.settings import Settings

    assert Settings().batch_size(pairs) == batch
    assert Settings(batch=7).batch_size(pairs) == min(7, pairs)


# Actions outside their bounds


def test_actions_outside_their_bounds_are_counted_in_a_warning(
    make_demos: Make, quick: Train
) -> None:
    wild = make_demos().map_actions(lambda a: np.where(np.arange(10)[:, None] < 2, 3.0, a))
    with pytest.warns(InfeasibleActions, match="8 of 40 actions lie outside .* kept as they are"):
        keep = quick(wild, "bc")
    with pytest.warns(InfeasibleActions, match="8 of 40 .* moved to the nearest bound"):
        project = quick(wild, "bc", feasible="project")
    assert not same(keep, project)
    clipped = wild.map_actions(lambda a: np.clip(a, -1, 1))
    assert same(project, quick(clipped, "bc"))


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_every_dataset_is_projected_by_its_own_bounds(make_demos: Make, quick: Train) -> None:
    narrow = make_demos(seed=1, action_low=np.full(2, -0.3), action_high=np.full(2, 0.3))
    wide = make_demos(seed=2)
    clipped = narrow.map_actions(lambda a: np.clip(a, np.float32(-0.3), np.float32(0.3)))
    project = quick([narrow, wide], "bc", seeds=2, feasible="project", dtype=torch.float64)
    assert_near(project, quick([clipped, wide], "bc", seeds=2, dtype=torch.float64), within=1e-5)


def test_limited_counterfactuals_need_a_box_of_one_or_scaled_actions(
    make_demos: Make, quick: Train
) -> None:
    wide = make_demos(action_low=np.full(2, -2.0), action_high=np.full(2, 2.0))
    raw = {"scale_actions": False, "limited": True}
    with pytest.raises(OptionError, match="needs scaled actions, or bounds of ±1"):
        quick(wide, "counter-bc", **raw)
    assert not quick(wide, "counter-bc", scale_actions=False, limited=False).diverged.any()
    unit = make_demos()
    scaled = quick(unit, "counter-bc", limited=True)
    assert_near(quick(unit, "counter-bc", **raw), scaled, within=1e-4)


def test_limits_change_what_is_learned_only_where_they_are_reached(
    make_demos: Make, quick: Train
) -> None:
    demos = make_demos(action_low=np.full(2, -2.0), action_high=np.full(2, 2.0))
    near = {"radius": 0.01}  # no shown action is that near to a bound of ±2
    assert np.abs(demos.action).max() < 1.9
    for radius, alike in ((near, True), ({"radius": 1.5}, False)):
        free = quick(demos, "counter-bc", shape="box", dtype=torch.float64, **radius)
        kept = quick(demos, "counter-bc", shape="box", dtype=torch.float64, limited=True, **radius)
        gap = (free.params["head.weight"] - kept.params["head.weight"]).abs().max().item()
        assert (gap < 1e-6) is alike


@pytest.mark.parametrize("preset", ["default", "paper", "authors"])
def test_every_preset_trains_every_kind_of_policy(
    preset: str, tiny: Demonstrations, quick: Train
) -> None:
    for method in ("counter-bc", "bc-rnn"):
        policies = quick(tiny, method, preset=preset)
        assert policies.config["preset"] == preset
        assert policies.scales.scale_actions is (preset != "authors")


# Members that go wrong


@pytest.mark.parametrize("method", ["bc", "counter-bc", "bc-rnn"])
def test_a_member_that_diverges_is_named_and_leaves_the_others_alone(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    well = quick(tiny, method, seeds=3)
    broken = replace(well, params={k: v.clone() for k, v in well.params.items()})
    broken.params["head.bias"][1, 0] = torch.nan
    with pytest.warns(Diverged, match=r"member 1 \(seed 1, radius .*\) by step 1$"):
        sick = quick(tiny, method, start=broken)
    assert sick.diverged.tolist() == [False, True, False]
    assert "diverged member 1 (seed 1" in repr(sick)
    healthy = quick(tiny, method, start=well)
    for i in (0, 2):
        assert same(sick[i], healthy[i])


# Curves


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
    kept, _ = demos.split(0.25, seed=0)
    again = quick(kept, method, seeds=2)
    assert_near(policies, again, within=0.0)


def test_a_long_training_has_a_hundred_points_and_every_round_as_many(
    tiny: Demonstrations, quick: Train
) -> None:
    bcnd = quick(tiny, "bcnd", steps=205, hidden=(4,))
    assert bcnd.curve is not None
    per_round = torch.bincount((bcnd.curve.steps - 1) // 205).tolist()
    assert per_round == [103, 103, 103]


def test_a_training_without_held_out_has_no_such_curve(tiny: Demonstrations, quick: Train) -> None:
    policies = quick(tiny, "bc")
    assert policies.curve is not None
    assert policies.curve.held_out is None
    with pytest.raises(DataError, match="at least 2 episodes"):
        quick(Demonstrations(tiny.episodes[:1]), "bc", held_out=0.5)


# Going on from trained policies


def test_start_goes_on_with_new_pairs_and_the_old_scales(make_demos: Make, quick: Train) -> None:
    first = quick(make_demos(), "counter-bc", seeds=2, steps=100)
    more = make_demos(seed=9).map_actions(lambda a: 0.5 * a)
    second = quick(more, "counter-bc", start=first, steps=1)
    assert torch.equal(second.scales.obs_mean, first.scales.obs_mean)
    assert [m.seed for m in second.members] == [0, 1]
    assert second.members[0].fingerprint == more.fingerprint()
    moved = (second.params["head.weight"] - first.params["head.weight"]).abs().max().item()
    assert 0 < moved < 1.1e-3  # one step of Adam


def test_start_keeps_every_members_radius(tiny: Demonstrations, quick: Train) -> None:
    first = quick(tiny, "counter-bc", seeds=2, radii=[0.1, 0.2])
    second = quick(tiny, "counter-bc", start=first)
    assert [m.name for m in second.members] == [m.name for m in first.members]


def test_start_refuses_what_does_not_fit(make_demos: Make, quick: Train) -> None:
    first = quick(make_demos(), "bc", seeds=2)
    with pytest.raises(OptionError, match="another policy"):
        quick(make_demos(), "bc-rnn", start=first)
    with pytest.raises(OptionError, match="another policy"):
        quick(make_demos(), "bc", start=first, hidden=(4,))
    with pytest.raises(CounterBCError, match="3"):
        quick(make_demos(obs_size=4), "bc", start=first)
    with pytest.raises(OptionError, match="start has 2 members; 4 were asked for"):
        quick(make_demos(), "counter-bc", start=first, radii=[0.1, 0.2])


# Runs in a folder


def interrupted(monkeypatch: pytest.MonkeyPatch, after: int) -> None:
    """Ctrl-C, as the operating system delivers it, after some blocks of steps."""
    record, seen = Loop._record, [0]

    def recorded(self: Loop, *args: Any, **kwargs: Any) -> None:
        record(self, *args, **kwargs)
        seen[0] += 1
        if seen[0] == after:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(Loop, "_record", recorded)


@pytest.mark.parametrize(
    ("method", "after", "options"),
    [
        ("bc", 1, {}),
        ("counter-bc", 7, {}),
        ("counter-bc", 7, {"held_out": 0.25, "resample": True}),
        ("weighted-bc", 7, {}),
        ("bc-rnn", 7, {"held_out": 0.25}),
        ("bcnd", 7, {}),
        ("bcnd", 27, {}),
        ("bcnd", 47, {"held_out": 0.25}),
        ("ileed", 7, {"held_out": 0.25}),
        ("discriminator-bc", 7, {"held_out": 0.25}),
        ("advantage-bc", 7, {"held_out": 0.25}),
    ],
)
def test_a_training_that_was_stopped_ends_with_the_bits_of_one_that_was_not(
    method: str,
    after: int,
    options: dict[str, Any],
    make_demos: Make,
    quick: Train,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    demos, out = make_demos(episodes=8), tmp_path / "run"
    whole = quick(demos, method, seeds=2, **options)
    handler = signal.getsignal(signal.SIGINT)
    with monkeypatch.context() as patch:
        interrupted(patch, after)
        with pytest.raises(KeyboardInterrupt, match=f"stopped at step {after} of"):
            quick(demos, method, seeds=2, out=out, **options)
    assert signal.getsignal(signal.SIGINT) is handler
    assert {p.name for p in out.iterdir()} == {"config.json", "training.safetensors"}
    with pytest.raises(FormatError, match="training that was interrupted"):
        Policies.load(out)
    taken = []
    steps = NetworkStack.steps

    def counted(self: NetworkStack, position: torch.Tensor, epoch: torch.Tensor) -> None:
        taken.append(len(position))
        steps(self, position, epoch)

    monkeypatch.setattr(NetworkStack, "steps", counted)
    resumed = quick(demos, method, seeds=2, out=out, resume=True, **options)
    assert sum(taken) == 20 * METHODS[method].rounds - after
    assert same(whole, resumed)
    assert same(whole, Policies.load(out))
    assert {p.name for p in out.iterdir()} == {"config.json", "model.safetensors"}


def test_a_training_stopped_twice_still_ends_the_same(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    for _ in range(2):
        with monkeypatch.context() as patch:
            interrupted(patch, 5)
            with pytest.raises(KeyboardInterrupt):
                quick(tiny, "counter-bc", out=out, resume=True)
    assert same(quick(tiny, "counter-bc"), quick(tiny, "counter-bc", out=out, resume=True))


def test_a_killed_training_goes_on_from_its_last_checkpoint(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        patch.setattr("counterbc.training.loop._SAVE_EVERY", 0.0)
        record = Loop._record

        def killed(self: Loop, *args: Any, **kwargs: Any) -> None:
            record(self, *args, **kwargs)
            if len(self.points) == 9:
                raise MemoryError

        patch.setattr(Loop, "_record", killed)
        with pytest.raises(MemoryError):
            quick(tiny, "counter-bc", out=out)
    assert same(quick(tiny, "counter-bc"), quick(tiny, "counter-bc", out=out, resume=True))


def test_resume_with_nothing_there_begins(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    resumed = quick(tiny, "bc", out=tmp_path / "run", resume=True)
    assert same(resumed, quick(tiny, "bc"))


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"steps": 30}, "another settings"),
        ({"seeds": 2}, "another members"),
        ({"method": "weighted-bc"}, "another method"),
        ({"demos": "other"}, "another data"),
    ],
)
def test_a_run_is_not_resumed_with_other_options(
    changed: dict[str, Any],
    sentence: str,
    make_demos: Make,
    quick: Train,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    out = tmp_path / "run"
    with monkeypatch.context() as patch:
        interrupted(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            quick(make_demos(), "bc", out=out)
    options = dict(changed)
    demos = make_demos(seed=1) if options.pop("demos", None) else make_demos()
    with pytest.raises(FormatError, match=f"was started with {sentence}"):
        quick(demos, options.pop("method", "bc"), out=out, resume=True, **options)
    assert same(quick(make_demos(), "bc"), quick(make_demos(), "bc", out=out, resume=True))


def test_a_run_is_not_resumed_from_another_start(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "run"
    one, other = quick(tiny, "bc", steps=5), quick(tiny, "bc", steps=9)
    with monkeypatch.context() as patch:
        interrupted(patch, 3)
        with pytest.raises(KeyboardInterrupt):
            quick(tiny, "bc", out=out, start=one)
    with pytest.raises(FormatError, match="was started with another"):
        quick(tiny, "bc", out=out, start=other, resume=True)


def test_a_finished_run_is_not_resumed(tiny: Demonstrations, quick: Train, tmp_path: Path) -> None:
    quick(tiny, "bc", out=tmp_path / "run")
    with pytest.raises(FormatError, match="finished already; there is nothing to resume"):
        quick(tiny, "bc", out=tmp_path / "run", resume=True)


def test_a_folder_that_exists_is_refused_before_any_work(
    tiny: Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: Any) -> None:
        raise AssertionError("a step was taken")

    monkeypatch.setattr(NetworkStack, "steps", never)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("years of work")
    with pytest.raises(FormatError, match="exists"):
        quick(tiny, "bc", out=tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "years of work"
    with pytest.raises(FormatError, match="create it first"):
        quick(tiny, "bc", out=tmp_path / "no" / "run")


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("bcnd", {}),
        ("counter-bc", {"scale_actions": False, "limited": True}),
        ("bc", {"start": "other"}),
    ],
)
def test_a_training_that_is_refused_leaves_no_folder_behind(
    method: str, options: dict[str, Any], make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    few = make_demos(episodes=1, length=3, action_low=np.full(2, -2.0), action_high=np.full(2, 2.0))
    if options.get("start"):
        options = {"start": quick(make_demos(), "bc", hidden=(4,))}
    with pytest.raises(CounterBCError):
        quick(few, method, out=tmp_path / "run", **options)
    assert list(tmp_path.iterdir()) == []


def test_the_configuration_says_what_decided_the_result(tiny: Demonstrations, quick: Train) -> None:
    config = quick(tiny, "counter-bc", radius=0.3).config
    assert config["settings"]["radius"] == 0.3
    assert config["data"] == [
        {"source": tiny.source, "fingerprint": tiny.fingerprint(), "pairs": 40}
    ]
    assert config["versions"]["torch"] == str(torch.__version__)
    assert config["dtype"] == "float32"


def test_a_finished_training_frees_its_memory_at_once(tiny: Demonstrations, quick: Train) -> None:
    quick(tiny, "counter-bc", steps=2)  # the first one may compile
    gc.collect()
    gc.disable()
    try:
        quick(tiny, "counter-bc", steps=2)
        left = [x for x in gc.get_objects() if type(x) in (NetworkStack, Counterfactuals)]
        assert left == []
    finally:
        gc.enable()
