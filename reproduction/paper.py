"""What the paper studies and the numbers that it prints."""

from __future__ import annotations

from collections.abc import Mapping

PAPER_METHODS = ("bc", "weighted-bc", "bc-rnn", "bcnd", "counter-bc")
PAPER_RADIUS = 0.4
STAND_IN = "quick-crowd"
"""The simulated crowd in place of the paper's people. The rows on file have the first release's,
who react sooner than people can; the teacher "crowd" reacts as late as people."""
PAPER_TEACHERS = (STAND_IN, "uniform", "gaussian", "epsilon-greedy", "people")
"""People, recorded or replaced by the crowd, and three kinds of noise. Only these are pooled."""
PAPER_IMPROVEMENTS: Mapping[str, Mapping[str, float]] = {
    "intersection": {"bc": 10, "weighted-bc": 144, "bc-rnn": 8, "bcnd": 9},
    "cartpole": {"bc": 39, "weighted-bc": 129, "bc-rnn": 51, "bcnd": 38},
    "car-racing": {"bc": 2370, "weighted-bc": 1179, "bc-rnn": 276, "bcnd": 563},
    "can": {"bc": 21, "weighted-bc": 13, "bc-rnn": 15, "bcnd": 11},
}
"""Improvement of Counter-BC in per cent (table 1); Can is a task of the Robomimic column."""
PAPER_RETURNS = {"intersection": (12.3, 13.1), "cartpole": (30.3, 26.6)}
"""Mean returns of the demonstrations: of people, and of the synthetic teachers."""
