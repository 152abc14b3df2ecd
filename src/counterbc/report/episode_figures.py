"""Figures of one episode: its demonstrated, predicted and meant actions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.scaling import Scaling
from counterbc.diagnosis.meaning import Meaning
from counterbc.report.drawing import Axes, legend, runs, span, thin
from counterbc.report.markup import Markup
from counterbc.report.planes import Plane

_DIMENSIONS = 4  # figures per episode
_PATHS = 24  # episodes behind a path
_COARSE = 60  # points of their paths


@dataclass(frozen=True, eq=False)
class EpisodeView:
    """The part of the scores that belongs to one episode."""

    meaning: Meaning
    number: int

    @property
    def rows(self) -> slice:
        lengths = [len(e) for e in self.meaning.demos.episodes]
        first = sum(lengths[: self.number])
        return slice(first, first + lengths[self.number])

    @property
    def lines(self) -> list[tuple[str, Array]]:
        """The lines by role, (T, A) each, in drawing order; with Δ = 0 there is no meant one."""
        m, rows = self.meaning, self.rows
        lines = [("shown", m.shown[rows]), ("predicted", m.predicted[rows])]
        return [("meant", m.meant[rows]), *lines] if any(m.radius) else lines

    @property
    def is_far(self) -> Array:
        """Whether the predicted action is further away than Δ: (T,)."""
        weight = self.meaning.weight[self.rows]  # ½ at Δ, and 1 everywhere for Δ = 0
        return np.asarray(weight < 0.5)

    @property
    def dimensions(self) -> list[int]:
        """The dimensions with the largest distances, in their order."""
        distance = np.array(self.meaning.episodes[self.number].per_dimension)
        return sorted(np.argsort(-distance, kind="stable")[:_DIMENSIONS].tolist())


def key(meaning: Meaning) -> Markup:
    """Return the legend of the figures of all episodes."""
    action, prediction = ("shown", "demonstrated"), ("predicted", "predicted, held out")
    if not any(meaning.radius):
        return legend([action, prediction])
    near = ("within", "within Δ of the demonstrated action")
    estimate = ("meant", "meant: the prediction as far as held-out policies agree, within Δ")
    far = ("beyond", "prediction further away than Δ")
    return legend([action, estimate, prediction, near, far])


_LABELS = {"shown": "demonstrated", "predicted": "predicted", "meant": "meant"}


def dimension_figures(view: EpisodeView) -> list[Markup]:
    """Return a figure over time of each dimension that is shown."""
    m, rows = view.meaning, view.rows
    scales = Scaling.fit(m.demos, scale_obs=True, scale_actions=True)
    half = (scales.action_high - scales.action_low)[0].numpy() / 2 * np.array(m.radius)  # (A,)
    rate = m.demos.rate
    at = thin(rows.stop - rows.start)
    time = at / (rate or 1.0)
    figures = []
    for d in view.dimensions:
        a = m.shown[rows, d][at]
        lines = [(role, values[at, d]) for role, values in view.lines]
        edges = [a - half[d], a + half[d]]
        axes = Axes(span(time, 0.01), span([*edges, *(v for _, v in lines)]), height=150)
        foot = axes.y[0], axes.y[0] + 0.035 * (axes.y[1] - axes.y[0])
        marks = [
            axes.bar((i / (rate or 1.0), min(j / (rate or 1.0), axes.x[1])), foot, "beyond")
            for i, j in runs(view.is_far)
        ]
        name = m.demos.action_names[d]
        figures.append(
            axes.figure(
                f"{name} over time: {', '.join(_LABELS[role] for role, _ in lines)}",
                axes.frame("seconds" if rate else "step", name),
                axes.band(time, edges[0], edges[1], "within") if half[d] else None,
                *marks,
                *(axes.line(time, values, role) for role, values in lines),
            )
        )
    return figures


def path_figure(view: EpisodeView, plane: Plane) -> Markup:
    """Return the path of the episode in two dimensions, with paths of others behind it."""
    demos = view.meaning.demos
    behind = [demos.episodes[i] for i in thin(len(demos), _PATHS)]
    paths = [plane.of(e.obs)[thin(len(e), _COARSE)] for e in behind]
    way = plane.of(demos.episodes[view.number].obs)  # (T, 2)
    points, at = np.concatenate([*paths, way]), thin(len(way))
    targets = view.lines if plane.holds_actions else []
    axes = _square(np.concatenate([points, *(values for _, values in targets)]))
    far = view.is_far[at]
    marks = [axes.line(p[:, 0], p[:, 1], "others") for p in paths]
    if targets:
        marks += [axes.line(values[at, 0], values[at, 1], role) for role, values in targets]
    else:
        marks.append(axes.line(way[at, 0], way[at, 1], "shown"))
        marks.append(axes.dots(way[at][far, 0], way[at][far, 1], "beyond", 3))
    ends = [
        axes.dots(way[:1, 0], way[:1, 1], "start", 4),
        axes.dots(way[-1:, 0], way[-1:, 1], "end", 4),
    ]
    frame = axes.frame(plane.names[0], plane.names[1])
    return axes.figure("Path of the episode from ○ to ●", frame, *marks, *ends)


def _square(places: Array) -> Axes:
    """Return axes with the same scale in both directions, if the spans are similar."""
    x, y = span(places[:, 0]), span(places[:, 1])
    axes = Axes(x, y, height=300)
    wide = (axes.width - axes.left - axes.right) / (axes.height - axes.top - axes.bottom)
    ratio = (x[1] - x[0]) / (y[1] - y[0])
    if not 0.25 < ratio / wide < 4:
        return axes
    grow = (ratio / wide - 1) / 2 * (y[1] - y[0]) if ratio > wide else 0.0
    widen = (wide / ratio - 1) / 2 * (x[1] - x[0]) if ratio < wide else 0.0
    return Axes((x[0] - widen, x[1] + widen), (y[0] - grow, y[1] + grow), height=300)
