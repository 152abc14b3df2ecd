from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import (
    lerobot,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A version 3.0 folder with episodes of 3 and 2 frames and nothing of ours in it."""
    rng = np.random.default_rng(0)
    episodes = [Episode(rng.normal(size=(n, 3)), rng.normal(size=(n, 2))) for n in (3, 2)]
    lerobot.write(Demonstrations(tuple(episodes), rate=10.0), tmp_path / "demos")
    (tmp_path / "demos/meta/counterbc.json").unlink()
    return tmp_path / "demos"
