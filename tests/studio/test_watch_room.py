"""The messages of Watch, over a real socket."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.acting.policies import Policies
from counterbc.demonstrators import demonstrate, find_teacher
from tests.fixture_types import Train
from tests.studio.clients import LiveServer


@pytest.fixture
def trained_server(step_server: LiveServer, quick: Train) -> LiveServer:
    teacher = find_teacher(None, "uniform", 0.1, world="cartpole")
    demos = demonstrate("cartpole", teacher, 200, 0)
    path: Path = step_server.study.path
    demos.save(path / "demos.hdf5")
    for method in ("bc", "counter-bc"):
        (path / "runs").mkdir(exist_ok=True)
        quick(demos, method).save(path / "runs" / method)
    return step_server


def test_only_listed_runs_can_be_watched(trained_server: LiveServer) -> None:
    page = trained_server.page()
    reply = page.ask("watch.list")
    assert reply["runs"] == ["runs/bc", "runs/counter-bc"]
    assert reply["datasets"] == ["demos.hdf5"]
    for names in (["runs/no"], ["../runs/bc"], [], ["runs/bc"] * 5, "runs/bc"):
        assert page.ask("watch.open", runs=names)["type"] == "refused"
    assert "no run is open" in page.ask("watch.do", do="start")["text"]
    page.close()


def test_policies_are_watched_and_corrected_over_the_socket(trained_server: LiveServer) -> None:
    page = trained_server.page()
    assert page.ask("watch.open", runs=["runs/bc", "runs/counter-bc"])["world"] == "cartpole"
    page.ask("watch.do", do="start")
    slots = {frame["slot"]: frame["obs"] for frame in page.frames}
    assert slots[1] == slots[2]
    assert page.ask("watch.take", panel=0, operator="Grace")["type"] == "reply"
    page.send(type="watch.input", action=[0.5], device="keyboard")
    page.wait("frame", step=1, slot=2)
    assert page.ask("watch.do", do="release")["type"] == "reply"
    assert page.wait("saved")["dataset"] == "cartpole-001.hdf5"
    assert page.ask("watch.take", panel=0, operator="")["type"] == "refused"
    page.close()


@pytest.mark.slow
def test_training_continues_from_the_page_with_progress(trained_server: LiveServer) -> None:
    page = trained_server.page()
    options = {"datasets": ["demos.hdf5"], "method": "bc", "steps": 500}
    reply = page.ask("watch.train", run="runs/bc", **options)
    assert reply["name"] == "runs/bc-more"
    assert "a training is running" in page.ask("watch.train", run=None, **options)["text"]
    page.wait("watch.training", state="progress")
    page.wait("watch.training", state="done", name="runs/bc-more")
    path = trained_server.study.path / "runs" / "bc-more"
    assert Policies.load(path).run_config.started_from is not None
    assert page.ask("watch.open", runs=["runs/bc-more"])["world"] == "cartpole"
    assert page.ask("watch.train", run=None, **options)["name"] == "runs/bc-2"
    page.ask("watch.stop")
    assert any(m.get("state") == "failed" for m in page.messages)  # sent before the reply
    faults: list[dict[str, object]]
    faults = [{"datasets": []}, {"steps": 0}, {"method": "x"}, {"run": "../x"}]
    for fault in faults:
        fields = {"run": None, **options, **fault}
        assert page.ask("watch.train", **fields)["type"] == "refused"
    page.close()
