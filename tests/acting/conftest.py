from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.data.demonstrations import Demonstrations
from tests.fixture_types import Train


@pytest.fixture
def run(tiny: Demonstrations, quick: Train, tmp_path: Path) -> Path:
    """A finished run of two members."""
    quick(tiny, "bc", seeds=2, steps=2, out=tmp_path / "run")
    return tmp_path / "run"
