"""Advantage-filtered BC: what is left to earn, what is usual, and refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.scaling import Scaling
from counterbc.errors import DataError, OptionError
from counterbc.training.store import Store
from counterbc.weightings import Advantage, Pairs
from counterbc.weightings.pretraining import Pretraining
from tests.fixture_types import Make, Train


def test_what_is_left_to_earn_stops_at_the_end_of_the_episode() -> None:
    rewards = [[1.0, 2.0, 4.0], [8.0, 16.0]]
    demos = Demonstrations(
        tuple(Episode(np.ones((len(r), 1)), np.zeros((len(r), 1)), np.array(r)) for r in rewards)
    )
    scales = Scaling.fit(demos, False, True)
    store, _ = Store.of([(demos, scales, (0.0,))], torch.float64, False, needs=("rewards",))
    assert store.facts["to_go"].tolist() == [7, 6, 4, 24, 16]
    assert store.facts["time"].tolist() == pytest.approx([0, 1 / 3, 2 / 3, 0, 1 / 3])
    assert "operator" not in store.facts


def pairs_of(count: int = 400, seed: int = 0) -> Pairs:
    """What is left to earn is 3 s + 5 − 5 t, and one more or less by turns."""
    rng = np.random.default_rng(seed)
    state, time = rng.uniform(-1, 1, count), rng.uniform(0, 1, count)
    luck = np.where(np.arange(count) % 2 == 0, 1.0, -1.0)
    table = {
        "state": torch.tensor(state)[:, None],
        "action": torch.zeros(count, 1, dtype=torch.float64),
        "time": torch.tensor(time),
        "to_go": torch.tensor(3 * state + 5 - 5 * time + luck),
    }
    return Pairs(table, torch.arange(count), torch.tensor(count), torch.tensor(seed))


def test_pairs_that_went_better_than_usual_at_their_state_and_time_are_kept() -> None:
    pairs = pairs_of()
    weighting = Advantage(network=Pretraining(steps=600, hidden=(16,)))
    weight = weighting.columns(pairs, weighting.fit(pairs))["weight"]
    assert set(weight.unique().tolist()) == {0.0, 1.0}
    assert weight[::2].mean().item() > 0.97
    assert weight[1::2].mean().item() < 0.03


def test_the_exponential_form_keeps_all_of_what_is_better_and_some_of_what_is_worse() -> None:
    pairs = pairs_of()
    network = Pretraining(steps=600, hidden=(16,))
    weighting = Advantage(form="exponential", network=network)
    weight = weighting.columns(pairs, weighting.fit(pairs))["weight"]
    assert weight[::2].mean().item() > 0.97
    assert weight[1::2].mean().item() == pytest.approx(np.exp(-1), abs=0.05)
    assert float(weight.max()) == 1


def scale_rewards(demos: Demonstrations, by: float) -> Demonstrations:
    """The same with other rewards."""
    rewards = [None if e.reward is None else by * e.reward for e in demos.episodes]
    episodes = (replace(e, reward=r) for e, r in zip(demos.episodes, rewards, strict=True))
    return replace(demos, episodes=tuple(episodes))


def test_rewards_of_another_scale_filter_the_same(make_demos: Make, quick: Train) -> None:
    demos = make_demos()
    larger = scale_rewards(demos, 64)
    small, second = (quick(d, "advantage-bc", dtype=torch.float64) for d in (demos, larger))
    for name, value in small.params.items():
        torch.testing.assert_close(value, second.params[name], rtol=1e-6, atol=1e-6)


def test_equal_rewards_everywhere_do_no_harm(make_demos: Make, quick: Train) -> None:
    equal_rewards = scale_rewards(make_demos(), 0)
    assert not quick(equal_rewards, "advantage-bc").diverged.any()


def test_advantage_needs_rewards_and_knows_two_forms(make_demos: Make, quick: Train) -> None:
    demos = make_demos()
    first, *rest = demos.episodes
    with pytest.raises(DataError, match="this method needs rewards"):
        quick(replace(demos, episodes=(replace(first, reward=None), *rest)), "advantage-bc")
    with pytest.raises(OptionError, match="unknown form 'soft'; allowed: binary, exponential"):
        Advantage(form="soft")  # type: ignore[arg-type]  # on purpose
    with pytest.raises(OptionError, match="all must be 1 or more"):
        Pretraining(steps=0)
