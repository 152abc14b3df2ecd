"""Traps: facts about a recording that are no errors, but mislead whoever learns from it."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from counterbc.data.angles import DEGREES, Angles
from counterbc.data.arrays import Array
from counterbc.data.bounds import RARE, rarely_used
from counterbc.data.copies import Copy
from counterbc.data.delays import Delays
from counterbc.data.demonstrations import Demonstrations
from counterbc.data.episode_block import EpisodeBlock
from counterbc.data.inspection_report import ActionTarget, Trap
from counterbc.data.moments import Moments
from counterbc.data.names import shorten
from counterbc.data.raw_episode import RawEpisode
from counterbc.data.repeated_actions import RepeatedActions

FROZEN = 0.01
"""Smallest share of the steps at which the action changes and the observation does not."""
_SAMPLE = 50_000  # rows of actions in memory
_FEW = 5  # frozen steps


class Frozen:
    """Steps at which the action changes while the whole observation stays the same to the bit."""

    def __init__(self) -> None:
        self._frozen = self._steps = 0

    def see(self, block: EpisodeBlock) -> None:
        """Add episodes."""
        obs, action = block.obs, block.action
        changes = (action[1:] != action[:-1]).any(axis=1) & block.follows
        if obs.ndim == 2:
            same = (obs[1:] == obs[:-1]).all(axis=1)
        else:
            pairs = zip(obs[1:], obs[:-1], strict=True)  # one at a time: images are large
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
        self._parts = list[Array]()  # of the sample: (T, A) each
        self._rows, self._every = 0, 1

    def see(self, r: RawEpisode) -> None:
        """Add an episode; beyond a number of rows every second one is dropped."""
        if not self._names:
            return
        self._parts.append(r.action[:: self._every])
        self._rows += len(self._parts[-1])
        if self._rows > _SAMPLE:
            self._parts, self._every = [np.concatenate(self._parts)[::2]], 2 * self._every
            self._rows = len(self._parts[0])

    def detect(self, action: Moments) -> Iterator[Trap]:
        """Yield the trap, given the extremes of all actions."""
        if not self._parts:
            return
        sample = np.concatenate(self._parts)
        if not np.isfinite(sample).all():
            return
        low, high = np.percentile(sample, [1, 99], axis=0)
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
        self._repeats, self._delays, self._frozen = RepeatedActions(model), Delays(model), Frozen()
        self._rare, self._turns = Rare(model), Angles(model.action_size)
        self._degrees = Angles(len(model.obs_names), DEGREES)

    def see(self, block: EpisodeBlock) -> None:
        """Add episodes."""
        for r in block.episodes:
            for check in (self._repeats, self._delays, self._rare):
                check.see(r)
        self._frozen.see(block)
        self._turns.add(block.action, block.follows)
        if self._model.obs_names:
            self._degrees.add(block.obs, block.follows)

    def detect(
        self,
        targets: Sequence[ActionTarget],
        angles: Iterable[str],
        obs: Moments,
        action: Moments,
    ) -> tuple[Trap, ...]:
        """Return the traps, given what else was found."""
        copies, repeats = self._repeats.detect(targets)
        return (
            *repeats,
            *self._late(copies),
            *self._still(),
            *(_angle(name) for name in angles),
            *(_degrees(self._model.obs_names[i]) for i in self._degrees.detect()),
            *(_turning(self._model.action_names[i]) for i in self._turns.detect()),
            *self._rare.detect(action),
            *_unused("action", self._model.action_names, action),
            *_unused("observation", self._model.obs_names, obs),
        )

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
            step="leave it out of the data, unless it must be there",
        )
