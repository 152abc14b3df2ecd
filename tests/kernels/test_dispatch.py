"""The choice of a kernel: what each fits, what auto takes, and how a kernel by name is refused."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest
import torch
from torch import Tensor

from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import OptionError
from counterbc.kernels import dispatch
from counterbc.kernels.dispatch import choose_kernel
from counterbc.kernels.step_kernel import StepCase
from counterbc.kernels.torch_kernel import TorchKernel
from counterbc.methods import Method
from counterbc.policies import GaussianGRU, GaussianMLP, Mixture, Policy
from counterbc.policies.policy import Params
from counterbc.supports import Ball
from counterbc.trainer import train
from counterbc.weightings import Batch, PolicyLikelihood, StateExpertise, Uniform
from tests.kernels.stacks import stack


@dataclass(frozen=True)
class OtherPolicy(GaussianMLP):
    """A subclass may compute anything."""


@dataclass(frozen=True)
class OtherGRU(GaussianGRU):
    """A subclass may compute anything."""


@dataclass(frozen=True)
class OtherDensity(GaussianMLP):
    """A Gaussian that is half as wide as its head says."""

    def log_prob(self, head: tuple[Tensor, ...], actions: Tensor) -> Tensor:
        return super().log_prob((head[0], head[1] - 0.7), actions)


@dataclass(frozen=True)
class TwiceTheLoss(PolicyLikelihood):
    def loss(
        self, params: Params, batch: Batch, policy: Policy, head: tuple[Tensor, ...]
    ) -> Tensor:
        return 2 * super().loss(params, batch, policy, head)


@dataclass(frozen=True)
class FirstAction(PolicyLikelihood):
    """All weight on the demonstrated action, which makes Counter-BC plain behavior cloning."""

    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return torch.zeros_like(log_pi).index_fill(-1, torch.tensor(0), 1.0)


@dataclass(frozen=True)
class HalfTheWeight(Uniform):
    def weights(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return super().weights(params, batch, log_pi) / 2


@dataclass(frozen=True)
class Penalty(Uniform):
    def auxiliary(self, params: Params, batch: Batch, log_pi: Tensor) -> Tensor:
        return log_pi.exp().mean((-2, -1))


BALL = Ball(count=5)


@pytest.mark.parametrize(
    ("method", "changes", "name"),
    [
        ("bc", {}, "numba"),
        ("counter-bc", {}, "numba"),
        (Method(weighting=PolicyLikelihood()), {}, "numba"),
        (Method(policy=Mixture(modes=2)), {}, "numba"),
        ("bc-rnn", {}, "numba"),
        ("weighted-bc", {}, "numba"),
        ("bcnd", {}, "numba"),
        ("counter-bc", {"resample": True}, "torch, numba loss"),
        ("counter-bc", {"memory": 0.0}, "torch, numba loss"),
        ("bc", {"hidden": (256, 256)}, "torch, numba loss"),
        (Method(policy=GaussianMLP(history=2)), {}, "torch, numba loss"),
        (Method(policy=OtherPolicy()), {}, "torch, numba loss"),
        (Method(policy=Mixture(history=2)), {}, "torch"),
        (Method(policy=OtherDensity()), {}, "torch"),
        (Method(support=BALL, weighting=TwiceTheLoss()), {}, "torch"),
        (Method(support=BALL, weighting=FirstAction()), {}, "torch"),
        (Method(support=BALL, weighting=Uniform()), {}, "torch"),
        (Method(weighting=HalfTheWeight()), {}, "torch"),
        (Method(weighting=Penalty()), {}, "torch"),
        (Method(policy=OtherGRU()), {}, "torch, numba loss"),
        (Method(BALL, weighting=StateExpertise()), {}, "torch"),
        ("bc", {"dtype": torch.float64}, "torch"),
        ("bc", {"kernel": "torch"}, "torch"),
    ],
)
def test_auto_takes_the_fastest_kernel_that_fits(
    method: str | Method, changes: dict[str, Any], name: str, tiny: Demonstrations
) -> None:
    pytest.importorskip("numba", reason="the native kernels need numba")
    assert stack(tiny, method, batch=5, **changes).kernel.name == name


@pytest.mark.parametrize(
    ("method", "twin"),
    [
        (Method(support=BALL, weighting=FirstAction()), Method()),
        (Method(support=BALL, weighting=TwiceTheLoss()), Method(BALL, PolicyLikelihood())),
    ],
)
def test_a_subclass_of_a_weighting_in_closed_form_is_trained_as_it_is_written(
    method: Method, twin: Method, tiny: Demonstrations, quick: Any
) -> None:
    """Adam takes the same steps for twice the loss, and plain BC is one action with all weight."""
    policies, reference = quick(tiny, method, radius=0.4), quick(tiny, twin, kernel="torch")
    for name, value in reference.params.items():
        scale = float(value.abs().max())
        torch.testing.assert_close(policies.params[name], value, rtol=0, atol=1e-3 * scale)


@pytest.mark.parametrize("weighting", [FirstAction(), TwiceTheLoss(), HalfTheWeight(), Penalty()])
def test_auto_trains_a_subclass_to_the_bits_of_torch(
    weighting: Any, tiny: Demonstrations, quick: Any
) -> None:
    method = Method(support=BALL, weighting=weighting)
    auto, plain = (quick(tiny, method, radius=0.4, kernel=k) for k in ("auto", "torch"))
    for name, value in plain.params.items():
        assert torch.equal(auto.params[name], value)


@pytest.mark.parametrize(
    ("kernel", "method", "changes", "reason"),
    [
        ("triton", "bc", {}, "it runs on cuda and this training is on cpu"),
        ("cuda", "bc", {}, "it runs on cuda and this training is on cpu"),
        ("numba", "bc", {"dtype": torch.float64}, "this training is in float64"),
        (
            "numba",
            Method(policy=OtherGRU()),
            {},
            "only policies made of .* OtherGRU",
        ),
        ("numba", "counter-bc", {"resample": True}, "the counterfactuals are not kept in memory"),
        ("numba", "bc", {"hidden": (8, 50_000)}, "is too wide"),
    ],
)
def test_a_kernel_that_does_not_fit_is_refused_by_its_reason(
    kernel: str, method: str | Method, changes: dict[str, Any], reason: str, tiny: Demonstrations
) -> None:
    if kernel == "numba":
        pytest.importorskip("numba", reason="the kernel needs numba")
    with pytest.raises(
        OptionError, match=f"kernel is '{kernel}', but .*{reason}.*; use the kernel"
    ):
        train(tiny, method, kernel=kernel, radius=0.4, steps=2, device="cpu", **changes)


def test_without_numba_auto_is_torch_and_numba_is_refused(
    tiny: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "counterbc.kernels.numba_kernel", None)
    monkeypatch.setitem(sys.modules, "counterbc.kernels.numba_loss", None)
    assert stack(tiny).kernel.name == "torch"
    with pytest.raises(OptionError, match=r"numba is not installed \(pip install 'counterbc\[f"):
        stack(tiny, kernel="numba")


@pytest.mark.parametrize(
    "error", [ImportError("Numba needs NumPy 2.3 or less"), OSError("no llvmlite.so")]
)
def test_a_library_that_cannot_be_imported_is_refused_with_its_own_words(
    error: Exception, tiny: Demonstrations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def import_kernel(name: str) -> ModuleType:
        if "numba" in name:
            raise error
        return import_module(name)

    monkeypatch.setattr(dispatch, "import_module", import_kernel)
    assert stack(tiny).kernel.name == "torch"
    sentence = rf"numba is installed but cannot be imported \({error}\); use the kernel torch"
    with pytest.raises(OptionError, match=sentence):
        stack(tiny, kernel="numba")


def test_without_triton_the_message_names_the_build_of_torch_that_brings_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "counterbc.kernels.triton_kernel", None)
    case = StepCase(
        policy=GaussianMLP(),
        weighting=Uniform(),
        obs_size=3,
        action_size=2,
        samples=1,
        in_memory=True,
        networks=1,
        batch=10,
        device="cuda",
        dtype=torch.float32,
    )
    assert choose_kernel("auto", case) is TorchKernel
    sentence = (
        r"triton is not installed \(install a CUDA build of torch, which brings triton\); use"
    )
    with pytest.raises(OptionError, match=sentence):
        choose_kernel("triton", case)


def test_a_name_that_is_no_kernel_is_refused(tiny: Demonstrations) -> None:
    with pytest.raises(OptionError, match="kernel is 'jax'; it must be auto, torch, numba, tri"):
        train(tiny, kernel="jax")


def test_the_configuration_names_the_kernel(tiny: Demonstrations, quick: Any) -> None:
    for kernel, method in (("torch", "weighted-bc"), ("auto", Method(weighting=Penalty()))):
        config = quick(tiny, method, kernel=kernel).config
        assert config["kernel"] == config["versions"]["kernel"] == "torch"
        assert config["settings"]["kernel"] == kernel
