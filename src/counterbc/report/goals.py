"""Whether several actions are meant at one state, and several goals in one dataset."""

from __future__ import annotations

import numpy as np

from counterbc.report import figures
from counterbc.report.drawing import legend
from counterbc.report.findings import Findings
from counterbc.report.html_helpers import missing, section
from counterbc.report.markup import Markup, table, tag
from counterbc.selection.radius import LEAST_STEPS


def modes(found: Findings) -> Markup:
    choice = found.choice
    if choice is None:
        told = "Whether several actions are meant at one state is tested while Δ is chosen, which "
        told += "was not done here."
    elif found.peaks is not None:
        told = f"{found.peaks[:1].upper()}{found.peaks[1:]}."
    elif choice.steps < LEAST_STEPS:
        told = f"Not tested: it takes policies of {LEAST_STEPS} steps or more to tell."
    else:
        told = "No sign that different actions are meant at the same state: the held-out errors of "
        told += "every action dimension have one peak."
    return section("Modes and goals", tag("h3", "Modes"), tag("p", told), *_goals(found))


def _goals(found: Findings) -> list[Markup]:
    head, intents = tag("h3", "Goals"), found.intents
    if intents is None:
        return [head, missing(found, "intents")]
    total = len(found.demos)
    if intents.groups == 1:
        told = f"One: nothing in these {total} episodes speaks for different goals."
        keys = []
    else:
        told = f"{intents.groups} groups of episodes that act and end differently."
        sure = [intents.confidence[intents.group == k] for k in range(intents.groups)]
        keys = [
            (f"group{k % 4}", f"intent_{k}: {n} episodes ({n / total:.0%}), "
             f"mean confidence {sure[k].mean():.3f}")
            for k, n in enumerate(intents.sizes) if n
        ]  # fmt: skip
    whose = _whose(found)
    return [
        head, tag("p", told), whose or Markup(""),
        tag("div",
            tag("figure", figures.gain_figure(intents),
                tag("figcaption", "Log-likelihood of episodes held out, ± 2 standard errors. The "
                    "fewest groups that are not clearly worse than the best are taken.")),
            tag("figure", figures.groups_figure(found, intents), legend(keys) if keys else None,
                tag("figcaption", "Where the episodes end: last observations.")),
            class_="pair"),
    ]  # fmt: skip


def _whose(found: Findings) -> Markup | None:
    """How the groups spread over operators."""
    intents, people = found.intents, found.demos.operators
    if intents is None or intents.groups < 2 or not people:
        return None
    who = np.array([e.operator for e in found.demos.episodes], dtype=object)
    rows = [
        (name, *(int(((who == name) & (intents.group == k)).sum()) for k in range(intents.groups)))
        for name in people
    ]
    columns = ("operator", *(f"intent_{k}" for k in range(intents.groups)))
    return table(columns, rows, "Episodes of each operator in each group")
