"""Discriminator-weighted BC: who is labelled, what d finds, and refusals."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.cli import main
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.merge import merge
from counterbc.errors import DataError, FormatError
from counterbc.methods import METHODS
from counterbc.settings import Settings
from counterbc.training.plan import plan_training, seed_members
from counterbc.training.run import plan_view
from counterbc.training.view import View
from counterbc.weightings import Discriminator
from counterbc.weightings.pretraining import Pretraining
from tests.fixture_types import Make, Train


def column(demos: Demonstrations, weighting: Discriminator) -> View:
    method = replace(METHODS["discriminator-bc"], weighting=weighting)
    plan = plan_training([demos], method, Settings(), seed_members([demos], [0], [[0.0]]))
    view = plan_view(plan, torch.device("cpu"), torch.float64)
    view.fit()
    view.update_columns(None, 1)
    return view


def three(make_demos: Make) -> Demonstrations:
    """A labelled expert, one as good without a label, and one who errs wildly."""
    episode_list = []
    for name, noise, seed in (("labelled", 0.05, 0), ("as good", 0.05, 1), ("wild", 1.5, 2)):
        demos = make_demos(episodes=12, noise=noise, seed=seed, obs_size=1)
        episodes = tuple(replace(e, operator=name) for e in demos.episodes)
        episode_list.append(replace(demos, episodes=episodes, masks={}))
    demos = merge(episode_list)
    labelled = tuple(e.name for e in demos.subset(operator="labelled").episodes)
    return replace(demos, masks={"expert": labelled})


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_an_unlabelled_expert_counts_far_more_than_a_novice(make_demos: Make) -> None:
    view = column(three(make_demos), Discriminator())
    labelled, as_good, wild = view.columns["expert"][0].view(3, 120).mean(1).tolist()
    assert as_good > 0.6
    assert as_good == pytest.approx(labelled, abs=0.3)
    assert wild < 0.2


def test_c_is_the_mean_chance_of_the_labelled_pairs(make_demos: Make) -> None:
    demos = make_demos()
    weighting = Discriminator(network=Pretraining(steps=50))
    view = column(demos, weighting)
    pairs = view._pairs(None)
    under = {p: {k[len(p) :]: v for k, v in view.fitted.items() if k.startswith(p)}
             for p in ("mu.", "d.")}  # fmt: skip
    mu = weighting.network.output(under["mu."], pairs["state"])
    d = weighting.network.output(under["d."], pairs["action"] - mu).squeeze(-1).sigmoid()[0]
    labelled = np.repeat([True, False, True, False], 10)
    c = d[torch.tensor(labelled)].mean()
    assert view.fitted["c"].item() == pytest.approx(c.item())
    target = (d / c).clamp(max=1)
    torch.testing.assert_close(view.columns["expert"][0], target)
    assert bool((target < 1).any())


def test_a_discriminator_needs_an_expert_subset(make_demos: Make, quick: Train) -> None:
    demos = make_demos()
    for masks in ({}, {"expert": ()}, {"expert": ("demo_99",)}, {"train": ("demo_0",)}):
        with pytest.raises(DataError, match=r"this method needs an expert subset .* --expert"):
            quick(replace(demos, masks=masks), "discriminator-bc")
    outside = replace(demos, masks={"expert": ("demo_0",)}, selected=np.arange(10, 40))
    with pytest.raises(DataError, match="needs an expert subset"):
        quick(outside, "discriminator-bc")


def test_another_expert_subset_is_another_training(
    make_demos: Make, quick: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = make_demos()
    second = replace(first, masks={"expert": ("demo_1", "demo_3")})
    assert first.fingerprint() == second.fingerprint()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("counterbc.training.loop.Loop.run", stop)
        with pytest.raises(KeyboardInterrupt):
            quick(first, "discriminator-bc", out=tmp_path / "run")
    with pytest.raises(FormatError, match="was started differently: other expert; resume it"):
        quick(second, "discriminator-bc", out=tmp_path / "run", resume=True)


def test_the_command_line_names_the_experts(
    make_demos: Make, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "shown.hdf5"
    replace(make_demos(), masks={}).save(path)
    common = ["train", str(path), "--method", "discriminator-bc", "--steps", "5"]
    assert main([*common, "--out", str(tmp_path / "none")]) == 1
    assert "--expert" in capsys.readouterr().err
    assert main([*common, "--expert", "zoe", "--out", str(tmp_path / "zoe")]) == 1
    assert "unknown operator 'zoe'; allowed: ada, bob" in capsys.readouterr().err
    assert main([*common, "--expert", "ada", "--out", str(tmp_path / "run")]) == 0
    assert Policies.load(tmp_path / "run").config["expert"][0]["pairs"] == 20
