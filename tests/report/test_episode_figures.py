"""Figures of one episode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from counterbc.diagnosis.meaning import Meaning
from counterbc.report import Findings
from counterbc.report.episode_figures import EpisodeView, dimension_figures, key, path_figure
from counterbc.report.planes import Plane


@pytest.fixture
def scores(findings: Findings) -> Meaning:
    """The scores with Δ = 0.2 in both dimensions."""
    assert findings.meaning is not None
    return replace(findings.meaning, radius=(0.2, 0.2))


def test_a_view_has_the_rows_of_its_episode(scores: Meaning) -> None:
    view = EpisodeView(scores, 3)
    assert view.rows == slice(30, 40)
    np.testing.assert_array_equal(dict(view.lines)["shown"], scores.demos.episodes[3].action)


def test_meant_actions_are_drawn_only_if_the_radius_is_positive(scores: Meaning) -> None:
    assert [role for role, _ in EpisodeView(scores, 0).lines] == ["meant", "shown", "believed"]
    zero = replace(scores, radius=(0.0, 0.0))
    assert [role for role, _ in EpisodeView(zero, 0).lines] == ["shown", "believed"]
    assert "meant" in key(scores)
    assert "meant" not in key(zero)


def test_predictions_beyond_the_radius_have_less_than_half_the_weight(scores: Meaning) -> None:
    view = EpisodeView(scores, 1)
    np.testing.assert_array_equal(view.beyond, scores.weight[10:20] < 0.5)
    assert not EpisodeView(replace(scores, radius=(0.0, 0.0)), 1).beyond.any()


def test_there_is_a_figure_for_each_dimension(scores: Meaning) -> None:
    figures = dimension_figures(EpisodeView(scores, 0))
    assert len(figures) == 2
    for figure, name in zip(figures, scores.demos.action_names, strict=True):
        assert f'aria-label="{name} over time: meant, demonstrated, predicted"' in figure
        assert figure.count("<polygon") == 1  # the band of ± Δ


def test_a_path_has_one_start_one_end_and_the_other_episodes_behind(scores: Meaning) -> None:
    plane = Plane(("x", "y"), turn=np.eye(3)[:, :2], centre=np.zeros(3))
    figure = path_figure(EpisodeView(scores, 0), plane)
    assert figure.count('class="dot start"') == figure.count('class="dot end"') == 1
    assert figure.count('class="line others"') == 8
