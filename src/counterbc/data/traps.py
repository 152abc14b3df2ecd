"""Traps: facts about a recording that are no errors, but mislead whoever learns from it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from counterbc.data.angles import DEGREES, Angles
from counterbc.data.bounds import RARE, rarely_used
from counterbc.data.copies import Copies, Copy
from counterbc.data.delays import Delays
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.inspection_report import ActionTarget, Trap
from counterbc.data.moments import Moments
from counterbc.data.names import shorten
from counterbc.data.raw_episode import RawEpisode

FROZEN = 0.01
"""Smallest share of the steps at which the action changes and the observation does not."""
_SAMPLE = 50_000  # rows of actions in memory
_FEW = 5  # frozen steps
_KEYS = 8  # that are worth naming


class Frozen:
    """Steps at which the action changes while the whole observation stays the same to the bit."""

    def __init__(self) -> None:
        self._frozen = self._steps = 0

    def see(self, r: RawEpisode) -> None:
        """Add an episode."""
        changes = (r.action[1:] != r.action[:-1]).any(axis=1)
        pairs = zip(r.obs[1:], r.obs[:-1], strict=True)  # one at a time: images are large
        same = np.fromiter((np.array_equal(a, b) for a, b in pairs), bool, len(changes))
        self._frozen += int((changes & same).sum())
        self._steps += int(changes.sum())

    @property
    def share(self) -> float:
        """The share of such steps; 0 if they are few."""
        is_often = self._frozen >= max(_FEW, FROZEN * self._steps)
        return self._frozen / self._steps if is_often else 0.0


class Rare:
    """A thinned sample of the actions, which tells the dimensions that are rarely used."""

    def __init__(self, model: Demonstrations) -> None:
        self._names = model.action_names if model.action_low is None else ()
        self._sample = np.zeros((0, model.action_size), np.float32)
        self._every = 1

    def see(self, r: RawEpisode) -> None:
        """Add an episode; beyond a number of rows every second one is dropped."""
        self._sample = np.concatenate([self._sample, r.action[:: self._every]])
        if len(self._sample) > _SAMPLE:
            self._sample, self._every = self._sample[::2], 2 * self._every

    def detect(self, action: Moments) -> Iterator[Trap]:
        """Yield the trap, given the extremes of all actions."""
        if not self._names or not np.isfinite(self._sample).all():
            return
        low, high = np.percentile(self._sample, [1, 99], axis=0)
        rare = rarely_used(low, high, action.low, action.high)
        if names := [self._names[i] for i in np.flatnonzero(rare).tolist()]:
            yield Trap(
                kind="rarely used action",
                dimensions=tuple(names),
                text=f"{shorten(names)}: the full range of the action is more than {RARE} times "
                "its 1–99 % range, so its full range is used to scale it",
                step="declare the bounds with --low and --high if they are known",
            )


class Traps:
    """What is needed to notice the traps of one dataset, from episodes in sequence."""

    def __init__(self, model: Demonstrations) -> None:
        self._model = model
        self._copies, self._delays, self._frozen = Copies(model), Delays(model), Frozen()
        self._rare, self._turns = Rare(model), Angles(model.action_size)
        self._degrees = Angles(len(model.obs_names), DEGREES)

    def see(self, r: RawEpisode) -> None:
        """Add an episode."""
        for check in (self._copies, self._delays, self._frozen, self._rare):
            check.see(r)
        self._turns.add(r.action)
        if self._model.obs_names:
            self._degrees.add(r.obs)

    def detect(
        self,
        targets: Sequence[ActionTarget],
        angles: Iterable[str],
        obs: Moments,
        action: Moments,
    ) -> tuple[Trap, ...]:
        """Return the traps, given what else was found."""
        copies = self._copies.detect()
        return (
            *self._copied(copies, targets),
            *self._late(copies),
            *self._still(),
            *(_angle(name) for name in angles),
            *(_degrees(self._model.obs_names[i]) for i in self._degrees.detect()),
            *(_turning(self._model.action_names[i]) for i in self._turns.detect()),
            *self._rare.detect(action),
            *_unused("action", self._model.action_names, action),
            *_unused("observation", self._model.obs_names, obs),
        )

    def _copied(self, copies: Sequence[Copy], targets: Sequence[ActionTarget]) -> Iterator[Trap]:
        actions, names = self._model.action_names, self._model.obs_names
        present = [c for c in copies if c.steps == 0]
        previous = [c for c in copies if c.is_previous_action]
        next_names = {c.action_dim: names[c.obs_dim] for c in copies if c.steps == 1}
        next_names |= {t.action_dim: t.obs for t in targets if t.kind == "next observation"}
        next_names = {
            j: n for j, n in next_names.items() if j not in {c.action_dim for c in previous}
        }
        if present:
            yield Trap(
                kind="action is observation",
                dimensions=tuple(names[c.obs_dim] for c in present),
                text=f"{_subject(len(present), len(actions))} equal to "
                f"{shorten([names[c.obs_dim] for c in present])} at the same step, so a policy "
                "only learns to repeat what it sees",
                step="record the command, or leave these observations out with --obs",
            )
        if next_names:
            yield Trap(
                kind="action is next observation",
                dimensions=tuple(next_names.values()),
                text=f"{_subject(len(next_names), len(actions))} the next values of "
                f"{shorten(list(next_names.values()))}; they may be computed, not commanded",
                step="check that the robot takes such targets, or record its commands",
            )
        if previous:
            yield Trap(
                kind="observation is previous action",
                dimensions=tuple(names[c.obs_dim] for c in previous),
                text=f"{shorten([names[c.obs_dim] for c in previous])}: the observation is the "
                "previous action, which a policy tends to copy instead of reading the state",
                step=self._without({c.obs_dim for c in previous}),
            )

    def _without(self, dims: set[int]) -> str:
        """Return how to leave out the keys of these observation dimensions."""
        end, keys = 0, []
        for key, width in self._model.obs_keys:
            keys += [key] if dims.isdisjoint(range(end, end + width)) else []
            end += width
        whole = sum(width for key, width in self._model.obs_keys if key not in keys) == len(dims)
        if not keys or not whole or len(keys) > _KEYS:
            return "leave it out by naming the other keys with --obs"
        words = shlex.join(word for key in keys for word in ("--obs", key))
        return f"leave it out with {words}"

    def _late(self, copies: Sequence[Copy]) -> Iterator[Trap]:
        actions, names = self._model.action_names, self._model.obs_names
        late = [(f"action {actions[c.action_dim]}", names[c.obs_dim], c.steps) for c in copies
                if c.steps > 1]  # fmt: skip
        exact = {obs for _, obs, _ in late}
        late += [
            (f"{'action' if d.is_action else 'observation'} {d.source}", d.obs, d.steps)
            for d in self._delays.detect()
            if d.obs not in exact
        ]
        for source, obs, steps in late:
            rate = self._model.rate
            seconds = "" if rate is None else f" ({steps / rate:.3g} s)"
            yield Trap(
                kind="delay",
                dimensions=(obs,),
                text=f"{obs} follows {source} {steps} steps late{seconds}: the two streams were "
                "recorded or carried out with a delay",
                step=f"move {obs} up by {steps} rows if the recorder was late, or let the policy "
                f"see the past with --history {steps + 1}",
            )

    def _still(self) -> Iterator[Trap]:
        if share := self._frozen.share:
            yield Trap(
                kind="frozen frames",
                dimensions=(),
                text=f"at {share:.1%} of the steps the action changes but the whole observation "
                "is the same to the bit: frames were dropped or recorded more slowly",
                step="record both at one rate, or keep only the rows with a new observation",
            )


def _angle(name: str) -> Trap:
    return Trap(
        kind="wrapped angle",
        dimensions=(name,),
        text=f"{name} is an angle that jumps by a full turn, so equal poses look far apart",
        step=f"declare it with --angle {shlex.quote(name)}, and it is read as cosine and sine",
    )


def _degrees(name: str) -> Trap:
    return Trap(
        kind="angle in degrees",
        dimensions=(name,),
        text=f"{name} is an angle in degrees that jumps by a full turn",
        step="convert it to radians, and declare it with --angle",
    )


def _turning(name: str) -> Trap:
    return Trap(
        kind="wrapped action",
        dimensions=(name,),
        text=f"{name}: the action is an angle that jumps by a full turn, so the mean of two "
        "actions on either side of the jump points the opposite way",
        step="record its cosine and sine, or by how much to turn",
    )


def _unused(kind: str, names: Sequence[str], moments: Moments) -> Iterator[Trap]:
    unused = [names[i] for i in np.flatnonzero(moments.low == moments.high).tolist()]
    if unused and moments.rows > 1:
        effect = "can only learn to repeat it" if kind == "action" else "learns nothing from it"
        yield Trap(
            kind=f"unused {kind}",
            dimensions=tuple(unused),
            text=f"{shorten(unused)}: the {kind} is unused, its value never changes, so a policy "
            f"{effect}",
            step=f"leave it out with --{'action' if kind == 'action' else 'obs'}, unless it must "
            "be there",
        )


def _subject(count: int, size: int) -> str:
    return "the actions are" if count == size else f"{count} of {size} actions are"
