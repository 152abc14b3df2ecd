"""What a run folder claims is checked when it is loaded, before memory is taken for it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from counterbc.acting.policies import Policies
from counterbc.errors import OptionError
from tests.acting.editing import Change, check_refused, reconfigured, retensored

BAD: dict[str, tuple[Change, str]] = {
    "absurd layers": (
        reconfigured(lambda c: c["policy"].update(hidden=[40_000, 40_000])),
        "the parameters do not fit the policy",
    ),
    "an absurd number of modes": (
        reconfigured(lambda c: c.update(policy={"kind": "mixture", "modes": 10**9})),
        "the parameters do not fit the policy",
    ),
    "an absurd image": (
        reconfigured(lambda c: c.update(policy={"kind": "gaussian-cnn", "image": [10**6] * 3})),
        "the parameters do not fit the policy",
    ),
    "a million layers": (
        reconfigured(lambda c: c["policy"].update(hidden=[1] * 1_000_000)),
        "1000000 hidden layers for 6 parameters",
    ),
    "layers of another kind": (
        reconfigured(lambda c: c["policy"].update(hidden=[8.5, True])),
        r"hidden of the policy is \(8.5, True\)",
    ),
    "an endless history": (
        reconfigured(lambda c: c["policy"].update(history=10**9)),
        "reads 1000000000 observations; at most 1000 are allowed",
    ),
    "a list as policy": (reconfigured(lambda c: c["policy"].update(kind=["a"])), "unknown policy"),
    "a seed without end": (
        reconfigured(lambda c: c["members"][0].update(seed=2**63)),
        "a seed has more than 64 bits",
    ),
    "no networks": (reconfigured(lambda c: c.update(shards=0)), "2 members of 0 networks"),
    "radii of different lengths": (
        reconfigured(lambda c: c["members"][1].update(radius=[0.1] * 9)),
        "a radius of 9 numbers for",
    ),
    "names of other actions": (
        reconfigured(lambda c: c["config"].update(two_valued=["x"])),
        "do not fit",
    ),
    "names that are numbers": (
        reconfigured(lambda c: c["config"].update(obs_names=[1])),
        r"obs_names is \[1\]; expected a list of names",
    ),
    "an environment that is a list": (
        reconfigured(lambda c: c["config"].update(env=["a"])),
        "env is .*; expected a text",
    ),
    "NaN weights": (
        retensored(lambda t: t["policy/head.bias"][1].fill_(torch.nan)),
        "the parameters of network 1 are not finite",
    ),
    "infinite scales": (
        retensored(lambda t: t["normalization/obs_mean"][1].fill_(torch.inf)),
        "obs_mean of the normalization is not finite",
    ),
    "scales of zero": (
        retensored(lambda t: t["normalization/obs_scale"].fill_(0)),
        "scales that are not positive",
    ),
    "weights of another type": (
        retensored(lambda t: t.update({"policy/head.bias": t["policy/head.bias"].double()})),
        "not all of type float32",
    ),
    "a curve of other members": (
        retensored(lambda t: t.update({"curve/loss": torch.zeros(2, 5)})),
        "curve/loss has shape",
    ),
    "a weighting of other networks": (
        retensored(lambda t: t.update({"weighting/rho": torch.zeros(7)})),
        r"weighting/rho has shape \(7,\) for 2 networks",
    ),
}


@pytest.mark.parametrize("name", list(BAD))
def test_false_claims_are_refused_in_one_sentence(name: str, run: Path) -> None:
    check_refused(run, *BAD[name])


def test_members_that_diverged_in_training_are_loaded_but_do_not_act(
    run: Path, tmp_path: Path
) -> None:
    policies = Policies.load(run)
    params = {name: value.clone() for name, value in policies.params.items()}
    params["head.bias"][1] = torch.nan
    replace(policies, params=params).save(tmp_path / "diverged")
    loaded = Policies.load(tmp_path / "diverged")
    assert loaded.diverged.tolist() == [False, True]
    loaded[0].actor()
    with pytest.raises(OptionError, match="diverged and cannot act; train again"):
        loaded[1].actor()
