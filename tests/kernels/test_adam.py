"""Adam on stacked parameters equals torch's, network by network."""

from __future__ import annotations

import pytest
import torch

from counterbc.kernels.adam import Adam, fused_adam


def gradients(step: int) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(step)
    return [torch.randn(*shape, generator=generator) for shape in ((3, 4, 5), (3, 2))]


def test_twenty_steps_are_those_of_one_torch_adam_per_network() -> None:
    stack = [torch.ones(3, 4, 5), torch.ones(3, 2)]
    adam = Adam(stack, learning_rate=0.01)
    for step in range(20):
        adam.step(gradients(step))
    for net in range(3):
        single_params = [torch.ones(4, 5, requires_grad=True), torch.ones(2, requires_grad=True)]
        torchs = torch.optim.Adam(single_params, lr=0.01)
        for step in range(20):
            for parameter, gradient in zip(single_params, gradients(step), strict=True):
                parameter.grad = gradient[net]
            torchs.step()
        for our_tensor, torch_tensor in zip(stack, single_params, strict=True):
            torch.testing.assert_close(our_tensor[net], torch_tensor.detach(), rtol=1e-6, atol=1e-7)


def test_the_first_step_moves_by_the_learning_rate_against_the_gradient() -> None:
    parameter = torch.zeros(2)
    Adam([parameter], learning_rate=0.1).step([torch.tensor([3.0, -0.5])])
    torch.testing.assert_close(parameter, torch.tensor([-0.1, 0.1]))


def test_a_network_that_is_not_finite_leaves_the_others_alone() -> None:
    parameter = torch.zeros(2, 3)
    adam = Adam([parameter], learning_rate=0.1)
    adam.step([torch.tensor([[float("nan")] * 3, [1.0, 1.0, 1.0]])])
    assert bool(parameter[0].isnan().all())
    torch.testing.assert_close(parameter[1], torch.full((3,), -0.1))


def test_gradients_that_lie_otherwise_in_memory_are_taken_by_value() -> None:
    first, second = (torch.ones(2, 3, requires_grad=True) for _ in range(2))
    grad = torch.arange(6.0).view(2, 3)
    contiguous_adam, transposed_adam = Adam([first], 0.1), Adam([second], 0.1)
    for _ in range(3):
        contiguous_adam.step([grad.t().contiguous().t()])
        transposed_adam.step([grad])
    assert torch.equal(first, second)
    assert torch.equal(contiguous_adam.first[0], transposed_adam.first[0])


def test_without_the_fused_kernel_the_same_steps_are_taken() -> None:
    stack = {name: [torch.ones(3, 4, 5), torch.ones(3, 2)] for name in ("fused", "plain")}
    for name, params in stack.items():
        adam = Adam(params, learning_rate=0.01)
        assert adam.fused is not None
        if name == "plain":
            adam.fused = None
        for step in range(20):
            adam.step(gradients(step))
    for fused, plain in zip(stack["fused"], stack["plain"], strict=True):
        torch.testing.assert_close(plain, fused, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("error", [TypeError, RuntimeError])
def test_a_torch_whose_fused_kernel_takes_other_arguments_uses_the_plain_step(
    error: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    def change_signature(*_: object, **__: object) -> None:
        raise error("other arguments")

    fused_adam.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(torch, "_fused_adam_", change_signature)
        assert fused_adam("cpu") is None
    fused_adam.cache_clear()
    with monkeypatch.context() as patch:
        patch.delattr(torch, "_fused_adam_")
        assert Adam([torch.zeros(1)], 0.1).fused is None
    fused_adam.cache_clear()


def test_the_moments_of_some_parameters_come_in_the_order_asked_for() -> None:
    params = [torch.zeros(1), torch.zeros(2), torch.zeros(3)]
    adam = Adam(params, 0.1)
    adam.step([torch.full((n,), float(n)) for n in (1, 2, 3)])
    two_params, first, second = adam.of([params[2], params[0]])
    assert [len(p) for p in two_params] == [3, 1]
    torch.testing.assert_close(first[0], torch.full((3,), 0.3))
    torch.testing.assert_close(second[1], torch.full((1,), 0.001))
