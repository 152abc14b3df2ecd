"""Pictures of one episode: what was shown against what was meant."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterbc.data.demonstrations import Array
from counterbc.data.scaling import Scaling
from counterbc.diagnosis.meaning import Meaning
from counterbc.report.drawing import Axes, legend, runs, span, thin
from counterbc.report.markup import Markup
from counterbc.report.planes import Plane

_DIMENSIONS = 4  # drawn of each episode
_OTHERS = 24  # episodes behind a path
_COARSE = 60  # points of their paths


@dataclass(frozen=True, eq=False)
class Shown:
    """One episode of what was judged, cut out."""

    meaning: Meaning
    number: int

    @property
    def rows(self) -> slice:
        lengths = [len(e) for e in self.meaning.demos.episodes]
        first = sum(lengths[: self.number])
        return slice(first, first + lengths[self.number])

    @property
    def lines(self) -> list[tuple[str, Array]]:
        """What is drawn, the hindmost first: (T, A) each. Δ = 0 leaves no room for a meant one."""
        m, own = self.meaning, self.rows
        drawn = [("shown", m.shown[own]), ("believed", m.believed[own])]
        return [("meant", m.meant[own]), *drawn] if any(m.radius) else drawn

    @property
    def beyond(self) -> Array:
        """Whether what is believed lies further off than Δ: (T,)."""
        weight = self.meaning.weight[self.rows]  # ½ at Δ, and 1 everywhere for Δ = 0
        return np.asarray(weight < 0.5)

    @property
    def dimensions(self) -> list[int]:
        """Those furthest off, in their order."""
        off = np.array(self.meaning.episodes[self.number].per_dimension)
        return sorted(np.argsort(-off, kind="stable")[:_DIMENSIONS].tolist())


def key(meaning: Meaning) -> Markup:
    """The legend of all episodes' drawings."""
    believed = ("believed", "believed by policies that did not see these pairs")
    if not any(meaning.radius):
        return legend([("shown", "shown"), believed])
    near = ("within", "within Δ of what was shown")
    meant = ("meant", "meant: believed where judges agree, within Δ")
    return legend([("shown", "shown"), meant, believed, near, ("beyond", "further off than Δ")])


def dimension_figures(shown: Shown) -> list[Markup]:
    """Each drawn action dimension over time."""
    m, own = shown.meaning, shown.rows
    scales = Scaling.fit(m.demos, scale_obs=True, scale_actions=True)
    half = (scales.action_high - scales.action_low)[0].numpy() / 2 * np.array(m.radius)  # (A,)
    rate = m.demos.rate
    at = thin(own.stop - own.start)
    time = at / (rate or 1.0)
    figures = []
    for d in shown.dimensions:
        a = m.shown[own, d][at]
        lines = [(role, values[at, d]) for role, values in shown.lines]
        edges = [a - half[d], a + half[d]]
        axes = Axes(span(time, 0.01), span([*edges, *(v for _, v in lines)]), height=150)
        foot = axes.y[0], axes.y[0] + 0.035 * (axes.y[1] - axes.y[0])
        marks = [
            axes.bar((i / (rate or 1.0), min(j / (rate or 1.0), axes.x[1])), foot, "beyond")
            for i, j in runs(shown.beyond)
        ]
        name = m.demos.action_names[d]
        figures.append(
            axes.drawn(
                f"{name} over time: {', '.join(role for role, _ in lines)}",
                axes.frame("seconds" if rate else "step", name),
                axes.band(time, edges[0], edges[1], "within") if half[d] else None,
                *marks,
                *(axes.line(time, values, role) for role, values in lines),
            )
        )
    return figures


def path_figure(shown: Shown, plane: Plane) -> Markup:
    """The way of the episode in two dimensions, others behind it."""
    demos = shown.meaning.demos
    every = thin(len(demos), _OTHERS)
    others = [plane.of(demos.episodes[i].obs)[thin(len(demos.episodes[i]), _COARSE)] for i in every]
    way = plane.of(demos.episodes[shown.number].obs)  # (T, 2)
    drawn, at = np.concatenate([*others, way]), thin(len(way))
    targets = shown.lines if plane.holds_actions else []
    axes = _square(np.concatenate([drawn, *(values for _, values in targets)]))
    far = shown.beyond[at]
    marks = [axes.line(o[:, 0], o[:, 1], "others") for o in others]
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
    return axes.drawn("Path of the episode from ○ to ●", frame, *marks, *ends)


def _square(places: Array) -> Axes:
    """One unit is as long to the right as upwards, where the spans are alike."""
    x, y = span(places[:, 0]), span(places[:, 1])
    axes = Axes(x, y, height=300)
    wide = (axes.width - axes.left - axes.right) / (axes.height - axes.top - axes.bottom)
    ratio = (x[1] - x[0]) / (y[1] - y[0])
    if not 0.25 < ratio / wide < 4:
        return axes
    grow = (ratio / wide - 1) / 2 * (y[1] - y[0]) if ratio > wide else 0.0
    widen = (wide / ratio - 1) / 2 * (x[1] - x[0]) if ratio < wide else 0.0
    return Axes((x[0] - widen, x[1] + widen), (y[0] - grow, y[1] + grow), height=300)
