"""Policies, weightings and supports of users: their pages run, and no base class trains them."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
import torch

import counterbc as cb
from tests.fixture_types import Train

DOCS = Path(__file__).parents[2] / "docs"
PAGES = ("own-policy.md", "own-weighting.md", "own-support.md")


@dataclass(frozen=True)
class Laplace(cb.GaussianMLP):
    """A Laplace distribution whose log π is written for one network."""

    def log_prob(self, head: tuple[Any, ...], actions: Any) -> Any:
        assert actions.dim() == 3
        mean, log_scale = (x.unsqueeze(1) for x in head)
        return -((actions - mean).abs() / log_scale.exp() + log_scale).sum(-1)


@dataclass(frozen=True)
class StackedLaplace(Laplace):
    """The same for N networks at once."""

    stacks: ClassVar[bool] = True

    def log_prob(self, head: tuple[Any, ...], actions: Any) -> Any:
        mean, log_scale = (x.unsqueeze(-2) for x in head)
        return -((actions - mean).abs() / log_scale.exp() + log_scale).sum(-1)


@dataclass(frozen=True)
class Halves(cb.PolicyLikelihood):
    """Half of the weights of Counter-BC, written for one network."""

    def weights(self, params: Any, batch: Any, log_pi: Any) -> Any:
        assert log_pi.dim() == 2
        return 0.5 * torch.softmax(log_pi, 1)


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_lines_of_a_page_run_twice(
    page: str, tiny: cb.Demonstrations, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for registry in (cb.POLICIES, cb.METHODS, cb.SUPPORTS):
        for name in ("laplace", "near-first", "sphere"):
            monkeypatch.setitem(registry, name, next(iter(registry.values())))
    quick = replace(cb.PRESETS["default"], steps=20, lag=0.0, ensemble=1)
    monkeypatch.setitem(cb.PRESETS, "default", quick)
    tiny.save("demos.hdf5")
    (block,) = re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(), re.S)
    lines = [line for line in block.splitlines() if line.strip() and "import" not in line]
    assert len(lines) <= 12
    names: dict[str, Any] = {"__name__": __name__}
    for _ in range(2):  # somebody pastes them again
        exec(block, names)
    assert len(names["policies"]) == 2
    assert not names["policies"].diverged.any()
    if page == "own-policy.md":
        assert len(cb.Policies.load("laplace-run")) == 2


def test_an_overriding_class_is_mapped_and_one_that_states_it_stacks_is_not() -> None:
    assert (Laplace.stacks, StackedLaplace.stacks, Halves.stacks) == (False, True, False)
    assert cb.GaussianMLP.stacks
    assert all(kind.stacks for kind in cb.POLICIES.values())


@pytest.mark.parametrize("batch", [2, 4])  # also where a batch is as large as the population
def test_a_policy_for_one_network_trains_as_the_same_for_several(
    batch: int, tiny: cb.Demonstrations, quick: Train
) -> None:
    one, several = (
        quick(tiny, cb.Method(cb.Ball(5), cb.PolicyLikelihood(), policy), seeds=2, batch=batch)
        for policy in (Laplace(hidden=(8, 8)), StackedLaplace(hidden=(8, 8)))
    )
    for name, value in one.params.items():
        np.testing.assert_allclose(value, several.params[name], rtol=1e-4, atol=1e-5)


def test_a_weighting_for_one_network_is_not_trained_as_its_parent(
    tiny: cb.Demonstrations, quick: Train
) -> None:
    policies = quick(tiny, cb.Method(cb.Ball(5), Halves()), seeds=2)
    parent = quick(tiny, cb.Method(cb.Ball(5), cb.PolicyLikelihood()), seeds=2)
    assert policies.curve is not None
    assert parent.curve is not None
    assert not np.allclose(policies.curve.loss, parent.curve.loss)


def test_saving_and_loading_a_policy_without_a_name_says_which_line_is_missing(
    tiny: cb.Demonstrations, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = cb.Method(policy=Laplace(hidden=(8, 8)))
    policies, line = quick(tiny, method), r'counterbc\.POLICIES\["laplace"\] = Laplace'
    with pytest.raises(cb.CounterBCError, match=line):
        policies.save(tmp_path / "run")
    with pytest.raises(cb.CounterBCError, match=line):
        quick(tiny, method, out=tmp_path / "run")
    monkeypatch.setitem(cb.POLICIES, "laplace", Laplace)
    policies.save(tmp_path / "run")
    monkeypatch.delitem(cb.POLICIES, "laplace")
    with pytest.raises(cb.CounterBCError, match="laplace"):
        cb.Policies.load(tmp_path / "run")
