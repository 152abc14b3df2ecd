"""Meant actions for any Δ, from held-out predictions that were computed once.

The formula is that of `counterbc clean` (`diagnosis/meaning.py`): from the demonstrated action
towards the predicted one, as far as the policies agree, and at most to the edge of C(s, a).
"""

from __future__ import annotations

import numpy as np

from counterbc.data.action_scale import scaled_actions, user_actions
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import lag_of, undo_lag
from counterbc.data.scaling import scaled_feasible_set
from counterbc.diagnosis.clamp_to_support import prediction_trust, within
from counterbc.diagnosis.predictions import disagreement
from counterbc.errors import OptionError

SHAPE = "ball"


class MeantActions:
    """What was meant at each pair, as a function of Δ."""

    def __init__(self, demos: Demonstrations, predictions: Array, lag: float) -> None:
        self.demos = demos
        answer, self.has_answer = undo_lag(demos, lag_of(lag, demos))
        self.predicted = np.nanmean(predictions, axis=0)  # (N, A)
        self._action = scaled_actions(demos, answer.astype(np.float64))  # (N, A)
        aim = scaled_actions(demos, self.predicted)
        rows = self.has_answer
        residual = self._action[rows] - aim[rows]
        trust = np.zeros(len(aim))
        trust[rows] = prediction_trust(residual, disagreement(demos, predictions)[rows])
        self._target = self._action + trust[:, None] * (aim - self._action)
        self._feasible = scaled_feasible_set(demos)

    def answer(self, pair: int) -> Array:
        """Return the action that answers the state of a pair, where actions span [−1, 1]: (A,).

        With a lag of k that is a_(t+k), which the last k pairs of an episode do not have.
        """
        if not self.has_answer[pair]:
            raise OptionError(
                "no action answers this state: with this lag it would come after the end of the "
                "episode; choose an earlier step or a smaller lag"
            )
        return np.asarray(self._action[pair])

    def meant(self, pairs: slice, radius: float) -> Array:
        """Return the meant actions of pairs in the user's units: (n, A).

        Pairs without a demonstrated action keep the recorded one.
        """
        action, target = self._action[pairs], self._target[pairs]
        delta = np.full(action.shape[1], radius)
        clamped = within(action, target, delta, SHAPE, self._feasible)
        recorded = self.demos.action[pairs].astype(np.float64)
        meant_actions = user_actions(self.demos, clamped)
        return np.where(self.has_answer[pairs, None], meant_actions, recorded)

    def moved(self, radius: float) -> float:
        """Return the root mean square of how far meant actions are from demonstrated ones."""
        rows = self.has_answer
        delta = np.full(self._action.shape[1], radius)
        clamped = within(self._action, self._target, delta, SHAPE, self._feasible)
        return float(np.sqrt(((clamped - self._action)[rows] ** 2).sum(1).mean()))
