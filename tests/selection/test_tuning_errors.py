"""The errors that tuning chooses by."""

import numpy as np
import pytest

from counterbc.selection.folds import split_folds
from counterbc.selection.held_out import Candidate, held_out_errors
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.tuning import TuneSearch, Tuning
from counterbc.selection.tuning_errors import TuningErrors
from tests.selection.datasets import late_demos, training


def test_a_snapshot_of_the_search_is_a_training_of_that_many_steps() -> None:
    demos, arguments = late_demos(1), training(steps=400)
    folds, candidates = [[split_folds(demos, 5, 0)]], [[Candidate(0.2, (1.0,))]]
    by_steps = held_out_errors([demos], folds, candidates, arguments, (100, 400))
    for (errors,), steps in zip(by_steps, (100, 400), strict=True):
        ((separate,),) = held_out_errors([demos], folds, candidates, training(steps=steps))
        np.testing.assert_allclose(errors.residual, separate.residual, rtol=1e-4, atol=1e-5)
        # The first action answers no state of the episode; the second answers the first state.
        assert np.isnan(errors.residual[0, 0, 0]).all()
        assert np.isfinite(errors.residual[0, 0, 1]).all()


def test_a_fractional_lag_may_leave_fewer_states_than_the_search_uses() -> None:
    demos = late_demos(1, episodes=3)  # 90 pairs, of which 84 have an action 1.5 steps later
    search = TuneSearch(pairs=88)
    (sample,) = TuningErrors([demos], [(1.5,)], search, training()).datasets
    assert sample.pairs == 87  # every action but the first of each episode answers a state


def test_every_dataset_chooses_its_own_ensemble_as_it_does_alone() -> None:
    datasets = [late_demos(1, episodes=6), late_demos(2, episodes=6)]
    search = TuneSearch(ensembles=(1, 2), folds=2)
    choices = [[Tuning(LagChoice(), 0.0, steps)] for steps in (5, 30)]
    arguments, lags = training(steps=30), [(0.0,), (0.0,)]
    together = TuningErrors(datasets, lags, search, arguments).with_ensembles(choices)
    for data, choice, (tuning,) in zip(datasets, choices, together, strict=True):
        ((solo,),) = TuningErrors([data], lags[:1], search, arguments).with_ensembles([choice])
        assert solo.ensemble == tuning.ensemble
        assert solo.ensemble_gain is not None
        assert tuning.ensemble_gain is not None
        assert tuning.ensemble_gain.value == pytest.approx(solo.ensemble_gain.value, rel=1e-3)
