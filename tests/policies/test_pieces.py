"""Large images that are read a few pairs at a time give the same features and gradients."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from counterbc.policies import Params
from counterbc.policies import encoder as encoder_module
from counterbc.policies.encoder import Encoder
from counterbc.policies.pieces import StoppedAtPause, stops_at_pauses
from tests.policies.torch_cnn import IMAGE, SIZE, frames

PAIRS, NETWORKS = 5, 3
Results = tuple[Tensor, list[Tensor], Tensor]


def results(*, is_stacked: bool) -> Results:
    """Return features, their gradients, and the features without gradients."""
    encoder, networks = Encoder(IMAGE, 2, (16,)), NETWORKS if is_stacked else 1
    generator = torch.Generator().manual_seed(0)
    each = [encoder.init(generator, "f") for _ in range(networks)]
    params = {k: torch.stack([p[k] for p in each]).double() for k in each[0]}
    obs = frames(networks, PAIRS, 2)
    if not is_stacked:
        params, obs = {k: v[0] for k, v in params.items()}, obs[0]
    leaves = {k: (v + 0.01).requires_grad_() for k, v in params.items()}
    features = encoder(leaves, obs, "f")
    gradients = torch.autograd.grad(features.square().sum(), list(leaves.values()))
    with torch.no_grad():
        return features.detach(), list(gradients), encoder(leaves, obs, "f")


def in_pieces(monkeypatch: pytest.MonkeyPatch, pairs: int, networks: int = 1) -> None:
    monkeypatch.setattr(encoder_module, "_LARGE", 1)
    monkeypatch.setattr(encoder_module, "_PIECE", 2 * pairs * networks * SIZE)


@pytest.mark.parametrize("is_stacked", [False, True])
@pytest.mark.parametrize("pairs", [1, 2, 5])
def test_pieces_give_the_features_and_gradients_of_all_pairs_at_once(
    pairs: int, is_stacked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = results(is_stacked=is_stacked)
    in_pieces(monkeypatch, pairs, NETWORKS if is_stacked else 1)
    for a, b in zip(results(is_stacked=is_stacked), whole, strict=True):
        torch.testing.assert_close(a, b)


def test_networks_that_are_mapped_read_pieces_as_a_stack_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoder = Encoder(IMAGE, 2, (16,))
    generator = torch.Generator().manual_seed(0)
    each = [encoder.init(generator, "f") for _ in range(NETWORKS)]
    params = {k: torch.stack([p[k] for p in each]).double() for k in each[0]}
    obs = frames(NETWORKS, PAIRS, 2)

    def features(params: Params, obs: Tensor) -> Tensor:
        return encoder(params, obs, "f")

    stacked = features(params, obs)
    in_pieces(monkeypatch, 2)
    for shared in (obs, obs[0]):  # frames of each network, or the same ones for all
        dims = (0, 0) if shared.ndim == obs.ndim else (0, None)
        mapped = torch.func.vmap(features, in_dims=dims)(params, shared)
        torch.testing.assert_close(mapped[0], stacked[0])
        assert mapped.shape == stacked.shape


def counting(stop_at: int, calls: list[int]) -> Iterator[bool]:
    while True:
        calls.append(len(calls))
        yield len(calls) > stop_at


@pytest.mark.parametrize("stop_at", [0, 3, 6])  # before the first piece, amid, and while backwards
def test_work_stops_before_a_piece(stop_at: int, monkeypatch: pytest.MonkeyPatch) -> None:
    in_pieces(monkeypatch, 1)
    calls: list[int] = []
    answers = counting(stop_at, calls)
    with pytest.raises(StoppedAtPause), stops_at_pauses(lambda: next(answers)):
        results(is_stacked=False)
    assert len(calls) == stop_at + 1
    results(is_stacked=False)  # outside the block nothing is asked
    assert len(calls) == stop_at + 1
