"""Figures of one episode."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterbc.report.episode_figures import EpisodeView, dimension_figures, key, path_figure
from counterbc.report.findings import Findings
from counterbc.report.planes import Plane


def test_a_view_has_the_rows_of_its_episode(findings: Findings) -> None:
    assert findings.meaning is not None
    view = EpisodeView(findings.meaning, 3)
    assert view.rows == slice(30, 40)
    roles = [role for role, _ in view.lines]
    assert roles[-2:] == ["shown", "predicted"]
    shown_line = dict(view.lines)["shown"]
    np.testing.assert_allclose(shown_line, findings.demos.episodes[3].action, rtol=1e-6)


def test_without_a_radius_there_is_no_meant_line(findings: Findings) -> None:
    assert findings.meaning is not None
    zero = replace(findings.meaning, radius=(0.0, 0.0))
    assert "meant" not in dict(EpisodeView(zero, 0).lines)
    assert "meant" not in key(zero)
    some_radius = replace(findings.meaning, radius=(0.3, 0.3))
    assert "meant" in dict(EpisodeView(some_radius, 0).lines)
    assert "meant" in key(some_radius)


def test_every_dimension_has_a_figure_with_its_name(findings: Findings) -> None:
    assert findings.meaning is not None
    figures = dimension_figures(EpisodeView(findings.meaning, 0))
    assert len(figures) == findings.demos.action_size
    assert all(n in f for n, f in zip(findings.demos.action_names, figures, strict=True))


def test_a_path_begins_and_ends_with_a_dot(findings: Findings) -> None:
    assert findings.meaning is not None
    plane = Plane(("x", "y"), np.eye(3)[:, :2], np.zeros(3))
    figure = path_figure(EpisodeView(findings.meaning, 0), plane)
    assert (figure.count("dot start"), figure.count("dot end")) == (1, 1)
    assert figure.count("line others") == len(findings.demos)
