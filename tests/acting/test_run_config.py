"""The configuration of a training: JSON in, the same JSON out, and nothing else is accepted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import counterbc as cb
from counterbc.acting.run_config import RunConfig
from tests.fixture_types import Make, Train

VERSION_1 = Path(__file__).parent / "data" / "run-version-1"


def test_a_stored_configuration_of_version_1_is_read_and_written_unchanged() -> None:
    contents = json.loads((VERSION_1 / "config.json").read_text())["config"]
    config = RunConfig.from_dict(contents)
    assert (config.method, config.preset, config.radius_from) == ("bcnd", "default", "not used")
    assert (config.env, config.backend) == ("counterbc/Intersection-v0", None)
    assert list(config.action_names) == ["ego_dx", "ego_dy"]
    assert config.labels == {"radius_choices": []}  # a key of that version only
    assert (config.kernel, config.choices, config.stack) == ("", (), None)
    written = json.loads(json.dumps(config.as_dict()))
    assert written == contents | {"kernel": "", "choices": [], "censored": False}
    assert cb.Policies.load(VERSION_1).config == contents


def test_a_configuration_of_today_is_read_and_written_unchanged(
    make_demos: Make, quick: Train, tmp_path: Path
) -> None:
    policies = quick(make_demos(), "ileed")
    policies.save(tmp_path / "run")
    contents = json.loads((tmp_path / "run" / "config.json").read_text())["config"]
    config = RunConfig.from_dict(contents)
    assert config.labels == {"operators": ["ada", "bob"]}
    assert list(config.as_dict()) == list(policies.config)
    assert json.loads(json.dumps(config.as_dict())) == contents
    assert policies.run_config.kernel == policies.config["kernel"] != ""


def test_an_unfinished_training_has_no_duration() -> None:
    assert not {"seconds", "stack"} & RunConfig().as_dict().keys()
    assert RunConfig(seconds=1.5, stack=["a"]).as_dict()["seconds"] == 1.5


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ([], r"config is \[\]; expected a record"),
        ({"env": 3}, "env is 3; expected a text"),
        ({"obs_names": "xy"}, "obs_names is 'xy'; expected a list of names"),
        ({"rate": "fast"}, "rate is 'fast'; expected a number"),
        ({"two_valued": [1]}, r"two_valued is \[1\]; expected a list of names"),
    ],
)
def test_values_of_other_types_are_refused(contents: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        RunConfig.from_dict(contents)


def test_keys_are_kept_where_the_names_of_dimensions_do_not_show_them() -> None:
    assert RunConfig(obs_names=["state[0]", "state[1]", "goal"]).obs_keys == ("state", "goal")
    assert RunConfig(obs_names=["shoulder", "elbow"], keys=["state"]).obs_keys == ("state",)
    assert "keys" not in RunConfig().as_dict()
