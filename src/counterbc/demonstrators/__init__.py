"""Experts, the ways in which humans err, and the demonstrations that come of both."""

from counterbc.demonstrators.noise import NOISES, EpsilonGreedy, Gaussian, Uniform
from counterbc.demonstrators.recording import Recorded, demonstrate, expert_return, record
from counterbc.demonstrators.teacher import Chain, Erring, Takes, Teacher

__all__ = [
    "NOISES",
    "Chain",
    "EpsilonGreedy",
    "Erring",
    "Gaussian",
    "Recorded",
    "Takes",
    "Teacher",
    "Uniform",
    "demonstrate",
    "expert_return",
    "record",
]
