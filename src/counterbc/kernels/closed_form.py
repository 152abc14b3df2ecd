"""The cases in which the gradient of a step is known in closed form, so that native code fits."""

from __future__ import annotations

import torch

from counterbc.kernels.step_kernel import StepCase


def loss_misfit(case: StepCase, device: str) -> str | None:
    """Return why the loss cannot be native code for this device, in words; None where it can."""
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
    if not case.weighting.uses_closed_form(case.samples):
        weighting = type(case.weighting).__name__
        return f"the weighting {weighting} has no closed form with {case.samples} action(s) a pair"
    return None


def step_misfit(case: StepCase) -> str | None:
    """Return why a whole step cannot be native code, in words; None where it can."""
    names = layers(case)
    if not names:
        policy = type(case.policy).__name__
        return (
            "it supports only policies made of ReLU layers that read a single observation, unlike "
            f"the policy {policy} with history {case.policy.history}"
        )
    if case.weighting.init(torch.Generator(), case.obs_size):
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
