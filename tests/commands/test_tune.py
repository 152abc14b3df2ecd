"""counterbc tune"""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from pathlib import Path

import pytest
from rich.table import Table

from counterbc.commands.tune import Tune
from counterbc.formats import load
from counterbc.policies import POLICIES
from counterbc.selection.clusters import Estimate
from counterbc.selection.lag_choice import LagChoice
from counterbc.selection.tuning import Trial, Tuning
from tests.fixture_types import Call, CallJson
from tests.selection.datasets import crowd_demos, late_demos

QUICK = (
    "--hidden", 16, "--hidden", 16, "--radii", 0, "--radii", 0.3, "--step-counts", 100,
    "--step-counts", 300,
    "--longest", 3,
)  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "demos.hdf5"
    late_demos(2).save(path)
    return path


@pytest.mark.slow
def test_the_command_says_what_it_found_and_draws_it(
    file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    pictures = [tmp_path / f"tuning.{kind}" for kind in ("png", "svg")]
    answer = call_json("tune", file, *QUICK, "--plot", pictures[0])
    assert answer["lag"]["lag"] == [2.0]
    assert len(answer["trials"]) == 4
    assert answer["plot"] == str(pictures[0])
    _, out, _ = call("tune", file, *QUICK, "--plot", pictures[1])
    assert all(picture.stat().st_size > 1000 for picture in pictures)
    assert all(f"{sentence}." in out.replace("\n", " ") for sentence in answer["sentences"])
    assert "Δ 0.3" in out
    assert "5 folds of whole episodes, 300 pairs" in out
    found = f"--lag 2 --offsets none --radius {answer['radius']:g} --steps {answer['steps']}"
    ensemble = f"--ensemble {answer['ensemble']}"
    line = f"Next: counterbc train {file} --hidden 16 --hidden 16 {found} {ensemble}"
    assert out.rstrip().endswith(line)


def test_policies_that_read_a_history_are_not_said_to_see_the_present_alone(
    file: Path, call_json: CallJson
) -> None:
    quick = ("--method", "bc", "--lag", 0, "--offsets", "none", "--ensemble", 1)
    steps = ("--step-counts", 20, "--step-counts", 40, "--hidden", 16)
    shares = call_json("tune", file, *quick, *steps, "--history", 3)["shares"]
    plain = call_json("tune", file, *quick, *steps)["shares"]
    quick_look = call_json("inspect", file)["explained"]
    assert (shares["history"], plain["history"], plain["policies"]) == (3, 1, None)
    assert shares["policies"] is not None
    assert shares["present"] == quick_look["present"] != plain["present"]


def test_the_line_to_paste_trains_with_what_was_found(
    file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    given = ("--lag", 2, "--radius", 0.3, "--steps", 20, "--method", "counter-bc")
    _, out, _ = call("tune", file, *given)
    line = out.splitlines()[-1].removeprefix("Next: counterbc ")
    config = call_json(*shlex.split(line), "--out", tmp_path / "run")
    assert config["members"] == ["seed 0, radius 0.3, lag 2"]


def test_the_line_to_paste_searches_nothing_again(
    tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    path = tmp_path / "my demos.hdf5"
    crowd_demos(0.5, -0.5, 0.0, 0.0).save(path)
    search = ("--step-counts", 200, "--step-counts", 400, "--ensembles", 2, "--hidden", 8)
    _, out, _ = call("tune", path, "--lag", 0, "--ensemble", "auto", "--radii", 0, *search)
    line = out.splitlines()[-1].removeprefix("Next: counterbc ")
    config = call_json(*shlex.split(line), "--out", tmp_path / "run")
    assert not config["choices"]
    settings = config["settings"]
    assert (settings["lag"], settings["radius"], settings["ensemble"]) == (0.0, 0.0, 2)
    assert settings["steps"] in (200, 400)
    offsets = json.loads(settings["offsets"])
    assert (offsets["p0"], offsets["p1"]) == (pytest.approx([0.5], 0.1), pytest.approx([-0.5], 0.1))


def test_nothing_is_suggested_for_training_where_nothing_is_predicted(
    tmp_path: Path, call: Call
) -> None:
    path = tmp_path / "demos.hdf5"
    crowd_demos(0.5, -0.5, 0.0, 0.0).save(path)
    search = ("--step-counts", 10, "--step-counts", 30, "--ensembles", 2, "--hidden", 8)
    _, out, _ = call("tune", path, "--lag", 0, "--ensemble", "auto", "--radii", 0, *search)
    assert "a guess: lag 0 steps, Δ 0" in out.replace("\n", " ")
    assert out.splitlines()[-1] == f"Next: counterbc inspect {path}"


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--steps", 30), ("--steps", 600, "--hidden", 8)])
def test_the_same_options_give_train_the_same_radius(
    options: tuple[object, ...], file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    choice = call_json("tune", file, *options)
    choice.pop("next")
    config = call_json("train", file, *options, "--out", tmp_path / "run")
    assert config["members"] == [f"seed 0, radius {choice['radius']:g}, lag 2"]
    assert config["choices"] == [choice | {"shares": None}]  # which train does not need


@pytest.mark.parametrize("policy", ["chunk", "flow"])
def test_large_policies_have_a_fixed_radius_and_length_as_in_train(
    policy: str, file: Path, call_json: CallJson
) -> None:
    choice = call_json("tune", file, "--policy", policy, "--method", "bc", "--longest", 3)
    steps = POLICIES[policy]().steps_for(load(file).pairs)
    assert (choice["lag"]["lag"], choice["radius"], choice["steps"]) == ([2.0], 0.0, steps)
    assert (choice["ensemble"], choice["trials"]) == (1, [])
    assert "The method bc has no radius" in choice["sentences"]


@pytest.mark.slow
def test_the_line_to_paste_names_the_lag_of_each_operator(
    tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    path = tmp_path / "crowd.hdf5"
    late_demos(1, 1, 3, episodes=24).save(path)
    _, out, _ = call("tune", path, "--longest", 3, "--radius", 0.3, "--steps", 20)
    line = out.splitlines()[-1].removeprefix("Next: counterbc ")
    assert "--lag p0=1 --lag p1=1 --lag p2=3" in line
    config = call_json(*shlex.split(line), "--out", tmp_path / "run")
    assert config["members"] == ["seed 0, radius 0.3, lag 1/1/3"]
    assert not config["choices"]


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (("--method", "bc"), ["--lag", "--offsets", "--steps", "--ensemble"]),
        (("--method", "bc", "--lag", 0), ["--offsets", "--steps", "--ensemble"]),
        (("--method", "bcnd"), ["--lag", "--offsets"]),
        (("--preset", "paper"), []),
    ],
)
def test_the_line_to_paste_names_only_what_was_chosen(
    options: tuple[object, ...], names: list[str], file: Path, call: Call
) -> None:
    steps = () if "paper" in options else ("--step-counts", 5)
    _, out, _ = call("tune", file, *options, *steps, "--ensembles", 1, "--longest", 1)
    words = shlex.split(out.splitlines()[-1])
    typed = len(["Next:", "counterbc", "train", file, *options])
    assert [word for word in words[typed:] if word.startswith("--")] == names


def test_a_lag_in_seconds_needs_a_rate(file: Path, tmp_path: Path, call: Call) -> None:
    options = ("--radius", 0.3, "--steps", 20, "--lag", "0.2s")
    status, out, err = call("tune", file, *options)
    assert (status, out) == (1, "")
    assert "the data have no rate to turn seconds into steps; give the lag in steps" in err
    timed = tmp_path / "timed.hdf5"
    replace(late_demos(2), rate=10.0).save(timed)
    status, out, _ = call("tune", timed, *options)
    assert status == 0
    assert "Lag 0.2 s (2 steps), as given." in out


def test_a_combination_that_diverged_is_named_in_the_table() -> None:
    error = Estimate(0.25, 0.01)
    trials = (
        Trial(0.0, 20, error, Estimate(0.02, 0.01)),
        Trial(0.0, 40, error, Estimate(0.01, 0.02)),
        Trial(9, 20, error, Estimate(0.02, 0.01)),
    )
    tuning = Tuning(LagChoice((0.0,), "given"), 0.0, 20, trials=trials)
    (table,) = [t for t in Tune(demos=()).describe(tuning) if isinstance(t, Table)]
    assert [[*column.cells] for column in table.columns] == [
        ["Δ 0", "Δ 9"], ["0.2500 ± 0.0100", "0.2500 ± 0.0100"],
        ["*0.2500 ± 0.0100", "diverged"],
    ]  # fmt: skip


@pytest.mark.parametrize("preset", ["paper", "authors"])
def test_the_presets_of_the_paper_search_nothing(
    preset: str, file: Path, call_json: CallJson
) -> None:
    answer = call_json("tune", file, "--preset", preset)
    assert (answer["lag"]["verdict"], answer["lag"]["lag"]) == ("given", [0.0])
    assert (answer["steps"], answer["ensemble"], answer["trials"]) == (10_000, 1, [])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--plot", "tuning.pdf"), "cannot draw tuning.pdf; allowed: .png, .svg"),
        (("--folds", "1"), "folds is 1"),
        (("--step-counts", "0"), "step_counts is (0,); it must be one or more"),
        (("--seconds", "0"), "seconds is 0.0; it must be above 0"),
        (("--lag", "soon"), "lag is 'soon'; give steps such as 3, or seconds such as 0.2s"),
        (("--lag", "40"), "leaves no pair to learn from: the longest episode has 30 steps"),
        (("--lag", "1", "--lag", "2"), "2 lags for 0 operators"),
        (("--lag", "ann=1"), "unknown operator 'ann'; allowed: none, as no operators are recorded"),
        (("--lag", "auto", "--lag", "2"), "lag is 'auto'; give steps such as 3, or seconds such"),
    ],
)
def test_the_command_refuses_in_one_sentence(
    options: tuple[str, ...], words: str, file: Path, call: Call
) -> None:
    status, out, err = call("tune", file, *options)
    assert (status, out) == (1, "")
    assert words in err
    assert len([line for line in err.splitlines() if line.startswith("counterbc")]) <= 1


def test_a_flow_has_fixed_steps_and_no_radius_and_the_command_says_so(
    file: Path, call_json: CallJson
) -> None:
    answer = call_json("tune", file, "--policy", "flow", "--longest", 3)
    assert (answer["radius"], answer["steps"], answer["trials"]) == (0.0, 5_000, [])
    assert answer["sentences"][-3:-1] == [
        "The policy flow learns the shown actions alone unless a radius is given",
        "Train for 5,000 steps, which were not searched; one network",
    ]
