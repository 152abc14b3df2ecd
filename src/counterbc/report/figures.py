"""The figures of the page, except those of single episodes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from counterbc.data.demonstrations import Demonstrations
from counterbc.diagnosis.intents import Intents
from counterbc.diagnosis.scores import Score
from counterbc.report.drawing import Axes, Span, number, span, svg
from counterbc.report.findings import Findings
from counterbc.report.markup import Markup, join, tag
from counterbc.report.planes import last_states, principal_plane
from counterbc.report.words import plural
from counterbc.selection.radius_choice import RadiusChoice
from counterbc.selection.radius_figure import percent_above

_BINS = 24


def lengths_figure(demos: Demonstrations) -> Markup | None:
    """Return a histogram of the lengths of the episodes, or None if all are equal."""
    lengths = np.array([len(e) for e in demos.episodes]) / (demos.rate or 1.0)
    if lengths.min() == lengths.max():
        return None
    counts, edges = np.histogram(lengths, bins=min(_BINS, len(np.unique(lengths))))
    axes = Axes(span(edges, 0.02), (0, float(counts.max()) * 1.08))
    bars = [
        axes.bar((a, b), (0, float(n)), "plain", f"{a:.4g} to {b:.4g}: {plural(int(n), 'episode')}")
        for n, a, b in zip(counts, edges[:-1], edges[1:], strict=True)
        if n
    ]
    unit = "seconds" if demos.rate else "pairs"
    frame = axes.frame(f"length of an episode ({unit})", "episodes")
    label = (
        f"Histogram of episode lengths, {number(lengths.min())} to {number(lengths.max())} {unit}"
    )
    return axes.figure(label, frame, *bars)


def radius_figure(choice: RadiusChoice) -> Markup:
    """Return the held-out error in percent of that at Δ = 0, ± one standard error.

    No radius is marked where plain BC is as good, or where nothing is predicted. There the error of
    the mean action, which policies should beat, is always in the picture.
    """
    radii, (part, se, mean_action) = np.array(choice.radii), percent_above(choice)
    finite, is_guess = np.isfinite(part), not choice.explained.tells
    has_choice = not (is_guess or choice.is_flat)
    radii, part, se = radii[finite], part[finite], se[finite]
    reference = [mean_action] if is_guess else []
    axes = Axes(span(radii, 0.03), span([*(part - se), *(part + se), *reference], 0.08), height=230)
    marks = (
        None if is_guess else _plateau(axes, choice),
        axes.frame("radius Δ", "held-out error above Δ = 0 (%)"),
        axes.rule("zero", y=0),
        axes.rule("reference", y=mean_action) if axes.y[0] < mean_action < axes.y[1] else None,
        axes.band(radii, part - se, part + se, "curve"),
        axes.line(radii, part, "curve"),
        axes.dots(radii, part, "curve", 3),
        *(_chosen(axes, choice) if has_choice else []),
    )
    named = f"chosen: {choice.radius:g}" if has_choice else "none is chosen"
    return axes.figure(f"Held-out error against the radius; {named}", *marks)


def _plateau(axes: Axes, choice: RadiusChoice) -> Markup:
    return axes.bar((choice.plateau[0] - 0.012, choice.plateau[-1] + 0.012), axes.y, "plateau")


def _chosen(axes: Axes, choice: RadiusChoice) -> list[Markup]:
    """Return the line at the chosen radius with its label, on the side that has room."""
    right = choice.radius < 0.6 * axes.x[1]
    top = axes.y[1] - 0.07 * (axes.y[1] - axes.y[0])
    at, side = choice.radius + (0.015 if right else -0.015), "start" if right else "end"
    return [
        axes.rule("chosen", x=choice.radius),
        axes.label(at, top, f"Δ {choice.radius:g}", "chosen", side),
    ]


def ranking_figure(findings: Findings) -> Markup:
    """Return the distance of every episode, the largest first."""
    assert findings.meaning is not None
    scores = [findings.meaning.episodes[i] for i in findings.ranking]
    distance = np.array([s.distance for s in scores])
    ends = np.array([[s.low, s.high] for s in scores])
    top = float(np.nanmax([*distance, *np.minimum(ends[:, 1], 1.6 * distance.max())])) or 1.0
    axes = Axes((0, len(scores) + 1), (0, top * 1.05), height=230)
    far = np.isin(findings.ranking, findings.outliers)
    rank = np.arange(1, len(scores) + 1)
    whiskers = [
        axes.bar((float(r), float(r)), (low, min(high, top)), "far" if out else "usual")
        for r, (low, high), out in zip(rank, ends, far, strict=True)
        if np.isfinite(low)
    ]
    return axes.figure(
        f"Distance of {len(scores)} episodes, from {number(round(distance[0], 3))} down to "
        f"{number(round(distance[-1], 3))}",
        axes.frame("episodes, largest distance first", "distance, 90 % interval", whole_x=True),
        *whiskers,
        axes.dots(rank[~far], distance[~far], "usual", 2.2),
        axes.dots(rank[far], distance[far], "far", 2.8),
    )


def interval_bar(score: Score, over: Span) -> Markup:
    """Return a distance with its interval, for a row of a table."""
    axes = Axes(over, (0, 1), width=150, height=16, left=4, right=4, top=0, bottom=0)
    low, high = (score.distance if np.isnan(v) else v for v in (score.low, score.high))
    return svg(
        150, 16, f"{score.amount} {score.interval}".rstrip(),
        axes.rule("grid", y=0.5),
        axes.bar((low, high), (0.38, 0.62), "interval"),
        axes.dots(np.array([score.distance]), np.array([0.5]), "curve", 4),
        class_="inline",
    )  # fmt: skip


def bias_bars(score: Score, names: tuple[str, ...], most: float) -> Markup:
    """Return the bias of each dimension as bars up and down from zero."""
    width = float(np.clip(7 * len(names), 40, 200))
    axes = Axes((0, len(names)), (-most, most), width=width, height=26, left=0, right=0, top=1,
                bottom=1)  # fmt: skip
    bars = [
        axes.bar((i + 0.15, i + 0.85), (min(b, 0.0), max(b, 0.0)), "lean", f"{name} {b:+.3f}")
        for i, (b, name) in enumerate(zip(score.bias, names, strict=True))
    ]
    largest = max(zip(score.bias, names, strict=True), key=lambda pair: abs(pair[0]))
    label = f"bias, largest {largest[0]:+.3f} in {largest[1]}"
    return svg(width, 26, label, axes.rule("zero", y=0), *bars, class_="inline")


def gain_figure(intents: Intents) -> Markup:
    """Return how much likelier held-out episodes are with more groups than with one."""
    counts = sorted(intents.held_out)
    gains = [intents.held_out[k] - intents.held_out[1] for k in counts]
    mean = np.array([g.mean() for g in gains])
    se = np.array([g.std() / np.sqrt(len(g)) for g in gains])
    axes = Axes((counts[0] - 0.4, counts[-1] + 0.4), span([mean - 2 * se, mean + 2 * se], 0.1),
                left=50)  # fmt: skip
    bars = [
        axes.bar((k - 0.015, k + 0.015), (m - 2 * s, m + 2 * s), "interval")
        for k, m, s in zip(counts, mean, se, strict=True)
    ]
    best = np.array(counts) == intents.groups
    return axes.figure(
        "Log-likelihood of held-out episodes above that of one group: "
        + ", ".join(f"{k} groups {m:+.2f}" for k, m in zip(counts, mean, strict=True)),
        axes.frame("groups tried", "gain over one group (nats per episode)", whole_x=True),
        axes.rule("zero", y=0),
        *bars,
        axes.dots(np.array(counts)[~best], mean[~best], "curve", 4),
        axes.dots(np.array(counts)[best], mean[best], "best", 5),
    )


def groups_figure(findings: Findings, intents: Intents) -> Markup:
    """Return where the episodes of each group end."""
    last = last_states(replace(findings.demos, angles=intents.angles))
    plane, _ = principal_plane(last)
    at = plane.of(last)  # (E, 2)
    axes = Axes(span(at[:, 0]), span(at[:, 1]), height=260)
    marks = [
        _group(axes, at[intents.group == k, 0], at[intents.group == k, 1], k)
        for k in range(intents.groups)
    ]
    frame = axes.frame(plane.names[0], plane.names[1])
    return axes.figure("Last observations of the episodes, by group", frame, *marks)


def _group(axes: Axes, x: np.ndarray, y: np.ndarray, k: int) -> Markup:
    """Return the marks of a group; groups differ in colour and in shape."""
    role = f"group{k % 4}"
    if k % 2 == 0:
        return axes.dots(x, y, role, 3.2)
    centres = zip(axes.across(x), axes.up(y), strict=True)
    return join(
        tag("rect", x=f"{a - 2.8:.1f}", y=f"{b - 2.8:.1f}", width=5.6, height=5.6,
            class_=f"dot {role}")
        for a, b in centres
    )  # fmt: skip
