"""The training loop: blocks of steps, checkpoints, curves, and a clean stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from contextlib import suppress

import torch
from torch import Tensor

from counterbc.acting.device import enter_device
from counterbc.acting.policies import Curve
from counterbc.files import Guard
from counterbc.kernels.compiling import hear_compiling
from counterbc.kernels.dispatch import choose_kernel
from counterbc.policies import Params
from counterbc.policies.pieces import StoppedAtPause, stops_at_pauses
from counterbc.settings import Settings
from counterbc.training.batches import Batches
from counterbc.training.checkpoints import Keeper
from counterbc.training.interrupt import Interrupt
from counterbc.training.network_stack import NetworkStack
from counterbc.training.pace import Pace
from counterbc.training.progress import Progress
from counterbc.training.session import current_session
from counterbc.training.stack_parts import StackParts
from counterbc.training.view import View

_POINTS = 100  # of a loss curve
_SAVE_EVERY = 30.0  # seconds
_SAVE_SHARE = 20.0  # times as long as a save takes, at least, until the next
_LARGE = 1e8  # bytes of a state, whose save after Ctrl-C is announced
_BLOCK = 1 << 22  # pairs whose order is computed at once
_CUDA_BLOCK = 1 << 23  # and on a GPU, which orders more of them in the same time


class Loop:
    """Rounds of training steps on the pairs of a view."""

    def __init__(
        self,
        view: View,
        held_out: View | None,
        settings: Settings,
        fresh: Callable[[View, int], Params],
        progress: Progress,
        *,
        snapshots: Iterable[int] = (),
    ) -> None:
        """`snapshots` are steps of the last round at which the parameters are kept."""
        self.view, self.held_out, self.settings = view, held_out, settings
        self.batch = batch = settings.batch_size(int(view.nets.lengths.min()))
        for whole in (view, held_out):
            if whole is not None:
                whole.divide(view.networks_at_once(batch))
        if held_out is not None and len(held_out.parts) == 1:
            self.held_out = held_out.parts[0][1]
        self.fresh, self.method, self.progress = fresh, view.method, progress
        self.keeper: Keeper | None = None
        self.later = 0.0
        """Work that comes after this training, as a number of states."""
        self.batches = Batches(view.nets, batch)
        self.cases = [part.case(batch, settings.products) for _, part in view.parts]
        with enter_device(view.rows.device):
            self.kernels = [choose_kernel(settings.kernel, case) for case in self.cases]
        self.kernel_name = " and ".join(dict.fromkeys(k.name for k in self.kernels))
        self.interval = max(1, settings.step_count // _POINTS)
        block = _CUDA_BLOCK if view.rows.is_cuda else _BLOCK
        longest = max(1, block // (len(view.nets.pairs) * batch))
        names, counts = (k.name for k in self.kernels), (len(rows) for rows, _ in view.parts)
        self.pace = Pace(min(self.interval, longest), zip(names, counts, strict=True))
        self.is_estimated = False
        self.points: dict[int, tuple[Tensor, Tensor]] = {}
        self.bad_since: dict[int, int] = {}
        self.save_at, self.interrupt = time.monotonic() + _SAVE_EVERY, Interrupt()
        self.snapshot_steps = sorted(set(snapshots))
        self.snapshots: dict[int, Params] = {}
        self.before: Params | None = None  # that the round before ended with

    def run(self, state: dict[str, Tensor] | None) -> None:
        """Train all rounds, from the beginning or from the state of a stopped training."""
        steps, rounds = self.settings.step_count, self.method.rounds
        total_step = 0 if state is None else self._done(state)
        params: Params | None = None
        self.progress.start(total_step, steps * rounds, self.kernel_name)
        hear = hear_compiling(self.progress.announce, self.interrupt.at_once)
        try:
            with self.interrupt, hear, enter_device(self.view.rows.device):
                for round_ in range(min(total_step // steps, rounds - 1), rounds):
                    self.networks = networks = self._start_round(round_, params, state)
                    self._round(networks, round_, max(total_step - round_ * steps, 0))
                    params, state = networks.deployed, None
            is_cuda = self.view.rows.is_cuda
            current_session().seconds_per_state = self.pace.mean if is_cuda else self.pace.alone
        finally:
            self.progress.stop()

    def _start_round(
        self, round_: int, before: Params | None, state: dict[str, Tensor] | None
    ) -> NetworkStack | StackParts:
        self.before = before
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

    def _round(self, networks: NetworkStack | StackParts, round_: int, step: int) -> None:
        steps = self.settings.step_count
        if step == steps or self._lacks_point(round_ * steps + step, step):
            self._record(networks, round_, step)  # as it was stopped
        while step < steps:
            ends = [s for s in self.snapshot_steps if s > step] + [steps]
            count = min(self.pace.block, self.interval - step % self.interval, ends[0] - step)
            with suppress(StoppedAtPause), stops_at_pauses(lambda: self.interrupt.stop):
                if self._block(networks, round_ * steps, step, count):
                    step += count
                    if step < steps:
                        self._record(networks, round_, step)
            if step == steps:
                self._record(networks, round_, step)
                continue
            if self.interrupt.stop or time.monotonic() > self.save_at:
                self._save(networks, round_ * steps + step)
            if self.interrupt.stop:
                raise KeyboardInterrupt(self.stop_message(round_ * steps + step))

    def _block(
        self, networks: NetworkStack | StackParts, before: int, step: int, count: int
    ) -> bool:
        """Take some steps, stack by stack; return False if Ctrl-C came before the last stack."""
        position, epoch = self.batches.block(step, count)
        began = last = time.monotonic()
        done, total = 0, len(self.view.nets.pairs)
        for stack, rows in networks.each:
            stack.steps(position[:, rows], epoch[:, rows], step)
            if position.is_cuda:
                torch.cuda.synchronize()
            done, now = done + len(stack.loss), time.monotonic()
            self.pace.measure(len(stack.loss) * count * self.batch, now - last, stack.kernel.name)
            last, taken = now, (before + step) * total + count * done
            if not self.is_estimated and self.pace.is_known:
                self._estimate(taken)
                last = time.monotonic()
            if done < total:
                self.progress.update(taken / total, stack.loss)
                if self.interrupt.stop:
                    return False
        self.pace.choose_block(count, time.monotonic() - began)
        return True

    def _estimate(self, taken: int) -> None:
        """Announce how long the rest will take, and let somebody agree to it if it is long.

        `taken` counts a step once for each network.
        """
        self.is_estimated, session = True, current_session()
        count, total_step = len(self.view.nets.pairs), self.settings.step_count * self.method.rounds
        seconds = self.pace.seconds_for((total_step * count - taken) * self.batch)
        seconds += self.pace.seconds_for_later(self.later, session.timed)
        if session.needs_agreement(seconds, self.view.rows.is_cuda):
            self.progress.stop()
            with self.interrupt.at_once():
                session.agree(seconds, self.pace.seconds_for(self.batch))
            self.progress.start(taken // count, total_step, self.kernel_name)
        elif text := session.announcement(seconds):
            self.progress.announce(text)

    def stop_message(self, total_step: int) -> str:
        """Return where the training stopped, and what to do."""
        total = self.settings.step_count * self.method.rounds
        hint = "" if self.keeper is None else self.keeper.hint
        return f"stopped at step {total_step} of {total}{hint}"

    def _record(self, networks: NetworkStack | StackParts, round_: int, step: int) -> None:
        """Update progress, snapshots, diverged members and, at some steps, the loss curve."""
        total_step = round_ * self.settings.step_count + step
        if step in self.snapshot_steps and round_ == self.method.rounds - 1:
            self.snapshots[step] = {k: value.clone() for k, value in networks.deployed.items()}
        self.progress.update(total_step, networks.loss)
        if self._is_point(step):
            for net in torch.nonzero(~networks.loss.isfinite()).flatten().tolist():
                self.bad_since.setdefault(net, total_step)
            loss = networks.loss.detach().cpu().clone()
            held_out = loss.new_empty(0)
            if self.held_out is not None:
                held_out = networks.held_out(self.held_out).cpu()
            self.points[total_step] = (loss, held_out)

    def _is_point(self, step: int) -> bool:
        """Return whether the loss curve has a point at a step of a round."""
        return step % self.interval == 0 or step == self.settings.step_count

    def _lacks_point(self, total_step: int, step: int) -> bool:
        """Return whether Ctrl-C came between a step and its point of the loss curve."""
        return step > 0 and self._is_point(step) and total_step not in self.points

    @property
    def curve(self) -> Curve | None:
        """Return the points of the loss curve, averaged over the shards of each member."""
        if not self.points:
            return None
        shape = (len(self.points), -1, self.method.shards)
        loss, held_out = (
            torch.stack(part).view(shape).mean(-1) if part[0].numel() else None
            for part in zip(*self.points.values(), strict=True)
        )
        assert loss is not None
        return Curve(torch.tensor(list(self.points)), loss, held_out)

    def _save(self, networks: NetworkStack | StackParts, total_step: int) -> None:
        """Keep the state; before the first step of a later round, those before it act."""
        if self.keeper is None or not total_step:
            return
        began, state = time.monotonic(), self.state(total_step)
        for step, params in self.snapshots.items():
            state |= {f"snapshot/{step}/{name}": value for name, value in params.items()}
        size = sum(value.nbytes for value in state.values())
        if self.interrupt.stop and size > _LARGE:
            self.progress.announce(f"saving {size / 1e9:.1f} GB in {self.keeper.path.parent}")
        step = (total_step - 1) % self.settings.step_count + 1
        acting = self.before if step == self.settings.step_count else None
        self.keeper.save(state, self.snapshots | {step: acting or networks.deployed}, total_step)
        now = time.monotonic()
        self.save_at = now + max(_SAVE_EVERY, _SAVE_SHARE * (now - began))

    def state(self, total_step: int) -> dict[str, Tensor]:
        """Return what a training needs to continue after this step, without snapshots."""
        state = self.networks.state() | {"done": torch.tensor(total_step)}
        if self.held_out is not None:
            state |= {f"held_out/{k}": v for k, v in self.held_out.columns.items()}
        for step, (loss, held_out) in self.points.items():
            state |= {f"loss/{step}": loss, f"held_out_loss/{step}": held_out}
        return state

    def _reading_state(self) -> Guard:
        """Return a context for the state of a stopped training, which may be damaged."""
        path = "the state" if self.keeper is None else self.keeper.path
        return Guard(path, "delete that file to start from the first step")

    def _done(self, state: dict[str, Tensor]) -> int:
        """Return the number of steps that a stopped training has taken."""
        with self._reading_state():
            total_step, total = int(state["done"]), self.settings.step_count * self.method.rounds
            if not 0 < total_step <= total:
                raise ValueError(f"stopped at step {total_step} of {total}")
            return total_step

    def _check_state(self, networks: NetworkStack | StackParts, state: dict[str, Tensor]) -> None:
        """Refuse a state that is not whole, or of other networks."""
        total_step, steps, count = int(state["done"]), self.settings.step_count, len(networks.loss)
        pairs = self.view.nets.pairs.shape
        shapes = {name: value.shape for name, value in networks.state().items()}
        shapes |= {"done": torch.Size(())}
        held_out = 0 if self.held_out is None else count
        for point in {name.rpartition("/")[2] for name in state if "loss/" in name}:
            shapes |= {f"loss/{point}": torch.Size([count])}
            shapes |= {f"held_out_loss/{point}": torch.Size([held_out])}
        for snapshot in self.snapshot_steps:
            is_last = snapshot == steps and not any(n.startswith("snapshot/") for n in state)
            if (self.method.rounds - 1) * steps + snapshot <= total_step and not is_last:
                shapes |= {f"snapshot/{snapshot}/{k}": v.shape for k, v in networks.params.items()}
        first = total_step - steps * min(total_step // steps, self.method.rounds - 1)
        for name, value in state.items():
            if name.endswith("adam/count") and not first <= value <= steps:
                raise ValueError(f"{name} is {float(value):g}, not {first}")
            is_column = name.startswith("columns/") and value.shape[:2] == pairs
            if not is_column and not name.startswith("held_out/") and name not in shapes:
                raise ValueError(f"{name} with shape {tuple(value.shape)} does not belong there")
        for name, shape in shapes.items():
            if state[name].shape != shape:
                raise ValueError(f"{name} has shape {tuple(state[name].shape)}, not {tuple(shape)}")

    def _restore(self, networks: NetworkStack | StackParts, state: dict[str, Tensor]) -> None:
        networks.restore(state)
        if self.held_out is not None:
            self.held_out.columns = {
                k.removeprefix("held_out/"): v.to(networks.loss.device)
                for k, v in state.items()
                if k.startswith("held_out/")
            }
            self.held_out.share_columns()
        for key in (k for k in state if k.startswith("snapshot/")):
            _, step, name = key.split("/", 2)
            self.snapshots.setdefault(int(step), {})[name] = state[key].to(networks.loss.device)
        steps = sorted(int(k.removeprefix("loss/")) for k in state if k.startswith("loss/"))
        self.points = {s: (state[f"loss/{s}"], state[f"held_out_loss/{s}"]) for s in steps}
