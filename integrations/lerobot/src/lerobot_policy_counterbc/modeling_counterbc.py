"""The policies of counterbc, trained by LeRobot or by `counterbc train`."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import torch
from lerobot.policies.pretrained import PreTrainedPolicy
from lerobot.utils.constants import ACTION
from torch import Tensor, nn

from counterbc.acting import checks
from counterbc.acting.actor import Acting
from counterbc.acting.policies import Policies
from counterbc.data.chunks import LEAST_SCALE
from counterbc.data.feasible import Everywhere
from counterbc.losses import cross_entropy, restricted_policy
from counterbc.supports import Ball

from .configuration_counterbc import CounterBCConfig
from .counter_options import undo_lag
from .frame_weights import SampleWeights, reduce_steps
from .new_run import new_policies

RUN_FOLDER = "counterbc"
"""The folder in a checkpoint that counterbc loads without LeRobot."""
_NETWORK, _SCALES = "policy/", "normalization/"


class CounterBCPolicy(PreTrainedPolicy):
    """A policy of counterbc with its own scales: it reads and returns the dataset's units.

    Parameters and scales have the names that they have in a run folder, with a colon for each dot.
    """

    config_class = CounterBCConfig
    name = "counterbc"

    def __init__(self, config: CounterBCConfig, dataset_stats: Any = None, **kwargs: Any) -> None:
        super().__init__(config)
        config.validate_features()
        tensors = self._begin(dataset_stats)
        self.policy = checks.read_policy(self.run["policy"], _under(tensors, _NETWORK))
        for name, value in tensors.items():
            if name.startswith(_NETWORK):
                self.register_parameter(_attribute(name), nn.Parameter(value))
            else:
                self.register_buffer(_attribute(name), value)
        self.sample_weights = SampleWeights(config, current=0)
        self._episodes = 0  # that began before the last reset
        self._acting: Acting | None = None

    def _begin(self, stats: Any) -> dict[str, Tensor]:
        """Return initial tensors: those of a new run, or zeros where they are about to be loaded.

        The configuration of the run becomes an option, so that checkpoints store it.
        """
        tensors: dict[str, Tensor] | None = None
        if not self.config.run:
            _warn_of_cameras(self.config)
            run, tensors = new_policies(self.config, stats).contents()
            self.config.run = described(run, tensors)
        self.run = json.loads(self.config.run)
        return tensors or {name: torch.zeros(shape) for name, shape in self.run["shapes"].items()}

    def _tensors(self) -> dict[str, Tensor]:
        return {name.replace(":", "."): x.detach() for name, x in self.state_dict().items()}

    def policies(self) -> Policies:
        """Return the policy as counterbc has it, on the same device."""
        tensors = self._tensors()
        device = next(iter(tensors.values())).device
        run = self.run | {"diverged": None}  # whether it did is not known yet
        return Policies.from_contents(run, {k: v.cpu() for k, v in tensors.items()}).to(device)

    def get_optim_params(self) -> Any:
        return self.parameters()

    def reset(self) -> None:
        if self._acting is not None:
            self._episodes += len(self._acting.episodes)
        self._acting = None

    def _new_acting(self, count: int) -> Acting:
        episodes = range(self._episodes, self._episodes + count)
        return Acting(self.policies(), episodes, self.config.act, self.config.seed)

    @torch.no_grad()
    def select_action(self, batch: dict[str, Tensor], **kwargs: Any) -> Tensor:
        self.eval()
        count = len(next(batch[key] for key in self.config.input_features if key in batch))
        if self._acting is None:
            self._acting = self._new_acting(count)
        return self._acting.actions(self._obs(batch, self._acting.policies))[0]

    @torch.no_grad()
    def predict_action_chunk(self, batch: dict[str, Tensor], **kwargs: Any) -> Tensor:
        """Return the chunk that begins an episode with this observation: (B, H, A)."""
        self.eval()
        acting = self._new_acting(len(batch[next(iter(self.config.input_features))]))
        return acting.plan(self._obs(batch, acting.policies))[0]

    def _obs(self, batch: dict[str, Tensor], policies: Policies) -> Tensor:
        """Return the observations of B environments as the policy reads them: (1, B, S)."""
        if not policies.policy.images:
            return self._vector(batch).unsqueeze(0)
        observed = policies.observed
        images = [_bytes(batch[key]).cpu().numpy() for key in self.config.image_features]
        parts = dict(zip(observed.cameras, images, strict=True))  # (B, H, W, C) each
        if observed.size:  # features may be cut into other parts than the keys of the run
            vector = self._vector(batch).cpu().numpy()
            empty = dict.fromkeys(observed.keys, vector[:, :0])
            parts |= empty | {observed.keys[0]: vector}
        return policies.tensor(parts).to(policies.scales.obs_mean.device).unsqueeze(0)

    def _vector(self, batch: dict[str, Tensor]) -> Tensor:
        """Return the vectors of a batch: (B, S), or (B, history, S) from a dataset."""
        return torch.cat([batch[key] for key in self.config.vector_keys], dim=-1).float()

    def forward(
        self, batch: dict[str, Tensor], reduction: str = "mean"
    ) -> tuple[Tensor, dict[str, float]]:
        batch = undo_lag(dict(batch), self.config.lag)
        window, targets, scale = self._scaled(batch)
        actions = self._counterfactuals(targets, scale)  # (B, M, H · A)
        params = {
            name.removeprefix(_NETWORK).replace(":", "."): value.squeeze(0)
            for name, value in self.named_parameters()
        }
        if self.policy.has_density:
            log_pi = self.policy.log_prob(self.policy.head(params, window), actions)
            losses = cross_entropy(log_pi).unsqueeze(-1)  # (B, 1)
        else:
            numbers = self.policy.error_numbers(actions.shape[-1])
            u = torch.rand(len(window), numbers, device=window.device).clamp(1e-6, 1 - 1e-6)
            errors, log_pi = self.policy.errors(params, window, actions, u)
            losses = (restricted_policy(log_pi) * errors).sum(-1)  # (B, H)
        loss = reduce_steps(losses, None, self.sample_weights.of(batch), reduction)
        effective = float((1 / restricted_policy(log_pi.detach()).square().sum(-1)).mean())
        return loss, {"effective": effective}

    def _scaled(self, batch: dict[str, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        """Return what the network reads, what it learns (B, H · A), and the scale of that."""
        if len(next(self.parameters())) > 1 or self.policy.images:
            raise NotImplementedError(
                "runs of several networks or with images act in LeRobot, but cannot be trained "
                "further by it; use counterbc train"
            )
        tensors = _under(self._tensors(), _SCALES)
        scales = checks.read_scales(self.run["normalization"], tensors)
        obs, history = self._vector(batch), self.policy.history
        obs = obs.reshape(len(obs), history, -1)  # (B, history, S)
        window = scales.obs(obs[None])[0]
        if not self.policy.repeats_first and history > 1:
            pad = batch[f"{self.config.vector_keys[0]}_is_pad"]  # (B, history)
            window = window * ~pad.unsqueeze(-1)
        targets = scales.targets(batch[ACTION][None], obs[None, :, -1])[0]
        return (window if history > 1 else window[:, 0]), targets, scales.target_scale[0]

    def _counterfactuals(self, targets: Tensor, scale: Tensor) -> Tensor:
        """Return the demonstrated chunks, then those of C(s, a): (B, M, H · A)."""
        horizon = self.policy.horizon
        radius = self.config.radius / scale * (scale > LEAST_SCALE)  # (H · A,)
        count = self.config.counterfactuals if self.config.radius else 0
        steps = targets.unflatten(-1, (horizon, -1)).flatten(0, 1)  # (B · H, A)
        by_step = radius.unflatten(-1, (horizon, -1)).repeat(len(targets), 1)
        support = Ball(count=count)
        shape = (len(steps), count, support.draws(steps.shape[-1], Everywhere()))
        u = torch.rand(shape, device=steps.device).clamp(1e-6, 1 - 1e-6)
        points = support.place(steps, by_step, u, Everywhere())  # (B · H, M, A)
        return points.unflatten(0, (-1, horizon)).transpose(1, 2).flatten(-2)

    def _save_pretrained(self, save_directory: Path, *args: Any, **kwargs: Any) -> None:
        super()._save_pretrained(save_directory, *args, **kwargs)
        folder = Path(save_directory) / RUN_FOLDER
        self.policies().save(folder, overwrite=folder.exists())


def _warn_of_cameras(config: CounterBCConfig) -> None:
    """Warn that a new policy learns without the cameras that the dataset has."""
    if cameras := list(config.image_features):
        warnings.warn(
            f"a counterbc policy that LeRobot trains does not read {', '.join(cameras)}, only "
            f"{', '.join(config.vector_keys)}; to learn from cameras use counter_act or "
            "counter_diffusion here, or counterbc train",
            stacklevel=2,
        )


def described(run: dict[str, Any], tensors: dict[str, Tensor]) -> str:
    """Return the configuration of a run, with the shapes of its tensors, as JSON."""
    return json.dumps(run | {"shapes": {name: list(x.shape) for name, x in tensors.items()}})


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _attribute(name: str) -> str:
    """Return a name that torch allows for a parameter."""
    return name.replace(".", ":")


def _bytes(images: Tensor) -> Tensor:
    """Return images (B, C, H, W) in [0, 1] as bytes (B, H, W, C)."""
    return (images * 255).round().clamp(0, 255).to(torch.uint8).permute(0, 2, 3, 1)
