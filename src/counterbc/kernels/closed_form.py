"""The cases in which the gradient of a step is known in closed form, so that native code fits."""

from __future__ import annotations

from collections.abc import Collection

import torch

from counterbc.kernels.step_kernel import StepCase
from counterbc.weightings.weighting import CROSS_ENTROPY


def native_misfit(case: StepCase, device: str) -> str | None:
    """Return why no native code for this device fits, in words; None where some may."""
    if case.device != device:
        return f"it runs on {device} and this training is on {case.device}"
    if case.dtype != torch.float32:
        return f"it computes in float32 and this training is in {str(case.dtype)[6:]}"
    if case.censored:
        return "it does not compute the likelihood of censored actions"
    if not case.policy.has_density:
        return f"it cannot train a {type(case.policy).__name__}"
    if case.policy.ema_share:
        return "it keeps no moving average of the weights (see the setting ema_share)"
    if case.weighting.step_form(case.samples) is None:
        weighting = type(case.weighting).__name__
        return f"the weighting {weighting} has no closed form with {case.samples} action(s) a pair"
    return None


def loss_misfit(case: StepCase, device: str) -> str | None:
    """Return why eq. M4 cannot be native code for this device, in words; None where it can."""
    return native_misfit(case, device) or weights_misfit(case, (CROSS_ENTROPY.kind,))


def weights_misfit(case: StepCase, kinds: Collection[str]) -> str | None:
    """Return why a kernel that computes weights of these kinds does not fit; None where it does.

    The kinds are those of `StepForm`.
    """
    form = case.weighting.step_form(case.samples)
    if form is None or form.kind not in kinds:
        return f"it does not compute the weights of {type(case.weighting).__name__}"
    return None


def step_misfit(case: StepCase, recurrent: bool = False) -> str | None:
    """Return why a whole step cannot be native code, in words; None where it can.

    `recurrent` says whether the kernel trains policies with a GRU before their layers.
    """
    if not layers(case) or (case.policy.recurrent() and not recurrent):
        policy = type(case.policy).__name__
        return (
            "it supports only policies made of ReLU layers that read a single observation, unlike "
            f"the policy {policy} with history {case.policy.history}"
        )
    form = case.weighting.step_form(case.samples)
    if form == CROSS_ENTROPY and case.weighting.init(torch.Generator(), case.obs_size):
        return f"the weighting {type(case.weighting).__name__} has parameters"
    if case.samples > 1 and not case.in_memory:
        return "the counterfactuals are not kept in memory (see the settings resample and memory)"
    return None


def layers(case: StepCase) -> list[str]:
    """Return the names of weight and bias of each layer in turn; none where there are others."""
    return [f"{x}.{part}" for x in case.policy.chain() for part in ("weight", "bias")]


def layer_shapes(case: StepCase) -> list[tuple[int, ...]]:
    """Return the shapes (I, O) and (O,) of each layer's weight and bias in turn."""
    params = case.policy.init(torch.Generator(), case.obs_size, case.action_size)
    return [tuple(params[name].shape) for name in layers(case)]
