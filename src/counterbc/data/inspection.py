"""Inspect datasets: what is in them, and what is wrong with them.

Every episode is read once, so that memory does not grow with the data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

import numpy as np

from counterbc.data import problems
from counterbc.data.angles import Angles
from counterbc.data.arrays import Array
from counterbc.data.censoring import ActionsAre
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.dimensions import dimension_text, dims_of
from counterbc.data.episode import Episode
from counterbc.data.episode_block import BlockBuilder, EpisodeBlock
from counterbc.data.fingerprint import dataset_fingerprint, episode_digest
from counterbc.data.inspection_report import (
    ActionTarget,
    Bounds,
    Dimension,
    InspectionReport,
    Lengths,
    Problem,
)
from counterbc.data.merge import check_alike, file_operators
from counterbc.data.moments import Moments
from counterbc.data.raw_episode import Header, RawEpisode, as_float32, selection
from counterbc.data.relative import ABSOLUTE, relative_text
from counterbc.data.targets import Targets
from counterbc.data.traps import Traps
from counterbc.errors import DataError
from counterbc.files import boundary


def idle_after(rate: float | None) -> int:
    """Return how many pairs of the same action count as idle: one second, and at least 10."""
    return 10 if rate is None else max(10, round(rate))


class Inspection:
    """Facts and problems of datasets that are added one after the other and inspected as one."""

    def __init__(self, idle: int | None = None) -> None:
        self._idle_after = idle
        self.headers: list[Header] = []
        self.lengths: list[int] = []
        self._pairs = 0  # that are learned from
        self._episodes: list[tuple[bytes, str | None, bool | None]] = []
        self._ends: list[int] = []  # the number of episodes after each dataset
        self._flags: list[Array | None] = []  # which pairs of an episode are learned from
        self._returns: list[float] = []
        self._builder = BlockBuilder()
        self._unreadable = problems.Unreadable()
        self._unrewarded = False

    def add(self, header: Header, raw_episodes: Iterable[RawEpisode]) -> None:
        """Inspect one more dataset."""
        count, errors = 0, []
        with boundary(header.source):
            for raw_episode in raw_episodes:
                if raw_episode.error is not None:
                    errors.append(raw_episode.error)
                    self._unreadable.see(raw_episode)
                    continue
                if not count:
                    header = self._begin(header, raw_episode)
                count += 1
                self._see(as_float32(raw_episode))
        if not count and errors:
            raise errors[0]
        if not count:
            raise DataError(f"{header.source}: a dataset needs at least one episode; it has none")
        for block in self._builder.rest():
            self._see_block(block)
        self._ends.append(len(self._episodes))

    def _begin(self, header: Header, first: RawEpisode) -> Header:
        """Prepare for episodes that look like the first one."""
        model = _model(header, first)
        if self.headers:
            check_alike(self.model, model)
        else:
            self._prepare(model)
        self.headers.append(Header.of(model, operators=header.operators, left_out=header.left_out))
        return self.headers[-1]

    def _prepare(self, model: Demonstrations) -> None:
        self.model = model
        self.obs = Moments(len(model.obs_names))
        self.action = Moments(model.action_size)
        self._shapes = problems.Shapes(model)
        self._not_finite, self._outside = problems.NotFinite(model), problems.Outside(model)
        self._idle = problems.Idle(self._idle_after or idle_after(model.rate))
        self._duplicates, self._short = problems.Duplicates(), problems.Short()
        self._saturated = problems.Saturated(model, self.action)
        self._targets, self._angles = Targets(model), Angles(len(model.obs_names))
        self._traps = Traps(model)

    def _see(self, r: RawEpisode) -> None:
        self.lengths.append(len(r.action))
        self._flags.append(r.selected)
        self._pairs += len(r.action) if r.selected is None else int(np.count_nonzero(r.selected))
        if not self._shapes.fits(r):
            self._episodes.append((b"", r.operator, r.success))
            return
        digest = episode_digest(r.obs, r.action, r.reward, r.images.values())
        self._episodes.append((digest, r.operator, r.success))
        self._duplicates.see(r, digest)
        self._short.see(r)
        if r.reward is None:
            self._unrewarded = True
        else:
            self._returns.append(float(r.reward.sum()))
        for block in self._builder.add(r):
            self._see_block(block)

    def _see_block(self, block: EpisodeBlock) -> None:
        """Make the checks that take many episodes at once."""
        for check in (
            self._not_finite, self._outside, self._idle, self._saturated, self._targets,
            self._traps,
        ):  # fmt: skip
            check.see(block)
        if len(self.obs.low):
            self.obs.add(block.obs)
            self._angles.add(block.obs, block.follows)
        self.action.add(block.action)

    def problems(self) -> list[Problem]:
        """Return the problems, the most serious first."""
        return [
            *self._unreadable.problems(),
            *self._not_finite.problems(),
            *self._shapes.problems(),
            *self._duplicates.problems(),
            *self._short.problems(),
            *self._idle.problems(),
            *self._outside.problems(),
            *self._saturated.problems(),
            *problems.dominated("obs", self.model.obs_names, self.obs),
            *problems.dominated("action", self.model.action_names, self.action),
            *problems.constant("obs", self.model.obs_names, self.obs),
            *problems.constant("action", self.model.action_names, self.action),
        ]

    @property
    def _operators(self) -> list[str | None]:
        """The operator of each episode; of several files, one without operators is an operator."""
        begins = [0, *self._ends[:-1]]
        by_source = [
            [o for _, o, _ in self._episodes[b:e]] for b, e in zip(begins, self._ends, strict=True)
        ]
        has_operators = [any(o is not None for o in operators) for operators in by_source]
        names = file_operators([h.source for h in self.headers], has_operators)
        if len(by_source) == 1:
            return by_source[0]
        return [
            name if o is None else o
            for operators, name in zip(by_source, names, strict=True)
            for o in operators
        ]

    def fingerprint(self) -> str | None:
        """Return the fingerprint these data have once loaded, or None if they cannot be loaded."""
        if self._unreadable.faulty or self._shapes.faulty or self._not_finite.faulty:
            return None
        episodes = zip(self._episodes, self._operators, strict=True)
        return dataset_fingerprint(
            ((digest, operator, success) for (digest, _, success), operator in episodes),
            low=self.model.action_low,
            high=self.model.action_high,
            selected=selection(self.lengths, self._flags),
            action_set=self.model.action_set,
            actions_are=self._actions_are,
            relative=self._relative,
            angles=dims_of(self.model, self._angle_names),
        )

    @property
    def _angle_names(self) -> tuple[str, ...]:
        """The observation dimensions that one of the datasets declares an angle."""
        dims = {i for h in self.headers for i in dims_of(h, h.angles)}
        return tuple(dimension_text(self.model, i) for i in sorted(dims))

    @property
    def _actions_are(self) -> ActionsAre | None:
        """What the datasets declare about their actions, if they agree."""
        return self.model.actions_are if len({h.actions_are for h in self.headers}) == 1 else None

    @property
    def _relative(self) -> str | None:
        """What the datasets declare their actions to be relative to, if they agree."""
        return self.model.relative if len({h.relative for h in self.headers}) == 1 else None

    def report(self) -> InspectionReport:
        """Return everything that was found."""
        m, successes = self.model, [s for _, _, s in self._episodes if s is not None]
        bounds = None
        if m.action_low is not None and m.action_high is not None:
            bounds = Bounds(tuple(m.action_low.tolist()), tuple(m.action_high.tolist()))
        action_targets = self._targets.detect()
        angles = tuple(dimension_text(m, i) for i in self._angles.detect())
        undeclared = [name for name in angles if name not in self._angle_names]
        has_rewards = self._returns and not self._unrewarded
        return InspectionReport(
            source=" + ".join(h.source for h in self.headers),
            episodes=len(self.lengths),
            pairs=self._pairs,
            episode_length=Lengths(min(self.lengths), max(self.lengths)),
            obs_shape=m.obs_shape,
            obs_keys=dict(m.obs_keys),
            action_size=m.action_size,
            bounds=bounds,
            action_set=m.action_set,
            actions_outside_bounds=self._outside.pairs,
            actions_are=self._actions_are,
            relative=self._relative,
            angles=self._angle_names,
            operators=self._operator_counts(),
            successes=sum(successes) if successes else None,
            mean_return=float(np.mean(self._returns)) if has_rewards else None,
            env=m.env,
            rate=m.rate if len({h.rate for h in self.headers}) == 1 else None,
            masks={n: len(v) for h in reversed(self.headers) for n, v in h.masks.items()},
            left_out=tuple(dict.fromkeys(x for h in self.headers for x in h.left_out)),
            dimensions=(
                *_dimensions("obs", m.obs_names, self.obs),
                *_dimensions("action", m.action_names, self.action, self._saturated.counts),
            ),
            action_targets=action_targets,
            suggested_relative=self._suggested_relative(action_targets),
            wrapped_angles=angles,
            traps=self._traps.detect(action_targets, undeclared, self.obs, self.action),
            idle_after=self._idle.after,
            problems=tuple(self.problems()),
            fingerprint=self.fingerprint(),
        )

    def _suggested_relative(self, action_targets: Sequence[ActionTarget]) -> str | None:
        """Return what to make actions relative to, if some are targets and nothing is declared."""
        dims = {t.action_dim: t.obs_dim for t in action_targets if t.kind == "target"}
        if not dims or self._relative is not None:
            return None
        by_action = [dims.get(j, ABSOLUTE) for j in range(self.model.action_size)]
        return relative_text(self.model, by_action)

    def _operator_counts(self) -> dict[str, int]:
        """Return the episodes of each operator, and 0 for those whom a file only names."""
        counts = Counter({o: 0 for h in self.headers for o in h.operators})
        counts.update(o for o in self._operators if o is not None)
        return dict(counts)


def _dimensions(
    kind: Literal["obs", "action"],
    names: Sequence[str],
    moments: Moments,
    on_bounds: Sequence[tuple[int, int]] | None = None,
) -> Iterator[Dimension]:
    std = moments.std
    for i, name in enumerate(names):
        on_low, on_high = (None, None) if on_bounds is None else on_bounds[i]
        yield Dimension(
            kind=kind, name=name, min=float(moments.low[i]), mean=float(moments.mean[i]),
            max=float(moments.high[i]), std=float(std[i]),
            on_low=on_low, on_high=on_high,
        )  # fmt: skip


def _model(header: Header, first: RawEpisode) -> Demonstrations:
    """Return a dataset of one pair of zeros, which checks the header and fills in its names."""
    image = first.obs.ndim == 4
    obs = np.zeros((1, *first.obs.shape[1:]), first.obs.dtype if image else np.float32)
    try:
        images = {n: np.zeros((1, *x.shape[1:]), x.dtype) for n, x in first.images.items()}
        action = np.zeros((1, *first.action.shape[1:]))
        return header.with_episodes([Episode(obs, action, images=images)])
    except DataError as error:
        raise DataError(f"{header.source}: {error}") from None
