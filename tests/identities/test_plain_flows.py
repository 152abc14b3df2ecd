"""A flow or chunk without a radius is BC, in its bits and in its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from counterbc.policies import Flow
from counterbc.selection.tuner import tune
from tests.acting.editing import reconfigured
from tests.equality import same
from tests.fixture_types import Train

FLOW: dict[str, Any] = {"policy": "flow", "horizon": 4}


@pytest.mark.parametrize("policy", ["flow", "chunk"])
@pytest.mark.parametrize("method", ["counter-bc", "posterior"])
def test_without_a_radius_it_is_bc(
    method: str, policy: str, tiny: Demonstrations, quick: Train
) -> None:
    plain, policies = (
        quick(tiny, name, policy=policy, horizon=4, radius="auto") for name in ("bc", method)
    )
    assert same(plain, policies)
    assert (policies.method, policies.config["method"]) == ("bc", "bc")
    assert policies.config["definition"] == plain.config["definition"]
    assert policies.run_config.radius_from == "not used"


def test_with_a_radius_it_is_named_as_asked(tiny: Demonstrations, quick: Train) -> None:
    assert quick(tiny, "counter-bc", **FLOW, radius=0.2).method == "counter-bc"
    assert quick(tiny, "weighted-bc", **FLOW, radius="auto").method == "weighted-bc"


def test_a_run_that_an_earlier_version_called_counter_bc_is_loaded_as_bc(
    tiny: Demonstrations, quick: Train, tmp_path: Path
) -> None:
    quick(tiny, "bc", **FLOW).save(tmp_path / "run")
    rename = reconfigured(lambda c: (c.update(method="counter-bc"), c["config"].update(method="x")))
    rename(tmp_path / "run")
    old = Policies.load(tmp_path / "run")
    assert (old.method, old.run_config.method) == ("bc", "bc")
    old.save(tmp_path / "again")
    assert repr(Policies.load(tmp_path / "again")) == repr(old)


def test_a_flow_with_counterfactuals_continues_with_them(
    tiny: Demonstrations, quick: Train
) -> None:
    first = quick(tiny, "counter-bc", **FLOW, radius=0.2)
    continuation, repetition = (
        quick(tiny, "counter-bc", start=first, **FLOW, **r) for r in ({}, {"radius": 0.2})
    )
    assert same(continuation, repetition)
    assert (continuation.method, continuation.members[0].radius) == ("counter-bc", (0.2, 0.2))
    plain = quick(tiny, "counter-bc", start=quick(tiny, "bc", **FLOW), **FLOW)
    assert (plain.method, plain.run_config.radius_from) == ("bc", "not used")


def test_a_flow_is_trained_for_the_steps_that_suit_its_pairs(
    tiny: Demonstrations, quick: Train, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Flow, "steps_by_pairs", ((tiny.pairs + 1, 3),))
    by_default = quick(tiny, "bc", **FLOW, steps="auto")
    assert by_default.config["settings"]["steps"] == 3
    assert same(by_default, quick(tiny, "bc", **FLOW, steps=3))
    assert tune(tiny, "bc", **FLOW, lag=0.0, offsets="none", progress=False).steps == 3
