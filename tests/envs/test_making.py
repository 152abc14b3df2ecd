"""Environments are made by name, and one that cannot be made is explained."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from gymnasium.vector import SyncVectorEnv

from counterbc.envs import WORLDS, make, make_and_close, make_vec, reason_not_made
from counterbc.errors import CounterBCError, OptionError


def test_any_gymnasium_id_can_be_made_and_an_unknown_one_lists_the_worlds() -> None:
    assert make_vec("CartPole-v1", 2).num_envs == 2
    assert isinstance(make_vec("Acrobot-v1", 2), SyncVectorEnv)
    for name in (
        "intersektion",
        "not an id",
        "nobody/Nothing-v0",
        "CartPole-v77",
    ):
        with pytest.raises(OptionError, match="unknown environment") as error:
            make_vec(name, 1)
        assert repr(name) in str(error.value)
        assert f"{', '.join(WORLDS)}, or any gymnasium id" in str(error.value)


@pytest.mark.parametrize("entry", ["", "."])
def test_the_module_of_an_environment_is_never_imported_from_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, entry: str
) -> None:
    monkeypatch.delitem(sys.modules, "some_worlds", raising=False)
    (tmp_path / "some_worlds.py").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(entry)
    with pytest.raises(OptionError, match="nothing is imported from the current folder"):
        make_vec("some_worlds:CartPole-v1", 1)
    with pytest.raises(OptionError, match="nothing is imported from the current folder"):
        make("some_worlds:CartPole-v1")
    assert entry in sys.path
    assert "some_worlds" not in sys.modules
    monkeypatch.chdir(tmp_path.parent)
    monkeypatch.syspath_prepend(tmp_path)
    assert make_vec("some_worlds:CartPole-v1", 1).num_envs == 1  # from any other folder it is


@pytest.mark.parametrize(
    ("env", "words"),
    [
        ("no_such_package:Reach-v0", "needs the package no_such_package, .* pip install no-such-"),
        ("AdroitHandMadeUp-v1", "registers it: gymnasium_robotics:AdroitHandMadeUp-v1"),
        ("MadeUp-v1", "name the package that registers it, as in gymnasium_robotics:"),
        ("here:Reach-v0", r"nothing is imported from the current folder, where here\.py lies"),
        (
            "here:Reach-v0",
            r"mkdir modules && mv here\.py modules && export PYTHONPATH=\$PWD",
        ),
    ],
)
def test_a_missing_package_is_named(
    env: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("here.py").write_text("raise AssertionError")
    with pytest.raises(CounterBCError, match=words):
        make(env)


def test_what_cannot_be_made_has_a_reason_and_a_file_may_not_name_a_module() -> None:
    assert reason_not_made("intersection", is_typed=False) == ""
    assert "may not choose a module" in reason_not_made("json:Reach-v0", is_typed=False)
    assert "MadeUp-v1" in reason_not_made("MadeUp-v1", is_typed=True)


def test_what_the_constructor_of_somebody_else_raises_becomes_a_sentence() -> None:
    def fail() -> SyncVectorEnv:
        raise ZeroDivisionError("no wheels")

    with pytest.raises(CounterBCError, match="Car-v0 fails with ZeroDivisionError: no wheels"):
        make_and_close("Car-v0", fail, is_typed=True)
    assert make_and_close("cartpole", lambda: make_vec("cartpole", 1), is_typed=False).closed
