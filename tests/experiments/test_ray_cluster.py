"""A study on a real Ray cluster of two nodes on this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from counterbc.errors import OptionError
from counterbc.experiments.ray_cluster import run_on_ray
from counterbc.experiments.study import Study
from tests.experiments.cells import TINY, repeatable

ray = pytest.importorskip("ray", reason="the ray extra is not installed")

pytestmark = [
    pytest.mark.slow,  # a cluster takes a minute to start
    pytest.mark.filterwarnings("ignore"),  # of Ray's own threads and sockets
]
CELLS = [
    replace(TINY, pairs=pairs, method=method, radius=radius, steps=2000)
    for pairs in (20, 40, 60, 80)
    for method, radius in (("bc", None), ("counter-bc", 0.4))
]


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A head without cores for tasks; the tests add the machines that work."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_USAGE_STATS_ENABLED", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    monkeypatch.setenv("RAY_raylet_start_wait_time_s", "300")  # on a busy machine
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    yield made
    ray.shutdown()
    made.shutdown()  # type: ignore[no-untyped-call]  # untyped by Ray


def test_a_study_that_loses_a_machine_has_the_rows_of_a_local_one(
    cluster: Any, tmp_path: Path
) -> None:
    remote = Study(CELLS, tmp_path / "ray")
    lost, _ = (cluster.add_node(num_cpus=1) for _ in range(2))
    left: list[int] = []

    def lose_a_machine() -> None:
        while len(remote.missing()) == len(CELLS):  # in the middle: some are done
            time.sleep(0.02)
        lost.kill_raylet()
        left.append(len(remote.missing()))

    trouble = threading.Thread(target=lose_a_machine, daemon=True)
    trouble.start()
    assert remote.run("cpu", on="ray", address=cluster.address) == len(CELLS)
    trouble.join()
    assert 0 < left[0] < len(CELLS)
    local = Study(CELLS, tmp_path / "local")
    local.run("cpu", workers=1)
    assert repeatable(remote.table()) == repeatable(local.table())


def _fail() -> None:
    raise OptionError("unknown world 'nowhere'")


def test_an_error_of_a_job_is_raised_here_as_it_is(cluster: Any) -> None:
    cluster.add_node(num_cpus=1)
    with pytest.raises(OptionError, match="unknown world 'nowhere'"):
        run_on_ray({"bad": _fail}, lambda *_: None, cluster.address)
