"""What people type, and what they see."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from counterbc.cli import main
from counterbc.demonstrators import Chain, GaussianNoise, returns
from tests.fixture_types import Call, CallJson
from tests.processes import HEED, RUN, without_loading

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")


def test_demonstrate_reports_the_demonstrations_beside_the_expert(
    tmp_path: Path, call_json: CallJson
) -> None:
    payload = call_json(
        "demonstrate", "intersection", "--noise", "gaussian", "--sigma", 0.2,
        "--pairs", 50, "--seed", 3, "--out", tmp_path / "d.hdf5",
    )  # fmt: skip
    assert payload["pairs"] == 50
    assert payload["episodes"] == 3
    noisy, best = (returns("intersection", t, 3, 3) for t in (GaussianNoise(0.2), Chain(())))
    assert payload["mean_return"] == pytest.approx(noisy.mean())
    assert payload["expert_return"] == pytest.approx(best.mean())


def test_inspect_shows_what_is_in_a_file(
    intersection_file: Path, call: Call, call_json: CallJson
) -> None:
    payload = call_json("inspect", intersection_file)
    assert (payload["episodes"], payload["pairs"], payload["action_size"]) == (3, 60, 2)
    assert [d["name"] for d in payload["dimensions"]][-1] == "ego_dy"
    assert payload["actions_outside_bounds"] > 0
    status, out, _ = call("inspect", intersection_file)
    assert status == 0
    assert "ego_x" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("train", "{demos}", "--method", "dagger"), "unknown method 'dagger'.*counter-bc"),
        (("train", "{demos}", "--preset", "ours"), "unknown preset 'ours'.*authors"),
        (("train", "{demos}", "--radius", "-0.1"), "radius is -0.1"),
        (
            ("train", "{demos}", "--radius", "0.1", "--radius", "0.2", "--radius", "0"),
            "3 radii for 2 action dimensions",
        ),
        (("train", "{demos}", "--steps", "0"), "steps is 0"),
        (("train", "{demos}", "--device", "tpu"), "unknown device 'tpu'|not supported"),
        (("train", "{demos}", "--obs", "pixels"), "pixels"),
        (("demonstrate", "intersection", "--seed", "-1"), "seed is -1"),
        (("demo", "--radius", "-1"), "radius is -1"),
        (("demo", "--episodes", "0"), "episodes is 0"),
        (("demo", "--pairs", "3"), "pairs is 3"),
        (("train", "{demos}", "--pairs", "61"), "cannot choose 61 of 60 pairs"),
        (("train", "{demos}", "--operator", "eve"), "unknown operator 'eve'"),
        (("train", "{demos}", "--out", "{demos}"), "already exists"),
        (("train", "{demos}", "--out", "{tmp}/no/run"), "does not exist"),
        (("train", "{tmp}/none.hdf5"), "none.hdf5"),
        (("train",), "no demonstrations were given"),
        (("inspect", "{tmp}"), "{tmp}"),
        (("evaluate",), "no runs were given"),
        (("evaluate", "{tmp}"), "config.json"),
        (("demonstrate", "moon"), "unknown world 'moon'.*intersection"),
        (("demonstrate", "intersection", "--noise", "pink"), "unknown noise 'pink'.*uniform"),
        (("demonstrate", "intersection", "--sigma", "-1"), "sigma of uniform noise is -1"),
        (("demonstrate", "intersection", "--pairs", "0"), "0 pairs"),
        (("demonstrate", "intersection", "--out", "{demos}"), "already exists"),
        (("demo", "--seeds", "1"), "2 runs or more"),
        (("demo", "--noise", "pink"), "unknown noise 'pink'"),
        (("demo", "--out", "{demos}"), "already exists"),
    ],
)
def test_bad_input_is_one_clear_sentence_and_leaves_nothing_behind(
    arguments: tuple[str, ...],
    words: str,
    intersection_file: Path,
    tmp_path: Path,
    call: Call,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    words_of_call = [a.format(demos=intersection_file, tmp=tmp_path) for a in arguments]
    status, out, err = call(*words_of_call)
    assert status == 1
    assert out == ""
    assert re.search(words.format(demos=intersection_file, tmp=tmp_path), err)
    assert len([line for line in err.splitlines() if line.startswith("error:")]) == 1
    assert sorted(tmp_path.iterdir()) == before


def test_json_has_null_where_there_is_no_number(
    intersection_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    for name in ("a", "b"):
        call_json("train", intersection_file, "--steps", 2, "--out", tmp_path / name)
    runs = (tmp_path / "a", tmp_path / "b")
    status, out, _ = call("evaluate", *runs, "--episodes", 1, "--json")
    assert status == 0
    assert "NaN" not in out
    first, second = json.loads(out)["runs"]
    assert first["interval"]["low"] is None
    assert second["above_first"]["p_bonferroni"] is None
    assert call("evaluate", *runs, "--episodes", 1)[1].splitlines()[-3].endswith("–")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="counts processes in /proc")
@pytest.mark.parametrize("send", [os.kill, os.killpg], ids=["alone", "as a terminal does"])
def test_ctrl_c_stops_the_demo_and_its_workers(
    send: Callable[[int, int], None], tmp_path: Path
) -> None:
    heed = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    run = "from counterbc.cli import run; run()"  # tests may run where Ctrl-C is ignored
    process = subprocess.Popen(
        [sys.executable, "-c", heed + run, "demo", "--seeds", "2"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    _wait(lambda: _alive(process.pid) >= 3, 300)  # itself and its first workers
    send(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 130
    assert "Traceback" not in err
    assert err.splitlines()[-1] == "stopped"
    assert list(tmp_path.iterdir()) == []
    assert _wait(lambda: _alive(process.pid) == 0, 120)


def _wait(ready: Callable[[], bool], seconds: float) -> bool:
    until = time.monotonic() + seconds
    while not ready() and time.monotonic() < until:
        time.sleep(0.01)
    return ready()


def _alive(group: int) -> int:
    """How many processes of a group are left, those that only wait to be counted not included."""
    count = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        count += int(fields[2]) == group and fields[0] != "Z"
    return count


def test_the_list_of_commands_imports_neither_torch_nor_numpy() -> None:
    code = """
import sys
from counterbc.cli import main
try:
    main(["--help"])
finally:
    print({"torch", "numpy"} & set(sys.modules), file=sys.stderr)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "reproduce" in result.stdout
    assert result.stderr == "set()\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("stduio",), "unknown command 'stduio'.*did you mean studio"),
        (("Train", "x.hdf5"), "did you mean train"),
        (("{demos}",), "is no command; counterbc inspect .* shows what is in it"),
    ],
)
def test_an_unknown_command_is_one_sentence(
    arguments: tuple[str, ...],
    words: str,
    intersection_file: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as stop:
        main([a.format(demos=intersection_file) for a in arguments])
    (line,) = capsys.readouterr().err.splitlines()
    assert stop.value.code == 2
    assert re.search(words, line)
    assert line.endswith("see counterbc --help")


def test_help_and_version_need_no_dashes(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["help"], ["help", "convert"]):
        with pytest.raises(SystemExit) as stop:
            main(arguments)
        assert not stop.value.code
        assert f"usage: counterbc {arguments[-1]}".removesuffix(" help") in capsys.readouterr().out
    assert main(["version"]) == 0
    assert capsys.readouterr().out.startswith("counterbc ")


@pytest.mark.slow
def test_warnings_and_bars_stay_off_stdout(intersection_file: Path, tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "counterbc",
        "train",
        intersection_file,
        "--steps",
        "5",
        "--json",
    ]
    result = subprocess.run(
        [*map(str, command), "--out", str(tmp_path / "run")], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    assert json.loads(result.stdout)["diverged"] == []
    assert "actions lie outside the declared bounds" in result.stderr


def run_command(*arguments: object, **options: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the console script in a process of its own."""
    words = [sys.executable, "-m", "counterbc", *map(str, arguments)]
    environment = {**os.environ, **options.pop("env", {})}
    result = subprocess.run(words, stderr=subprocess.PIPE, env=environment, check=False, **options)
    result.stderr = "".join(f"{t}\n" for t in without_loading(result.stderr.decode())).encode()
    return result


@pytest.fixture
def odd_file(tmp_path: Path) -> Path:
    """Return a CSV file whose names no terminal should obey, under a path that is not UTF-8."""
    path = tmp_path / os.fsdecode(b"d\xe9mos \x1b[2J.csv")
    path.write_text("[red]speed [m/s],\x1b[31mcol\x1b[0m,Δ[/s],action\n1,2,3,4\n2,3,4,5\n", "utf-8")
    return path


@pytest.mark.parametrize(
    "environment",
    [{"PYTHONIOENCODING": "ascii"}, {"PYTHONIOENCODING": "cp1252"}, {"LC_ALL": "C"}],
    ids=lambda env: next(iter(env.values())),
)
def test_any_encoding_shows_names_as_text(environment: dict[str, str], odd_file: Path) -> None:
    result = run_command("inspect", odd_file, env=environment, stdout=subprocess.PIPE)
    assert (result.returncode, result.stderr) == (0, b"")
    assert b"[red]speed [m/s]" in result.stdout
    assert rb"\x1b[31mcol\x1b[0m" in result.stdout
    assert b"\x1b" not in result.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is full")
@pytest.mark.parametrize("options", [(), ("--json",)])
def test_an_output_on_a_full_disk_is_one_sentence(options: tuple[str, ...], odd_file: Path) -> None:
    with open("/dev/full", "wb") as full:
        result = run_command("inspect", odd_file, *options, stdout=full)
    assert result.returncode == 1
    assert result.stderr.startswith(b"error: the output could not be written ([Errno 28] No space")
    assert result.stderr.count(b"\n") == 1


@pytest.mark.slow
def test_sigterm_saves_the_state_of_a_training_and_leaves_nothing_else(
    intersection_file: Path, tmp_path: Path, call: Call
) -> None:
    arguments = ["train", str(intersection_file), "--radius", "0.1", "--lag", "0"]
    arguments += ["--ensemble", "1", "--steps", "20000000", "--out", str(tmp_path / "run")]
    words = [sys.executable, "-c", HEED + RUN, *arguments]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    assert _wait((tmp_path / "run" / "config.json").exists, 300)
    time.sleep(1)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 143
    assert re.search(r"stopped at step \d+ of 20000000; to resume, give the same options", err)
    assert sorted(p.name for p in (tmp_path / "run").iterdir()) == [
        "config.json",
        "model.safetensors",
        "training.safetensors",
    ]
