"""The device to compute on."""

from __future__ import annotations

import pytest
import torch

from counterbc.acting.device import enter_device, find_device
from counterbc.errors import OptionError


def test_a_gpu_is_chosen_by_default_if_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for has_gpu, kind in ((True, "cuda"), (False, "cpu")):
        monkeypatch.setattr(torch.cuda, "is_available", lambda has_gpu=has_gpu: has_gpu)
        assert find_device(None).type == kind


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("gpu", "unknown device 'gpu'; allowed: cpu, cuda"),
        ("mps", "device mps is not supported; allowed: cpu, cuda"),
        ("cuda:99", "device cuda:99 was asked for, but .* use cpu"),
    ],
)
def test_a_device_that_cannot_be_used_is_refused(name: str, sentence: str) -> None:
    with pytest.raises(OptionError, match=sentence):
        find_device(name)


def test_a_gpu_becomes_the_current_one_and_the_cpu_needs_nothing() -> None:
    second_gpu, cpu = enter_device(torch.device("cuda:1")), enter_device(torch.device("cpu"))
    assert isinstance(second_gpu, torch.cuda.device)
    assert second_gpu.idx == 1
    assert not isinstance(cpu, torch.cuda.device)
    with cpu:
        assert torch.zeros(1).device.type == "cpu"
