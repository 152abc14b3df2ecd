"""Can's worker processes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from counterbc.envs.can import workers as can_workers
from counterbc.errors import CounterBCError

Array = NDArray[Any]
needs_robosuite = pytest.mark.extra("robosuite")


@needs_robosuite
def test_processes_give_what_one_does_and_their_loss_is_told() -> None:
    pool = can_workers.Pool(2)
    try:
        states, obs, _ = pool.begin([1, 2, 3])
        local_results = can_workers.local_simulator()
        np.testing.assert_array_equal(obs, local_results.begin([1, 2, 3])[1])
        action = np.tile([0.3, 0.0, -0.3, 0, 0, 0, -1.0], (3, 1))
        np.testing.assert_array_equal(
            pool.advance(states, action)[1], local_results.advance(states, action)[1]
        )
        with pytest.raises(CounterBCError, match="the world can failed: ValueError"):
            pool.advance(states, action[:, :4])
        pool._processes[0].kill()
        pool._processes[0].join()
        with pytest.raises(CounterBCError, match="a process of the world can was lost"):
            pool.advance(states, action)
        for process in pool._processes:
            process.join(10)
            assert not process.is_alive()
    finally:
        pool.close()
