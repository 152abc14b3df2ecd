"""One training of held-out policies, and its policies after several numbers of steps."""

from __future__ import annotations

import time
from collections.abc import Sequence

import torch

from counterbc.acting.policies import Policies
from counterbc.training.checks import warn_diverged
from counterbc.training.kept import KeptPopulation
from counterbc.training.plan import TrainingPlan
from counterbc.training.progress import Progress
from counterbc.training.run import fit_weighting, plan_loop, plan_policies, run_config
from counterbc.training.session import current_session

_WORTH_KEEPING = 10.0  # seconds; what took less is trained again


def run_snapshots(
    plan: TrainingPlan,
    steps: Sequence[int],
    *,
    device: torch.device,
    progress: Progress,
    later: float = 0.0,
) -> list[Policies]:
    """Return the policies after each of these numbers of steps of one training, with its curve.

    They are kept on disk where the session keeps searches. `later` is the work that comes after
    this training, as a number of states.
    """
    loop, held_out = plan_loop(plan, device, torch.float32, progress, steps)
    loop.later, session = later, current_session()
    config = run_config(plan, device, torch.float32, loop.kernel_name)
    kept = loop.keeper = KeptPopulation.of(session, plan, config, steps)
    finished = None if kept is None else kept.finished()
    if finished is None:
        began = time.monotonic()
        fit_weighting(loop.view, held_out)
        state = None if kept is None else kept.state()
        loop.run(state)
        assert loop.curve is not None
        finished = loop.snapshots, loop.curve
        if kept is not None and (state is not None or time.monotonic() - began > _WORTH_KEEPING):
            kept.finish(*finished)
        if loop.interrupt.stop:
            raise KeyboardInterrupt(loop.stop_message(plan.settings.step_count))
    snapshots, curve = finished
    policies = [plan_policies(plan, snapshots[s], curve=curve) for s in steps]
    warn_diverged(policies[-1], loop.bad_since)
    return policies
