"""counterbc score, and what score and clean refuse."""

from __future__ import annotations

import json
import shlex
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from counterbc.acting.policies import Policies
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.formats import load, save
from tests.annotated import QUICK, hdf5_contents
from tests.fixture_types import Call, CallJson

pytestmark = pytest.mark.filterwarnings(
    "ignore::counterbc.errors.AbsentEpisodes", "ignore::counterbc.errors.InfeasibleActions"
)
TRITON = ("--kernel", "triton", "--device", "cpu")


def test_scores_name_the_worst_and_how_to_leave_them_out(
    annotated_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    status, out, err = call("score", annotated_file, *QUICK, "--worst", 2)
    assert status == 0, err
    file = tmp_path / "list.json"
    payload = call_json("score", annotated_file, *QUICK, "--worst", 2, "--episode-list", file)
    assert payload["kernel"] == "auto"
    worst_first = sorted(payload["episodes"], key=lambda s: -s["distance"])
    assert payload["worst"] == sorted(s["index"] for s in worst_first[:2])
    assert f"--dataset.episodes='{json.loads(file.read_text())}'" in out
    assert "each action dimension spans [-1, 1]" in out
    (line,) = (line.strip() for line in out.splitlines() if line.startswith("  robomimic"))
    pasted = shlex.split(line.removeprefix("robomimic").strip())
    assert pasted[:3] == ["counterbc", "score", str(annotated_file)]
    repeat = call_json(*pasted[1:-1], tmp_path / "marked.hdf5")
    assert (repeat["worst"], repeat["radius"]) == (payload["worst"], payload["radius"])
    train = shlex.split(payload["next"][0])
    call_json(*train[1:], "--steps", 2, "--radius", 0.1, "--out", tmp_path / "run")
    kept_demos = load(annotated_file).subset([i for i in range(4) if i not in payload["worst"]])
    assert Policies.load(tmp_path / "run").members[0].fingerprint == kept_demos.fingerprint()
    rows = [line for line in out.splitlines() if line.startswith("demo_")]
    assert [r.split()[0] for r in rows] == [s["name"] for s in worst_first]
    _, out, _ = call("score", annotated_file, *QUICK, "--order", "file", "--show", 1)
    assert "demo_0" in out
    assert "… 3 more episodes" in out
    assert "Too few episodes to exclude any by default" in out


def test_a_mask_without_the_worst_is_written_into_a_copy(
    annotated_file: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "masked.hdf5"
    arguments = (
        "score",
        annotated_file,
        *QUICK,
        "--worst",
        1,
        "--write-mask",
        "good",
        "--out",
        out,
    )
    status, text, err = call(*arguments)
    assert status == 0, err
    assert 'config.train.hdf5_filter_key = "good"' in text
    before, after = hdf5_contents(annotated_file), hdf5_contents(out)
    del after["mask/good"]
    assert before == after
    kept_names = load(out).masks["good"]
    assert len(kept_names) == 3
    assert len(load(out).subset(mask="good")) == 3


def test_the_command_to_paste_repeats_the_lag(
    annotated_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    command = ("score", annotated_file, "--lag", "3", *QUICK, "--worst", 1)
    _, out, _ = call(*command)
    assert "radius 0.3, lag 3 steps)" in out
    (line,) = (line.strip() for line in out.splitlines() if line.startswith("  robomimic"))
    pasted = shlex.split(line.removeprefix("robomimic").strip())
    repeat, payload = call_json(*pasted[1:-1], tmp_path / "m.hdf5"), call_json(*command)
    assert repeat["lag"] == [3.0]
    assert repeat["episodes"] == payload["episodes"]
    assert [e["pairs"] for e in payload["episodes"]] == [7] * 4


def test_the_command_to_paste_repeats_every_digit(
    annotated_file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    lags = ("--lag", "bob=3", "--lag", "ada=1.23456789")
    command = (
        "score",
        annotated_file,
        *lags,
        "--radius",
        0.123456789,
        *QUICK[:6],
        "--force",
        "--worst",
        1,
    )
    _, out, _ = call(*command)
    (line,) = (line.strip() for line in out.splitlines() if line.startswith("  robomimic"))
    pasted = shlex.split(line.removeprefix("robomimic").strip())
    repeat = call_json(*pasted[1:-1], tmp_path / "m.hdf5")
    assert repeat["lag"] == [1.23456789, 3.0]
    assert repeat["radius"] == [0.123456789] * len(repeat["radius"])
    assert repeat["episodes"] == call_json(*command)["episodes"]


def test_a_build_fails_where_someone_is_too_far_off(annotated_file: Path, call: Call) -> None:
    assert call("score", annotated_file, *QUICK, "--fail-on", 100)[0] == 0
    status, out, _ = call("score", annotated_file, *QUICK, "--fail-on", 0.01)
    assert status == 3
    assert "Above 0.01: ada, bob, demo_0" in out


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("score", "{demos}", "--write-mask", "good"), "--out FILE only work together"),
        (("score", "{demos}", "--worst", "-1"), "worst is -1 of 4 episodes; give 0 to 3"),
        (("score", "{demos}", "--weights", "{demos}"), "already exists"),
        (("score", "{demos}", "--episode-list", "k", "--exclude", "0"), "list numbers all"),
        (("score", "{demos}", "{npz}", "--weights", "w.parquet"), "of one dataset; give one"),
        (("score", "{demos}", "--radius", "auto", "--radius", "1"), "give auto alone"),
        (("score", "{demos}", "--folds", "1"), "folds is 1; it must be 2 or more"),
        (("score", "{npz}", "--write-mask", "m", "--out", "{new}"), "counterbc convert IN"),
        (("score", "{demos}", "--write-mask", "a/b", "--out", "{new}"), "cannot name a mask"),
        (("score", "{demos}", "--write-mask", "expert", "--out", "{new}"), "already; choose"),
        (("score", "{demos}", *TRITON), "kernel is 'triton', but it runs on cuda"),
        (("clean", "{demos}", *TRITON, "--out", "{new}"), "kernel is 'triton', but"),
        (("clean", "{demos}", "--out", "{demos}"), "already exists"),
        (("clean", "{absent}", "--out", "{new}"), "does not exist"),
        (("clean", "{csv}", "--out", "{new}"), "counterbc convert"),
        (("clean", "{demos}", "--radius", "-1", "--out", "{new}"), "0 or more"),
    ],
)
def test_bad_input_is_refused_in_one_sentence_and_leaves_nothing(
    arguments: tuple[str, ...],
    text: str,
    annotated_file: Path,
    tiny: Demonstrations,
    tmp_path: Path,
    call: Call,
) -> None:
    save(tiny, tmp_path / "d.npz")
    (tmp_path / "d.csv").write_text("episode,obs,action\n0,1,2\n0,2,3\n")
    files = {k: tmp_path / f"d.{k}" for k in ("npz", "csv")} | {"demos": annotated_file}
    places = files | {"new": tmp_path / "new.hdf5", "absent": tmp_path / "absent.hdf5"}
    given = [a.format(**places) for a in arguments]
    quick = QUICK[:2] if "--folds" in given else QUICK[: 6 if "--radius" in given else 8]
    status, _, err = call(*given, *quick)
    assert status == 1
    assert text in err
    assert len(err.strip().splitlines()) == 1
    assert not places["new"].exists()


def test_the_command_that_writes_a_mask_trains_with_the_same_kernel(
    annotated_file: Path, call: Call
) -> None:
    _, out, _ = call("score", annotated_file, *QUICK, "--worst", 1, "--kernel", "torch")
    (line,) = (line for line in out.splitlines() if line.startswith("  robomimic"))
    assert " --kernel torch " in line


def test_leaving_out_all_episodes_is_refused_before_a_training(
    annotated_file: Path, call: Call
) -> None:
    status, _, err = call("score", annotated_file, *QUICK, "--worst", 4)
    assert (status, err) == (1, "error: worst is 4 of 4 episodes; give 0 to 3\n")


@pytest.mark.parametrize("command", ["score", "clean"])
def test_nothing_is_ranked_or_written_where_nothing_can_be_told(
    command: str, annotated_file: Path, tmp_path: Path, call: Call
) -> None:
    out = tmp_path / "new.hdf5"
    options = ("--write-mask", "good", "--out", out) if command == "score" else ("--out", out)
    status, text, err = call(command, annotated_file, *QUICK[:-1], *options)
    assert status == 1
    assert "Cannot tell" in text + err
    assert "--force" in text + err
    assert "exclude" not in text.replace("excluded", "")
    assert not out.exists()


@pytest.mark.slow
def test_no_episode_is_excluded_by_default_where_the_ranking_follows_length(
    tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    rng, episodes = np.random.default_rng(0), []
    for i in range(30):  # the longer, the noisier
        obs = rng.uniform(-1, 1, (20 + 2 * i, 1))
        action = 0.6 * obs + (0.02 + 0.01 * i) * rng.normal(size=obs.shape)
        episodes.append(Episode(obs, action))
    path = tmp_path / "demos.hdf5"
    Demonstrations(tuple(episodes)).save(path)
    quick = (path, "--steps", 200, "--folds", 2, "--repeats", 1, "--radius", 0.1)
    status, out, _ = call("score", *quick)
    assert status == 0
    assert "Careful: the ranking follows length." in out
    assert "so none is excluded by default; use --worst N." in out
    assert "--dataset.episodes" not in out
    assert call_json("score", *quick)["worst"] == []
    assert len(call_json("score", *quick, "--worst", 2)["worst"]) == 2


@pytest.mark.slow
def test_episodes_that_do_the_opposite_are_excluded_by_default(
    tmp_path: Path, call: Call, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, episodes = np.random.default_rng(0), []
    for i in range(20):
        obs = rng.uniform(-1, 1, (25, 1))
        slope = -0.6 if i in (3, 8) else 0.6
        episodes.append(Episode(obs, slope * obs + rng.uniform(-0.1, 0.1, obs.shape)))
    monkeypatch.chdir(tmp_path)
    Demonstrations(tuple(episodes)).save("demos.hdf5")
    quick = ("demos.hdf5", "--steps", 150, "--folds", 3, "--repeats", 1, "--radius", 0.1)
    status, out, err = call("score", *quick)
    assert status == 0, err
    assert f"--dataset.episodes='{[i for i in range(20) if i not in (3, 8)]}'" in out
    assert "Unlike what most others agree on" in out
    (line,) = (line.strip() for line in out.splitlines() if line.startswith("  robomimic"))
    assert "--worst" not in line
    pasted = shlex.split(line.removeprefix("robomimic").strip())
    assert call_json(*pasted[1:])["worst"] == [3, 8]
    assert len(load(tmp_path / "marked.hdf5").masks["good"]) == 18


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """Thirty episodes whose actions follow the previous one alone, which is observed."""
    rng = np.random.default_rng(0)
    episodes = []
    for _ in range(30):
        action = rng.normal(0, 0.4, (40, 1))
        for t in range(1, 40):
            action[t] = 0.9 * action[t - 1] + np.sqrt(1 - 0.9**2) * action[t]
        previous = np.concatenate([action[:1], action[:-1]])
        episodes.append(Episode(np.hstack([rng.normal(size=(40, 2)), previous]), action))
    path = tmp_path / "copied.npz"
    Demonstrations(tuple(episodes), -2 * np.ones(1), 2 * np.ones(1)).save(path)
    return path


ROUGH = ("--radius", 0.1, "--lag", 0, "--steps", 300, "--repeats", 1, "--rounds", 1)


@pytest.mark.slow
def test_what_only_repeats_the_previous_action_is_not_ranked_or_cleaned(
    copied: Path, tmp_path: Path, call: Call
) -> None:
    status, out, err = call("score", copied, *ROUGH)
    assert (status, "--worst" in out) == (1, False), err
    assert "the observation shows the previous action" in out
    assert "Nothing is ranked" in out
    assert "Leave out the observation" in out
    meant = tmp_path / "meant.npz"
    status, out, _ = call("clean", copied, "--out", meant, *ROUGH)
    assert (status, meant.exists()) == (1, False)
    assert "Leave out the observation" in out


@pytest.mark.slow
def test_what_only_repeats_the_previous_action_is_ranked_and_cleaned_by_force_alone(
    copied: Path, tmp_path: Path, call: Call
) -> None:
    status, out, _ = call("score", copied, *ROUGH, "--force")
    assert (status, "persistent" in out, "use --worst" in out) == (0, True, False)
    assert call("clean", copied, "--out", tmp_path / "meant.npz", *ROUGH, "--force")[0] == 0
    status, out, _ = call("influence", copied, "--splits", 60, "--steps", 200, "--method", "bc")
    assert (status, "repeating the previous action" in out) == (1, True)
    status, out, err = call("radius", copied, "--radii", 0, 0.1, 0.2, "--steps", 1000)
    found = status, "policies may only repeat" in out, "so this one is a guess" in out
    assert found == (0, True, True), err


def test_folds_and_radii_that_do_not_fit_are_refused_before_anything_is_trained(
    copied: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        pytest.fail("a search began")

    monkeypatch.setattr(import_module("counterbc.diagnosis.meaning"), "choose_radii", fail)
    monkeypatch.setattr(import_module("counterbc.selection.tuner"), "choose_lags", fail)
    status, _, err = call("score", copied, "--folds", 1201)
    assert (status, "1201" in err) == (1, True), err
    for command in ("score", "clean", "tune", "compare"):
        status, _, err = call(command, copied, "--lag", "auto", "--radius", 0.1, 0.2)
        assert err.splitlines()[-1] == "error: 2 radii for one action dimension; give one"
