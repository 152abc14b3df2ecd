"""The processors of ACT, under the name that LeRobot looks for."""

from lerobot.policies.act.processor_act import (
    make_act_pre_post_processors as make_counter_act_pre_post_processors,
)

__all__ = ["make_counter_act_pre_post_processors"]
