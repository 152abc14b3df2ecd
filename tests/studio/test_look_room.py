"""The messages of Look, over a real socket."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from counterbc.formats import load
from counterbc.studio import look_room
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

        def __init__(self, function: object, arguments: dict[str, float], **calls: object) -> None:
            result = HeldOutResult(
                lag=arguments["lag"], predictions=predictions,
                scores=({"name": "demo_0", "distance": 0.5},), operators=(), verdict="Enough.",
                mean=demos.action.astype(float), std=np.full(demos.action.shape, 0.2),
            )  # fmt: skip
            calls["done"](result)  # type: ignore[operator]

        def stop(self) -> None: ...

    monkeypatch.setattr(look_room, "Job", Quick)
    client = server.page()
    yield client
    client.close()


def test_only_listed_datasets_can_be_opened(page: Page) -> None:
    assert page.ask("look.list")["datasets"] == ["a.hdf5"]
    for name in ("b.hdf5", "../a.hdf5", "/etc/passwd", "journal"):
        assert "choose a listed one" in page.ask("look.open", dataset=name)["text"]
    assert "no dataset is open" in page.ask("look.episode", episode="demo_0")["text"]
    assert page.ask("look.open", dataset="a.hdf5")["shown"] == 4
    assert page.ask("look.episode", episode="demo_1")["operator"] == "bob"
    assert "not shown" in page.ask("look.episode", episode="demo_9")["text"]


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


def test_a_selection_leaves_as_command_mask_and_cleaned_copy(
    page: Page, server: LiveServer
) -> None:
    page.ask("look.open", dataset="a.hdf5")
    page.ask("look.predict", lag=0)
    names = ["demo_1", "demo_2"]
    text = page.ask("look.exclude", episodes=names)["text"]
    assert text.endswith("--exclude demo_1 --exclude demo_2")
    assert page.ask("look.mask", episodes=names, mask="good")["text"] == (
        "Wrote a-good.hdf5, with the mask good."
    )
    assert "Wrote a-meant.hdf5" in page.ask("look.clean", lag=0, radius=0.2)["text"]
    assert set(server.study.list_datasets()) == {"a.hdf5", "a-good.hdf5", "a-meant.hdf5"}


def test_images_are_sent_one_by_one(page: Page) -> None:
    page.ask("look.open", dataset="a.hdf5")
    assert "no image" in page.ask("look.image", episode="demo_0", step=0)["text"]
