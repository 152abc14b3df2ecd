"""The study of Push-T trains and tests as LeRobot's own commands do, and in less time."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from conftest import Script

ROOT = Path(__file__).parents[3]
EVIDENCE = ROOT / "integrations/lerobot/evidence"
pytestmark = pytest.mark.skipif(
    version("lerobot").startswith("0.4."), reason="the study runs with LeRobot 0.6"
)
RUN = """
import json, sys
sys.path[:0] = sys.argv[1:3]
from pathlib import Path
from lerobot_scripts import BATCH, evaluate, policy_options, train
from reproduction.studies.lerobot import SEEDS, Cell
policy, variant, data, out = sys.argv[3], sys.argv[4], Path(sys.argv[5]), Path(sys.argv[6])
cell = Cell(policy, "people", variant, 0.1, 1.0, 4, SEEDS[0])
checkpoint = train(cell, out, data, "cpu")
result = evaluate(checkpoint, out / "eval", 7, 2, "cpu")
print("RESULT", json.dumps([str(checkpoint), cell.seed, BATCH, policy_options(cell, data), result]))
"""


@pytest.mark.parametrize(("policy", "variant"), [("act", "plain"), ("diffusion", "radius")])
def test_a_cell_is_trained_as_by_the_commands(
    policy: str, variant: str, dataset: Path, script: Script, tmp_path: Path
) -> None:
    words = [str(ROOT), str(EVIDENCE), policy, variant, str(dataset), str(tmp_path / "study")]
    result = subprocess.run(
        [sys.executable, "-c", RUN, *words], capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr[-4000:]
    line = next(x for x in result.stdout.splitlines() if x.startswith("RESULT "))
    checkpoint, seed, size, options, row = json.loads(line.removeprefix("RESULT "))
    script(
        "lerobot-train", "--dataset.repo_id=local/pusht", f"--dataset.root={dataset}",
        "--policy.device=cpu", "--policy.push_to_hub=false", f"--output_dir={tmp_path / 'out'}",
        "--steps=4", "--save_freq=4", f"--batch_size={size}", "--num_workers=0",
        "--wandb.enable=false", f"--seed={seed}", *options,
    )  # fmt: skip
    ours = load_file(Path(checkpoint) / "model.safetensors")
    path = tmp_path / "out/checkpoints/000004/pretrained_model"
    theirs = load_file(path / "model.safetensors")
    assert ours.keys() == theirs.keys()
    for name, value in theirs.items():
        torch.testing.assert_close(ours[name], value, rtol=0, atol=1e-6)
    script(
        "lerobot-eval", f"--policy.path={path}", f"--output_dir={tmp_path / 'eval'}",
        "--env.type=pusht", "--env.obs_type=environment_state_agent_pos", "--eval.n_episodes=2",
        "--eval.batch_size=2", "--eval.use_async_envs=false", "--policy.device=cpu", "--seed=7",
    )  # fmt: skip
    overall = json.loads((tmp_path / "eval/eval_info.json").read_text())["overall"]
    assert row["score"] == pytest.approx(overall["avg_max_reward"], abs=1e-3)
    assert len(row["scores"]) == row["starts"] == 2
