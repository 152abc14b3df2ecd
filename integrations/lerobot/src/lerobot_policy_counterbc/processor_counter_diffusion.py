"""The processors of diffusion policies, under the name that LeRobot looks for."""

from lerobot.policies.diffusion.processor_diffusion import (
    make_diffusion_pre_post_processors as make_counter_diffusion_pre_post_processors,
)

__all__ = ["make_counter_diffusion_pre_post_processors"]
