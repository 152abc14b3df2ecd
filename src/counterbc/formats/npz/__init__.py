"""numpy .npz: a few long arrays that hold all episodes end to end.

| array | shape | meaning |
|---|---|---|
| obs | (N, S), or images (N, H, W, C) uint8 | required |
| action | (N, A) | required |
| episode | (N,) | an id for each row; the rows of an episode are adjacent |
| episode_ends | (E,) | instead of `episode`: the row after the last row of each episode |
| any other name | (N, H, W, C) uint8 | optional: images of a camera, read where it is chosen |
| reward | (N,) | optional |
| operator | (N,) or (E,) | optional text; an empty text means unknown |
| selected | (N,) | optional: whether a pair is learned from |
| low, high | (A,), or a number | optional: bounds of the action |
| angles | (K,) | optional text: observation dimensions that are angles, such as state[2] |
| rate | a number | optional: pairs per second |

Without `episode` and `episode_ends` the file is one episode. Arrays of other names can be chosen as
observation or action. What arrays have no place for is in
`counterbc`, a JSON text that our writer adds and the reader trusts. Nothing is ever unpickled.
"""

from counterbc.formats.npz.reader import recognizes, stream
from counterbc.formats.npz.writer import write

__all__ = ["recognizes", "stream", "write"]
