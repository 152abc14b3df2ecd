"""Films of a policy at work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

from counterbc.acting.evaluation import evaluate
from counterbc.acting.video import check_video, film
from counterbc.errors import CounterBCError, FormatError
from tests.fixture_types import Make, Train
from tests.full_disk import largest_file


def test_a_film_shows_one_frame_for_every_step(
    make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    from PIL import Image

    policies = quick(make_demos(obs_size=4, action_set="ball"), "bc", steps=1)
    film(policies, "intersection", tmp_path / "film.gif", episodes=1)
    with Image.open(tmp_path / "film.gif") as picture:
        assert getattr(picture, "n_frames", 1) > 1


@pytest.mark.parametrize("policy", ["flow", "chunk"])
def test_a_film_of_chunks_is_the_evaluation(
    policy: str, make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    from PIL import Image

    demos = make_demos(obs_size=4, action_set="ball")
    policies = quick(demos, "bc", policy=policy, horizon=4, steps=1)
    film(policies, "intersection", tmp_path / "film.gif", episodes=2)
    lengths = evaluate(policies, "intersection", episodes=2).lengths[0]
    with Image.open(tmp_path / "film.gif") as picture:
        durations = 0  # of frames: equal neighbours are stored as one that lasts longer
        for number in range(getattr(picture, "n_frames", 1)):
            picture.seek(number)
            durations += picture.info["duration"]
    picture_time = durations / (lengths.sum() + 2)  # every step, and the end of both episodes
    assert picture_time == pytest.approx(round(picture_time))


def test_a_film_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match=r"name the video .gif or .mp4"):
        check_video(tmp_path / "film.avi")
    (tmp_path / "film.gif").write_bytes(b"")
    with pytest.raises(FormatError, match="already exists"):
        check_video(tmp_path / "film.gif")


@pytest.mark.needs("imageio")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of its pipes
@pytest.mark.parametrize("size", [0, 100, 2000])
def test_a_film_that_the_disk_cannot_take_is_an_error_and_leaves_nothing(
    size: int, make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    policies = quick(make_demos(obs_size=4, action_set="ball"), "bc", steps=1)
    film(policies, "intersection", tmp_path / "whole.mp4", episodes=1)
    assert (tmp_path / "whole.mp4").stat().st_size > 2000
    with largest_file(size), pytest.raises(FormatError, match="could not be written"):
        film(policies, "intersection", tmp_path / "film.mp4", episodes=1)
    assert [p.name for p in tmp_path.iterdir()] == ["whole.mp4"]


class Unseen(gymnasium.Env[np.ndarray, np.ndarray]):
    """An environment without a picture."""

    observation_space = gymnasium.spaces.Box(-1, 1, (3,), np.float32)
    action_space = gymnasium.spaces.Box(-1, 1, (2,), np.float32)

    def reset(self, **options: Any) -> tuple[np.ndarray, dict[str, Any]]:
        return np.zeros(3, np.float32), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        return np.zeros(3, np.float32), 0.0, True, False, {}


class Unpainted(Unseen):
    """An environment that takes a render mode, and paints nothing."""

    def __init__(self, render_mode: str | None = None) -> None:
        self.metadata = {"render_modes": ["rgb_array"]}
        self.render_mode = render_mode


@pytest.mark.parametrize("kind", [Unseen, Unpainted])
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::DeprecationWarning")
def test_an_environment_that_cannot_be_filmed_is_one_sentence(
    kind: Any, make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    gymnasium.register(f"tests/{kind.__name__}-v0", entry_point=kind, disable_env_checker=True)
    with pytest.raises(
        CounterBCError, match=r"cannot be filmed .*its __init__ must take render_mode"
    ):
        film(quick(make_demos()), f"tests/{kind.__name__}-v0", tmp_path / "film.gif")
    assert list(tmp_path.iterdir()) == []
