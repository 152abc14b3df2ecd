"""Films of a policy at work."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.acting.video import check_video, film
from counterbc.errors import FormatError
from tests.fixture_types import Make, Train


def test_a_film_shows_one_frame_for_every_step(
    make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    from PIL import Image

    policies = quick(make_demos(obs_size=4, action_set="ball"), "bc", steps=1)
    film(policies, "intersection", tmp_path / "film.gif", episodes=1)
    with Image.open(tmp_path / "film.gif") as picture:
        assert getattr(picture, "n_frames", 1) > 1


def test_a_film_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"name the video .gif or .mp4"):
        check_video(tmp_path / "film.avi")
    (tmp_path / "film.gif").write_bytes(b"")
    with pytest.raises(FormatError, match="already exists"):
        check_video(tmp_path / "film.gif")
