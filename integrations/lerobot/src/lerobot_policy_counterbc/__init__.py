"""Counter-BC for LeRobot, found by its scripts through the name of the distribution.

| --policy.type | policy | what is learned |
|---|---|---|
| counterbc | those of counterbc, flows included | Counter-BC, eq. M4 |
| counter_act | ACT | the L1 error outside a ball of radius Δ around the demonstrated action |
| counter_diffusion | diffusion policy | the denoising error of actions near the demonstrated one |

Importing this package registers their configurations.
"""

from . import configuration_counter_act as configuration_counter_act
from . import configuration_counter_diffusion as configuration_counter_diffusion
from . import configuration_counterbc as configuration_counterbc
