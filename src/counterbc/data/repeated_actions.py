"""Traps of observations that repeat an action: the present one, the previous one, or nearly so."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import replace

from counterbc.data.copies import Copies, Copy, is_named_previous
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.echoes import Echo, Echoes
from counterbc.data.inspection_report import ActionTarget, Trap
from counterbc.data.names import shorten
from counterbc.data.raw_episode import RawEpisode

PREVIOUS = "observation is previous action"
_KEYS = 8  # that are worth naming


class RepeatedActions:
    """What is needed to notice such observations, from episodes in sequence."""

    def __init__(self, model: Demonstrations) -> None:
        self._model = model
        self._copies, self._echoes = Copies(model), Echoes(model)

    def see(self, r: RawEpisode) -> None:
        """Add an episode."""
        self._copies.see(r)
        self._echoes.see(r)

    def detect(self, targets: Sequence[ActionTarget]) -> tuple[tuple[Copy, ...], tuple[Trap, ...]]:
        """Return the exact copies and the traps, given which actions are targets."""
        echoes = [replace(e, is_filled=self._is_previous(e)) for e in self._echoes.detect()]
        previous = {(e.action_dim, e.obs_dim) for e in echoes if e.is_filled}
        copies = tuple(
            replace(c, is_previous_action=True)
            if c.steps == 1 and (c.action_dim, c.obs_dim) in previous
            else c
            for c in self._copies.detect()
        )
        exact_dims = {c.action_dim for c in copies}
        following = {c.action_dim: c.obs_dim for c in copies if c.steps == 1}
        following |= {t.action_dim: t.obs_dim for t in targets if t.kind == "next observation"}
        known_pairs = previous | {(c.action_dim, c.obs_dim) for c in copies if c.is_previous_action}
        next_dims = [i for j, i in following.items() if (j, i) not in known_pairs]
        open_pairs = {(t.action_dim, t.obs_dim) for t in targets if t.kind == "target"} - previous
        rest = [e for e in echoes if e.action_dim not in exact_dims and e.obs_dim not in next_dims]
        as_positions = [e for e in rest if (e.action_dim, e.obs_dim) in open_pairs]
        return copies, (
            *self._present([c.obs_dim for c in copies if c.steps == 0]),
            *self._next(next_dims),
            *self._previous([c.obs_dim for c in copies if c.is_previous_action]),
            *self._shown([e for e in rest if e not in as_positions], ""),
            *self._shown(
                as_positions, ", as the position of a robot that reaches its target at once"
            ),
        )

    def _is_previous(self, echo: Echo) -> bool:
        return echo.is_filled or is_named_previous(self._model.obs_names[echo.obs_dim])

    def _names(self, dims: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._model.obs_names[i] for i in dims)

    def _present(self, dims: Sequence[int]) -> Iterator[Trap]:
        if dims:
            yield Trap(
                kind="action is observation",
                dimensions=self._names(dims),
                text=f"{_subject(len(dims), self._model.action_size)} equal to "
                f"{shorten(self._names(dims))} at the same step, so a policy "
                "only learns to repeat what it sees",
                step="record the command, or leave these observations out",
            )

    def _next(self, dims: Sequence[int]) -> Iterator[Trap]:
        if dims:
            yield Trap(
                kind="action is next observation",
                dimensions=self._names(dims),
                text=f"{_subject(len(dims), self._model.action_size)} the next "
                f"{'value' if len(dims) == 1 else 'values'} of {shorten(self._names(dims))}: "
                f"{'it' if len(dims) == 1 else 'they'} may be computed, not commanded, or the "
                "observation is the previous action, which a policy tends to copy",
                step="check that the robot takes such targets, or record its commands, and leave "
                "out observations of the command",
            )

    def _previous(self, dims: Sequence[int]) -> Iterator[Trap]:
        if dims:
            yield Trap(
                kind=PREVIOUS,
                dimensions=self._names(dims),
                text=f"{shorten(self._names(dims))}: the observation is the previous action, "
                "which a policy tends to copy instead of reading the state",
                step=self._without(set(dims)),
            )

    def _shown(self, echoes: Sequence[Echo], as_well: str) -> Iterator[Trap]:
        if echoes:
            names = self._names([e.obs_dim for e in echoes])
            yield Trap(
                kind=PREVIOUS,
                dimensions=names,
                text=f"{shorten(names)}: the observation shows the previous action (R² "
                f"{min(e.share for e in echoes):.2f}){as_well}; a policy tends to copy it instead "
                "of reading the state",
                step=f"if it records the command, {self._without({e.obs_dim for e in echoes})}",
            )

    def _without(self, dims: set[int]) -> str:
        """Return how to leave out the keys of these observation dimensions."""
        end, keys = 0, []
        for key, width in self._model.obs_keys:
            keys += [key] if dims.isdisjoint(range(end, end + width)) else []
            end += width
        whole = sum(width for key, width in self._model.obs_keys if key not in keys) == len(dims)
        if not whole:
            return "save the data without it, since --obs chooses whole keys"
        if not keys:
            return "record more than that, since a policy must see the state"
        if len(keys) > _KEYS:
            return "leave it out by naming the other keys with --obs"
        words = shlex.join(word for key in keys for word in ("--obs", key))
        return f"leave it out with {words}"


def _subject(count: int, size: int) -> str:
    if size == 1:
        return "the action is"
    if count == size:
        return "the actions are"
    return f"{count} of {size} actions {'is' if count == 1 else 'are'}"
