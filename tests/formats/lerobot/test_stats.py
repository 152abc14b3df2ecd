from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from counterbc.formats import (
    lerobot,
)
from counterbc.formats.lerobot import stats
from tests.formats.lerobot.samples import demos


def test_statistics_of_the_whole_are_joined_from_the_episodes(tmp_path: Path) -> None:
    lerobot.write(demos(), tmp_path / "demos")
    whole = json.loads((tmp_path / "demos/meta/stats.json").read_text())["action"]
    exact = demos().action.astype(np.float64)
    assert set(whole) == set(stats.NAMES)
    assert np.allclose(whole["mean"], exact.mean(0))
    assert np.allclose(whole["std"], exact.std(0))
    assert np.allclose(whole["min"], exact.min(0))
    assert np.allclose(whole["max"], exact.max(0))
    assert whole["count"] == [9]
    of_each = [np.quantile(e.action.astype(np.float64), 0.9, axis=0) for e in demos().episodes]
    assert np.allclose(whole["q90"], np.max(of_each, axis=0))


def test_statistics_of_images_are_per_channel_between_0_and_1() -> None:
    frames = np.zeros((2, 1, 2, 3), np.uint8)
    frames[..., 0] = [[[0, 255]], [[255, 255]]]
    frames[..., 2] = 51
    pixels = stats.pixel_stats(frames)
    assert pixels["mean"].tolist() == [[[0.75]], [[0.0]], [[0.2]]]
    assert np.allclose(pixels["std"][:, 0, 0], [np.sqrt(3) / 4, 0, 0])
    assert pixels["q10"][:, 0, 0].tolist() == [0, 0, 0.2]
    assert pixels["q50"][:, 0, 0].tolist() == [1, 0, 0.2]
    assert pixels["count"].tolist() == [2]


def test_combined_statistics_equal_those_of_all_values() -> None:
    values = np.random.default_rng(0).normal(3, 2, size=(50, 2))
    whole = stats.number_stats(values)
    parts = stats.combine(stats.number_stats(values[:20]), stats.number_stats(values[20:]))
    for name in ("min", "max", "mean", "std"):
        assert np.allclose(parts[name], whole[name], rtol=1e-12)
    assert parts["count"].tolist() == [50]


def test_quantiles_of_numbers_are_computed_by_hand() -> None:
    quantiles = stats.number_stats(np.arange(101.0)[:, None])
    names = ("q01", "q10", "q50", "q90", "q99")
    assert np.allclose([quantiles[name][0] for name in names], [1, 10, 50, 90, 99], rtol=1e-12)
