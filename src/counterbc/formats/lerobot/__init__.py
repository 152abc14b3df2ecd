"""LeRobot datasets: a folder of Parquet tables. Versions 2.0, 2.1 and 3.0 are read, 3.0 is written.

| path | version | content |
|---|---|---|
| meta/info.json | all | version, fps, features, counts, templates of paths |
| meta/episodes.jsonl | 2 | one line per episode |
| meta/episodes/…/*.parquet | 3 | tables with one row per episode |
| data/chunk-000/episode_000000.parquet | 2 | one file per episode |
| data/chunk-000/file-000.parquet | 3 | files that hold many episodes |
| videos/… | all | videos, read with PyAV |
| meta/counterbc.json | ours | what LeRobot has no field for; see extras.py |

By default the observation is every numeric observation.* feature, observation.state first, or, if
nothing is named so, every numeric feature that is no action and no label. The action is `action`,
or its parts action.*, or `actions`. Videos and images are read if they are chosen, or if there is
nothing else. next.reward and next.success are reward and success. Each task becomes a mask
"task: …" of its episodes. meta/robomimic_masks.json and robomimic_env_args.json are read if a
converter from robomimic wrote them.
"""

from counterbc.formats.lerobot.reader import recognizes, stream
from counterbc.formats.lerobot.writer import write

__all__ = ["recognizes", "stream", "write"]
