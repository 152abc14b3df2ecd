"""Rollouts by LeRobot's own scripts: in Push-T, and on a robot that is a plugin itself."""

from __future__ import annotations

import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
from lerobot_policy_counterbc.from_run import write_checkpoint
from trained_runs import train_on_joints, train_run

from conftest import Checkpoint, Script
from counterbc import Policies

PUSHT = (
    "--env.type=pusht", "--env.obs_type=environment_state_agent_pos", "--env.episode_length=8",
    "--eval.n_episodes=2", "--eval.batch_size=2", "--eval.use_async_envs=false",
    "--policy.device=cpu",
)  # fmt: skip
ROBOTS = Path(__file__).parent / "fake_robot"
IS_OLD = version("lerobot").startswith("0.4.")


def evaluate(path: Path, script: Script, out: Path) -> int:
    """Run lerobot-eval, and return the number of episodes that it reports."""
    script("lerobot-eval", f"--policy.path={path}", f"--output_dir={out}", *PUSHT)
    overall = json.loads((out / "eval_info.json").read_text())["overall"]
    assert np.isfinite(overall["avg_sum_reward"])
    return int(overall["n_episodes"])


@pytest.mark.parametrize("name", ["flow", "counter_act", "counter_diffusion"])
def test_a_checkpoint_is_evaluated_by_lerobot(
    name: str, checkpoint: Checkpoint, script: Script, tmp_path: Path
) -> None:
    assert evaluate(checkpoint(name), script, tmp_path / "out") == 2


def test_a_plain_copy_is_evaluated_by_lerobot(
    checkpoint: Checkpoint, script: Script, tmp_path: Path
) -> None:
    assert evaluate(checkpoint("counter_act") / "plain", script, tmp_path / "out") == 2


def test_a_run_of_counterbc_is_evaluated_by_lerobot(script: Script, tmp_path: Path) -> None:
    write_checkpoint(train_run(tmp_path / "run"), tmp_path / "checkpoint")
    assert evaluate(tmp_path / "checkpoint", script, tmp_path / "out") == 2


def test_a_run_of_counterbc_drives_a_robot_as_it_acts_outside(
    script: Script, tmp_path: Path
) -> None:
    run, log = train_on_joints(tmp_path / "run"), tmp_path / "log.jsonl"
    write_checkpoint(run, tmp_path / "checkpoint")
    robot = (
        f"--policy.path={tmp_path / 'checkpoint'}", "--policy.device=cpu",
        "--robot.type=fake_robot", "--robot.id=fake", f"--robot.log={log}",
        f"--robot.calibration_dir={tmp_path / 'calib'}",
        "--play_sounds=false",
    )  # fmt: skip
    if IS_OLD:  # lerobot-record runs policies in 0.4, lerobot-rollout in 0.6
        script(
            "lerobot-record", *robot, "--dataset.repo_id=local/eval_fake", "--dataset.fps=10",
            f"--dataset.root={tmp_path / 'recording'}", "--dataset.single_task=reach",
            "--dataset.num_episodes=1", "--dataset.episode_time_s=2", "--dataset.reset_time_s=0",
            "--dataset.push_to_hub=false", PYTHONPATH=str(ROBOTS),
        )  # fmt: skip
    else:
        script(
            "lerobot-rollout", *robot, "--strategy.type=base", "--task=reach", "--fps=10",
            "--duration=2", "--return_to_initial_position=false", PYTHONPATH=str(ROBOTS),
        )  # fmt: skip
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(lines) >= 2  # how many there are depends on the machine
    actor = Policies.load(run).actor()
    for obs, action in lines:
        expected = actor.act(np.array(obs, np.float32))
        np.testing.assert_allclose(action, expected, rtol=1e-5, atol=1e-3)
