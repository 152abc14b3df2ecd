"""The table of worlds: names, ids and facts."""

from __future__ import annotations

import subprocess
import sys
import warnings
from pathlib import Path

import gymnasium
import pytest
from gymnasium.envs import registration
from gymnasium.vector import SyncVectorEnv

from counterbc.demonstrators import expert_returns
from counterbc.envs import (
    WORLDS,
    find_id,
    find_world,
    make,
    make_vec,
    reason_not_made,
    recorded_env,
    register,
)
from counterbc.errors import CounterBCError, FormatError, OptionError

ID = "counterbc/Intersection-v0"


def test_registering_twice_or_as_a_plugin_gives_one_id_and_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        register()
        del registration.registry[ID]
        with registration.namespace("counterbc"):
            register()
        register()
    assert [i for i in registration.registry if "Intersection" in i] == [ID]
    assert registration.registry[ID].max_episode_steps == WORLDS["intersection"].steps


def test_importing_the_environments_does_not_import_torch() -> None:
    code = (
        "import sys, counterbc.envs, gymnasium; gymnasium.spec('counterbc/Intersection-v0');"
        "assert 'torch' not in sys.modules and 'counterbc.envs.intersection' not in sys.modules;"
        "gymnasium.make('counterbc.envs:counterbc/Intersection-v0').reset(seed=0)"
    )
    subprocess.run([sys.executable, "-W", "error::UserWarning", "-c", code], check=True)


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


def test_a_world_is_found_by_its_name_and_its_id_also_by_aliases() -> None:
    assert find_world("push-t") is WORLDS["push-t"]
    assert find_id("push-t") == find_id("gym_pusht/PushT-v0") == "counterbc/PushT-v0"
    assert find_id("PickPlaceCan") == find_id("can") == WORLDS["can"].id
    assert find_id("CartPole-v1") == "CartPole-v1"
    with pytest.raises(OptionError, match="unknown world 'pusht'"):
        find_world("pusht")


@pytest.mark.parametrize("name", WORLDS)
def test_a_world_names_itself_and_its_rate_is_that_of_its_frames(name: str) -> None:
    world = WORLDS[name]
    assert world.name == name
    assert world.label.lower().replace(" ", "-") == name
    if world.extra is None:
        assert gymnasium.make(world.id).metadata["render_fps"] == world.rate


def test_control_rates() -> None:
    rates = {name: world.rate for name, world in WORLDS.items()}
    assert rates == {
        "intersection": 10, "cartpole": 50, "cartpole-hard": 50, "air-hockey": 20,
        "car-racing": 50, "fork": 4, "can": 20, "push-t": 10,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["cartpole", "fork"])
def test_the_best_return_is_reached_by_the_expert(name: str) -> None:
    world = WORLDS[name]
    assert expert_returns(name, 20, 0).max() == world.best_return


def test_a_world_without_an_expert_asks_for_recorded_demonstrations() -> None:
    with pytest.raises(OptionError, match="push-t has no synthetic expert; use recorded"):
        WORLDS["push-t"].load_expert()
    assert WORLDS["push-t"].recorded_obs_keys == ("state",)


@pytest.mark.parametrize("name", ["evil:CartPole-v1", ":CartPole-v1", ["CartPole-v1"], 3])
def test_a_file_cannot_choose_a_module_to_import(name: object) -> None:
    assert recorded_env(None, "demos") is None
    assert recorded_env("CartPole-v1", "demos") == "CartPole-v1"
    with pytest.raises(FormatError, match="demos names the environment"):
        recorded_env(name, "demos")


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
