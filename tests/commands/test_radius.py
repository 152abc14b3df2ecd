"""counterbc radius"""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from counterbc.commands.radius import Radius
from counterbc.data.demonstrations import Demonstrations, Episode
from counterbc.selection.radius import RadiusSearch, choose_radius
from tests.fixture_types import Call, CallJson, Make
from tests.selection.datasets import noisy_demos


@pytest.fixture
def file(make_demos: Make, tmp_path: Path) -> Path:
    path = tmp_path / "demos.hdf5"
    make_demos(episodes=6).save(path)
    return path


@pytest.mark.parametrize("kind", ["png", "svg"])
def test_the_command_shows_the_curve_and_draws_it(
    kind: str, file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    picture = tmp_path / f"curve.{kind}"
    few_radii = ("--steps", 300, "--radii", 0, "--radii", 0.2, "--radii", 0.4)
    answer = call_json("radius", file, *few_radii, "--plot", picture)
    assert answer["radii"] == [0, 0.2, 0.4]
    assert picture.stat().st_size > 1000
    _, out, _ = call("radius", file, *few_radii, "--per-dimension")
    assert f"Δ {answer['radius']:g}" in out
    assert "0.2 for experts to 0.5 for novices" in out
    assert answer["plateau"][0] == 0  # plain BC is as good
    assert out.rstrip().endswith(f"counterbc train {file} --radius 0")


def test_no_dimension_has_a_radius_where_plain_bc_is_as_good() -> None:
    choice = choose_radius(
        noisy_demos(0.4, 0.4), search=RadiusSearch(radii=(0.0, 0.2, 0.4), steps=20),
        progress=False, hidden=(8, 8),
    )  # fmt: skip
    flat = replace(choice, radius=0.3, per_dimension=(0.3, 0.2), plateau=(0.0, 0.4))
    clear = replace(flat, plateau=(0.2, 0.4))
    for per_dimension, radius in ((True, (0.3, 0.2)), (False, 0.3)):
        command = Radius(demos=(), per_dimension=per_dimension)
        assert command.chosen_options(flat) == {"radius": 0.0}
        assert command.chosen_options(clear) == {"radius": radius}


def test_the_line_to_paste_trains_what_the_radius_was_chosen_for(
    file: Path, tmp_path: Path, call: Call, call_json: CallJson, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    spaced = file.rename(tmp_path / "my demos.hdf5")
    again = ("--obs", "state", "--format", "robomimic", "--preset", "paper", "--policy", "mixture",
             "--modes", "2")  # fmt: skip
    few_radii = ("--steps", "300", "--radii", "0", "--radii", "0.2", "--radii", "0.4")
    radius = call_json("radius", spaced, *again, *few_radii)["radius"]
    _, out, _ = call("radius", spaced, *again, *few_radii)
    line = out.splitlines()[-1].removeprefix("Next: counterbc ")
    assert shlex.split(line) == ["train", str(spaced), *again, "--radius", f"{radius:g}"]
    settings = call_json(*shlex.split(line), "--steps", 2)["settings"]
    assert (settings["policy"], settings["modes"], settings["limited"]) == ("mixture", 2, True)


def test_no_radius_is_suggested_where_nothing_is_predicted(
    tmp_path: Path, call_json: CallJson
) -> None:
    rng, file = np.random.default_rng(0), tmp_path / "noise.npz"
    episodes = [Episode(rng.normal(size=(20, 2)), rng.normal(size=(20, 1))) for _ in range(8)]
    Demonstrations(tuple(episodes)).save(file)
    answer = call_json("radius", file, "--steps", 50, "--radii", 0, "--radii", 0.2, "--radii", 0.4)
    assert "a guess" in answer["explanation"]
    assert answer["next"] == [f"counterbc inspect {file}"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--plot", "curve.pdf"), "cannot draw curve.pdf; allowed: .png, .svg"),
        (("--folds", "1"), "folds is 1"),
        (("--method", "bc"), "needs no radius"),
        (("--modes", "3"), "choose the policy mixture"),
    ],
)
def test_the_command_refuses_in_one_sentence(
    options: tuple[str, ...], words: str, file: Path, call: Call
) -> None:
    status, out, err = call("radius", file, *options)
    assert (status, out) == (1, "")
    assert words in err
    assert len(err.splitlines()) == 1


@pytest.mark.slow
def test_the_train_command_chooses_the_radius_unless_told(
    file: Path, tmp_path: Path, call: Call, call_json: CallJson
) -> None:
    def config(name: str, *options: object) -> dict[str, Any]:
        return call_json("train", file, "--steps", 5, "--out", tmp_path / name, *options)

    chosen = config("auto")
    assert (chosen["radius_from"], chosen["settings"]["radius"]) == ("cross-validation", "auto")
    assert config("same", "--radius", "auto")["members"] == chosen["members"]
    assert config("number", "--radius", 0.2)["members"] == ["seed 0, radius 0.2"]
    assert config("each", "--radius", 0.2, "--radius", 0)["members"] == ["seed 0, radius 0.2/0"]
    assert config("paper", "--preset", "paper")["members"] == ["seed 0, radius 0.4"]
    assert config("authors", "--preset", "authors")["members"] == ["seed 0, radius 0.5"]
    on = config("on", "--start", tmp_path / "number")
    assert on["members"] == ["seed 0, radius 0.2"]
    _, out, _ = call("train", file, "--steps", 5, "--out", tmp_path / "printed")
    (choice,) = chosen["choices"]
    assert choice["protocol"] == "5 folds of whole episodes, 60 pairs"
    assert all(sentence in out for sentence in choice["sentences"])
    mixed_radii = ("--radius", "auto", "--radius", 0.2)
    status, _, err = call("train", file, *mixed_radii, "--out", tmp_path / "x")
    assert status == 1
    assert "give auto alone" in err
