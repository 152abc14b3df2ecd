"""The messages of Collect, over a real socket."""

from __future__ import annotations

import h5py
import numpy as np
import pytest

from counterbc.formats import load
from counterbc.studio.collect_room import list_worlds
from counterbc.studio.stage import STAGES
from tests.studio.clients import LiveServer, dataset_of, f32, wait_for


def test_a_session_needs_consent_a_name_and_a_world(server: LiveServer) -> None:
    page = server.page()
    for changes, words in (
        ({"agreed": False}, "consent"),
        ({"agreed": "yes"}, "consent"),
        ({"operator": " "}, "characters"),
        ({"protocol": "x"}, "allowed: paper, free"),
        ({"format": "csv"}, "allowed: robomimic"),
        ({"speed": 2}, "allowed: 0.1 to 1"),
    ):
        reply = page.begin("cartpole", **changes)
        assert reply["type"] == "refused"
        assert words in reply["text"]
    assert page.begin("can")["type"] == "refused"
    assert "no session has begun" in page.do("start")["text"]
    page.close()


def test_the_worlds_are_listed_with_their_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("counterbc.studio.stage.find_spec", lambda name: None)
    lines = {world["name"]: world["install"] for world in list_worlds()}
    assert set(lines) == set(STAGES)
    assert lines["cartpole"] is None
    assert lines["push-t"] == "pip install 'counterbc[pusht]'"
    assert lines["car-racing"] == "pip install 'counterbc[racing]'"


def test_only_push_t_has_a_preset_that_is_not_in_the_paper() -> None:
    assert {world["name"]: world["in_paper"] for world in list_worlds()} == {
        "intersection": True, "cartpole": True, "air-hockey": True, "car-racing": True,
        "push-t": False,
    }  # fmt: skip


def test_a_page_records_what_it_sends(step_server: LiveServer) -> None:
    page = step_server.page()
    assert page.begin("intersection", operator="<b>Zoë</b> & Ångström")["low"] == [-1, -1]
    page.do("record")
    page.do("start")
    actions = f32([[np.cos(t), np.sin(t)] for t in range(20)]) * np.float32(0.9)
    for i, action in enumerate(actions):
        page.give(*action.tolist())
        page.wait("frame", step=i + 1)
    page.wait("saved")
    demos = load(dataset_of(step_server.study.path))
    np.testing.assert_array_equal(demos.action, actions)
    assert demos.operators == ("<b>Zoë</b> & Ångström",)
    drawn_obs = f32([f["obs"] for f in page.frames[:20]])
    np.testing.assert_array_equal(demos.obs, drawn_obs)
    page.close()


@pytest.mark.needs("envpool")
def test_car_racing_records_the_images_that_were_shown(step_server: LiveServer) -> None:
    page = step_server.page()
    page.begin("car-racing")
    page.do("record")
    page.do("start")
    for t in range(5):
        page.give(0.1 * t, 1.0, 0.0, device="gamepad")
        page.wait("frame", step=t + 1)
    page.do("finish")
    page.wait("saved")
    demos = load(dataset_of(step_server.study.path), obs=("image",))
    assert demos.obs.shape == (5, 96, 96, 3)
    for image, frame in zip(demos.obs, page.frames, strict=False):
        assert image.tobytes() == frame["pixels"]
    page.close()


def test_several_operators_follow_each_other(step_server: LiveServer) -> None:
    page = step_server.page()
    for name in ("Ada", "Bob"):
        page.begin("cartpole", operator=name)
        page.do("record")
        page.do("start")
        page.give(0.5)
        page.wait("frame", step=1)
        page.do("finish")
        page.wait("saved")
    files = sorted(step_server.study.path.glob("*.hdf5"))
    assert [load(path).operators for path in files] == [("Ada",), ("Bob",)]
    page.close()


def test_the_device_of_each_step_is_stored(step_server: LiveServer) -> None:
    page = step_server.page()
    page.begin("cartpole")
    page.do("record")
    page.do("start")
    for i, device in enumerate(("pointer", "gamepad", "gamepad")):
        page.give(0.5, device=device)
        page.wait("frame", step=i + 1)
    page.do("finish")
    page.wait("saved")
    with h5py.File(dataset_of(step_server.study.path)) as file:
        assert '"device": "gamepad"' in file["data/demo_0"].attrs["recording"]
        devices = file["data/demo_0/timing/device"][:].tolist()
    assert devices == [b"pointer", b"gamepad", b"gamepad"]
    page.close()


def test_a_page_that_does_not_read_does_not_slow_the_world_down(server: LiveServer) -> None:
    page = server.page()
    page.begin("air-hockey")
    page.do("record")
    page.do("start")
    page.give(0.3, 0.1)
    session = server.study.journal("air-hockey-001") / "0000.jsonl"
    wait_for(lambda: session.exists() and session.read_bytes().count(b'"time"') >= 40)
    page.close()


def test_a_loaded_page_finds_its_session_again(step_server: LiveServer) -> None:
    page = step_server.page()
    assert page.ask("collect.state")["running"] is False
    page.begin("cartpole")
    page.close()
    page_again = step_server.page(page.person)
    state = page_again.ask("collect.state")
    assert (state["running"], state["world"], state["operator"]) == (True, "cartpole", "Ada")
    assert (state["protocol"], state["format"], state["speed"]) == ("free", "robomimic", 1.0)
    page_again.close()
