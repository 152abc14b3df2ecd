"""Demonstrators: experts, the ways in which humans err, and recordings of both."""

from counterbc.demonstrators.can_operators import CAN_OPERATORS, CanOperator
from counterbc.demonstrators.crowd import Crowd
from counterbc.demonstrators.demonstrator import Control, Demonstrator, EpisodeBatch
from counterbc.demonstrators.devices import Joystick, Keyboard, WrongButtons
from counterbc.demonstrators.fatigue import Fatigue
from counterbc.demonstrators.human import Human
from counterbc.demonstrators.motor import Bias, MotorNoise, Offset, Overshoot
from counterbc.demonstrators.noise import NOISES, EpsilonGreedy, GaussianNoise, UniformNoise
from counterbc.demonstrators.presets import (
    DEFAULT_TEACHER,
    HUMAN_TEACHERS,
    TEACHERS,
    find_teacher,
)
from counterbc.demonstrators.recording import (
    Take,
    demonstrate,
    expert_return,
    expert_returns,
    record,
    returns,
)
from counterbc.demonstrators.teacher import NO_ERROR, Chain, Distortion, Teacher
from counterbc.demonstrators.timing import Delay, Lapses

__all__ = [
    "CAN_OPERATORS",
    "DEFAULT_TEACHER",
    "HUMAN_TEACHERS",
    "NOISES",
    "NO_ERROR",
    "TEACHERS",
    "Bias",
    "CanOperator",
    "Chain",
    "Control",
    "Crowd",
    "Delay",
    "Demonstrator",
    "Distortion",
    "EpisodeBatch",
    "EpsilonGreedy",
    "Fatigue",
    "GaussianNoise",
    "Human",
    "Joystick",
    "Keyboard",
    "Lapses",
    "MotorNoise",
    "Offset",
    "Overshoot",
    "Take",
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
