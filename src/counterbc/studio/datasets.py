"""Demonstration files from journals, in the format of the session, with timing and devices.

Files are written again from the journals after each episode, under a temporary name first, so that
a file is always whole. In robomimic HDF5 the times are in the group `timing` of each demo; beside
datasets of other formats they are in `NAME.timing.csv`.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from counterbc.data.arrays import Array
from counterbc.data.raw_episode import Header, RawEpisode
from counterbc.errors import CounterBCError
from counterbc.files import aside, reason, remove_leftovers
from counterbc.formats import save
from counterbc.formats.hdf5_output import open_to_write
from counterbc.formats.stream import Stream
from counterbc.studio.journal import JournalEpisode, read_session
from counterbc.studio.study_folder import StudyFolder

SUFFIXES = {"robomimic": ".hdf5", "lerobot": ".lerobot", "minari": ".minari"}
"""The formats that a session can be written in, and how the names of its datasets end."""
TIMES = ("time", "late", "latency")
"""Columns of the timing: seconds since the first step, seconds that the step came late, and
milliseconds from the newest input to the step that first acts on it (NaN if there is none)."""


def write_dataset(study: StudyFolder, session: str) -> Path | None:
    """Write the demonstrations of a session; return their path, or None if there are none."""
    episodes = [e for e in read_session(study.journal(session)) if _is_kept(e)]
    if not episodes:
        for suffix in SUFFIXES.values():
            path = study.path / f"{session}{suffix}"
            _remove(path)
            _remove(_times_beside(path))
        return None
    format = episodes[0].header["format"]
    path = study.path / f"{session}{SUFFIXES[format]}"
    remove_leftovers(path)
    stream = Stream(header(episodes[0]), _raw_episodes(episodes))
    if format == "robomimic":
        with aside(path, replace=True) as temporary:
            save(stream, temporary, format=format)
            _add_timing(temporary, episodes)
        return path
    with aside(path, replace=True) as temporary:
        demos = stream.demonstrations()  # LeRobot's columns depend on all episodes
        save(demos, temporary, format=format)
        _write_times(_times_beside(path), episodes)  # first: `recover` looks at the dataset
    return path


@dataclass(frozen=True)
class Recovery:
    """A session whose server was killed, and why its dataset could not be written, if so."""

    session: str
    problem: str | None = None

    def __str__(self) -> str:
        if self.problem is None:
            return f"Recovered {self.session} from its journal."
        return (
            f"{self.session} could not be recovered ({self.problem}). Its journal is kept; the "
            "next start tries again."
        )


def recover(study: StudyFolder) -> list[Recovery]:
    """Write the datasets of sessions whose server was killed.

    A session that cannot be written, such as one with a damaged journal, keeps no other one back.
    """
    recoveries = [
        _recover(study, folder)
        for folder in sorted((study.path / "journal").iterdir())
        if folder.is_dir()
    ]
    return [recovery for recovery in recoveries if recovery is not None]


def _recover(study: StudyFolder, folder: Path) -> Recovery | None:
    """Write the dataset of a session if its journal is newer; return None if nothing was done."""
    try:
        journals = [path.stat().st_mtime for path in folder.glob("*.jsonl")]
        paths = [study.path / f"{folder.name}{suffix}" for suffix in SUFFIXES.values()]
        written_at = [path.stat().st_mtime for path in paths if path.exists()]
        is_behind = journals and (not written_at or max(written_at) < max(journals))
        if not is_behind or write_dataset(study, folder.name) is None:
            return None
        return Recovery(folder.name)
    except CounterBCError as error:
        return Recovery(folder.name, reason(error))
    except Exception as error:  # whatever is in a damaged journal
        return Recovery(folder.name, f"{type(error).__name__}: {reason(error)}")


def header(episode: JournalEpisode) -> Header:
    """Return the facts that all episodes of a session share."""
    facts, rate = episode.header["dataset"], episode.header["rate"]
    return Header(
        action_low=np.array(facts["action_low"], np.float32),
        action_high=np.array(facts["action_high"], np.float32),
        action_set=facts["action_set"],
        actions_are="asked",
        action_names=tuple(facts["action_names"]),
        obs_names=tuple(facts["obs_names"]),
        rate=rate,
        env_args=facts["env_args"],
        source=episode.header["session"],
    )


def raw_episode(episode: JournalEpisode, name: str) -> RawEpisode:
    """Return an episode as the writers of formats take it."""
    return RawEpisode(
        obs=episode.obs,
        action=np.array([s["action"] for s in episode.steps], np.float32),
        reward=np.array([s["reward"] for s in episode.steps], np.float32),
        operator=episode.header["operator"],
        success=episode.success,
        name=name,
    )


def times(episode: JournalEpisode) -> dict[str, Array]:
    """Return the columns of the timing: (T,) each."""
    return {
        key: np.array([np.nan if s[key] is None else s[key] for s in episode.steps], np.float64)
        for key in TIMES
    }


def _is_kept(episode: JournalEpisode) -> bool:
    return bool(episode.steps) and not episode.is_discarded


def _raw_episodes(episodes: list[JournalEpisode]) -> Iterator[RawEpisode]:
    for i, episode in enumerate(episodes):
        yield raw_episode(episode, f"demo_{i}")


def _add_timing(path: Path, episodes: list[JournalEpisode]) -> None:
    with open_to_write(path) as output:
        data: h5py.Group = output.file["data"]
        for i, episode in enumerate(episodes):
            demo = data[f"demo_{i}"]
            devices = np.array([step["device"].encode() for step in episode.steps])
            for key, values in {**times(episode), "device": devices}.items():
                output.put(demo, f"timing/{key}", values)
            demo.attrs["recording"] = json.dumps(_recording(episode))


def _recording(episode: JournalEpisode) -> dict[str, Any]:
    """Return how an episode was recorded."""
    keys = ("session", "episode", "started", "seed", "protocol", "speed")
    facts = {key: episode.header[key] for key in keys}
    consent = episode.header.get("consent")  # which older journals do not have
    return facts | {"consent": consent, "device": device(episode), "end": episode.end}


def device(episode: JournalEpisode) -> str:
    """Return the device that most of an episode was steered with."""
    return str(Counter(step["device"] for step in episode.steps).most_common(1)[0][0])


def _times_beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.timing.csv")


def _write_times(path: Path, episodes: list[JournalEpisode]) -> None:
    with aside(path, replace=True) as temporary, temporary.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(("episode", "device", *TIMES))
        for i, episode in enumerate(episodes):
            columns = times(episode)
            for step, *row in zip(episode.steps, *(columns[k] for k in TIMES), strict=True):
                rows.writerow((f"demo_{i}", step["device"], *row))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
