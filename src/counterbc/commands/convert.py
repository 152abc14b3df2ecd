"""counterbc convert"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Json, suggestion
from counterbc.commands.data_command import DataCommand

if TYPE_CHECKING:
    from counterbc.data.raw_episode import RawEpisode


@dataclass(frozen=True)
class Convert(DataCommand):
    """Write demonstrations in another format, and list what that format cannot store."""

    source: Positional[Path]
    """A file or folder of demonstrations, in any format."""
    out: Positional[Path]
    """The file or folder to write; it must not exist yet."""
    to: str | None = None
    """The format to write; by default the one that the suffix of OUT stands for."""
    relative: str | None = None
    """Declare what actions are relative to: an observation key, or one observation dimension per
    action and - for an absolute one, such as agent_x,agent_y (docs/relative.md)."""

    environment: UseAppendAction[tuple[str, ...]] = ()
    """Observation key that describes the environment and not the robot; for several, list
    them or repeat it. LeRobot's ACT and diffusion policies read these as
    observation.environment_state, and refuse datasets that have neither that nor images."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.formats import writable_formats

        return {**super().option_choices(), "to": writable_formats()}

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.errors import OptionError
        from counterbc.files import check_free
        from counterbc.formats import format_to_write, save

        check_free(self.out)
        to = format_to_write(self.out, self.to)
        if self.environment and to != "lerobot":
            raise OptionError(f"--environment is for LeRobot, not for {to}; give --to lerobot")
        (stream,) = self.streams([self.source], self.choice)
        stream = stream.declare_environment(self.environment)
        if self.relative is not None:
            stream = stream.declare_relative(self.relative)
        counter = _Counter()
        raw_episodes = counter.count(stream.raw_episodes)
        not_stored = save(replace(stream, raw_episodes=raw_episodes), self.out, format=to)
        payload: Json = {
            "source": str(self.source),
            "out": str(self.out),
            "format": to,
            "episodes": counter.episodes,
            "pairs": counter.pairs,
            "not_carried_over": [*stream.header.left_out, *not_stored],
            "next": [suggestion("inspect", self.out, *self.as_typed("trusted"))],
        }
        text = f"{counter.episodes} episodes, {counter.pairs} pairs, written to {self.out} ({to})."
        if payload["not_carried_over"]:
            text = "\n  ".join([f"{text}\nNot carried over:", *payload["not_carried_over"]])
        return payload, [text]


class _Counter:
    """The number of episodes and pairs of a stream."""

    def __init__(self) -> None:
        self.episodes = self.pairs = 0

    def count(self, raw_episodes: Iterator[RawEpisode]) -> Iterator[RawEpisode]:
        """Yield the same episodes and count them."""
        for raw_episode in raw_episodes:
            self.episodes += 1
            self.pairs += len(raw_episode.action)
            yield raw_episode
