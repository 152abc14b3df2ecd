"""Datasets that are inspected one after the other are inspected as one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.data.inspection import Inspection
from counterbc.data.inspection_report import InspectionReport
from counterbc.data.merge import merge
from counterbc.data.raw_episode import Header, RawEpisode
from counterbc.errors import DataError
from counterbc.formats import open_stream
from counterbc.formats.stream import Stream
from tests.data.datasets import inspect, raw_episodes
from tests.data.test_targets import followed


def test_statistics_leave_out_what_is_not_finite() -> None:
    episodes = raw_episodes()
    episodes[1].obs[0, 0] = np.nan
    rows = np.concatenate([r.obs for r in episodes]).astype(np.float64)
    first = inspect(episodes).report().dimensions[0]
    x = rows[np.isfinite(rows[:, 0]), 0]
    statistics = {"min": x.min(), "mean": x.mean(), "max": x.max(), "std": x.std()}
    assert {key: getattr(first, key) for key in statistics} == pytest.approx(statistics)


def by(operator: str | None, selected: bool = False) -> RawEpisode:
    (r,) = raw_episodes(1)
    pairs = np.arange(20) < 7 if selected else None
    return RawEpisode(r.obs, r.action, operator=operator, name=f"by {operator}", selected=pairs)


def test_several_streams_have_the_fingerprint_and_operators_of_their_merge() -> None:
    def parts() -> Iterator[Stream]:
        for source in ("a.hdf5", "b.hdf5"):
            episodes = [
                RawEpisode(r.obs + len(source), r.action, name=r.name) for r in raw_episodes(2)
            ]
            yield Stream(Header(source=source), iter(episodes))
        yield Stream(Header(source="c.hdf5"), iter([by("ann"), by(None, selected=True)]))

    whole = merge([s.demonstrations() for s in parts()])
    inspection = Inspection()
    for stream in parts():
        inspection.add(stream.header, stream.raw_episodes)
    report = inspection.report()
    assert report.fingerprint == whole.fingerprint()
    assert report.operators == {"a": 2, "b": 2, "ann": 1}
    assert (report.pairs, report.episodes) == (whole.pairs, len(whole))


def test_streams_that_differ_are_not_looked_at_as_one() -> None:
    inspection = inspect(raw_episodes())
    with pytest.raises(DataError, match="cannot merge made and other: action bounds"):
        inspection.add(Header(source="other"), raw_episodes())


def test_a_stream_without_episodes_is_refused() -> None:
    with pytest.raises(DataError, match="at least one episode"):
        inspect([])


def test_images_that_are_not_bytes_are_refused_and_not_called_clean(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", obs=np.zeros((9, 32, 32, 3)), action=np.zeros((9, 2)))
    stream = open_stream(tmp_path / "d.npz")
    with pytest.raises(DataError, match="uint8"):
        Inspection().add(stream.header, stream.raw_episodes)


def test_actions_on_each_bound_are_counted() -> None:
    episodes = raw_episodes(1)
    episodes[0].action[:4, 1] = -1
    episodes[0].action[4:6, 1] = 1
    report = inspect(episodes, actions_are="taken").report()
    assert report.actions_are == "taken"
    counts = {d.name: (d.on_low, d.on_high) for d in report.dimensions}
    assert counts["action[0]"] == (0, 0)
    assert counts["action[1]"] == (4, 2)
    assert counts["state[0]"] == (None, None)
    unbounded = inspect(episodes, action_low=None, action_high=None).report()
    assert unbounded.dimensions[-1].on_low is None


def test_files_that_declare_different_actions_declare_none_together() -> None:
    inspection = inspect(raw_episodes(), actions_are="taken")
    inspection.add(inspection.headers[0], raw_episodes())
    assert inspection.report().actions_are == "taken"
    header = Header.of(inspection.model)
    inspection.add(replace(header, actions_are="asked"), raw_episodes())
    assert inspection.report().actions_are is None


def test_a_dimension_that_one_value_dominates_is_named() -> None:
    episodes = [r for _ in range(5) for r in raw_episodes()]
    episodes[0].obs[0, 1] = 1e30
    report = inspect(episodes).report()
    (problem,) = [p for p in report.problems if p.kind == "dominated obs"]
    assert problem.count == 1
    assert getattr(problem.places[0], "dimension", "") == report.dimensions[1].name


def test_targets_are_reported_with_what_to_make_actions_relative_to() -> None:
    demos = followed()
    report = inspect_stream(Stream.of(demos))
    assert [(t.action, t.obs) for t in report.action_targets] == [("action[0]", "place")]
    assert report.suggested_relative == "place"
    declared = inspect_stream(Stream.of(replace(demos, relative="none")))
    assert (declared.relative, declared.suggested_relative) == ("none", None)
    assert declared.action_targets == report.action_targets


def test_next_observations_are_reported_but_nothing_is_relative_to_them() -> None:
    places = np.random.default_rng(0).normal(size=(60, 1)).cumsum(axis=0)
    report = inspect([RawEpisode(places[:-1], places[1:])], action_low=None, action_high=None)
    (target,) = report.report().action_targets
    assert (target.kind, report.report().suggested_relative) == ("next observation", None)


def test_datasets_that_disagree_on_what_actions_are_relative_to_declare_nothing() -> None:
    inspection = inspect(raw_episodes(), relative="state[0],-")
    assert inspection.report().relative == "state[0],-"
    fingerprint = inspection.report().fingerprint
    inspection.add(replace(inspection.headers[0], relative=None), raw_episodes())
    assert inspection.report().relative is None
    assert fingerprint != inspect(raw_episodes()).fingerprint()


def test_wrapped_angles_are_reported_by_name() -> None:
    angle = np.linspace(0, 20, 200)[:, None] % (2 * np.pi)
    demos = Demonstrations((Episode(angle, np.zeros((200, 1))),), obs_names=("heading",))
    report = inspect_stream(Stream.of(demos))
    assert (report.wrapped_angles, report.angles) == (("heading",), ())
    (trap,) = [t for t in report.traps if t.kind == "wrapped angle"]
    assert trap.step.startswith("declare it with --angle heading, and")
    declared = replace(demos, angles=("heading",))
    report = inspect_stream(Stream.of(declared))
    assert (report.wrapped_angles, report.angles) == (("heading",), ("heading",))
    assert not [t for t in report.traps if t.kind == "wrapped angle"]
    assert report.fingerprint == declared.fingerprint()


def test_a_dimension_that_one_of_several_files_declares_an_angle_is_one_in_all() -> None:
    inspection = inspect(raw_episodes(), angles=("state[1]",))
    inspection.add(replace(inspection.headers[0], angles=("state[0]",)), raw_episodes())
    assert inspection.report().angles == ("state[0]", "state[1]")


def inspect_stream(stream: Stream) -> InspectionReport:
    """Return the report on a stream."""
    inspection = Inspection()
    inspection.add(stream.header, stream.raw_episodes)
    return inspection.report()
