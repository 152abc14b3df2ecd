"""Whether demonstrators mean several actions at one state, and pursue several goals."""

from __future__ import annotations

import numpy as np

from counterbc.report import figures
from counterbc.report.drawing import legend
from counterbc.report.findings import Findings
from counterbc.report.html_helpers import absent, section
from counterbc.report.markup import Markup, table, tag
from counterbc.selection.doubts import LEAST_STEPS


def modes(findings: Findings) -> Markup:
    """Return the section on modes and goals."""
    choice, doubt = findings.choice, findings.several_modes
    if choice is None:
        text = (
            "Whether demonstrators mean several actions at one state is tested when Δ is chosen "
            "from the data, which was not done here."
        )
    elif doubt is not None:
        text = f"{doubt[:1].upper()}{doubt[1:]}."
    elif guessed := findings.why_guessed:
        text = f"Not tested: the test needs policies that predict what was meant, and {guessed}."
    elif choice.steps < LEAST_STEPS:
        text = f"Not tested: the test needs policies trained for {LEAST_STEPS} steps or more."
    else:
        text = (
            "No sign that demonstrators mean different actions at the same state: the held-out "
            "errors of every action dimension have one peak."
        )
    return section("Modes and goals", tag("h3", "Modes"), tag("p", text), *_goals(findings))


def _goals(findings: Findings) -> list[Markup]:
    head, intents = tag("h3", "Goals"), findings.intents
    if intents is None:
        return [head, absent(findings, "intents")]
    total, keys = len(findings.demos), []
    text = f"One: no evidence of different goals in these {total} episodes."
    if intents.verdict == "too few episodes":
        text = (
            f"Too few episodes to tell: {total} would not show different goals, even if they were "
            "far apart."
        )
    if intents.groups > 1:
        text = f"{intents.groups} groups of episodes that act and end differently."
        for k, size in enumerate(intents.sizes):
            confidence = intents.confidence[intents.group == k]
            if size:
                label = f"intent_{k}: {size} episodes ({size / total:.0%}), "
                label += f"mean confidence {confidence.mean():.3f}"
                keys.append((f"group{k % 4}", label))
    return [
        head, tag("p", text), _by_operator(findings) or Markup(""),
        tag("div",
            tag("figure", figures.gain_figure(intents),
                tag("figcaption", "Log-likelihood of held-out episodes, ± 2 standard errors. The "
                    "smallest number of groups that is not clearly worse than the best is used.")),
            tag("figure", figures.groups_figure(findings, intents), legend(keys) if keys else None,
                tag("figcaption", "Where the episodes end: last observations.")),
            class_="pair"),
    ]  # fmt: skip


def _by_operator(findings: Findings) -> Markup | None:
    """Return a table of the groups of each operator, if there are both."""
    intents, operators = findings.intents, findings.demos.operators
    if intents is None or intents.groups < 2 or not operators:
        return None
    names = np.array([e.operator for e in findings.demos.episodes], dtype=object)
    groups = range(intents.groups)
    rows = [
        (name, *(int(((names == name) & (intents.group == k)).sum()) for k in groups))
        for name in operators
    ]
    columns = ("operator", *(f"intent_{k}" for k in groups))
    return table(columns, rows, "Episodes of each operator in each group")
