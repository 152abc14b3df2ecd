"""Experts, the ways in which humans err, and the demonstrations that come of both."""

from counterbc.demonstrators.crowd import Crowd
from counterbc.demonstrators.devices import Joystick, Keyboard, WrongButtons
from counterbc.demonstrators.fatigue import Fatigue
from counterbc.demonstrators.human import Human
from counterbc.demonstrators.motor import Bias, MotorNoise, Overshoot
from counterbc.demonstrators.noise import NOISES, EpsilonGreedy, GaussianNoise, UniformNoise
from counterbc.demonstrators.presets import TEACHERS, USUAL, find_teacher
from counterbc.demonstrators.recording import (
    Take,
    demonstrate,
    expert_return,
    expert_returns,
    record,
    returns,
)
from counterbc.demonstrators.teacher import NO_ERROR, Chain, Erring, Takes, Teacher
from counterbc.demonstrators.timing import Delay, Lapses

__all__ = [
    "NOISES",
    "NO_ERROR",
    "TEACHERS",
    "USUAL",
    "Bias",
    "Chain",
    "Crowd",
    "Delay",
    "EpsilonGreedy",
    "Erring",
    "Fatigue",
    "GaussianNoise",
    "Human",
    "Joystick",
    "Keyboard",
    "Lapses",
    "MotorNoise",
    "Overshoot",
    "Take",
    "Takes",
    "Teacher",
    "UniformNoise",
    "WrongButtons",
    "demonstrate",
    "expert_return",
    "expert_returns",
    "find_teacher",
    "record",
    "returns",
]
