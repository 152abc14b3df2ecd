"""robomimic HDF5: one group per demonstration, one dataset per observation key.

| place | attributes | datasets |
|---|---|---|
| data | total, env_args (JSON) | |
| data/demo_i | num_samples | actions, rewards, dones, obs/<key> |
| mask/<name> | | byte strings: the names of a subset of the demos |

What robomimic has no place for is in attributes and a dataset that robomimic ignores. On `data`:
written_by, action_low, action_high, action_set, actions_are, relative, angles, action_names,
obs_names, obs_keys, rate. On a demo: name, operator, success and the dataset `selected`. A file
with `written_by` is trusted; in any other file bounds, rate and operators follow robomimic's own
conventions.

Without a choice of observation keys, all low-dimensional keys are joined in sorted order and images
are left out. Files of robosuite are read with the four keys that robomimic trains on, if they have
them. A file whose only key is an image is read as images.
"""

from counterbc.formats.robomimic.reader import recognizes, stream
from counterbc.formats.robomimic.writer import write

__all__ = ["recognizes", "stream", "write"]
