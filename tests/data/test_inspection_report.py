"""The report of an inspection as a value and as JSON."""

from __future__ import annotations

import json

import numpy as np

from counterbc.data.inspection import Inspection
from counterbc.data.inspection_report import PROBLEM_KINDS, InspectionReport
from counterbc.data.raw_episode import Header, RawEpisode


def report() -> InspectionReport:
    inspection = Inspection()
    episodes = [RawEpisode(np.zeros((12, 1)), np.zeros((12, 1)), name=f"e{i}") for i in range(2)]
    inspection.add(Header(source="made", masks={"good": ("e0",)}), episodes)
    return inspection.report()


def test_the_dictionary_is_json_with_the_names_of_the_fields() -> None:
    payload = json.loads(json.dumps(report().as_dict()))
    assert list(payload) == list(InspectionReport.__dataclass_fields__)
    assert payload["episode_length"] == {"min": 12, "max": 12}
    assert payload["masks"] == {"good": 1}
    assert payload["dimensions"][0] == {
        "kind": "obs", "name": "state[0]", "min": 0.0, "mean": 0.0, "max": 0.0, "std": 0.0,
            "on_low": None, "on_high": None,
    }  # fmt: skip


def test_problems_come_in_the_order_of_their_kinds_and_can_be_left_out() -> None:
    kinds = [problem.kind for problem in report().problems]
    assert kinds == ["duplicate", "idle", "constant obs", "constant action"]
    assert kinds == sorted(kinds, key=PROBLEM_KINDS.index)
    assert [p.kind for p in report().without(("idle", "duplicate")).problems] == kinds[2:]
