"""Teachers by name."""

from __future__ import annotations

from counterbc.demonstrators.crowd import Crowd
from counterbc.demonstrators.devices import Joystick, Keyboard
from counterbc.demonstrators.human import Human
from counterbc.demonstrators.noise import NOISES, UniformNoise
from counterbc.demonstrators.teacher import Teacher
from counterbc.errors import OptionError, unknown

NOVICE = Human(
    "novice", delay=1.0, overshoot=0.3, gain=0.3, floor=0.1, memory=0.6, tiring=0.2,
    device=Keyboard(), wrong=0.03, lapses=0.06,
)  # fmt: skip
TYPICAL = Human(
    "typical", delay=0.7, overshoot=0.2, gain=0.2, floor=0.05, memory=0.6, tiring=0.1,
    device=Joystick(levels=4), wrong=0.01, lapses=0.03,
)  # fmt: skip
SKILLED = Human(
    "skilled", delay=0.2, overshoot=0.1, gain=0.1, floor=0.02, memory=0.6, tiring=0.05,
    device=Joystick(levels=8, dead_zone=0.05), wrong=0.003, lapses=0.01,
)  # fmt: skip


def _crowd(count: int) -> Crowd:
    """Return a crowd: of every five operators two are novices, two typical and one is skilled."""
    skills = (NOVICE, TYPICAL, SKILLED, TYPICAL, NOVICE)
    names = [f"operator_{i + 1:02d}" for i in range(count)]
    return Crowd(tuple((n, skills[i % 5].someone_like(i, n)) for i, n in enumerate(names)))


CROWD = _crowd(20)
"""As many operators as the paper has participants; all are synthetic."""

TEACHERS: dict[str, Teacher] = {
    "novice": NOVICE,
    "typical": TYPICAL,
    "skilled": SKILLED,
    "crowd": CROWD,
}
DEFAULT_TEACHER = UniformNoise(0.5)


def find_teacher(
    teacher: str | None = None, noise: str | None = None, sigma: float | None = None
) -> Teacher:
    """Return a preset by its name, or else a noise; `DEFAULT_TEACHER` gives missing values."""
    if teacher is not None:
        if noise is not None or sigma is not None:
            raise OptionError(
                f"teacher {teacher!r} was given with a noise or a sigma; "
                "give a teacher, or a noise and a sigma"
            )
        if teacher not in TEACHERS:
            raise unknown("teacher", teacher, TEACHERS)
        return TEACHERS[teacher]
    noise = DEFAULT_TEACHER.name if noise is None else noise
    if noise not in NOISES:
        raise unknown("noise", noise, NOISES)
    return NOISES[noise](DEFAULT_TEACHER.sigma if sigma is None else sigma)
