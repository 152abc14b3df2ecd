"""Pictures of modes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from reproduction.studies.modes_figures import draw_fork, draw_line

CASES = ("a", "b", "c", "d")


def test_there_is_a_panel_for_each_policy(tmp_path: Path) -> None:
    draw_line({case: np.zeros((2, 5)) for case in CASES}, 0.6, 0.3, tmp_path / "line.png")
    with Image.open(tmp_path / "line.png") as image:
        assert image.size == (1440, 368)
    path = np.array([[-1.0, 0.0], [1.0, 0.0]])
    paths: dict[str, Any] = {case: {"mean": [path], "sample": [path]} for case in CASES}
    draw_fork(paths, tmp_path / "fork.png")
    with Image.open(tmp_path / "fork.png") as image:
        assert image.size == (1440, 736)
