"""Processors that leave all values as they are, since the policy scales them itself."""

from typing import Any

from lerobot.policies.act.processor_act import make_act_pre_post_processors

from .configuration_counterbc import CounterBCConfig


def make_counterbc_pre_post_processors(
    config: CounterBCConfig, dataset_stats: Any = None
) -> tuple[Any, Any]:
    """Return pipelines that add a batch dimension and choose the device."""
    return make_act_pre_post_processors(config, dataset_stats)
