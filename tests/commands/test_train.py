"""counterbc train, as people type it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

import counterbc
from counterbc.cli import main
from counterbc.commands.train import Train
from counterbc.data.demonstrations import Demonstrations
from counterbc.errors import CounterBCError
from counterbc.methods import METHODS, Method
from counterbc.weightings import Advantage
from tests.fixture_types import Call, CallJson, CheckRefused

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")


def test_several_files_are_merged_and_name_the_operators(
    tmp_path: Path, call_json: CallJson
) -> None:
    for name in ("ann", "bob"):
        call_json("demonstrate", "intersection", "--pairs", 40, "--out", tmp_path / name)
    payload = call_json("inspect", tmp_path / "ann", tmp_path / "bob")
    assert payload["operators"] == {"ann": 2, "bob": 2}
    out = tmp_path / "run"
    payload = call_json(
        "train", tmp_path / "ann", tmp_path / "bob", "--operator", "bob", "--method", "bc",
        "--steps", 3, "--out", out,
    )  # fmt: skip
    assert payload["data"][0]["pairs"] == 40


def test_held_out_training_draws_the_loss_curve(
    intersection_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    run = tmp_path / "run"
    payload = call_json("train", intersection_file, "--steps", 20, "--held-out", 0.34, "--out", run)
    assert len(payload["held_out_error"]) == len(payload["mean_action_error"]) == 1
    assert (run / "loss.png").stat().st_size > 1000
    assert call("evaluate", run, "--episodes", 2)[0] == 0


@pytest.mark.parametrize(("steps", "verdict"), [(1, "no less; see the curve"), (400, r"\d+% less")])
def test_a_held_out_error_is_printed_beside_that_of_the_mean_action(
    steps: int, verdict: str, intersection_file: Path, tmp_path: Path, call: Call
) -> None:
    words = ("--method", "bc", "--lag", 0, "--held-out", 0.34, "--out", tmp_path / "run")
    status, out, _ = call("train", intersection_file, "--steps", steps, *words)
    assert status == 0
    assert re.search(r"held out squared error [\d.]+ after the last step; .* mean action", out)
    assert re.search(verdict, out)


def test_an_environment_that_does_not_fit_is_noticed_before_the_training(
    demo_file: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise CounterBCError("the training begins")

    monkeypatch.setattr("counterbc.trainer.train", refuse)
    out = ("--out", tmp_path / "run")
    status, _, err = call("train", demo_file, "--env", "intersection", *out)
    note, end = err.splitlines()[-2:]
    assert status == 1
    assert "The policies cannot be tested here: the observations of intersection are" in note
    assert "the training begins" in end
    assert "cannot be tested" not in call("train", demo_file, *out)[2]


def test_a_random_subset_of_pairs_can_be_learned_from(
    intersection_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    run = tmp_path / "run"
    payload = call_json(
        "train", intersection_file, "--pairs", 25, "--method", "bc-rnn", "--steps", 3, "--out", run
    )
    assert payload["data"][0]["pairs"] == 25


@pytest.mark.parametrize(
    ("option", "allowed_words"),
    [
        ("kernel", "auto, torch, numba, triton or cuda"),
        ("feasible", "project, keep"),
        ("shape", "ball, box, student-t or gaussian"),
        ("policy", "gaussian-mlp"),
    ],
)
def test_a_word_that_a_setting_does_not_take_is_refused_in_one_sentence(
    option: str, allowed_words: str, intersection_file: Path, tmp_path: Path, call: Call
) -> None:
    status, out, err = call(
        "train", intersection_file, f"--{option}", "foo", "--out", tmp_path / "run"
    )
    assert (status, out, len(err.splitlines())) == (1, "", 1)
    assert f"{option} " in err
    assert "'foo'" in err
    assert allowed_words in err
    assert "None" not in err
    assert not (tmp_path / "run").exists()


def test_the_help_says_what_a_registered_method_needs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(METHODS, "half-bc", Method(weighting=Advantage(form="exponential")))
    with pytest.raises(SystemExit):
        main(["train", "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "The method. ileed needs operators (one named for every episode); " in text
    assert "half-bc needs rewards (one for every pair)." in text
    assert "weighted-bc needs" not in text


@pytest.mark.slow
def test_ctrl_c_keeps_a_checkpoint_and_resume_finishes_it(
    intersection_file: Path, tmp_path: Path
) -> None:
    run = tmp_path / "run"
    command = [sys.executable, "-m", "counterbc", "train", str(intersection_file), "--method", "bc"]
    command += ["--steps", "1000000", "--out", str(run)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 300
    while not run.exists() and time.monotonic() < until:
        time.sleep(0.05)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert re.search(r"stopped at step \d+ of 1000000; .*--resume", err)
    assert {*os.listdir(run)} == {"config.json", "model.safetensors", "training.safetensors"}


def test_a_new_training_instead_of_a_resumed_one_is_announced(
    demo_file: Path, tmp_path: Path, call: Call
) -> None:
    words = ("--method", "bc", "--steps", 2, "--lag", 0, "--out", tmp_path / "run", "--resume")
    status, _, err = call("train", demo_file, *words)
    assert (status, err.count(" to resume, so a new training starts.\n")) == (0, 1)
    status, _, err = call("train", demo_file, *words)
    assert (status, "new training" in err, "finished already" in err) == (1, False, True)


def test_a_flow_without_a_radius_is_called_bc_in_every_summary(
    demo_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    run = tmp_path / "run"
    options = ("--policy", "flow", "--steps", 2, "--lag", 0, "--hidden", 8, "--horizon", 4)
    status, out, _ = call("train", demo_file, *options, "--average-chunks", "--out", run)
    assert status == 0
    assert "trained with bc\n" in out
    assert "bc, not counter-bc: without --radius, a Flow has no counterfactuals" in out
    assert "it predicts 4 actions at every step and averages the overlapping chunks" in out
    status, out, _ = call("export", run, tmp_path / "p.onnx")
    assert status == 0
    assert out.startswith("bc, member 0 (seed 0), act=mean: obs 2 × 3 → actions 4 × 2, to average")
    payload = call_json("train", demo_file, *options, "--radius", 0.2, "--out", tmp_path / "other")
    assert payload["method"] == "counter-bc"


def test_averaged_chunks_are_not_executed_in_part(check_refused: CheckRefused) -> None:
    options = ("--policy", "flow", "--execute", 4, "--average-chunks")
    check_refused("train", options, "execute is 4, but this policy predicts at every step")


@pytest.mark.filterwarnings("ignore::counterbc.errors.Diverged")
def test_a_training_in_which_every_member_diverged_fails(
    intersection_file: Path, tmp_path: Path, call: Call
) -> None:
    episodes, path = counterbc.load(intersection_file).episodes, tmp_path / "huge.hdf5"
    Demonstrations(tuple(replace(e, action=1e25 * e.action) for e in episodes)).save(path)
    options = ("--radius", 0.1, "--lag", 0, "--steps", 20)
    status, text, _ = call("train", path, *options, "--no-scale-actions", "--out", tmp_path / "run")
    assert status == 1
    assert "Every member diverged" in text
    assert text.splitlines()[-1] == f"Next: counterbc inspect {path}"
    status, text, _ = call("train", intersection_file, *options, "--out", tmp_path / "another run")
    assert status == 0
    assert f"Next: counterbc evaluate '{tmp_path / 'another run'}'" in text


def test_a_file_whose_actions_were_cut_is_trained_as_censored_once_that_is_declared(
    demo_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    train = ("train", demo_file, "--method", "bc", "--steps", 2, "--lag", 0, "--out")
    assert call_json(*train, tmp_path / "silent")["censored"] is False
    status, _, err = call(*train, tmp_path / "refused", "--censored", "True")
    assert status == 1
    assert "declare it: --actions-are taken" in " ".join(err.split())
    assert not (tmp_path / "refused").exists()
    payload = call_json(*train, tmp_path / "cut", "--actions-are", "taken")
    assert (payload["censored"], payload["kernel"]) == (True, "torch")
    off = call_json(*train, tmp_path / "off", "--actions-are", "taken", "--censored", "False")
    assert off["censored"] is False


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            ("--learning-rate", 1000),
            "learning_rate is 1000, with which no policy learns; give at most 1",
        ),
        (("--radius", 5), "every action would be a counterfactual of every other; give at most 2"),
        (("--counterfactuals", 0), "counter-bc without counterfactuals is plain BC"),
    ],
)
def test_nonsense_is_refused_before_anything_is_read(
    options: tuple[object, ...], sentence: str, call: Call
) -> None:
    status, _, err = call("train", "absent.hdf5", *options)
    assert status == 1
    assert sentence in " ".join(err.split())


def test_several_values_may_follow_one_option(
    demo_file: Path, tmp_path: Path, call_json: CallJson
) -> None:
    quick = ("--steps", 2, "--lag", 0, "--out")
    words = ("--hidden", 8, 4, "--radius", 0.1, 0.2, *quick, tmp_path / "run")
    answer = call_json("train", demo_file, *words)
    assert answer["settings"]["hidden"] == [8, 4]
    assert answer["settings"]["radius"] == [0.1, 0.2]


def test_the_held_out_error_of_bc_is_kept_beside_that_of_the_choice(
    intersection_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    train = ("train", intersection_file, "--lag", 0, "--hidden", 8, "--out")
    payload = call_json(*train, tmp_path / "run")
    errors = payload["held_out_beside_bc"]
    assert list(errors) == ["counter-bc", "bc"]
    trials = payload["choices"][-1]["trials"]
    plain = [t["error"]["value"] for t in trials if t["radius"] == 0]
    assert errors["bc"]["value"] == min(plain)
    status, out, _ = call(*train, tmp_path / "fixed", "--steps", 5, "--radius", 0.2)
    assert (status, "held out" in out) == (0, False)


def test_a_wrong_number_of_radii_is_refused_before_anything_is_searched(
    intersection_file: Path, tmp_path: Path, call: Call
) -> None:
    options = ("--radius", 0.4, 0.4, 0, "--out", tmp_path / "run")
    status, out, err = call("train", intersection_file, *options)
    assert (status, out) == (1, "")
    assert err.splitlines()[-1] == "error: 3 radii for 2 action dimensions; give 1 or 2"
    assert "lags" not in err


def test_a_folder_named_like_a_file_is_refused(check_refused: CheckRefused) -> None:
    check_refused("train", ("--out", "policy.onnx"), "use --out policy, and later counterbc export")


@pytest.mark.parametrize(
    ("typed", "step_seconds", "options", "minutes"),
    [
        ("", 0.1, "--radius 0 --lag 0 --steps 5000", 8.3),
        ("--lag 0", 0.4, "--radius 0 --steps 1000", 6.7),
        ("--method bc", 0.1, "--lag 0 --steps 5000", 8.3),
        ("--method bc", 4.5, "--lag 0 --steps 200", 15),
        ("--method bc --steps 2000", 0.6, "--lag 0 --steps 500", 5),
        ("--steps 300", 1, "--radius 0 --lag 0 --steps 300", 5),
        ("--seeds 4 --radius 0.2", 0.15, "--lag 0 --steps 500", 5),
        ("--method bcnd", 0.08, "--lag 0 --steps 500", 8),
    ],
)
def test_the_quicker_training_searches_nothing_that_was_not_given(
    typed: str, step_seconds: float, options: str, minutes: float
) -> None:
    advice = Train.parse("train", ["demos.hdf5", *typed.split()]).advise(step_seconds)
    assert advice == (
        f"{options}, which searches nothing (about {minutes:g} minutes), or a machine with a GPU"
    )


@pytest.mark.parametrize(
    ("typed", "step_seconds", "advice"),
    [
        ("--preset paper", 1, "--steps 500 (about 8.3 minutes)"),
        ("--method bc --lag 0 --steps 2000", 1, "--steps 500 (about 8.3 minutes)"),
        ("--method bc --steps 2000", 28, "fewer --steps or --seeds"),
        ("--preset paper --steps 100", 28, "fewer --steps or --seeds"),
    ],
)
def test_where_nothing_is_searched_fewer_steps_are_quicker_unless_they_take_too_long(
    typed: str, step_seconds: float, advice: str
) -> None:
    command = Train.parse("train", ["demos.hdf5", *typed.split()])
    assert command.advise(step_seconds) == f"{advice}, or a machine with a GPU"
