"""Recovering |s| − 0.5 from noisy examples."""

from __future__ import annotations

import pytest

from reproduction.recovery import AT, RecoveryCell, distances, examples, intended_action


def test_distances_of_the_meant_function_are_those_of_the_noise_alone() -> None:
    values = distances(intended_action(AT), examples(50_000, seed=0))
    assert values["variation"] == pytest.approx(2.0)  # from 0.5 down to −0.5 and up again
    assert values["to_meant"] == 0.0
    assert values["to_examples"] == pytest.approx(1 / 12**0.5, rel=0.02)  # the sd of U(−.5, .5)


def test_recovery_learns_from_the_same_examples_whatever_the_radius() -> None:
    bc, counter = (
        RecoveryCell(method=m, radius=r, pairs=20, seeds=2, steps=3).rows("cpu").to_pylist()
        for m, r in (("bc", None), ("counter-bc", 0.5))
    )
    assert [r["fingerprint"] for r in bc] == [r["fingerprint"] for r in counter]
    assert bc[0]["action"] != counter[0]["action"]
