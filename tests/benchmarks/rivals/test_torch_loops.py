"""The rivals' trainings in PyTorch are those of the library."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.rivals.ours import make_problem, population
from benchmarks.rivals.problem import METHODS, Problem
from benchmarks.rivals.torch_loops import authors, plain, stack_models


@pytest.fixture(scope="module")
def problem(tmp_path_factory: pytest.TempPathFactory) -> Problem:
    """Return a small problem as the rivals' processes read it from its file."""
    path: Path = tmp_path_factory.mktemp("rivals") / "problem.npz"
    make_problem(members=3, pairs=60, batch=12).save(path)
    return Problem.load(path)


@pytest.mark.parametrize("method", METHODS)
def test_twenty_steps_on_the_same_batches_have_the_same_losses(
    problem: Problem, method: str
) -> None:
    ours = population(problem, method, kernel="torch").losses
    assert ours is not None
    expected = ours()
    for rival, count in ((plain, 1), (stack_models, problem.members)):
        losses = rival(problem, method).losses
        assert losses is not None
        np.testing.assert_allclose(losses(), expected[:count], rtol=1e-3)


@pytest.mark.parametrize("method", METHODS)
def test_every_loop_takes_steps(problem: Problem, method: str) -> None:
    for rival in (authors, plain, stack_models):
        rival(problem, method).run(11)  # two epochs and a rest


def test_a_problem_has_the_shapes_that_rivals_read(problem: Problem) -> None:
    assert (problem.members, problem.pairs, problem.batch) == (3, 60, 12)
    assert problem.targets("bc").shape == (60, 1, 2)
    assert problem.targets("counter-bc").shape == (3, 60, 51, 2)
    assert problem.inputs("bc-rnn").shape == (60, 5, 4)
    np.testing.assert_array_equal(problem.inputs("bc-rnn")[:, -1], problem.obs)
    np.testing.assert_array_equal(problem.targets("counter-bc")[1, :, 0], problem.action)
