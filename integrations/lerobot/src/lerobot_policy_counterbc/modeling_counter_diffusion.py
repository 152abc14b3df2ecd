"""Diffusion policies with the loss of Counter-BC."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig
from lerobot.policies.diffusion.modeling_diffusion import DiffusionPolicy
from lerobot.policies.diffusion.processor_diffusion import make_diffusion_pre_post_processors
from lerobot.utils.constants import ACTION, OBS_IMAGES
from torch import Tensor

from counterbc.data.feasible import Everywhere
from counterbc.losses import restricted_policy
from counterbc.supports import Ball

from .configuration_counter_diffusion import CounterDiffusionConfig
from .counter_options import PAD, normalized_radius, undo_lag
from .frame_weights import SampleWeights, reduce_steps
from .plain_copy import write_plain_copy


class CounterDiffusionPolicy(DiffusionPolicy):
    """A diffusion policy that learns the actions of C(s, a) that it denoises best.

    A diffusion policy has no tractable likelihood. For actions a' of C(s, a), with the same noise
    ε and time t for all of them,

        x_t = √ᾱ_t a' + √(1 − ᾱ_t) ε        e = ‖ε̂_θ(x_t, t, s) − ε‖² / A        ℓ = −κ ᾱ_t A e

    for each step of a chunk, and ℓ stands in for log π in R = π̂, eq. M3. R has no gradient. The
    loss is Σ_a' R e. It is LeRobot's where the radius is 0.
    """

    config_class = CounterDiffusionConfig
    name = "counter_diffusion"

    def __init__(
        self, config: CounterDiffusionConfig, dataset_stats: Any = None, **kwargs: Any
    ) -> None:
        super().__init__(config, dataset_stats=dataset_stats, **kwargs)
        self.dataset_stats = dataset_stats
        radius = normalized_radius(config, dataset_stats)
        self.register_buffer("radius", radius, persistent=False)
        self.sample_weights = SampleWeights(config, current=config.n_obs_steps - 1)

    def forward(
        self, batch: dict[str, Tensor], reduction: str = "mean"
    ) -> tuple[Tensor, dict[str, float]]:
        if self.radius is None:
            raise ValueError("Δ in the policy's units needs dataset_stats; give them to train")
        batch = self._with_images(undo_lag(dict(batch), self.config.lag))
        action = batch[ACTION]  # (B, H, A)
        noise = torch.randn(action.shape, device=action.device)
        times = self.diffusion.noise_scheduler.config.num_train_timesteps
        t = torch.randint(0, times, (len(action),), device=action.device)
        errors, log_pi = self._errors(batch, self._counterfactuals(action), noise, t)
        weights = restricted_policy(log_pi)  # (B, H, M)
        by_step = (weights * errors).sum(-1)  # (B, H)
        valid = ~batch[PAD] if self.config.do_mask_loss_for_padding else None
        loss = reduce_steps(by_step, valid, self.sample_weights.of(batch), reduction)
        effective = float((1 / weights.square().sum(-1)).mean())  # of M actions
        return loss, {"effective": effective}

    def _counterfactuals(self, action: Tensor) -> Tensor:
        """Return the demonstrated chunks, then those drawn from C(s, a): (B, M, H, A).

        C(s, a) of a chunk is the product of a ball around the action of each step.
        """
        count = self.config.counterfactuals if bool((self.radius > 0).any()) else 0
        support, steps = Ball(count=count), action.flatten(0, 1)  # (B · H, A)
        shape = (len(steps), count, support.draws(steps.shape[-1], Everywhere()))
        u = torch.rand(shape, device=steps.device).clamp(1e-6, 1 - 1e-6)
        points = support.place(steps, self.radius.expand_as(steps), u, Everywhere())
        return points.unflatten(0, action.shape[:2]).transpose(1, 2)

    def _errors(
        self, batch: dict[str, Tensor], actions: Tensor, noise: Tensor, t: Tensor
    ) -> tuple[Tensor, Tensor]:
        """Return the denoising errors of chunks (B, M, H, A) and the proxy ℓ: (B, H, M) each."""
        model, count = self.diffusion, actions.shape[1]
        condition = model._prepare_global_conditioning(batch).repeat_interleave(count, 0)
        noise, t = noise.repeat_interleave(count, 0), t.repeat_interleave(count, 0)
        flat = actions.flatten(0, 1)  # (B · M, H, A)
        predicted = model.unet(
            model.noise_scheduler.add_noise(flat, noise, t), t, global_cond=condition
        )
        target = noise if self.config.prediction_type == "epsilon" else flat
        error = (predicted - target).square().mean(-1)  # (B · M, H)
        clean = model.noise_scheduler.alphas_cumprod.to(error)[t].unsqueeze(-1)  # ᾱ: (B · M, 1)
        log_pi = -self.config.kappa * clean * actions.shape[-1] * error.detach()
        return tuple(x.unflatten(0, (-1, count)).transpose(1, 2) for x in (error, log_pi))

    def _with_images(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Add the images of all cameras as LeRobot's loss reads them."""
        if not self.config.image_features:
            return batch
        images = [batch[key] for key in self.config.image_features]
        if self.config.n_obs_steps == 1:
            images = [x.unsqueeze(1) if x.ndim == 4 else x for x in images]
        return {**batch, OBS_IMAGES: torch.stack(images, dim=-4)}

    def _save_pretrained(self, save_directory: Path, *args: Any, **kwargs: Any) -> None:
        super()._save_pretrained(save_directory, *args, **kwargs)
        write_plain_copy(
            Path(save_directory), self.config, DiffusionConfig, make_diffusion_pre_post_processors,
            self.dataset_stats,
        )  # fmt: skip
