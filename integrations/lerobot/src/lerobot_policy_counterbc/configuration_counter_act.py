"""The options of ACT with the loss of Counter-BC."""

from dataclasses import dataclass

from lerobot.configs.policies import PreTrainedConfig
from lerobot.policies.act.configuration_act import ACTConfig

from .counter_options import CounterOptions, lagged_indices


@PreTrainedConfig.register_subclass("counter_act")
@dataclass
class CounterACTConfig(CounterOptions, ACTConfig):
    """ACT's options and those of Counter-BC; with a radius of 0 the loss is ACT's."""

    def __post_init__(self):
        super().__post_init__()
        self.check_counter_options()

    @property
    def action_delta_indices(self) -> list[int]:
        return lagged_indices(super().action_delta_indices, self.lag)
