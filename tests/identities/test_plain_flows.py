"""A flow or chunk without a radius is BC, in its bits and in its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations
from tests.acting.editing import reconfigured
from tests.equality import same
from tests.fixture_types import Train

FLOW: dict[str, Any] = {"policy": "flow", "horizon": 4}


@pytest.mark.parametrize("policy", ["flow", "chunk"])
@pytest.mark.parametrize("method", ["counter-bc", "posterior"])
def test_without_a_radius_it_is_bc(
    method: str, policy: str, tiny: Demonstrations, quick: Train
) -> None:
    plain, asked = (
        quick(tiny, name, policy=policy, horizon=4, radius="auto") for name in ("bc", method)
    )
    assert same(plain, asked)
    assert (asked.method, asked.config["method"]) == ("bc", "bc")
    assert asked.config["definition"] == plain.config["definition"]
    assert asked.run_config.radius_from == "not used"


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
    kept, given = (
        quick(tiny, "counter-bc", start=first, **FLOW, **r) for r in ({}, {"radius": 0.2})
    )
    assert same(kept, given)
    assert (kept.method, kept.members[0].radius) == ("counter-bc", (0.2, 0.2))
    plain = quick(tiny, "counter-bc", start=quick(tiny, "bc", **FLOW), **FLOW)
    assert (plain.method, plain.run_config.radius_from) == ("bc", "not used")
