"""The options of a diffusion policy with the loss of Counter-BC."""

from dataclasses import dataclass

from lerobot.configs.policies import PreTrainedConfig
from lerobot.policies.diffusion.configuration_diffusion import DiffusionConfig

from .counter_options import CounterOptions, lagged_indices


@PreTrainedConfig.register_subclass("counter_diffusion")
@dataclass
class CounterDiffusionConfig(CounterOptions, DiffusionConfig):
    """The options of LeRobot's diffusion policy and those of Counter-BC."""

    counterfactuals: int = 7
    """Actions drawn from C(s, a) beside the demonstrated one. Each takes a pass of the U-Net."""
    kappa: float = 10.0
    """κ: how many units of log π a unit of squared error counts where there is no noise."""

    def __post_init__(self):
        super().__post_init__()
        self.check_counter_options()
        if self.counterfactuals < 0 or self.kappa < 0:
            raise ValueError(
                f"counterfactuals is {self.counterfactuals} and kappa {self.kappa}; both must be "
                "0 or more"
            )

    @property
    def action_delta_indices(self) -> list[int]:
        return lagged_indices(super().action_delta_indices, self.lag)
