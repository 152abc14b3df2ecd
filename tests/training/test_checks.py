"""What train() is given is checked before any work."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import (
    CounterBCError,
    DataError,
    Diverged,
    DominatedValues,
    InfeasibleActions,
    OptionError,
)
from tests.equality import assert_near, same
from tests.fixture_types import Make, Train


def test_datasets_must_be_alike_and_one_per_seed(make_demos: Make, quick: Train) -> None:
    with pytest.raises(DataError, match="2 datasets for 3 seeds; give one, or one per seed"):
        quick([make_demos(seed=0), make_demos(seed=1)], "bc", seeds=3)
    with pytest.raises(DataError, match=r"datasets differ: \(3,\) → 2 .* \(4,\) → 2"):
        quick([make_demos(), make_demos(obs_size=4)], "bc", seeds=2)
    with pytest.raises(DataError, match="differ in their action set"):
        quick([make_demos(), make_demos(action_set="ball")], "bc", seeds=2)
    with pytest.raises(DataError, match="no demonstrations were given"):
        quick([], "bc")


def test_actions_outside_their_bounds_are_counted_in_a_warning(
    make_demos: Make, quick: Train
) -> None:
    wild = make_demos().map_actions(lambda a: np.where(np.arange(10)[:, None] < 2, 3.0, a))
    with pytest.warns(InfeasibleActions, match="8 of 40 actions lie outside .* kept as they are"):
        keep = quick(wild, "bc")
    with pytest.warns(InfeasibleActions, match="8 of 40 .* moved to the nearest bound"):
        project = quick(wild, "bc", feasible="project")
    assert not same(keep, project)
    inside = wild.map_actions(lambda a: np.clip(a, -1, 1))
    assert same(project, quick(inside, "bc"))


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_every_dataset_is_projected_by_its_own_bounds(make_demos: Make, quick: Train) -> None:
    narrow = make_demos(seed=1, action_low=np.full(2, -0.3), action_high=np.full(2, 0.3))
    wide = make_demos(seed=2)
    inside = narrow.map_actions(lambda a: np.clip(a, np.float32(-0.3), np.float32(0.3)))
    project = quick([narrow, wide], "bc", seeds=2, feasible="project", dtype=torch.float64)
    assert_near(project, quick([inside, wide], "bc", seeds=2, dtype=torch.float64), within=1e-5)


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


@pytest.mark.parametrize("method", ["bc", "counter-bc", "bc-rnn"])
def test_a_member_that_diverges_is_named_and_leaves_the_others_alone(
    method: str, tiny: Demonstrations, quick: Train
) -> None:
    well = quick(tiny, method, seeds=3)
    faulty = replace(well, params={k: v.clone() for k, v in well.params.items()})
    faulty.params["head.bias"][1, 0] = torch.nan
    with pytest.warns(Diverged, match=r"member 1 \(seed 1, radius .*\) by step 1$"):
        sick = quick(tiny, method, start=faulty)
    assert sick.diverged.tolist() == [False, True, False]
    assert "diverged member 1 (seed 1" in repr(sick)
    healthy = quick(tiny, method, start=well)
    for i in (0, 2):
        assert same(sick[i], healthy[i])


def test_values_that_hide_all_others_are_named_in_a_warning(make_demos: Make, quick: Train) -> None:
    demos = make_demos()
    offset = np.array([0, 1e8, 0])
    clock = tuple(replace(e, obs=e.obs + offset) for e in demos.episodes)
    with pytest.warns(DominatedValues, match=rf"in {re.escape(demos.obs_names[1])} one value or"):
        quick(replace(demos, episodes=clock), "bc", steps=1)
