"""Policies side by side in one world, from the same start; a person may take one of them over.

While a person steers, the episode of that panel is recorded as a demonstration: the correction.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterbc.acting.actor import Actor
from counterbc.acting.clock import Clock
from counterbc.acting.policies import Policies
from counterbc.envs import WORLDS
from counterbc.errors import FormatError, OptionError
from counterbc.files import reason
from counterbc.studio.collecting import Input
from counterbc.studio.control_loop import ControlLoop
from counterbc.studio.frames import Frame
from counterbc.studio.protocol import Plan, find_protocol
from counterbc.studio.recorder import Recorder, Timing
from counterbc.studio.stage import STAGES, Stage
from counterbc.studio.study_folder import StudyFolder

FIRST_SLOT = 1
"""The panel of the first policy; Collect draws in panel 0."""


@dataclass
class Panel:
    """One policy in its own copy of the world."""

    name: str
    label: str
    actor: Actor
    stage: Stage
    step: int = 0
    total: float = 0.0
    over: bool = False


def world_of(policies: Policies, name: str) -> str:
    """Return the world that a run was trained for."""
    env = policies.run_config.env
    world = next((key for key in STAGES if WORLDS[key].id == env), None)
    if world is None:
        raise OptionError(f"{name} was trained for {env}, which cannot be watched here")
    return world


class Watching:
    """The panels, their control loop, and the person who may take one over."""

    def __init__(
        self, study: StudyFolder, runs: dict[str, Path], clock: Clock, *,
        send: Callable[[dict[str, Any]], None], draw: Callable[[Frame], None],
    ) -> None:  # fmt: skip
        self.study, self.send, self.draw, self.clock = study, send, draw, clock
        loaded = {name: Policies.load(path)[0] for name, path in runs.items()}
        worlds = {world_of(policies, name) for name, policies in loaded.items()}
        if len(worlds) != 1:
            raise OptionError(f"these runs are of {', '.join(sorted(worlds))}; choose one world")
        self.world = worlds.pop()
        self.panels = [
            Panel(name, _label(policies), policies.actor(), Stage(self.world))
            for name, policies in loaded.items()
        ]
        self.rate = WORLDS[self.world].rate
        self.seed = 0
        self.is_running = False
        self.driven: int | None = None
        self.recorder: Recorder | None = None
        self._input: Input | None = None
        self._is_fresh = self._has_steered = False
        self._lock = threading.RLock()
        self._retired = ThreadPoolExecutor(1, "retired")
        for panel in self.panels:  # the first calls are slow
            panel.stage.begin(0)
            panel.actor.act(panel.stage.obs)
        self._loop = ControlLoop(self.rate, self._tick, clock, on_error=self._tick_failed)
        self._loop.start()

    def start(self, seed: int | None = None) -> None:
        """Start all panels from the same state."""
        with self._lock:
            self._release()
            self.seed = secrets.randbelow(2**31) if seed is None else seed
            for i, panel in enumerate(self.panels):
                panel.stage.begin(self.seed)
                panel.actor.reset()
                panel.step, panel.total, panel.over = 0, 0.0, False
                self._draw(i)
            self.is_running = True
            self.report()

    def pause(self) -> None:
        """Stop all panels, or let them continue; what a device asked for before is forgotten."""
        with self._lock:
            self._forget_input()
            self.is_running = not self.is_running
            self.report()

    def take_over(self, index: int, operator: str) -> None:
        """Let the person steer one panel, and record what they do."""
        with self._lock:
            self._release()
            if not 0 <= index < len(self.panels) or self.panels[index].over:
                raise OptionError("that episode is over; start again, then take over")
            protocol = find_protocol("free", self.world)
            plan = Plan(
                world=self.world, operator=operator, protocol_name="correction", protocol=protocol
            )
            if self.recorder is None or self.recorder.plan.operator != operator:
                self._retire()
                self.recorder = self._new_recorder(plan)
            self._forget_input()
            self._has_steered = False
            self.recorder.begin(self.panels[index].stage, self.seed, self.rate)
            self.driven = index
            self.report()

    def release(self) -> None:
        """Give a panel back to its policy; the correction is kept."""
        with self._lock:
            self._release()
            self.report()

    def give(self, new_input: Input) -> None:
        """Take an input of the person; it counts while they steer."""
        self._input, self._is_fresh = new_input, True
        self.clock.notify()

    def close(self) -> None:
        """End everything; corrections are completed."""
        self._loop.stop()
        with self._lock:
            self._release()
            self.is_running = False
            self._retire()
        self._retired.shutdown(wait=True)
        for panel in self.panels:
            panel.stage.close()

    def _tick(self, now: float, late: float) -> None:
        with self._lock:
            if not self.is_running:
                return
            for i, panel in enumerate(self.panels):
                if not panel.over:
                    self._step(i, panel, now, late)
            if all(panel.over for panel in self.panels):
                self.is_running = False
                self.report()

    def _step(self, i: int, panel: Panel, now: float, late: float) -> None:
        obs, own_action = panel.stage.obs, panel.actor.act(panel.stage.obs)
        is_driven = i == self.driven
        newest = self._persons_input(panel) if is_driven else None
        wanted_action = own_action if newest is None else newest.action
        action = panel.stage.feasible(np.nan_to_num(wanted_action))
        outcome = panel.stage.step(action)
        if newest is not None and self.recorder is not None:
            latency = newest.latency(now) if self._is_fresh else None
            self._is_fresh = False
            timing = Timing(now, late, latency, newest.device)
            self.recorder.step(obs, action, outcome.reward, timing)
        panel.step, panel.total = panel.step + 1, panel.total + outcome.reward
        panel.over = outcome.over
        self._draw(i)
        if outcome.over and is_driven:
            self._release()
            self.report()

    def _persons_input(self, panel: Panel) -> Input | None:
        """Return what the person asks for; None before they touch a device, so that the policy
        acts until then. A device that was let go asks for rest."""
        newest = self._input
        if newest is None and self._has_steered:
            return Input(panel.stage.neutral(), "none")
        self._has_steered = newest is not None
        return newest

    def _forget_input(self) -> None:
        self._input, self._is_fresh = None, False

    def _release(self) -> None:
        if self.driven is not None and self.recorder is not None:
            self.driven = None
            self.recorder.end("released", None)

    def _new_recorder(self, plan: Plan) -> Recorder:
        recorder = Recorder(
            self.study, plan, send=self.send,
            on_error=lambda error: self._disk_failed(recorder, error),
        )  # fmt: skip
        return recorder

    def _retire(self) -> None:
        """Let go of the recorder, and close it in another thread: closing waits for the thread
        of its journal, which may wait for our lock to say that the disk failed."""
        if self.recorder is not None:
            self._retired.submit(self.recorder.close)
            self.recorder = None

    def _tick_failed(self, error: Exception) -> None:
        with self._lock:
            self.is_running = False
            self._release()
            text = (
                f"The episode was interrupted ({type(error).__name__}: {reason(error)}). "
                "Corrections until then are kept; start again."
            )
            self.send({"type": "problem", "text": text})
            self.report()

    def _disk_failed(self, recorder: Recorder, error: FormatError) -> None:
        """Give the panel back; the next take-over begins a new session."""
        with self._lock:
            if self.recorder is recorder:
                self.driven = None
                self._retire()
            self.send({"type": "problem", "text": f"Recording stopped: {error}."})
            self.report()

    def _draw(self, i: int) -> None:
        panel = self.panels[i]
        facts = {"total": panel.total, "over": panel.over}
        self.draw(Frame(panel.step, panel.stage.obs, facts, slot=FIRST_SLOT + i))

    def show(self) -> None:
        """Send state and pictures to a page that was loaded again."""
        with self._lock:
            self.report()
            for i in range(len(self.panels)):
                self._draw(i)

    def report(self) -> None:
        """Send the state of all panels to the page."""
        recorder = self.recorder
        self.send({
            "type": "watch.status", "running": self.is_running, "driven": self.driven,
            "world": self.world, "seed": self.seed,
            "pairs": None if recorder is None else recorder.pairs,
            "session": None if recorder is None else recorder.session,
            "panels": [
                {"name": p.name, "label": p.label, "over": p.over, "total": p.total}
                for p in self.panels
            ],
        })  # fmt: skip


def _label(policies: Policies) -> str:
    return f"{policies.method}, {policies.members[0].name}"
