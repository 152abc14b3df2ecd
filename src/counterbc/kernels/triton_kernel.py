"""Training steps as one GPU kernel: a block of steps of one network per program.

It fits the policies of the paper: two hidden layers, or a GRU and a layer, with a Gaussian head, in
float32. Nothing waits for launches, and activations never leave the chip or its caches. No two
programs write to the same memory, so the result does not depend on the number of programs.
Importing this module needs Triton, which comes with torch where there is CUDA.
"""

from __future__ import annotations

from typing import Any, ClassVar

import torch
import triton
from torch import Tensor

from counterbc.data.user_cache import cache_folder
from counterbc.kernels import triton_layers
from counterbc.kernels.closed_form import native_misfit, step_misfit, weights_misfit
from counterbc.kernels.compiling import announced_once
from counterbc.kernels.packed_kernel import PackedKernel, weighting_layers
from counterbc.kernels.step_kernel import StepCase, StepTensors
from counterbc.kernels.triton_gru import train_gru
from counterbc.kernels.triton_layers import train_layers
from counterbc.policies.gaussian import Gaussian

_ROWS = 16
_WARPS = 4
_CHUNK = 512  # parameters that Adam updates at once
_SIDE = 16  # the smallest side of a product
_WIDEST, _OUTPUTS = 64, 32  # units of a layer and of the head; more do not stay on the chip
_SAMPLES = 512  # nor do more counterfactuals
_BATCH, _MANY = 128, 64  # a program walks through its batch: a large one needs many programs
_FORMS = {
    "cross entropy": triton_layers.PLAIN,
    "column": triton_layers.GIVEN,
    "batch softmax": triton_layers.GIVEN,
    "state network": triton_layers.STATES,
    "operator network": triton_layers.OPERATORS,
}
"""How the kernel computes each kind of `StepForm`."""


class TritonKernel(PackedKernel):
    """A kernel in Triton, compiled for the sizes of a training."""

    name: ClassVar[str] = "triton"

    @classmethod
    def misfit(cls, case: StepCase) -> str | None:
        reason = native_misfit(case, "cuda") or step_misfit(case, recurrent=True)
        reason = reason or weights_misfit(case, _FORMS)
        if reason is not None:
            return reason
        hidden, outputs, network = case.policy.hidden, 2 * case.action_size, weighting_layers(case)
        if not isinstance(case.policy, Gaussian) or len(hidden) != 2:
            return "it supports only Gaussian policies with two hidden layers"
        if network and case.policy.recurrent():
            return "it does not train a network of weights beside a GRU"
        if network and len(network) != 3:
            return "it supports only networks of weights with two hidden layers"
        widths = (*hidden, *network[:2])
        if max(case.obs_size, *widths) > _WIDEST or outputs > _OUTPUTS or case.samples > _SAMPLES:
            return (
                f"it supports at most {_WIDEST} observation dimensions, {_WIDEST} units per layer, "
                f"{_OUTPUTS // 2} action dimensions and {_SAMPLES} actions per pair"
            )
        if any(width != _round_up(width) for width in widths):
            return f"it supports layers of {_SIDE}, 32 or {_WIDEST} units, not {widths}"
        return None

    @classmethod
    def pays(cls, case: StepCase) -> bool:
        """Return whether this is faster than a graph of torch's steps, as measured on an H200."""
        return case.batch <= _BATCH or case.networks >= _MANY

    def __init__(self, case: StepCase, tensors: StepTensors) -> None:
        super().__init__(case, tensors)
        self.form, gru = _FORMS[self.kind], case.policy.recurrent()
        actions = self.data["actions"]
        size = (case.obs_size, *case.policy.hidden, 2 * actions.shape[1])
        self.sizes: dict[str, Any] = {
            "SIZE": size, "TILE": tuple(_round_up(width) for width in size),
            "STORED": tensors.counterfactuals is not None, "M": actions.shape[2],
            "SAMPLES": triton.next_power_of_2(actions.shape[2]),
            "COUNT": sum(x.shape[1] for x in self.state[0]), "B": _ROWS,
            "CHUNK": _CHUNK, "num_warps": _WARPS,
        }  # fmt: skip
        if gru:
            self._prepare_gru()
        else:
            self._prepare_layers()

    def _prepare_gru(self) -> None:
        steps, (_, units, *_) = self.case.policy.history, self.sizes["SIZE"]
        rows = -(-self.case.batch // _ROWS) * _ROWS
        shape = (self.case.networks, steps, 5, rows, units)
        self.data |= {
            "starts": self.tensors.starts.contiguous(),
            "activations": self.tensors.obs.new_empty(shape),
        }
        self.sizes |= {"T": steps, "ROWS": rows, "SOME": 64}

    def _prepare_layers(self) -> None:
        network = (self.case.obs_size, *(weighting_layers(self.case) or (_SIDE, _SIDE, 1)))
        omega = self.tensors.weighting_params.get("operator")
        people = 1 if omega is None else omega.shape[1]
        self.sizes |= {
            "FORM": self.form, "NET": network,
            "NET_TILE": tuple(_round_up(width) for width in network),
            "PEOPLE": people, "PEOPLE_TILE": _round_up(people),
        }  # fmt: skip

    def launch(self, position: Tensor, memory: Tensor, sizes: Tensor, roots: Tensor) -> None:
        steps, networks, batch = position.shape
        kernel = train_gru if self.case.policy.recurrent() else train_layers
        with announced_once(cache_folder("triton"), self._code()):
            kernel[(networks,)](
                position=position, memory=memory, scratch=torch.empty_like(memory[0]), sizes=sizes,
                roots=roots, loss=self.tensors.loss,
                steps=steps, networks=networks, width=self.tensors.pairs.shape[1], batch=batch,
                **self.data, **self._weights(position), **self.sizes,
            )  # fmt: skip

    def _code(self) -> str:
        """Return what the code of the kernel is compiled for."""
        gpu = torch.cuda.get_device_capability(self.tensors.obs.device)
        facts = (triton.__version__, gpu, self.case.policy.recurrent(), self.sizes)
        return f"triton {facts}"

    def _weights(self, position: Tensor) -> dict[str, Tensor]:
        """Return what the weighting knows of the pairs of all steps: (steps, N, B) each."""
        if self.case.policy.recurrent():
            return {}
        weights, operators = self.tensors.obs, position  # not read
        if self.form == triton_layers.GIVEN:
            weights = self.given_weights(position)
        elif self.form == triton_layers.OPERATORS:
            columns = self.columns(position)
            weights, operators = columns["log_uniform"], columns["operator"]
        return {"column": weights, "operators": operators}


def _round_up(size: int) -> int:
    return max(_SIDE, int(triton.next_power_of_2(size)))
