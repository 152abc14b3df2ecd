"""A stack differs in its demonstrations alone and has the rows of its cells alone."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

from counterbc.experiments.cell import compute_rows
from counterbc.experiments.stacks import stacks
from tests.experiments.cells import TINY, repeatable

DATA = [("crowd", None), *product(("uniform", "gaussian"), (0.25, 0.5))]
VARIANTS = [("bc", None), ("counter-bc", 0.1), ("counter-bc", 0.2)]
CELLS = [
    replace(TINY, world=w, teacher=t, sigma=s, pairs=p, method=m, radius=r)
    for w, p, (t, s), (m, r) in product(("intersection", "cartpole"), (20, 40), DATA, VARIANTS)
]


def test_a_stack_differs_in_its_demonstrations_alone() -> None:
    groups = stacks(CELLS)
    assert sorted(c.name for g in groups for c in g) == sorted(c.name for c in CELLS)
    for group in groups:
        for key in ("world", "pairs", "method", "radius"):
            assert len({cell.about[key] for cell in group}) == 1
    # Five teachers and σ: four at a time, then the one left; 2 worlds, 2 sizes, BC and two radii.
    assert [len(g) for g in groups] == [4, 1] * (2 * 2 * 3)
    assert [len(g) for g in stacks(CELLS, stacked=False)] == [1] * len(CELLS)


def test_only_the_cells_that_are_named_are_returned() -> None:
    stack = [TINY, replace(TINY, teacher="gaussian")]
    tables = compute_rows(stack, "cpu", [TINY.name])
    assert list(tables) == [TINY.name]
    assert repeatable(tables[TINY.name]) == repeatable(TINY.rows("cpu"))
