"""The scene has the arm of robosuite's wheel, a table, a puck and a camera."""

from __future__ import annotations

import pytest

from counterbc.errors import MissingExtra
from counterbc.robots.simulated import scene

pytestmark = pytest.mark.extra("mujoco", "robosuite")


def test_the_arm_has_seven_joints_and_nothing_collides() -> None:
    model = scene.build()
    assert (model.nq, model.nu) == (7, 7)
    assert not model.geom_contype.any()
    assert model.body(scene.PUCK_BODY).mocapid[0] == 0
    assert model.camera(scene.CAMERA).pos[2] > 1


def test_a_missing_model_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scene, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"counterbc\[robots\]"):
        scene.build()
