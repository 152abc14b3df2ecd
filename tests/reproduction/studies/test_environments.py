"""Tables and pictures of docs/environments.md."""

from __future__ import annotations

from pathlib import Path

from PIL import Image

from reproduction.studies import environments


def test_frames_stand_side_by_side_with_a_gap() -> None:
    two, one = (environments.frames("intersection", steps) for steps in ((1, 2), (1,)))
    assert two.shape[1] == 2 * one.shape[1] + 8
    assert (two[:, : one.shape[1]] == one).all()


def test_pictures_of_three_worlds_are_written(tmp_path: Path) -> None:
    environments.run(environments.EnvironmentsOptions(figures=tmp_path))
    assert {p.stem for p in tmp_path.glob("*.png")} == set(environments.FRAMES)
    for path in tmp_path.glob("*.png"):
        with Image.open(path) as image:
            assert image.width > 300


def test_speeds_are_printed_with_quartiles() -> None:
    row = {"steps per second": 12345, "time / Cartpole's": [1.0, 0.9, 1.1]}
    row["time / gymnasium's CartPole"] = [2.0, 1.5, 2.5]
    line = environments.speed_table({"fork": row}).splitlines()[2]
    assert line == "| fork | 12,345 | 1.00 (0.90 … 1.10) | 2.00 (1.50 … 2.50) |"
