"""Pairs in effect."""

from __future__ import annotations

from typing import Any

import pytest

from reproduction.studies.can_weights import effective_pairs


@pytest.mark.parametrize("method", ["weighted-bc", "bcnd"])
def test_some_pairs_of_a_batch_are_in_effect(method: str, tiny: Any, quick: Any) -> None:
    policies = quick(tiny, method, seeds=[0])
    assert 1 <= effective_pairs(policies, method, tiny, 8) <= 8
