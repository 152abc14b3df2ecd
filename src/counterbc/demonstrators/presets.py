"""Demonstrators by name."""

from __future__ import annotations

from dataclasses import replace

from counterbc.demonstrators.can_operators import CAN_OPERATORS
from counterbc.demonstrators.crowd import Crowd
from counterbc.demonstrators.demonstrator import Demonstrator
from counterbc.demonstrators.devices import Joystick, Keyboard
from counterbc.demonstrators.human import Human
from counterbc.demonstrators.noise import NOISES, UniformNoise
from counterbc.demonstrators.teacher import Teacher
from counterbc.errors import OptionError, unknown

NOVICE = Human(
    "novice", delay=0.3, overshoot=0.3, gain=0.3, floor=0.1, memory=0.6, tiring=0.2,
    device=Keyboard(), wrong=0.03, lapses=0.06,
)  # fmt: skip
TYPICAL = Human(
    "typical", delay=0.24, overshoot=0.2, gain=0.2, floor=0.05, memory=0.6, tiring=0.1,
    device=Joystick(levels=4), wrong=0.01, lapses=0.03,
)  # fmt: skip
SKILLED = Human(
    "skilled", delay=0.18, overshoot=0.1, gain=0.1, floor=0.02, memory=0.6, tiring=0.05,
    device=Joystick(levels=8, dead_zone=0.05), wrong=0.003, lapses=0.01,
)  # fmt: skip


def _quick(person: Human, steps: float) -> Human:
    """Return the same person with a delay in steps, as in the first release."""
    return replace(person, name=f"quick-{person.name}", delay=0.0, delay_steps=steps)


QUICK_NOVICE, QUICK_TYPICAL, QUICK_SKILLED = (
    _quick(person, steps) for person, steps in ((NOVICE, 1.0), (TYPICAL, 0.7), (SKILLED, 0.2))
)


def _crowd(novice: Human, typical: Human, skilled: Human) -> Crowd:
    """Return 20 operators, as many as the paper has participants; all are synthetic.

    Of every five, two are like the novice, two like the typical and one like the skilled teacher.
    """
    skills = (novice, typical, skilled, typical, novice)
    names = [f"operator_{i + 1:02d}" for i in range(20)]
    return Crowd(tuple((n, skills[i % 5].someone_like(i, n)) for i, n in enumerate(names)))


HUMAN_TEACHERS: dict[str, Teacher] = {
    "novice": NOVICE,
    "typical": TYPICAL,
    "skilled": SKILLED,
    "crowd": _crowd(NOVICE, TYPICAL, SKILLED),
    "quick-novice": QUICK_NOVICE,
    "quick-typical": QUICK_TYPICAL,
    "quick-skilled": QUICK_SKILLED,
    "quick-crowd": _crowd(QUICK_NOVICE, QUICK_TYPICAL, QUICK_SKILLED),
}
"""Models of people. They react as late as people do, in 0.15 to 0.35 s, except for the quick ones:
these are the first release's, whose delay is 0.1 to 1.4 steps whatever a step lasts."""
TEACHERS: dict[str, Demonstrator] = {**HUMAN_TEACHERS, **CAN_OPERATORS}
"""All demonstrators with a name, those that act in one world only included."""
DEFAULT_TEACHER = UniformNoise(0.5)


def find_teacher(
    teacher: str | None = None,
    noise: str | None = None,
    sigma: float | None = None,
    *,
    world: str | None = None,
) -> Demonstrator:
    """Return a preset by its name, or else a noise; `DEFAULT_TEACHER` gives missing values.

    A teacher that cannot act in `world`, if one is given, is refused.
    """
    if teacher is not None:
        if noise is not None or sigma is not None:
            raise OptionError(
                f"teacher {teacher!r} was given with a noise or a sigma; "
                "give a teacher, or a noise and a sigma"
            )
        if teacher not in TEACHERS:
            allowed_names = [n for n, t in TEACHERS.items() if world is None or t.acts_in(world)]
            raise unknown("teacher", teacher, allowed_names)
        if world is not None:
            TEACHERS[teacher].check_world(world)
        return TEACHERS[teacher]
    noise = DEFAULT_TEACHER.name if noise is None else noise
    if noise not in NOISES:
        raise unknown("noise", noise, NOISES)
    return NOISES[noise](DEFAULT_TEACHER.sigma if sigma is None else sigma)
