"""The table of worlds: names, ids and facts."""

from __future__ import annotations

import subprocess
import sys
import warnings

import gymnasium
import pytest
from gymnasium.envs import registration

from counterbc.demonstrators import expert_returns
from counterbc.envs import (
    WORLDS,
    find_id,
    find_world,
    recorded_env,
    register,
)
from counterbc.errors import FormatError, OptionError

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
