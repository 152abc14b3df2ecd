"""ACT with the loss of Counter-BC."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lerobot.policies.act.configuration_act import ACTConfig
from lerobot.policies.act.modeling_act import ACTPolicy
from lerobot.policies.act.processor_act import make_act_pre_post_processors
from lerobot.utils.constants import ACTION, OBS_IMAGES
from torch import Tensor

from counterbc.weightings.epsilon_insensitive import excess

from .configuration_counter_act import CounterACTConfig
from .counter_options import PAD, normalized_radius, undo_lag
from .frame_weights import SampleWeights, reduce_steps
from .plain_copy import write_plain_copy


class CounterACTPolicy(ACTPolicy):
    """ACT that pays only for the part of its error outside C(s, a):

        L = Σ_steps Σ_dims | (a − â) · max(1 − Δ / ‖a − â‖, 0) |

    ACT predicts one chunk and no density. The action of C(s, a) that it finds likeliest is the
    nearest one, and this is its L1 distance to that: the limit of eq. M4 for a narrow policy.
    The weight of a sample multiplies this and the KL divergence of ACT's encoder.
    """

    config_class = CounterACTConfig
    name = "counter_act"

    def __init__(self, config: CounterACTConfig, dataset_stats: Any = None, **kwargs: Any) -> None:
        super().__init__(config, dataset_stats=dataset_stats, **kwargs)
        self.dataset_stats = dataset_stats
        radius = normalized_radius(config, dataset_stats)
        self.register_buffer("radius", radius, persistent=False)
        self.sample_weights = SampleWeights(config, current=0)

    def forward(
        self, batch: dict[str, Tensor], reduction: str = "mean"
    ) -> tuple[Tensor, dict[str, float]]:
        if self.radius is None:
            raise ValueError("Δ in the policy's units needs dataset_stats; give them to train")
        batch = undo_lag(dict(batch), self.config.lag)
        if self.config.image_features:
            batch[OBS_IMAGES] = [batch[key] for key in self.config.image_features]
        predicted, (mean, log_var) = self.model(batch)
        outside = excess(batch[ACTION] - predicted, self.radius).abs()  # (B, H, A)
        samples = self.sample_weights.of(batch)
        loss = reduce_steps(outside.mean(-1), ~batch[PAD], samples, reduction)
        values = {"l1_outside": float(loss.detach().mean())}
        if self.config.use_vae and log_var is not None:
            kld = -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum(-1)  # (B,)
            kld = reduce_steps(kld.unsqueeze(-1), None, samples, reduction)
            values["kld_loss"] = float(kld.detach().mean())
            loss = loss + self.config.kl_weight * kld
        return loss, values

    def _save_pretrained(self, save_directory: Path, *args: Any, **kwargs: Any) -> None:
        super()._save_pretrained(save_directory, *args, **kwargs)
        write_plain_copy(
            Path(save_directory), self.config, ACTConfig, make_act_pre_post_processors,
            self.dataset_stats,
        )  # fmt: skip
