"""The training loop: blocks of steps, checkpoints, curves, and a clean stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import torch
from torch import Tensor

from counterbc.acting.policies import Curve
from counterbc.kernels.dispatch import choose_kernel
from counterbc.policies import Params
from counterbc.settings import Settings
from counterbc.training import checkpoints
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack, View
from counterbc.training.progress import Progress

_POINTS = 100  # of a loss curve
_SAVE_EVERY = 30.0  # seconds
_BLOCK = 1 << 22  # pairs whose order is computed at once


class Interrupt:
    """Turns Ctrl-C into a wish to stop between steps; a second one stops at once."""

    def __enter__(self) -> Interrupt:
        self.wished = False
        self.main = threading.current_thread() is threading.main_thread()
        if self.main:
            self.before = signal.signal(signal.SIGINT, self._wish)
        return self

    def _wish(self, number: int, frame: FrameType | None) -> None:
        self.wished = True
        signal.signal(signal.SIGINT, self.before)

    def __exit__(self, *_: object) -> None:
        if self.main:
            signal.signal(signal.SIGINT, self.before)


class Loop:
    """Rounds of steps over a view of the pairs."""

    def __init__(
        self,
        view: View,
        held_out: View | None,
        settings: Settings,
        fresh: Callable[[View, int], Params],
        out: Path | None,
        progress: Progress,
    ) -> None:
        self.view, self.held_out, self.settings = view, held_out, settings
        self.fresh, self.method, self.out, self.progress = fresh, view.method, out, progress
        batch = settings.batch_size(int(view.nets.lengths.min()))
        self.batches = Batches(view.nets, batch)
        self.case = view.case(batch)
        self.kernel = choose_kernel(settings.kernel, self.case)
        self.every = max(1, settings.steps // _POINTS)
        self.block = min(self.every, max(1, _BLOCK // (len(view.nets.pairs) * batch)))
        self.points: dict[int, tuple[Tensor, Tensor]] = {}
        self.bad_since: dict[int, int] = {}
        self.saved_at = time.monotonic()

    def run(self, state: dict[str, Tensor] | None) -> tuple[Params, Curve]:
        """All rounds, from the beginning or from a stopped training's state."""
        steps, rounds = self.settings.steps, self.method.rounds
        done = 0 if state is None else int(state["done"])
        params: Params | None = None
        self.progress.start(done, steps * rounds, self.kernel.name)
        try:
            with Interrupt() as interrupt:
                for round_ in range(done // steps, rounds):
                    population = self._population(round_, params, state)
                    self._round(population, round_, max(done - round_ * steps, 0), interrupt)
                    params, state = {k: v.detach() for k, v in population.params.items()}, None
        finally:
            self.progress.stop()
        assert params is not None
        return params, self._curve()

    def _population(
        self, round_: int, before: Params | None, state: dict[str, Tensor] | None
    ) -> NetworkStack:
        for view in (self.view, self.held_out):
            if view is not None:
                view.update_columns(before, self.method.shards)
        fresh = self.fresh(self.view, round_)
        rate = self.settings.rate(self.method.policy)
        population = NetworkStack(self.view, fresh, rate, self.case, self.kernel)
        if state is not None:
            self._restore(population, state)
        return population

    def _round(
        self, population: NetworkStack, round_: int, step: int, interrupt: Interrupt
    ) -> None:
        steps = self.settings.steps
        while step < steps:
            count = min(self.block, self.every - step % self.every, steps - step)
            population.steps(*self.batches.block(step, count))
            step += count
            done = round_ * steps + step
            self._record(population, done, step)
            if step == steps:
                continue
            if interrupt.wished or time.monotonic() - self.saved_at > _SAVE_EVERY:
                self._save(population, done)
            if interrupt.wished:
                raise KeyboardInterrupt(self._stopped(done))

    def _stopped(self, done: int) -> str:
        again = "" if self.out is None else "; go on with the same options and --resume"
        return f"stopped at step {done} of {self.settings.steps * self.method.rounds}{again}"

    def _record(self, population: NetworkStack, done: int, step: int) -> None:
        """The bar, members that went wrong, and now and then a point of the curve."""
        self.progress.update(done, population.loss)
        for net in torch.nonzero(~population.loss.isfinite()).flatten().tolist():
            self.bad_since.setdefault(net, done)
        if step % self.every == 0 or step == self.settings.steps:
            loss = population.loss.detach().cpu().clone()
            held_out = loss.new_empty(0)
            if self.held_out is not None:
                held_out = population.held_out(self.held_out).cpu()
            self.points[done] = (loss, held_out)

    def _curve(self) -> Curve:
        """The points so far, averaged over the shards of each member."""
        shape = (len(self.points), -1, self.method.shards)
        loss, held_out = (
            torch.stack(part).view(shape).mean(-1) if part[0].numel() else None
            for part in zip(*self.points.values(), strict=True)
        )
        assert loss is not None
        return Curve(torch.tensor(list(self.points)), loss, held_out)

    def _save(self, population: NetworkStack, done: int) -> None:
        self.saved_at = time.monotonic()
        if self.out is None:
            return
        state = population.state() | {"done": torch.tensor(done)}
        if self.held_out is not None:
            state |= {f"held_out/{k}": v for k, v in self.held_out.columns.items()}
        for step, (loss, held_out) in self.points.items():
            state |= {f"loss/{step}": loss, f"held_out_loss/{step}": held_out}
        checkpoints.save_state(self.out, state)

    def _restore(self, population: NetworkStack, state: dict[str, Tensor]) -> None:
        population.restore(state)
        if self.held_out is not None:
            device = population.loss.device
            self.held_out.columns = {
                k.removeprefix("held_out/"): v.to(device)
                for k, v in state.items()
                if k.startswith("held_out/")
            }
        steps = sorted(int(k.removeprefix("loss/")) for k in state if k.startswith("loss/"))
        self.points = {s: (state[f"loss/{s}"], state[f"held_out_loss/{s}"]) for s in steps}
