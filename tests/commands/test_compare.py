"""counterbc compare"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from counterbc.commands.compare import Compare, _rounded
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.demonstrators import demonstrate, find_teacher
from counterbc.formats import load
from tests.fixture_types import Call, CallJson, CheckRefused
from tests.selection.datasets import late_demos

QUICK = (
    "--methods", "counter-bc", "--hidden", 16, "--hidden", 16, "--radii", 0, "--radii", 0.3,
    "--step-counts", 50, "--step-counts", 100,
)  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "demos.hdf5"
    late_demos(0).save(path)
    return path


@pytest.fixture
def simulation_file(tmp_path: Path) -> Path:
    path = tmp_path / "simulation_file.hdf5"
    demonstrate("intersection", find_teacher("typical"), pairs=100, seed=0).save(path)
    return path


@pytest.mark.slow
def test_the_answer_is_a_table_a_verdict_and_a_line_that_trains(
    file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    status, out, _ = call("compare", file, *QUICK)
    assert status == 0
    assert "averages of 4 networks; Δ and steps chosen on the other folds" in out
    answer = call_json("compare", file, *QUICK)
    assert [m["name"] for m in answer["methods"]] == ["bc", "counter-bc"]
    assert answer["returns"] is None
    assert f"{answer['verdicts'][0]}." in out.replace("\n", " ")
    line = out.splitlines()[-1].removeprefix("Next: counterbc ")
    words = [*shlex.split(line), "--out", str(tmp_path / "run"), "--steps", "5"]
    assert call(*words)[0] == 0


@pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
def test_returns_are_measured_in_the_environment_of_the_demonstrations(
    simulation_file: Path, call: Call, call_json: CallJson
) -> None:
    quick = (*QUICK, "--seeds", 2, "--episodes", 2)
    answer = call_json("compare", simulation_file, *quick)
    assert [entry["method"] for entry in answer["returns"]] == ["bc", "counter-bc"]
    finding, verdict = answer["verdicts"]
    assert "use " not in finding.lower()
    assert "use " in verdict.lower()
    status, out, _ = call("compare", simulation_file, *quick, "--env", "none")
    assert status == 0
    assert "return in" not in out


def test_no_environment_for_returns_leaves_the_one_that_the_data_name(data: Path) -> None:
    people = data / "pusht_human_206.hdf5"
    for env in (None, "none", "push-t"):
        assert Compare(demos=(people,), env=env).read((people,)).obs_shape == (5,)
    assert Compare(demos=(people,), env="none").read((people,)).env == "gym_pusht/PushT-v0"


def test_an_environment_that_was_typed_and_does_not_fit_is_refused_before_the_work(
    file: Path, call: Call
) -> None:
    status, out, err = call("compare", file, *QUICK, "--env", "cartpole")
    assert (status, out) == (1, "")
    assert "observations of cartpole are" in err
    assert "--env none compares held-out actions alone" in err


def test_the_comparison_survives_an_environment_of_the_data_that_does_not_fit(
    file: Path, tmp_path: Path, call: Call
) -> None:
    named = tmp_path / "named.hdf5"
    demos = load(file)
    replace(demos, env_args={"env_name": "counterbc/Cartpole-v0"}).save(named)
    status, out, err = call("compare", named, *QUICK)
    assert status == 0
    assert "Returns will not be measured: the observations of counterbc/Cartpole-v0 are" in err
    assert "held-out squared error" in out
    assert "Returns were not measured:" in out


def test_what_cannot_be_told_leads_to_a_look_at_the_data_and_to_the_default(
    tmp_path: Path, call: Call
) -> None:
    rng = np.random.default_rng(0)
    episodes = tuple(
        Episode(rng.normal(size=(20, 2)), rng.uniform(-1, 1, (20, 1))) for _ in range(6)
    )
    path = tmp_path / "noise.npz"
    Demonstrations(episodes).save(path)
    status, out, err = call("compare", path, *QUICK, "--env", "none", "--lag", 0)
    assert status == 0, err
    assert "Cannot tell: plain BC explains" in out
    assert f"To look at what is explained: counterbc inspect {path}\n" in out
    assert "plain BC is the default" in out
    assert f"Next: counterbc train {path} --method bc " in out


def test_a_small_radius_is_not_printed_as_0() -> None:
    assert _rounded(0.0004) == "0.0004"
    assert _rounded((0.30000001, 0.12345)) == "0.3/0.123"


def test_an_unknown_method_is_refused_before_anything_is_read(call: Call) -> None:
    status, _, err = call("compare", "absent.hdf5", "--methods", "counter-cb")
    assert status != 0
    assert "counter-bc" in err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--learning-rate", 1000), "with which no policy learns"),
        (("--radius", 3), "every action would be a counterfactual"),
        (("--radii", 0, 5), "every action would be a counterfactual"),
        (("--counterfactuals", 0), "counter-bc without counterfactuals is plain BC"),
        (("--env", "nowhere"), "unknown environment 'nowhere'; allowed: intersection"),
        (("--episodes", 0), "cannot evaluate 0 episodes"),
        (("--seeds", 1), "seeds is 1; methods are compared seed by seed"),
    ],
)
def test_nonsense_is_refused_before_anything_is_read(
    options: tuple[object, ...], words: str, check_refused: CheckRefused
) -> None:
    check_refused("compare", options, words)
