"""BC and BC-RNN by robomimic, which computes each step; batches are gathered in memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

import torch

from benchmarks.rivals.problem import HISTORY, LEARNING_RATE, UNITS, Problem, Rival, Variant

# The build of torchvision on PyPI is for another build of torch, so its operators are missing. They
# detect objects in images; robomimic imports torchvision but trains these policies without it.
_OPERATORS = torch.library.Library("torchvision", "DEF")
for _name in ("nms", "qnms"):
    _OPERATORS.define(f"{_name}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")

import robomimic.utils.obs_utils as obs_utils  # noqa: E402
from robomimic.algo import algo_factory  # noqa: E402
from robomimic.config import config_factory  # noqa: E402


def trainer(problem: Problem, method: str) -> Variant:
    """Return one model: a Gaussian, or a GRU with a mixture of one, learning all its steps."""
    config = config_factory("bc")
    with config.unlocked():
        config.train.cuda = False
        config.observation.modalities.obs.low_dim = ["state"]
        config.algo.optim_params.policy.learning_rate.initial = LEARNING_RATE
        config.algo.actor_layer_dims = [UNITS, UNITS]
        config.algo.gaussian.enabled = method == "bc"
        if method == "bc-rnn":
            config.algo.actor_layer_dims = [UNITS]
            config.algo.gmm.enabled, config.algo.gmm.num_modes = True, 1
            config.algo.rnn.enabled, config.algo.rnn.rnn_type = True, "GRU"
            config.algo.rnn.horizon, config.algo.rnn.hidden_dim = HISTORY, UNITS
            config.algo.rnn.num_layers = 1
    obs_utils.initialize_obs_utils_with_config(config)
    shapes = OrderedDict(state=problem.obs.shape[1:])
    device = torch.device("cpu")
    algo: Any = algo_factory("bc", config, shapes, problem.action.shape[1], device)
    algo.set_train()
    steps_read = HISTORY if method == "bc-rnn" else 1
    obs = torch.from_numpy(problem.windows)[:, -steps_read:]  # (n, T, S)
    action = torch.from_numpy(problem.action)[:, None].expand(-1, steps_read, -1)  # (n, T, A)

    def run(steps: int) -> None:
        order = torch.randperm(0)
        for _ in range(steps):
            if len(order) < problem.batch:
                order = torch.randperm(problem.pairs)
            index, order = order[: problem.batch], order[problem.batch :]
            batch = {"obs": {"state": obs[index]}, "actions": action[index]}
            algo.train_on_batch(algo.process_batch_for_training(batch), epoch=1)

    return Variant(1, run)


RIVALS: dict[str, Rival] = {"robomimic": trainer}
