"""Shared states: those of an operator that lie as near to other operators' as these to each other.

Distances are Euclidean between standardized observations. Neighbours are looked for in other
episodes only, since consecutive steps are alike whoever acts.
"""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from counterbc.data.arrays import Array
from counterbc.selection.readings import standardize

NEAR = 0.95
"""A state is shared if its nearest neighbour is no farther than this share of the others' are."""


def shared_states(obs: Array, operator: Array, episode: Array) -> Array:
    """Return whether each of n states (n, S) is shared with operators other than its own: (n,).

    `operator` and `episode` are numbers (n,).
    """
    scaled = standardize(obs)
    distance = cdist(scaled, scaled)  # (n, n)
    distance[episode[:, None] == episode] = np.inf
    shared = np.zeros(len(obs), bool)
    for o in np.unique(operator):
        own, other = operator == o, operator != o
        gaps = distance[np.ix_(other, other)].min(1)
        nearest = distance[np.ix_(own, other)].min(1)
        shared[own] = nearest <= np.quantile(gaps, NEAR, method="lower")
    return shared
