"""Training steps as native code on the CPU: one network after the other, each while it is in cache.

It fits ReLU layers with the head of a Gaussian or a mixture, also behind a GRU, and weights of all
kinds of `StepForm`, in float32. It computes gather, forward, loss, backward and Adam of one network
for a whole block of steps. One thread computes all of a network and waits for no other, so the
result does not depend on the number of threads, and a busy core delays its own networks alone.
Importing this module needs numba.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from counterbc.kernels.closed_form import layer_shapes, layers, native_misfit, step_misfit
from counterbc.kernels.numba_loss import NumbaLossKernel
from counterbc.kernels.numba_step import train_some
from counterbc.kernels.step_kernel import StepCase, StepTensors
from counterbc.kernels.threads import share
from counterbc.weightings.weighting import StepForm

_WIDEST = 25_000  # weights of a layer; wider ones are left to torch, which is good at them


class NumbaKernel(NumbaLossKernel):
    """Native steps on a flat copy of the parameters, which is copied back after each block."""

    name: ClassVar[str] = "numba"

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        reason = native_misfit(case, "cpu") or step_misfit(case, recurrent=True)
        if reason is None and max(math.prod(shape) for shape in layer_shapes(case)) > _WIDEST:
            return f"a layer of {case.policy.hidden} units is too wide for it to be fast"
        return reason

    def __init__(self, case: StepCase, tensors: StepTensors) -> None:
        super().__init__(case, tensors)
        table, form = tensors.counterfactuals, case.weighting.step_form(case.samples)
        assert form is not None
        self.form: StepForm = form
        actions = tensors.action if table is None else table
        if case.policy.modes and table is None:
            actions = actions.unsqueeze(-1)
        arrays = (tensors.pairs, tensors.obs, tensors.starts, actions)
        names = ("pairs", "obs", "starts", "actions")
        self.data: dict[str, Any] = {
            name: x.contiguous().numpy() for name, x in zip(names, arrays, strict=True)
        }
        self.data["stored"] = table is not None
        policy, weighting = tensors.policy_params, tensors.weighting_params
        gru = case.policy.recurrent()
        gru_names = [f"{gru}.{x}.{y}" for x in ("input", "state") for y in ("weight", "bias")]
        first = [policy[name] for name in gru_names if gru]
        chain = [policy[name] for name in layers(case)]
        net = [
            weighting[f"{form.name}{i}.{part}"]
            for i in range(form.layers) for part in ("weight", "bias")
        ]  # fmt: skip
        last = [weighting["operator"]] if form.kind == "operator network" else []
        params = [*first, *chain, *net, *last]
        self.state = [
            [x.detach().view(len(x), -1) for x in part] for part in tensors.adam.of(params)
        ]
        begins = np.cumsum([0, *(x[0].numel() for x in params)]).tolist()
        middle = len(first) + len(chain)
        self.layout: dict[str, Any] = {
            "chain": _table(chain, begins[len(first) :]),
            "gru": None,
            "modes": case.policy.modes or None,
            "weighting": _table(net, begins[middle:]) if net else None,
            "operator": (begins[-2], last[0].shape[-1]) if last else None,
            "column": form.kind == "column" or None,
        }
        if gru:
            sizes = (case.obs_size, first[2].shape[1], case.policy.history)
            self.layout["gru"] = (*sizes, *begins[:4])

    def run(self, position: Tensor, epoch: Tensor) -> None:
        optimizer, networks = self.tensors.adam, position.shape[1]
        memory = torch.stack([torch.cat(part, 1) for part in self.state])  # (3, N, all)
        arguments = self.data | self.layout | self._columns()
        arguments |= {
            "position": position.contiguous().numpy(), "memory": memory.numpy(),
            "rate": optimizer.learning_rate, "first_step": int(optimizer.count) + 1,
            "loss": self.tensors.loss.numpy(),
        }  # fmt: skip
        train_some(0, 0, **arguments)  # compiles in this thread, which announces it and can stop
        share(lambda begin, end: train_some(begin, end, **arguments), networks)
        for part, after in zip(self.state, memory, strict=True):
            for value, new in zip(part, after.split([v.shape[1] for v in part], 1), strict=True):
                value.copy_(new)
        optimizer.count.add_(len(position))

    def _columns(self) -> dict[str, Any]:
        """Return what the weighting knows of each pair, as the step reads it."""
        columns, kind = self.tensors.columns, self.form.kind
        operators = columns["operator"] if kind == "operator network" else None
        name = "log_uniform" if kind == "operator network" else self.form.name
        column = columns.get(name) if kind != "state network" else None
        if column is not None and column.ndim == 2:
            column = column.unsqueeze(-1)
        return {
            "columns": None if column is None else column.contiguous().numpy(),
            "operators": None if operators is None else operators.contiguous().numpy(),
        }


def _table(params: Sequence[Tensor], begins: Sequence[int]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return inputs, outputs and the places of weight and bias of each layer: (L, 4).

    `params` are weights (N, I, O) and biases (N, O) in turn, and `begins` where they begin.
    """
    layers = zip(params[::2], begins[::2], begins[1::2], strict=False)
    return np.array(
        [[*weight.shape[1:], at_weight, at_bias] for weight, at_weight, at_bias in layers]
    )
