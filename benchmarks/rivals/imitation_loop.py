"""BC by the library imitation, with its own training loop."""

from __future__ import annotations

import tempfile

import gymnasium
import numpy as np
import torch
from imitation.algorithms.bc import BC
from imitation.data.types import Transitions
from imitation.util.logger import configure
from stable_baselines3.common.policies import ActorCriticPolicy

from benchmarks.rivals.problem import LEARNING_RATE, UNITS, Problem, Rival, Variant


def behavior_cloning(problem: Problem, method: str) -> Variant:
    """Return one model of the same size; its σ does not depend on the state."""
    obs, action, n = problem.obs, problem.action, problem.pairs
    obs_space = gymnasium.spaces.Box(-np.inf, np.inf, obs.shape[1:])
    action_space = gymnasium.spaces.Box(-1, 1, action.shape[1:])
    policy = ActorCriticPolicy(
        obs_space,
        action_space,
        lambda _: LEARNING_RATE,
        net_arch={"pi": [UNITS, UNITS], "vf": []},
        activation_fn=torch.nn.ReLU,
    )
    data = Transitions(
        obs=obs, acts=action, infos=np.array([{}] * n), next_obs=obs, dones=np.zeros(n, bool)
    )
    trainer = BC(
        observation_space=obs_space,
        action_space=action_space,
        rng=np.random.default_rng(0),
        policy=policy,
        demonstrations=data,
        batch_size=problem.batch,
        optimizer_kwargs={"lr": LEARNING_RATE},
        device="cpu",
        custom_logger=configure(tempfile.mkdtemp(), []),
    )

    def run(steps: int) -> None:
        trainer.train(n_batches=steps, progress_bar=False)

    return Variant(1, run)


RIVALS: dict[str, Rival] = {"imitation": behavior_cloning}
