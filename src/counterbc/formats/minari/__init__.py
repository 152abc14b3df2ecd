"""Minari datasets: HDF5, Arrow and Parquet are read, HDF5 is written.

| path | content |
|---|---|
| data/metadata.json | spaces, environment, counts |
| data/main_data.hdf5 | groups episode_k: observations (T+1 rows), actions, rewards (T rows), … |
| data/<k>/… | instead: one Arrow or Parquet table of T+1 rows per episode |

The last observation has no action and is left out. The parts of a Dict or Tuple of observations are
joined and are the keys: "achieved_goal", or "a.b" and "a.0" for nested spaces. Images are read if
they are chosen, or if there is nothing else. Discrete actions are refused, since the policies have
continuous actions. infos/success is success. The object `counterbc` in metadata.json holds what
Minari has no field for.
"""

from counterbc.formats.minari.reader import recognizes, stream
from counterbc.formats.minari.writer import write

__all__ = ["recognizes", "stream", "write"]
