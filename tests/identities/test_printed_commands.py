"""Every command that is printed to paste runs in a shell as it is, and a second time."""

from __future__ import annotations

import html
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from counterbc.commands import COMMANDS
from counterbc.data.demonstrations import Demonstrations
from tests.fixture_types import Call, Make, Paste

pytestmark = pytest.mark.filterwarnings("ignore::counterbc.errors.InfeasibleActions")
LINE = re.compile(rf"counterbc (?:{'|'.join(COMMANDS)})\b.*$", re.M)
QUICK = ("--steps", 5, "--lag", 0)
ROUGH = ("--repeats", 1, "--radius", 0.2, "--force")


@pytest.fixture
def people(make_demos: Make, folder: Path) -> Demonstrations:
    """Demonstrations of two operators, saved under a name that needs quotes."""
    demos = make_demos(episodes=10, length=12)
    bad = replace(demos.episodes[4], action=-demos.episodes[4].action)
    demos = replace(demos, episodes=(*demos.episodes[:4], bad, *demos.episodes[5:]))
    demos.save("my demos.hdf5")
    return demos


def check_pasted(lines: list[str], paste: Paste) -> None:
    """Run each line twice. Only a file that the line itself names may stand in the way then."""
    assert lines
    for line in lines:
        first, second = paste(line), paste(line)
        assert first.returncode == 0, f"{line}\n{first.stderr}"
        is_named = " --out " in line
        assert second.returncode == int(is_named), f"{line}\n{second.stderr}"
        assert ("already exists" in second.stderr) == is_named


@pytest.mark.slow
@pytest.mark.parametrize(
    "typed",
    [
        ("inspect", *QUICK[:2], "--operator", "ada", "--low", -2, "--high", 2),
        ("compare", *QUICK, "--methods", "counter-bc", "--exclude", "demo_3", "--radius", 0.1, 0.2),
        ("tune", "--method", "bc", "--step-counts", 5, "--folds", 2, "--mask", "expert"),
        ("radius", *QUICK[2:], "--method", "posterior", "--radii", 0, 0.1, 0.2, "--steps", 5),
        ("train", *QUICK, "--obs", "state", "--out", "the run"),
        ("train", *QUICK, "--env", "counterbc/Nowhere-v0"),
        ("score", *QUICK[:2], *ROUGH, "--worst", 2, "--operator", "ada", "bob"),
        ("influence", "--splits", 40, "--steps", 20, "--force", "--method", "bc"),
        ("clean", *QUICK[:2], *ROUGH, "--exclude", "demo_4"),
        ("clean", *QUICK[:2], *ROUGH),
        ("intents", "--groups", 2),
        ("intents", "--groups", 2, "--out", "two groups.hdf5"),
        ("intents", "--groups", 1, "--operator", "ada"),
        ("report", *QUICK[:2], *ROUGH, "--exclude", "demo_1"),
        ("report", *QUICK[:2], *ROUGH, "--no-intents", "--operator", "ada", "bob"),
        ("convert", "converted.npz", "--exclude", "demo_1"),
    ],
    ids=lambda typed: " ".join(map(str, typed)),
)
def test_what_a_command_prints_about_a_file_runs_twice(
    typed: tuple[object, ...], people: Demonstrations, call: Call, paste_often: Paste
) -> None:
    status, out, err = call(typed[0], "my demos.hdf5", *typed[1:])
    assert status == 0, err
    lines = LINE.findall(out)
    assert [line for line in out.splitlines() if line.startswith("Next: ")]
    for page in Path().glob("report*.html"):
        lines += [
            html.unescape(line) for line in LINE.findall(re.sub(r"<[^>]*>", "\n", page.read_text()))
        ]
    check_pasted(lines, paste_often)


@pytest.mark.slow
def test_what_is_printed_about_a_world_and_a_run_runs_twice(call: Call, paste_often: Paste) -> None:
    _, out, _ = call("demo", "--seeds", 2, "--pairs", 40, "--steps", 5, "--episodes", 2)
    assert LINE.findall(out) == ["counterbc demonstrate intersection --pairs 40"]
    check_pasted(LINE.findall(out), paste_often)
    call("train", "demos-2.hdf5", *QUICK, "--radius", 0.2)
    status, out, err = call("evaluate", "run", "--episodes", 2, "--act", "sample")
    assert (status, LINE.findall(out)) == (0, ["counterbc export run --act sample"]), err
    check_pasted(LINE.findall(out), paste_often)
    assert Path("run-2.onnx").exists()


def test_damaged_episodes_are_left_out_by_what_is_printed(
    make_demos: Make, call: Call, paste: Paste
) -> None:
    demos = make_demos(episodes=6)
    obs = [episode.obs.copy() for episode in demos.episodes]
    text = "\n".join(
        f"{e},{o[0]},{'nan' if (e, t) == (2, 4) else o[1]},{a[0]}"
        for e in range(6)
        for t, (o, a) in enumerate(zip(obs[e], demos.episodes[e].action, strict=True))
    )
    Path("demos.csv").write_text("episode,obs_0,obs_1,action_0\n" + text + "\n")
    status, out, err = call("inspect", "demos.csv")
    (line,) = LINE.findall(out)
    assert (status, line.split()[:3]) == (0, ["counterbc", "inspect", "demos.csv"]), err
    again = paste(line)
    assert again.returncode == 0, again.stderr
    assert LINE.findall(again.stdout)[0].split()[:3] == ["counterbc", "compare", "demos.csv"]


def test_the_commands_to_paste_are_in_the_json_too(people: Demonstrations, call: Call) -> None:
    text = call("inspect", "my demos.hdf5", "--operator", "ada")[1]
    payload = json.loads(call("inspect", "my demos.hdf5", "--operator", "ada", "--json")[1])
    assert payload["next"] == ["counterbc compare 'my demos.hdf5' --operator ada"]
    assert text.splitlines()[-1] == f"Next: {payload['next'][0]}"
