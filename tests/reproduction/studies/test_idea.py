"""The picture of what is shown, meant and learned."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from reproduction.records import read
from reproduction.studies import idea


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_the_picture_and_its_numbers_are_written(tmp_path: Path) -> None:
    options = idea.IdeaOptions(steps=20, episodes=2, out=tmp_path, picture=tmp_path / "idea.png")
    idea.run(options)
    assert (tmp_path / "idea.png").stat().st_size > 10_000
    errors = read(options.numbers("idea"))["rms"]
    assert list(errors)[:3] == list(idea.PANELS)
    noise = np.sqrt(2 * idea.SIGMA**2 / 3)  # of two uniform numbers
    assert errors["shown"] == pytest.approx(noise, rel=0.1)
    assert all(np.isfinite(error) for error in errors.values())
