"""The messages of Look, over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode import Episode
from counterbc.formats import load
from counterbc.studio import look_room
from counterbc.studio.dataset_view import DatasetView
from counterbc.studio.even_sample import EvenSample
from counterbc.studio.held_out_job import HeldOutResult
from tests.fixture_types import Make
from tests.studio.clients import LiveServer, Page


@pytest.fixture
def page(make_demos: Make, server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[Page]:
    """A page with a dataset, where predictions take no time: the real ones have their own test."""
    demos = make_demos(noise=0.4)
    demos.save(server.study.path / "a.hdf5")

    predictions = 0.5 * demos.action + np.array([[[0.0]], [[0.01]]])  # (2, N, A)

    class Quick:
        is_running = False

        def __init__(self, function: object, arguments: dict[str, Any], **calls: Any) -> None:
            for lag in arguments["lags"]:
                calls["progress"](HeldOutResult(
                    lag=lag, predictions=predictions,
                    scores=({"name": "demo_0", "distance": 0.5},), operators=(), verdict="Enough.",
                    mean=demos.action.astype(float), std=np.full(demos.action.shape, 0.2),
                ))  # fmt: skip

        def stop(self) -> None: ...

    monkeypatch.setattr(look_room, "Job", Quick)
    client = server.page()
    yield client
    client.close()


def test_only_listed_datasets_can_be_opened(page: Page) -> None:
    listed = page.ask("look.list")
    assert (listed["datasets"], listed["datasets_unlisted"]) == (["a.hdf5"], 0)
    for name in ("b.hdf5", "../a.hdf5", "/etc/passwd", "journal"):
        assert "choose a listed one" in page.ask("look.open", dataset=name)["text"]
    assert "no dataset is open" in page.ask("look.episode", episode="demo_0")["text"]
    assert page.ask("look.open", dataset="a.hdf5")["sampled"] == 4
    assert page.ask("look.episode", episode="demo_1")["operator"] == "bob"
    assert "no episode" in page.ask("look.episode", episode="demo_9")["text"]


def test_a_dataset_that_cannot_be_read_leaves_the_one_before_open(
    page: Page, server: LiveServer
) -> None:
    (server.study.path / "broken.hdf5").write_bytes(b"no HDF5")
    page.ask("look.open", dataset="a.hdf5")
    page.ask("look.predict", lag=0)
    assert page.ask("look.open", dataset="broken.hdf5")["type"] == "refused"
    assert page.ask("look.episode", episode="demo_1")["operator"] == "bob"
    assert page.ask("look.meant", episode="demo_1", lag=0, radius=0.2)["type"] == "reply"


def test_meant_actions_follow_the_sliders(page: Page, server: LiveServer) -> None:
    page.ask("look.open", dataset="a.hdf5")
    fields = {"episode": "demo_0", "lag": 0}
    assert "not there yet" in page.ask("look.meant", radius=0.2, **fields)["text"]
    assert page.ask("look.predict", lag=0)["type"] == "reply"
    ready = next(m for m in page.messages if m["type"] == "look.ready")
    assert ready["scores"][0]["distance"] == 0.5
    small, large = (page.ask("look.meant", radius=r, **fields) for r in (0.0, 0.5))
    demo_actions = load(server.study.path / "a.hdf5").episodes[0].action
    np.testing.assert_allclose(small["meant"], np.clip(demo_actions, -1, 1), atol=1e-6)
    assert large["moved"] > small["moved"]
    assert "allowed: 0 to 4" in page.ask("look.meant", radius=-1, **fields)["text"]
    assert "whole" in page.ask("look.meant", radius=0.1, episode="demo_0", lag=0.5)["text"]


def test_a_moment_has_a_landscape(page: Page) -> None:
    page.ask("look.open", dataset="a.hdf5")
    page.ask("look.predict", lag=0)
    fields = {"episode": "demo_0", "lag": 0, "radius": 0.3}
    plane = page.ask("look.moment", step=3, dims=[0, 1], **fields)
    assert np.shape(plane["loss"]) == (33, 33)
    assert np.shape(page.ask("look.moment", step=3, dims=[1], **fields)["loss"]) == (33,)
    for wrong in ({"step": 99, "dims": [0]}, {"step": 0, "dims": [7]}, {"step": 0, "dims": 1}):
        assert page.ask("look.moment", **fields, **wrong)["type"] == "refused"


def test_with_a_lag_the_landscape_is_around_the_action_that_answers_the_state(
    page: Page, server: LiveServer
) -> None:
    page.ask("look.open", dataset="a.hdf5")
    page.ask("look.predict", lag=3)
    demos = load(server.study.path / "a.hdf5")
    action, steps = demos.episodes[1].action, len(demos.episodes[1])
    fields = {"episode": "demo_1", "lag": 3, "radius": 0.3, "dims": [0, 1]}
    for step in (0, 2, steps - 4):
        plane = page.ask("look.moment", step=step, **fields)
        np.testing.assert_allclose(plane["shown"], action[step + 3], atol=1e-6)
        np.testing.assert_allclose(plane["mean"], action[step], atol=1e-6)  # of the pair's policy
        assert plane["trained_radius"] == 0.2
    for step in (steps - 3, steps - 1):  # whose answers come after the end of the episode
        reply = page.ask("look.moment", step=step, **fields)
        assert (reply["type"], "no action answers" in reply["text"]) == ("refused", True)
    assert page.ask("look.moment", step=steps - 1, **(fields | {"lag": 0}))["type"] == "reply"


def test_a_selection_leaves_as_command_mask_and_cleaned_copy(
    page: Page, server: LiveServer
) -> None:
    page.ask("look.open", dataset="a.hdf5")
    page.ask("look.predict", lag=0)
    selection = [1, 2]  # one row to skip, two to take
    text = page.ask("look.exclude", selection=selection)["text"]
    assert text.endswith("--exclude demo_1 --exclude demo_2")
    assert page.ask("look.mask", selection=selection, mask="good")["text"] == (
        "Wrote a-good.hdf5, with the mask good."
    )
    assert "Wrote a-meant.hdf5" in page.ask("look.clean", lag=0, radius=0.2)["text"]
    assert load(server.study.path / "a-good.hdf5").masks["good"] == ("demo_1", "demo_2")
    for wrong in ([1, 4], ["demo_1"], None):  # there are four rows
        assert page.ask("look.exclude", selection=wrong)["type"] == "refused"
    assert set(server.study.list_datasets()) == {"a.hdf5", "a-good.hdf5", "a-meant.hdf5"}


def test_images_are_sent_step_by_step(page: Page, server: LiveServer) -> None:
    rng = np.random.default_rng(0)
    images = {name: rng.integers(0, 256, (6, 4, 5, 3)).astype(np.uint8) for name in ("a", "b")}
    episode = Episode(rng.normal(size=(6, 2)), rng.uniform(size=(6, 1)), images=images)
    Demonstrations((episode,)).save(server.study.path / "films.hdf5")
    page.ask("look.open", dataset="a.hdf5")
    page.ask("look.episode", episode="demo_0")
    assert "no episode with a camera" in page.ask("look.image", step=0)["text"]
    assert page.ask("look.open", dataset="films.hdf5")["cameras"] == ["a", "b"]
    assert "no episode with a camera" in page.ask("look.image", step=0)["text"]
    page.ask("look.episode", episode="demo_0")
    for step in (0, 5):
        page.ask("look.image", step=step)
        for i, name in enumerate("ab"):
            frame = next(f for f in page.frames if (f["step"], f["slot"]) == (step, 100 + i))
            assert frame["shape"] == [4, 5, 3]
            assert frame["pixels"] == images[name][step].tobytes()
    assert "no image" in page.ask("look.image", step=6)["text"]


def test_meant_actions_of_large_data_wait_to_be_asked_for(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = page.ask("look.open", dataset="a.hdf5")
    assert (opened["waits"], opened["cost"]) == (False, "about 12 seconds")
    monkeypatch.setattr(look_room, "estimated_seconds", lambda demos: 600.0)
    opened = page.ask("look.open", dataset="a.hdf5")
    assert (opened["waits"], opened["cost"]) == (True, "about 10 minutes")


def test_lags_that_a_slider_may_reach_next_are_computed_before_they_are_asked_for(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = page.ask("look.open", dataset="a.hdf5")
    assert opened["longest_lag"] == 5  # half of ten steps
    page.ask("look.predict", lag=2)
    lags = [m["lag"] for m in page.messages if m["type"] == "look.ready"]
    assert lags == [2, 1, 3, 0, 4, 5]
    fields = {"episode": "demo_0", "radius": 0.3}
    assert page.ask("look.meant", lag=5, **fields)["moved"] > 0  # at once
    monkeypatch.setattr(look_room, "estimated_seconds", lambda demos: 600.0)
    page.ask("look.open", dataset="a.hdf5")
    page.ask("look.predict", lag=2)
    assert page.ask("look.meant", lag=2, **fields)["type"] == "reply"
    assert page.ask("look.meant", lag=1, **fields)["type"] == "refused"


def test_a_lag_that_is_under_way_is_waited_for_and_another_one_comes_first(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[int]] = []
    quick: Any = vars(look_room)["Job"]
    calls: dict[str, Any] = {}

    class Slow:
        is_running = True

        def __init__(self, function: object, arguments: Any, **targets: Any) -> None:
            started.append(list(arguments["lags"]))
            calls.update(targets)

        def stop(self) -> None: ...

    monkeypatch.setattr(look_room, "Job", Slow)
    page.ask("look.open", dataset="a.hdf5")
    for lag in (0, 0, 3):
        assert page.ask("look.predict", lag=lag)["ready"] is False
    assert started == [[0, 1, 2, 3, 4, 5], [3, 2, 4, 1, 5, 0]]
    quick(None, {"lags": [3]}, progress=calls["progress"])
    assert page.ask("look.predict", lag=2)["ready"] is False  # which is computed now
    assert page.ask("look.predict", lag=3)["ready"] is True
    assert len(started) == 2
    calls["failed"]("a lag that nobody asked for")
    page.ask("look.list")
    assert not [m for m in page.messages if m["type"] == "look.failed"]


def test_an_episode_outside_the_sample_is_added_when_it_is_asked_for(
    page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = partial(DatasetView.open, sample=EvenSample(pairs=25))
    monkeypatch.setattr(look_room, "DatasetView", SimpleNamespace(open=small))
    sources: list[tuple[str, ...]] = []

    class Noted:
        is_running = True

        def __init__(self, function: object, arguments: Any, **calls: object) -> None:
            sources.append(tuple(arguments["source"][3]))

        def stop(self) -> None: ...

    monkeypatch.setattr(look_room, "Job", Noted)
    opened = page.ask("look.open", dataset="a.hdf5")
    assert (opened["sampled"], opened["waits"]) == (2, True)
    page.ask("look.predict", lag=0)
    page.ask("look.predict", lag=0)  # the same job
    page.ask("look.predict", lag=0, episode="demo_2")  # which is in the sample
    page.ask("look.predict", lag=0, episode="demo_1")
    assert sources == [("demo_0", "demo_2"), ("demo_0", "demo_1", "demo_2")]
    assert "no episode" in page.ask("look.predict", lag=0, episode="demo_7")["text"]
