"""meaning(): from demonstrations to the actions that the demonstrators meant."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import torch

from counterbc.acting.device import find_device
from counterbc.acting.member import radius_text
from counterbc.data.action_scale import scaled_actions, user_actions
from counterbc.data.arrays import Array, read_only
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.lags import NONE, answer_states, lag_text, undo_lag, with_actions
from counterbc.data.offsets import NO_OFFSETS, Offsets, remove_offsets
from counterbc.data.radii import Radius, radius_of
from counterbc.data.scaling import scaled_feasible_set
from counterbc.diagnosis.clamp_to_support import prediction_trust, share_of_radius, within
from counterbc.diagnosis.effort import comparable_residuals
from counterbc.diagnosis.flow_labels import (
    FLOW_HELD_OUT,
    check_flow,
    flow_samples,
    is_flow,
    mean_within,
)
from counterbc.diagnosis.predictions import disagreement, predictions_work, robust_predictions
from counterbc.diagnosis.ranking_text import if_enough_pairs, ranking_lines, warn_if_untold
from counterbc.diagnosis.scores import Score, episode_scores, operator_scores
from counterbc.diagnosis.smooth_meaning import smooth_fields
from counterbc.methods import Method, find_method
from counterbc.selection.explained import choose_history, explain_errors, explain_quickly
from counterbc.selection.held_out import HeldOut, Training
from counterbc.selection.lag_errors import LagSearch
from counterbc.selection.offsets import find_offsets
from counterbc.selection.radius import RadiusSearch, choose_radii
from counterbc.selection.shares import Explained
from counterbc.selection.tuner import find_lags
from counterbc.settings import Settings, settings_for
from counterbc.training.checks import as_datasets, check_reads, warn_infeasible
from counterbc.training.progress import Bar, Progress, Quiet


@dataclass(frozen=True, eq=False, repr=False)
class Meaning:
    """Demonstrated and meant actions of N pairs in episode order, in the user's units.

    With a lag of k the demonstrated action of s_t is the one shown k steps later, less the offset
    of its operator. The last k pairs of an episode have none.
    """

    demos: Demonstrations
    shown: Array
    """(N, A): the actions as recorded."""
    predicted: Array
    """(N, A): the mean action of held-out policies, which did not see the pair's episode; of flows
    the mean of the actions that they sample within Δ, or the nearest one."""
    meant: Array
    """(N, A): between the two, nearer to the demonstrated action the more the held-out policies
    disagree, or smoothed over time; within Δ or `reach` of it and in A. The recorded action for
    pairs without a demonstrated one."""
    residual: Array
    """(N, A): demonstrated − predicted, where each action dimension spans [−1, 1]; NaN for pairs
    without a demonstrated action."""
    limited: Array
    """(N,): whether Δ or A keeps the meant action from being nearer to the predicted one."""
    radius: tuple[float, ...]
    """Δ of each action dimension."""
    shape: str = "ball"
    """The shape of C(s, a): ball or box."""
    lag: tuple[float, ...] = NONE
    """How late the actions were shown, in steps: one for everybody, or one per operator."""
    offsets: Offsets = NO_OFFSETS
    """The offset that was removed from the actions of each operator who has one."""
    reach: tuple[float, ...] = ()
    """How far a smoothed action may lie from the demonstrated one in each dimension; empty if time
    was not used. Δ if it was given, else four standard deviations of the estimated errors."""
    history: int = 1
    """Observations that the held-out policies read."""
    is_sampled: bool = False
    """Whether predictions are samples near the demonstrated action, as those of flows are."""
    is_radius_chosen: bool = False
    """Whether Δ was chosen from the data."""
    predictions: Array = field(default_factory=lambda: np.empty((0, 0, 0)))
    """(R, N, A): the predictions of each repeat, whose mean is `predicted`."""

    def smooth(self) -> Meaning:
        """Return the same with meant actions that also use time; a given radius limits them."""
        fields = smooth_fields(
            self._unbiased, self.lag, self.predictions,
            shown=self.shown, shape=self.shape,
            radius=None if self.is_radius_chosen else self.radius,
        )  # fmt: skip
        return replace(self, **fields)

    @cached_property
    def _unbiased(self) -> Demonstrations:
        """The demonstrations without the offsets of operators."""
        return remove_offsets(self.demos, self.offsets)

    @property
    def has_answer(self) -> Array:
        """Whether the episode has a demonstrated action for each pair: (N,) bool."""
        return undo_lag(self.demos, self.lag)[1]

    @property
    def distance(self) -> Array:
        """‖demonstrated − predicted‖ where each action dimension spans [−1, 1]: (N,)."""
        return np.asarray(np.linalg.norm(self.residual, axis=1))

    @property
    def moved(self) -> Array:
        """‖demonstrated − meant‖ in these units, at most Δ or `reach` where feasible: (N,)."""
        demos = self._unbiased
        answer = undo_lag(demos, self.lag)[0].astype(np.float64)
        answer, meant = (scaled_actions(demos, actions) for actions in (answer, self.meant))
        return np.asarray(np.linalg.norm(answer - meant, axis=1))

    @property
    def weight(self) -> Array:
        """1 / (1 + (d/Δ)²) of the distance d: 1 at the predicted action, ½ at Δ: (N,).

        1 everywhere for a radius of 0. 0 for pairs without a demonstrated action.
        """
        distance = share_of_radius(self.residual, np.array(self.radius), self.shape)
        return np.where(self.has_answer, 1 / (1 + distance**2), 0.0).astype(np.float32)

    @cached_property
    def explained(self) -> Explained:
        """How much of the actions' variance is explained by policies that did not see them: of the
        actions with the lag and the offsets undone."""
        if self.is_sampled:
            return explain_quickly(self._unbiased, self.lag)
        return explain_errors(self._unbiased, self.residual, self.history, lag=self.lag)

    @cached_property
    def comparable(self) -> Array:
        """(N, A): residuals that do not depend on how fast an episode is; scores are made of
        them."""
        return comparable_residuals(self.demos, self.residual, self.predicted)

    @cached_property
    def episodes(self) -> tuple[Score, ...]:
        """The scores of the episodes, in their order."""
        return episode_scores(self.demos, self.comparable, scaled_actions(self.demos, self.shown))

    @cached_property
    def operators(self) -> tuple[Score, ...]:
        """The scores of the operators in order of first appearance."""
        return operator_scores(self.demos, self.comparable, self.episodes)

    @property
    def cleaned(self) -> Demonstrations:
        """The demonstrations with meant actions in place of the recorded ones.

        Pairs without a demonstrated action are not selected, so that no policy learns from them.
        Warn where the data cannot tell a good demonstration from a bad one.
        """
        shares = if_enough_pairs(lambda: self.explained)
        warn_if_untold(shares, "moving actions towards predictions means little")
        return with_actions(answer_states(self.demos, self.lag), self.meant)

    def __repr__(self) -> str:
        rms = float(np.sqrt(np.nanmean(self.distance**2)))
        lines = [
            f"Meaning of {self.demos.source or 'demonstrations'}",
            f"  pairs      {len(self.shown)} in {len(self.demos)} episodes",
            f"  radius     {radius_text(self.radius)}",
            *([f"  lag        {lag_text(self.lag, self.demos.rate)}"] if any(self.lag) else []),
            f"  distance   {rms:.3f} from demonstrated to predicted (RMS; actions span [-1, 1])",
            *ranking_lines(if_enough_pairs(lambda: self.explained), self.episodes, self.operators),
        ]
        return "\n".join(lines)


def meaning(
    demos: Demonstrations,
    *,
    radius: Radius | Literal["auto"] | None = None,
    held_out: HeldOut | None = None,
    search: RadiusSearch | None = None,
    lag_search: LagSearch | None = None,
    preset: str = "default",
    device: str | torch.device | None = None,
    progress: bool = True,
    smooth: bool = False,
    **changes: Any,
) -> Meaning:
    """Estimate meant actions with Counter-BC policies that did not see a pair's episode.

    With three operators or more, the policies saw no episode of its operator either. With fewer
    episodes than folds, blocks of neighbouring pairs are held out. `radius` is by default the
    preset's; auto chooses it from the data as `search` says. `changes` are fields of `Settings`.
    The lag is one of them: auto chooses it as `lag_search` says, and 0 compares every state with
    the action recorded at it. The offsets of operators are another.

    With `smooth`, the meant action also uses the neighbouring steps of its episode (`smoother.py`).
    With the policy flow it does not: plain flows of whole episodes sample actions at each state,
    and the meant action is the mean of those within Δ of the demonstrated one, or the point of
    C(s, a) on the way to the nearest. The radius must be given.
    """
    (demos,), settings = as_datasets(demos), settings_for(preset, **changes)
    radius = settings.radius if radius is None else radius
    (name, method), shape = _method(demos, settings), settings.shape or "ball"
    samples_actions = is_flow(settings.policy)
    held_out = held_out or (FLOW_HELD_OUT if samples_actions else HeldOut())
    if samples_actions:
        check_flow(radius, held_out)
    warn_infeasible([demos], settings)
    check_reads(demos, method)
    _check_fits(demos, radius, held_out)
    training = Training(
        name=name, method=method, settings=settings, device=find_device(device),
        progress=_bar("choosing the lag", progress),
    )  # fmt: skip
    lag = find_lags([demos], training, lag_search)[0].lag
    offsets = find_offsets([demos], [lag], settings.offsets)[0].offsets
    plain = remove_offsets(demos, offsets)
    history = 1 if samples_actions else choose_history(plain, held_out.history, lag)
    training = replace(training, method=_with_history(method, history))
    if is_chosen := isinstance(radius, str):
        settings_for(preset, radius=radius)  # refuses any word but auto
        later, bar = predictions_work(plain, held_out, settings), _bar("choosing Δ", progress)
        searching = replace(training, progress=bar, later=later)
        radius = choose_radii([plain], searching, search, [lag])[0].radius
    delta = radius_of(radius, [plain])
    training = replace(training, progress=_bar("predicting", progress))
    if samples_actions:
        samples = flow_samples(plain, method, held_out, training, lag)
        means = mean_within(plain, samples, delta, shape, lag)[None]
    else:
        means = robust_predictions(plain, held_out, delta, training, lag)
    meant = meaning_of_predictions(demos, means, delta, shape, lag, offsets)
    meant = replace(meant, history=history, is_sampled=samples_actions, is_radius_chosen=is_chosen)
    return meant.smooth() if smooth and not samples_actions else meant


def _check_fits(demos: Demonstrations, radius: Radius | str, held_out: HeldOut) -> None:
    """Raise if radii or folds do not fit the data, before anything is trained."""
    held_out.split(demos)
    if not isinstance(radius, str):
        radius_of(radius, [demos])


def _bar(title: str, is_shown: bool) -> Progress:
    return Bar(title) if is_shown else Quiet()


def _with_history(method: Method, history: int) -> Method:
    longest = max(history, method.policy.history)
    return replace(method, policy=replace(method.policy, history=longest))


def _method(demos: Demonstrations, settings: Settings) -> tuple[str, Method]:
    """Return what the held-out policies learn by: Counter-BC, or BC if they are flows."""
    if is_flow(settings.policy):
        name, method = find_method("bc")
        return name, settings.apply(method, demos.obs_shape, demos.pairs, image=demos.image)
    name, method = find_method("counter-bc")
    return name, settings.apply(method)


def meaning_of_predictions(
    demos: Demonstrations,
    means: Array,
    delta: tuple[float, ...],
    shape: str,
    lag: tuple[float, ...],
    offsets: Offsets,
) -> Meaning:
    """Return what held-out predictions (R, N, A) say about each pair."""
    shown, prediction = demos.action.astype(np.float64), np.nanmean(means, axis=0)  # (N, A) each
    plain = remove_offsets(demos, offsets)
    answer, has_answer = undo_lag(plain, lag)
    rows = np.flatnonzero(has_answer)  # (n,)
    action, aim = (scaled_actions(plain, a) for a in (answer.astype(np.float64), prediction))
    off, action, aim = np.where(has_answer[:, None], action - aim, np.nan), action[rows], aim[rows]
    trust = prediction_trust(off[rows], disagreement(plain, means)[rows])[:, None]  # (n, 1)
    target = action + trust * (aim - action)
    clamped = within(action, target, np.array(delta), shape, scaled_feasible_set(plain))
    meant, limited = shown.copy(), np.zeros(len(shown), np.bool_)
    meant[rows] = user_actions(plain, clamped)
    limited[rows] = ~np.isclose(clamped, target, atol=1e-6).all(1)
    return Meaning(
        demos,
        shown=read_only(shown, np.float64, "shown"),
        predicted=read_only(prediction, np.float64, "predicted"),
        meant=read_only(meant, np.float64, "meant"),
        residual=read_only(off, np.float64, "residual"),
        limited=read_only(limited, np.bool_, "limited"),
        radius=delta,
        shape=shape,
        lag=lag,
        offsets=offsets,
        predictions=read_only(means, np.float64, "predictions"),
    )
