"""The pairs of networks, and the parts that are trained as one stack each."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from counterbc.data.demonstrations import Demonstrations
from counterbc.training import view as view_module
from tests.kernels.stacks import stack


def test_the_case_of_a_view_counts_networks_sizes_and_samples(tiny: Demonstrations) -> None:
    view = stack(tiny, "counter-bc", counterfactuals=7, memory=0.0).view
    case = view.case(batch=11)
    assert (case.obs_size, case.action_size, case.samples) == (3, 2, 8)
    assert (case.networks, case.batch, case.device, case.in_memory) == (3, 11, "cpu", False)


def test_vectors_are_trained_as_one_stack(tiny: Demonstrations) -> None:
    view = stack(tiny, seeds=5).view
    assert view.networks_at_once(batch=20) == 5
    assert [rows.tolist() for rows, _ in view.parts] == [[0, 1, 2, 3, 4]]
    assert view.parts[0][1] is view


@pytest.mark.parametrize(
    ("at_once", "sizes"), [(10_000, 5), (3 * 20 * 3, 3), (2 * 20 * 3, 2), (1, 1)]
)
def test_images_are_trained_by_as_many_networks_at_once_as_read_few_numbers(
    at_once: int, sizes: int, tiny: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(view_module, "_IMAGE", 3)  # a state of three numbers is an image
    monkeypatch.setattr(view_module, "_AT_ONCE", at_once)
    view = stack(tiny, seeds=5).view
    assert min(view.networks_at_once(batch=20), 5) == sizes


@pytest.mark.parametrize(("method", "radius"), [("counter-bc", 0.4), ("weighted-bc", 0.4)])
def test_parts_hold_every_network_once_with_its_columns(
    method: str, radius: float, tiny: Demonstrations
) -> None:
    view = stack(tiny, method, seeds=5, radius=radius).view
    view.divide(2)
    view.update_columns(None, 1)
    assert [rows.tolist() for rows, _ in view.parts] == [[0, 1], [2, 3], [4]]
    position, epoch = torch.arange(4).expand(5, -1), torch.zeros(5, 4, dtype=torch.int64)
    whole: Any = view.batch(position, epoch)
    for rows, part in view.parts:
        batch: Any = part.batch(position[rows], epoch[rows])
        assert torch.equal(batch.obs, whole.obs[rows])
        assert torch.equal(batch.actions, whole.actions[rows])
        assert set(batch.columns) == set(whole.columns)
        for name, column in batch.columns.items():
            assert torch.equal(column, whole.columns[name][rows])


def test_networks_without_radius_are_apart_from_the_others(tiny: Demonstrations) -> None:
    view = stack(tiny, "counter-bc", seeds=5).view
    view.counterfactuals.radius[[1, 3]] = 0
    view.divide(2)
    assert [rows.tolist() for rows, _ in view.parts] == [[1, 3], [0, 2], [4]]
    assert [part.method.support.count > 0 for _, part in view.parts] == [False, True, True]
