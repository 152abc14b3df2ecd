"""What commands that read demonstrations have in common."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import SpinnerColumn, Task
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command
from counterbc.commands.images import image_size
from counterbc.printing import WorkBars, printable, text_column

if TYPE_CHECKING:
    from counterbc.data.demonstrations import Demonstrations
    from counterbc.data.episode_choice import EpisodeChoice
    from counterbc.data.raw_episode import RawEpisode
    from counterbc.formats.stream import Stream

Demos = Positional[tuple[Path, ...]]
DATA_OPTIONS = (
    "obs", "action", "format", "trusted", "actions_are", "low", "high", "angle", "mask", "operator",
    "success", "exclude", "env", "image_size",
)  # fmt: skip
"""How demonstrations are read; commands that are printed to paste repeat these options."""


@dataclass(frozen=True, kw_only=True)
class DataCommand(Command):
    """A command that reads demonstrations."""

    obs: UseAppendAction[tuple[str, ...]] = ()
    """Observation key to read; for several, list them or repeat it. By default every key that is
    not an image; in files of robosuite the keys that robomimic trains on, and in those of a known
    environment the keys that it observes."""
    image_size: UseAppendAction[tuple[int, ...]] = ()
    """Height and width in pixels to which images are resized when they are read; one number stands
    for both. By default they stay as they are."""
    action: UseAppendAction[tuple[str, ...]] = ()
    """Key of the action, for files that do not name it action or actions; for several, which are
    joined, list them or repeat it."""
    format: str | None = None
    """The format of the demonstrations; by default detected from their content."""
    trusted: bool = False
    """Lift the bounds on memory and time that files from anybody are read within
    (docs/formats.md)."""
    actions_are: str | None = None
    """Declare what a file that does not say so holds: the actions asked for, or those taken, which
    the controller cut at the bounds. An action taken at a bound may have been meant beyond it."""

    low: UseAppendAction[tuple[float, ...]] = ()
    """Lower bound of the actions, once for all dimensions or once for each, instead of what the
    file declares; give --high too."""
    high: UseAppendAction[tuple[float, ...]] = ()
    """Upper bound of the actions, like --low."""

    angle: UseAppendAction[tuple[str, ...]] = ()
    """Observation dimension that is an angle in radians, by name or as KEY[INDEX]; for several,
    list them or repeat it. It is read as cosine and sine, so that full turns do not count."""

    mask: str | None = None
    """Use only the episodes in this mask of the file."""
    operator: UseAppendAction[tuple[str, ...]] = ()
    """Use only the episodes of this operator; for several, list them or repeat it."""
    success: bool = False
    """Use only episodes that succeeded."""
    exclude: UseAppendAction[tuple[str, ...]] = ()
    """Episode to leave out, by name or by number from 0; for several, list them or repeat it."""

    env: str | None = None
    """Declare the environment of demonstrations that name none, or another one than they name: one
    of these, or any gymnasium id."""

    @classmethod
    def option_choices(cls) -> dict[str, Iterable[str]]:
        from counterbc.data.censoring import ACTIONS_ARE
        from counterbc.envs import WORLDS
        from counterbc.formats import FORMATS

        choices = {"format": FORMATS, "actions_are": ACTIONS_ARE, "env": (*WORLDS, "ID")}
        return {**super().option_choices(), **choices}

    @property
    def choice(self) -> EpisodeChoice:
        """The episodes that are used."""
        from counterbc.data.episode_choice import EpisodeChoice

        return EpisodeChoice(
            mask=self.mask, operators=self.operator, success=self.success, exclude=self.exclude
        )

    @property
    def declared_env(self) -> str | None:
        """The environment that the data are declared to come from; None for the one they name."""
        return self.env

    def streams(
        self, paths: Sequence[Path], choice: EpisodeChoice | None = None
    ) -> Iterator[Stream]:
        """Open each path, to be read episode by episode; all of them, or those of a choice."""
        from counterbc.errors import OptionError
        from counterbc.formats import open_stream

        if not paths:
            raise OptionError("no demonstrations were given; name one file or more")
        for path in paths:
            stream = open_stream(
                path,
                self.obs or None,
                action=self.action or None,
                format=self.format,
                trusted=self.trusted,
                image_size=self.image_size,
            )
            if choice is not None:
                stream = stream.pick(choice)
            if self.low or self.high:
                stream = stream.declare_bounds(self.low, self.high)
            if self.angle:
                stream = stream.declare_angles(self.angle)
            if self.actions_are is not None:
                stream = stream.declare(self.actions_are)
            if self.declared_env is not None:
                stream = stream.declare_env(self.declared_env)
            yield replace(stream, raw_episodes=_count_on_stderr(stream.raw_episodes, path.name))

    def read(self, paths: Sequence[Path]) -> Demonstrations:
        """Return several paths as one dataset; a file without operators is one operator."""
        from counterbc.data.merge import merge

        return self.choice.of(merge(self.read_each(paths)))

    def read_each(self, paths: Sequence[Path]) -> list[Demonstrations]:
        """Return each path as a dataset of all its episodes, with the observations that the
        environment of the data has, unless others were asked for."""
        from counterbc.acting.world_keys import keys_of_world
        from counterbc.data.merge import merge
        from counterbc.training.session import current_session

        datasets = [stream.demonstrations() for stream in self.streams(paths)]
        demos = merge(datasets)
        self._check_image_size(demos)
        current_session().smaller_data = " ".join(map(str, image_size(demos)))
        keys = () if self.obs else keys_of_world(demos.obs_keys, demos.env)
        if not keys:
            return datasets
        print(
            f"Reads {' and '.join(keys)}, as {demos.env} does; --obs chooses other observations.",
            file=sys.stderr,
        )
        return replace(self, obs=keys).read_each(paths)

    def _check_image_size(self, demos: Demonstrations) -> None:
        """Refuse a size of images where no camera is read."""
        from counterbc.errors import OptionError

        if self.image_size and not demos.cameras:
            there = f"; there are {', '.join(demos.blind_to)}" if demos.blind_to else ""
            raise OptionError(
                "no camera is read, so --image-size has nothing to resize; name cameras with "
                f"--obs{there}, or leave it out"
            )

    def formats(self, paths: Sequence[Path]) -> tuple[str, ...]:
        """Return the format of each path."""
        from counterbc.formats import detect

        return tuple(self.format or detect(path) for path in paths)


def check_numbered(
    option: str, file: Path | None, demos: Sequence[Path], choice: EpisodeChoice, suffix: str
) -> None:
    """Refuse to write a file that would not number the episodes of one whole dataset."""
    from counterbc.errors import OptionError
    from counterbc.files import check_free, check_suffix

    if file is None:
        return
    if len(demos) > 1 or not choice.is_all:
        raise OptionError(
            f"--{option} numbers all episodes of one dataset; give one, and leave out --mask, "
            "--operator, --success and --exclude"
        )
    check_free(file)
    check_suffix(file, (suffix,), "file")


def _count_on_stderr(raw_episodes: Iterator[RawEpisode], title: str) -> Iterator[RawEpisode]:
    """Yield the same episodes and count them on stderr."""
    columns = (SpinnerColumn(), text_column("{task.description}: {task.completed} episodes"))

    def line(task: Task) -> str:
        return f"{task.description}: {task.completed:,.0f} episodes"

    with WorkBars(*columns, line=line, is_transient=True) as bar:
        task = bar.add_task(printable(title), total=None)
        for raw_episode in raw_episodes:
            yield raw_episode
            bar.advance(task)
