"""How long each of several compared methods takes, measured in a few steps of each."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

from counterbc.data.radii import Radius
from counterbc.selection.tuning_errors import TuningErrors
from counterbc.supports import Demonstrated
from counterbc.training.progress import Bar
from counterbc.training.session import Session, use_session

_STEPS = 24
_SECONDS = 0.2  # of steps that are measured of each method, unless that is much of its work


def searched_radii(errors: TuningErrors) -> tuple[Radius, ...]:
    """Return the radii of the policies that a search trains in every fold."""
    settings, method = errors.training.settings, errors.training.method
    if settings.radius != "auto":
        return (settings.radius,)
    if isinstance(method.support, Demonstrated):
        return (0.0,)
    if method.weighting.noise_model:  # without noise, and then without and with it
        return (0.0, 0.0, errors.search.radii[-1])
    return errors.search.radii


def seconds_per_state(errors: TuningErrors) -> float:
    """Return the seconds that the search takes for a state, in a few steps of its policies.

    Methods differ by several times, because native kernels train only some of them. Images take
    most of the time of every method that reads them, so 1 stands for all of these. A longer search
    is measured for longer, since other programs take turns with this one.
    """
    if errors.datasets[0].image:
        return 1.0
    radii = searched_radii(errors)
    step_seconds = (rate := _measure(errors, _STEPS)) * errors.work(len(radii), 1)
    steps = min(int(_SECONDS / step_seconds), errors.search.step_counts[-1] // 10)
    return _measure(errors, steps) if steps > _STEPS else rate


def _measure(errors: TuningErrors, steps: int) -> float:
    """Return the seconds for a state in this many steps of the policies of a search."""
    few = copy.copy(errors)
    progress = errors.training.progress
    if isinstance(progress, Bar):
        progress = Bar(f"timing {errors.training.name}")
    few.training = replace(errors.training, progress=progress, later=0.0)
    with use_session(Session(announced_end=math.inf)) as session:  # nothing of it is announced
        few.squares_of_average(0, searched_radii(errors), [steps], 1)
    return max(session.seconds_per_state, 1e-12)
