"""The training loop: blocks of steps, checkpoints, curves, and a clean stop."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType

import torch
from torch import Tensor

from counterbc.acting.policies import Curve
from counterbc.files import Guard
from counterbc.kernels.dispatch import choose_kernel
from counterbc.policies import Params
from counterbc.settings import Settings
from counterbc.training import checkpoints
from counterbc.training.batches import Batches
from counterbc.training.network_stack import NetworkStack, View
from counterbc.training.progress import Progress
from counterbc.training.stack_parts import StackParts

_POINTS = 100  # of a loss curve
_SAVE_EVERY = 30.0  # seconds
_BLOCK = 1 << 22  # pairs whose order is computed at once


class Interrupt:
    """Lets the first Ctrl-C stop a training between steps; a second one stops it at once."""

    def __enter__(self) -> Interrupt:
        self.stop = False
        self.main = threading.current_thread() is threading.main_thread()
        if self.main:
            self.before = signal.signal(signal.SIGINT, self._request)
        return self

    def _request(self, number: int, frame: FrameType | None) -> None:
        self.stop = True
        signal.signal(signal.SIGINT, self.before)

    def __exit__(self, *_: object) -> None:
        if self.main:
            signal.signal(signal.SIGINT, self.before)


class Loop:
    """Rounds of training steps on the pairs of a view."""

    def __init__(
        self,
        view: View,
        held_out: View | None,
        settings: Settings,
        fresh: Callable[[View, int], Params],
        out: Path | None,
        progress: Progress,
        *,
        snapshots: Iterable[int] = (),
    ) -> None:
        """`snapshots` are steps of the last round at which the parameters are kept."""
        self.view, self.held_out, self.settings = view, held_out, settings
        if held_out is not None and len(held_out.parts) == 1:
            self.held_out = held_out.parts[0][1]
        self.fresh, self.method, self.out, self.progress = fresh, view.method, out, progress
        batch = settings.batch_size(int(view.nets.lengths.min()))
        self.batches = Batches(view.nets, batch)
        self.cases = [part.case(batch) for _, part in view.parts]
        self.kernels = [choose_kernel(settings.kernel, case) for case in self.cases]
        self.kernel_name = " and ".join(dict.fromkeys(k.name for k in self.kernels))
        self.interval = max(1, settings.step_count // _POINTS)
        self.block = min(self.interval, max(1, _BLOCK // (len(view.nets.pairs) * batch)))
        self.points: dict[int, tuple[Tensor, Tensor]] = {}
        self.bad_since: dict[int, int] = {}
        self.saved_at = time.monotonic()
        self.snapshot_steps = sorted(set(snapshots))
        self.snapshots: dict[int, Params] = {}

    def run(self, state: dict[str, Tensor] | None) -> tuple[Params, Curve]:
        """Train all rounds, from the beginning or from the state of a stopped training."""
        steps, rounds = self.settings.step_count, self.method.rounds
        total_step = 0 if state is None else self._done(state)
        params: Params | None = None
        self.progress.start(total_step, steps * rounds, self.kernel_name)
        try:
            with Interrupt() as interrupt:
                for round_ in range(total_step // steps, rounds):
                    networks = self._start_round(round_, params, state)
                    self._round(networks, round_, max(total_step - round_ * steps, 0), interrupt)
                    params, state = networks.deployed, None
        finally:
            self.progress.stop()
        assert params is not None
        return params, self._curve()

    def _start_round(
        self, round_: int, before: Params | None, state: dict[str, Tensor] | None
    ) -> NetworkStack | StackParts:
        for view in (self.view, self.held_out):
            if view is not None:
                view.update_columns(before, self.method.shards)
        fresh = self.fresh(self.view, round_)
        rate = self.settings.rate(self.method.policy)
        parts = zip(self.view.parts, self.cases, self.kernels, strict=True)
        stacks = [
            NetworkStack(view, {k: v[rows] for k, v in fresh.items()}, rate, case, kernel)
            for (rows, view), case, kernel in parts
        ]
        rows = [rows for rows, _ in self.view.parts]
        networks = stacks[0] if len(stacks) == 1 else StackParts(stacks, rows)
        if state is not None:
            with self._reading_state():
                self._check_state(networks, state)
                self._restore(networks, state)
        return networks

    def _round(
        self, networks: NetworkStack | StackParts, round_: int, step: int, interrupt: Interrupt
    ) -> None:
        steps = self.settings.step_count
        while step < steps:
            ends = [s for s in self.snapshot_steps if s > step] + [steps]
            count = min(self.block, self.interval - step % self.interval, ends[0] - step)
            networks.steps(*self.batches.block(step, count))
            step += count
            total_step = round_ * steps + step
            if step in self.snapshot_steps and round_ == self.method.rounds - 1:
                params = {name: value.clone() for name, value in networks.deployed.items()}
                self.snapshots[step] = params
            self._record(networks, total_step, step)
            if step == steps:
                continue
            if interrupt.stop or time.monotonic() - self.saved_at > _SAVE_EVERY:
                self._save(networks, total_step)
            if interrupt.stop:
                raise KeyboardInterrupt(self._stop_message(total_step))

    def _stop_message(self, total_step: int) -> str:
        total = self.settings.step_count * self.method.rounds
        hint = "" if self.out is None else "; to resume, give the same options and --resume"
        return f"stopped at step {total_step} of {total}{hint}"

    def _record(self, networks: NetworkStack | StackParts, total_step: int, step: int) -> None:
        """Update progress, diverged members and, at some steps, the loss curve."""
        self.progress.update(total_step, networks.loss)
        for net in torch.nonzero(~networks.loss.isfinite()).flatten().tolist():
            self.bad_since.setdefault(net, total_step)
        if step % self.interval == 0 or step == self.settings.step_count:
            loss = networks.loss.detach().cpu().clone()
            held_out = loss.new_empty(0)
            if self.held_out is not None:
                held_out = networks.held_out(self.held_out).cpu()
            self.points[total_step] = (loss, held_out)

    def _curve(self) -> Curve:
        """Return the points of the loss curve, averaged over the shards of each member."""
        shape = (len(self.points), -1, self.method.shards)
        loss, held_out = (
            torch.stack(part).view(shape).mean(-1) if part[0].numel() else None
            for part in zip(*self.points.values(), strict=True)
        )
        assert loss is not None
        return Curve(torch.tensor(list(self.points)), loss, held_out)

    def _save(self, networks: NetworkStack | StackParts, total_step: int) -> None:
        self.saved_at = time.monotonic()
        if self.out is None:
            return
        state = networks.state() | {"done": torch.tensor(total_step)}
        if self.held_out is not None:
            state |= {f"held_out/{k}": v for k, v in self.held_out.columns.items()}
        for step, (loss, held_out) in self.points.items():
            state |= {f"loss/{step}": loss, f"held_out_loss/{step}": held_out}
        for step, params in self.snapshots.items():
            state |= {f"snapshot/{step}/{name}": value for name, value in params.items()}
        checkpoints.save_state(self.out, state)

    def _reading_state(self) -> Guard:
        """Return a context for the state of a stopped training, which may be damaged."""
        path = (self.out or Path()) / checkpoints.TRAINING
        return Guard(path, "delete that file to start from the first step")

    def _done(self, state: dict[str, Tensor]) -> int:
        """Return the number of steps that a stopped training has taken."""
        with self._reading_state():
            total_step, total = int(state["done"]), self.settings.step_count * self.method.rounds
            if not 0 < total_step < total:
                raise ValueError(f"stopped at step {total_step} of {total}")
            return total_step

    def _check_state(self, networks: NetworkStack | StackParts, state: dict[str, Tensor]) -> None:
        """Refuse a state that is not whole, or of other networks."""
        total_step, steps, count = int(state["done"]), self.settings.step_count, len(networks.loss)
        pairs = self.view.nets.pairs.shape
        shapes = {name: value.shape for name, value in networks.state().items()}
        shapes |= {"done": torch.Size(())}
        held_out = 0 if self.held_out is None else count
        for point in range(1, total_step + 1):
            step = (point - 1) % steps + 1
            if step % self.interval == 0 or step == steps:
                shapes |= {f"loss/{point}": torch.Size([count])}
                shapes |= {f"held_out_loss/{point}": torch.Size([held_out])}
        for snapshot in self.snapshot_steps:
            if (self.method.rounds - 1) * steps + snapshot <= total_step:
                shapes |= {f"snapshot/{snapshot}/{k}": v.shape for k, v in networks.params.items()}
        for name, value in state.items():
            is_column = name.startswith("columns/") and value.shape[:2] == pairs
            if not is_column and not name.startswith("held_out/") and name not in shapes:
                raise ValueError(f"{name} with shape {tuple(value.shape)} does not belong there")
        for name, shape in shapes.items():
            if state[name].shape != shape:
                raise ValueError(f"{name} has shape {tuple(state[name].shape)}, not {tuple(shape)}")

    def _restore(self, networks: NetworkStack | StackParts, state: dict[str, Tensor]) -> None:
        networks.restore(state)
        if self.held_out is not None:
            device = networks.loss.device
            self.held_out.columns = {
                k.removeprefix("held_out/"): v.to(device)
                for k, v in state.items()
                if k.startswith("held_out/")
            }
        for key in (k for k in state if k.startswith("snapshot/")):
            _, step, name = key.split("/", 2)
            snapshot = self.snapshots.setdefault(int(step), {})
            snapshot[name] = state[key].to(networks.loss.device)
        steps = sorted(int(k.removeprefix("loss/")) for k in state if k.startswith("loss/"))
        self.points = {s: (state[f"loss/{s}"], state[f"held_out_loss/{s}"]) for s in steps}
