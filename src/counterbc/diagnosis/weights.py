"""One weight per pair, in a file that travels beside the dataset.

    index           number of the pair in the dataset, int64
    episode_index   number of its episode, int64
    frame_index     number of the pair in its episode, int64
    weight          0 to 1, float32; 0 only where a lag leaves a pair without an action

These are the columns that LeRobot's tables call by the same names.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa

from counterbc.diagnosis.meaning import Meaning
from counterbc.files import aside, check_free
from counterbc.formats import parquet

SCHEMA = pa.schema(
    [
        ("index", pa.int64()),
        ("episode_index", pa.int64()),
        ("frame_index", pa.int64()),
        ("weight", pa.float32()),
    ]
)


def write_weights(meaning: Meaning, out: Path) -> None:
    """Write the weights of all pairs as Parquet; refuses a path that exists."""
    lengths = [len(e) for e in meaning.demos.episodes]
    columns = {
        "index": np.arange(sum(lengths)),
        "episode_index": np.repeat(np.arange(len(lengths)), lengths),
        "frame_index": np.concatenate([np.arange(n) for n in lengths]),
        "weight": meaning.weight,
    }
    check_free(out)
    with aside(out) as temporary:
        parquet.write(pa.table(columns, schema=SCHEMA), temporary)
