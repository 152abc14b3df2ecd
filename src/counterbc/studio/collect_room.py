"""Collect: the messages of a page on which a person demonstrates."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from counterbc.envs import find_world
from counterbc.errors import OptionError
from counterbc.studio.collecting import Collecting
from counterbc.studio.datasets import SUFFIXES
from counterbc.studio.messages import Message, read_choice, read_name, read_number
from counterbc.studio.protocol import NOT_IN_PAPER, PAPER, PROTOCOLS, Plan, find_protocol
from counterbc.studio.stage import STAGES, missing_extra
from counterbc.studio.steered_room import Handlers, SteeredRoom, read_input


def list_worlds() -> list[dict[str, Any]]:
    """Return the worlds with what a page shows of them; those not installed name their extra."""
    return [
        {
            "name": name,
            "label": find_world(name).label,
            "rate": find_world(name).rate,
            "steps": find_world(name).steps,
            "install": None if extra is None else f"pip install 'counterbc[{extra}]'",
            "preset": PAPER[name].as_dict(),
            "in_paper": name not in NOT_IN_PAPER,
        }
        for name in STAGES
        for extra in (missing_extra(name),)
    ]


class CollectRoom(SteeredRoom):
    """What one person demonstrates."""

    collecting: Collecting | None = None
    is_busy = False

    @property
    def handlers(self) -> Handlers:
        """The messages that are answered."""
        return {
            "collect.begin": self.begin,
            "collect.do": self.do,
            "collect.state": self.state,
        }

    def begin(self, message: Message) -> dict[str, Any]:
        """Begin a session of an operator, who has agreed to the consent text."""
        consent = self._read_consent(message)
        world = read_choice(message, "world", STAGES)
        if (extra := missing_extra(world)) is not None:
            raise OptionError(
                f"{world} is not installed; install it with: pip install 'counterbc[{extra}]'"
            )
        name = read_choice(message, "protocol", PROTOCOLS)
        plan = Plan(
            world=world,
            operator=read_name(message, "operator"),
            protocol_name=name,
            protocol=find_protocol(name, world),
            format=read_choice(message, "format", tuple(SUFFIXES)),
            speed=read_number(message, "speed", 0.1, 1.0),
            consent=consent,
        )
        self.close()
        self.collecting = Collecting(
            self.study, plan, self.make_clock(), send=self.person.send, draw=self.person.draw
        )
        self.collecting.report()
        stage = self.collecting.stage
        return {"low": stage.low.tolist(), "high": stage.high.tolist(), "set": stage.action_set}

    def _read_consent(self, message: Message) -> dict[str, str]:
        """Return which text was agreed to and when; the page says which one it shows."""
        if message.get("agreed") is not True:
            raise OptionError("nobody agreed to the consent text; tick its box first")
        if message.get("consent") != self.person.consent_sha256:
            raise OptionError("the consent text was changed; read it again")
        agreed = datetime.now(UTC).isoformat(timespec="seconds")
        return {"sha256": self.person.consent_sha256, "agreed": agreed}

    def do(self, message: Message) -> None:
        """Do what a button of the page says."""
        session = self.collecting
        if session is None:
            raise OptionError("no session has begun; choose a world and an operator first")
        actions: dict[str, Callable[[], None]] = {
            "start": session.start,
            "pause": session.pause,
            "record": session.record,
            "discard": session.discard,
            "success": lambda: session.end(True),
            "failure": lambda: session.end(False),
            "end": lambda: session.end(None),
            "finish": session.finish,
        }
        actions[read_choice(message, "do", tuple(actions))]()

    def state(self, message: Message) -> dict[str, Any]:
        """Say whether a session runs, for a page that was loaded again."""
        if self.collecting is None:
            return {"running": False}
        self.collecting.show()
        stage, plan = self.collecting.stage, self.collecting.plan
        return {
            "running": True, "world": stage.name, "operator": plan.operator,
            "protocol": plan.protocol_name, "format": plan.format, "speed": plan.speed,
            "low": stage.low.tolist(), "high": stage.high.tolist(), "set": stage.action_set,
        }  # fmt: skip

    def give(self, message: Message) -> None:
        """Take an input of a device; without a session it is nothing."""
        if (session := self.collecting) is None:
            return
        session.give(read_input(message, len(session.stage.low)))

    def leave(self) -> None:
        """Pause: the page is gone."""
        if self.collecting is not None:
            self.collecting.pause("the connection to the page was lost")

    def close(self) -> None:
        """Complete what is recorded."""
        if self.collecting is not None:
            self.collecting.close()
            self.collecting = None
