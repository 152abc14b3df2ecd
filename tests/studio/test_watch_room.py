"""The messages of Watch, over a real socket."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from counterbc.acting.policies import Policies
from counterbc.demonstrators import demonstrate, find_teacher
from tests.fixture_types import Train
from tests.studio.clients import Json, LiveServer, Page, wait_for


@pytest.fixture(scope="module")
def trained_study(quick: Train, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a dataset and two runs."""
    path = tmp_path_factory.mktemp("trained")
    teacher = find_teacher(None, "uniform", 0.1, world="cartpole")
    demos = demonstrate("cartpole", teacher, 200, 0)
    demos.save(path / "demos.hdf5")
    (path / "runs").mkdir()
    for method in ("bc", "counter-bc"):
        quick(demos, method).save(path / "runs" / method)
    return path


@pytest.fixture
def trained_server(step_server: LiveServer, trained_study: Path) -> LiveServer:
    shutil.copytree(trained_study, step_server.study.path, dirs_exist_ok=True)
    return step_server


def test_only_listed_runs_can_be_watched(trained_server: LiveServer) -> None:
    page = trained_server.page()
    reply = page.ask("watch.list")
    assert reply["runs"] == ["runs/bc", "runs/counter-bc"]
    assert reply["datasets"] == ["demos.hdf5"]
    assert (reply["runs_unlisted"], reply["datasets_unlisted"]) == (0, 0)
    for names in (["runs/no"], ["../runs/bc"], [], ["runs/bc"] * 5, "runs/bc"):
        assert page.ask("watch.open", runs=names)["type"] == "refused"
    assert "no run is open" in page.ask("watch.do", do="start")["text"]
    page.close()


def test_a_run_that_cannot_be_loaded_leaves_the_panels_as_they_are(
    trained_server: LiveServer,
) -> None:
    runs = trained_server.study.path / "runs"
    shutil.copytree(runs / "bc", runs / "broken")
    (runs / "broken" / "model.safetensors").write_bytes(b"no weights")
    page = trained_server.page()
    page.ask("watch.open", runs=["runs/bc"])
    assert page.ask("watch.open", runs=["runs/bc", "runs/broken"])["type"] == "refused"
    assert page.ask("watch.do", do="start")["type"] == "reply"
    assert frames_of(page, 1)[1]["step"] == 0
    page.close()


def test_policies_are_watched_and_corrected_over_the_socket(trained_server: LiveServer) -> None:
    page = trained_server.page()
    assert page.ask("watch.open", runs=["runs/bc", "runs/counter-bc"])["world"] == "cartpole"
    page.ask("watch.do", do="start")
    first_obs = frames_of(page, 1, 2)
    assert first_obs[1]["obs"] == first_obs[2]["obs"]
    assert page.ask("watch.take", panel=0, operator="Grace")["type"] == "reply"
    page.send(type="watch.input", action=[0.5], device="keyboard")
    page.wait("frame", step=1, slot=2)
    assert page.ask("watch.do", do="release")["type"] == "reply"
    assert page.wait("saved")["dataset"] == "cartpole-001.hdf5"
    assert page.ask("watch.take", panel=0, operator="")["type"] == "refused"
    page.close()


def test_a_loaded_page_finds_its_panels_again(trained_server: LiveServer) -> None:
    page = trained_server.page()
    assert page.ask("watch.state")["open"] is False
    page.ask("watch.open", runs=["runs/bc", "runs/counter-bc"])
    page.ask("watch.do", do="start")
    page.send(type="watch.input", action=[0.5], device="keyboard")
    page.wait("frame", step=1, slot=2)
    page.close()
    page = trained_server.page(page.person)
    state = page.ask("watch.state")
    assert (state["open"], state["world"]) == (True, "cartpole")
    status = next(m for m in page.messages if m["type"] == "watch.status")
    assert status["running"] is False  # nobody looked
    assert [frame["step"] for frame in frames_of(page, 1, 2).values()] == [1, 1]
    page.close()


def frames_of(page: Page, *slots: int) -> dict[int, Json]:
    """Return the first drawing of each panel; drawings may come after replies."""
    while not {frame["slot"] for frame in page.frames} >= set(slots):
        page.receive()
    return {slot: next(f for f in page.frames if f["slot"] == slot) for slot in slots}


def _next_news(page: Page, heard: list[Json]) -> Json:
    heard.append(page.ask("watch.list")["training"])
    return heard[-1]


@pytest.mark.slow
def test_training_continues_from_the_page_with_progress(trained_server: LiveServer) -> None:
    page = trained_server.page()
    options = {"datasets": ["demos.hdf5"], "method": "bc", "steps": 500}
    reply = page.ask("watch.train", run="runs/bc", **options)
    assert reply["name"] == "runs/bc-more"
    assert "a training is running" in page.ask("watch.train", run=None, **options)["text"]
    page.wait("watch.training", state="progress")
    page.close()  # a page that was not there hears it afterwards
    page = trained_server.page(page.person)
    heard: list[Json] = []
    wait_for(lambda: _next_news(page, heard)["state"] != "progress")
    assert {news["name"] for news in heard} == {"runs/bc-more"}
    assert (heard[-1]["state"], heard[-1]["text"]) == ("done", "bc, 500 steps on 200 pairs")
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
