"""The options of counterbc's own policies in LeRobot."""

from dataclasses import dataclass, field

from lerobot.configs.policies import PreTrainedConfig
from lerobot.configs.types import FeatureType, NormalizationMode
from lerobot.optim.optimizers import AdamConfig

from counterbc.policies import POLICIES

from .counter_options import CounterOptions, lagged_indices

STATE, ENVIRONMENT = "observation.state", "observation.environment_state"


def _identity() -> dict[str, NormalizationMode]:
    return {kind.value: NormalizationMode.IDENTITY for kind in FeatureType}


@PreTrainedConfig.register_subclass("counterbc")
@dataclass
class CounterBCConfig(CounterOptions, PreTrainedConfig):
    """A policy of counterbc, new or from a run of `counterbc train`.

    It scales observations and actions itself, as it does outside LeRobot, so LeRobot's processors
    leave them as they are.
    """

    kind: str = "gaussian-mlp"
    """The policy: gaussian-mlp, gaussian-gru, mixture, chunk or flow."""
    hidden: list[int] = field(default_factory=lambda: [256, 256])
    """Units of each hidden layer; the same for each in a chunk or flow."""
    n_obs_steps: int = 1
    """The number of observations that are read, the current one last."""
    chunk_size: int = 1
    """The number of actions that are predicted at once."""
    n_action_steps: int = 1
    """How many of them are executed before the policy predicts again."""
    counterfactuals: int = 50
    """Actions drawn from C(s, a) beside the demonstrated one."""
    act: str = "mean"
    """mean for the action as deployed, sample for one that is drawn from the policy."""
    seed: int = 0
    """The seed of the initial parameters and of sampled actions."""
    obs_keys: list[str] = field(default_factory=list)
    """The features that form the observation vector, in order; by default all that are no images,
    observation.state first."""
    run: str = ""
    """The configuration of the run in JSON. It is filled in when the policy is made."""
    optimizer_lr: float | None = None
    """The learning rate; by default that of the policy."""
    normalization_mapping: dict[str, NormalizationMode] = field(default_factory=_identity)

    def __post_init__(self):
        super().__post_init__()
        self.check_counter_options()
        if self.kind not in POLICIES:
            raise ValueError(f"kind is {self.kind!r}; choose one of {', '.join(POLICIES)}")
        if set(self.normalization_mapping.values()) - {NormalizationMode.IDENTITY}:
            raise ValueError("a counterbc policy scales its data itself; leave out normalization")

    @property
    def vector_keys(self) -> list[str]:
        """The features that form the observation vector, in order."""
        if self.obs_keys:
            return self.obs_keys
        kinds = (FeatureType.STATE, FeatureType.ENV)
        names = [name for name, f in self.input_features.items() if f.type in kinds]
        order = {STATE: 0, ENVIRONMENT: 1}
        return sorted(names, key=lambda name: order.get(name, 2))

    def validate_features(self) -> None:
        if self.action_feature is None:
            raise ValueError("the dataset has no feature 'action'")
        if not self.vector_keys and not self.run:
            raise ValueError(
                "a counterbc policy learns from vectors in LeRobot, but the dataset has only "
                "images; use counter_act or counter_diffusion, or counterbc train"
            )

    def get_optimizer_preset(self) -> AdamConfig:
        lr = self.optimizer_lr or POLICIES[self.kind].learning_rate
        return AdamConfig(lr=lr, weight_decay=0.0)

    def get_scheduler_preset(self) -> None:
        return None

    @property
    def observation_delta_indices(self) -> list[int] | None:
        return list(range(1 - self.n_obs_steps, 1)) if self.n_obs_steps > 1 else None

    @property
    def action_delta_indices(self) -> list[int]:
        return lagged_indices(list(range(self.chunk_size)), self.lag)

    @property
    def reward_delta_indices(self) -> None:
        return None
