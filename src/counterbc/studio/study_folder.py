"""The folder of a study: recordings, their journals, trained runs and the consent text.

    study/
      consent.txt                  what people agree to; edit it
      intersection-001.hdf5        the demonstrations of one session
      journal/intersection-001/    its episodes, step by step, as they were recorded
      runs/                        trainings that were started from the page

Pages name things in it by relative paths, and no path leads outside. Other datasets and runs are
those that the command line named; pages know them by number.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from counterbc.errors import FormatError, OptionError
from counterbc.files import make_folder, writing
from counterbc.studio.journal import sync_folder

CONSENT = (
    "You will steer in a small simulated world for a few minutes. The study records what you do "
    "(your inputs, the state of the world, times) under the name that you enter, which need not be "
    "your own. Nothing else is recorded, and nothing leaves this machine. You may stop at any "
    "time, and you may ask for your recordings to be deleted.\n"
)
_SUFFIXES = (".hdf5", ".h5", ".npz", ".csv")
_SESSION = re.compile(r"[a-z-]+-(\d{3,6})")
_DEEPEST = 3  # folders below the study in which runs and datasets are listed
LONGEST_CONSENT = 20_000
"""Characters of a consent text; a longer one is refused."""
LIST_LIMIT = 2000
"""Datasets of a study that are listed, and runs; pages say how many more there are."""


class Listing(dict[str, Path]):
    """Datasets or runs by the name that a page uses, and how many more the study has."""

    unlisted = 0


@dataclass(frozen=True)
class StudyFolder:
    """A study on disk; `datasets` and `runs` are further ones, named on the command line."""

    path: Path
    datasets: tuple[Path, ...] = ()
    runs: tuple[Path, ...] = ()

    @classmethod
    def open(
        cls, path: Path, datasets: Sequence[Path] = (), runs: Sequence[Path] = ()
    ) -> StudyFolder:
        """Create the folder unless it exists, with the consent text."""
        for path_given in (*datasets, *runs):
            if not path_given.exists():
                raise FormatError(f"{path_given} does not exist; check the path")
        for name in ("journal", "runs"):
            make_folder(path / name)
        consent = path / "consent.txt"
        if not consent.exists():
            with writing(consent):
                consent.write_text(CONSENT, encoding="utf-8")
        return cls(path.resolve(), tuple(datasets), tuple(runs))

    def consent(self) -> str:
        """Return the text that people agree to, as the researcher edited it."""
        return _read_consent(self.path / "consent.txt", "restore that text")

    def set_consent(self, source: Path) -> None:
        """Let people agree to the text of another file from now on."""
        text = _read_consent(source, "give a text in UTF-8 as --consent")
        target = self.path / "consent.txt"
        with writing(target):
            target.write_text(text, encoding="utf-8")

    def inside(self, name: str) -> Path:
        """Return the path of a name in the study; refuse what leads outside, links included."""
        parts = name.split("/")
        is_plain = "\\" not in name and "\0" not in name and not name.startswith("/")
        if not (is_plain and all(p not in ("", ".", "..") for p in parts)):
            raise OptionError(
                f"{name!r:.100} is not a path in the study folder; choose a listed one"
            )
        path = self.path.joinpath(*parts)
        if not path.resolve().is_relative_to(self.path):
            raise OptionError(f"{name!r:.100} leads outside the study folder; choose a listed one")
        return path

    def new_path(self, stem: str, suffix: str = "") -> Path:
        """Return a path in the study that does not exist yet."""
        number, path = 1, self.inside(f"{stem}{suffix}")
        while path.exists():
            number += 1
            path = self.inside(f"{stem}-{number}{suffix}")
        return path

    def new_session(self, world: str) -> str:
        """Return a name that no session has yet, and make the folder of its journal."""
        journal = self.path / "journal"
        taken_names = [e.name for e in os.scandir(journal)] + [
            e.name for e in os.scandir(self.path)
        ]
        numbers = [
            int(m[1]) for name in taken_names if (m := _SESSION.match(name.partition(".")[0]))
        ]
        number = max(numbers, default=0) + 1
        while True:
            name = f"{world}-{number:03d}"
            try:
                with writing(journal / name):
                    (journal / name).mkdir()
                    sync_folder(journal)
                return name
            except FormatError as error:
                if not isinstance(error.__cause__, FileExistsError):
                    raise
                number += 1

    def journal(self, session: str) -> Path:
        """Return the folder of a session's episodes."""
        return self.path / "journal" / session

    def list_datasets(self) -> Listing:
        """Return the datasets that can be opened, by the name that a page uses."""
        return self._list(self.datasets, _is_dataset)

    def list_runs(self) -> Listing:
        """Return the trained runs that can be watched, by the name that a page uses."""
        return self._list(self.runs, _is_run)

    def _list(self, extra_paths: Sequence[Path], is_wanted: Callable[[Path], bool]) -> Listing:
        listing = Listing({f"#{i} {path.name}": path for i, path in enumerate(extra_paths)})
        paths = [path for path in self._walk() if is_wanted(path)]
        listing.update({self._name(path): path for path in paths[:LIST_LIMIT]})
        listing.unlisted = max(len(paths) - LIST_LIMIT, 0)
        return listing

    def _name(self, path: Path) -> str:
        return path.relative_to(self.path).as_posix()

    def _walk(self) -> Iterator[Path]:
        """Yield files and folders of the study in order, without journals and hidden ones."""
        for folder, names, files in os.walk(self.path):
            depth = len(Path(folder).relative_to(self.path).parts)
            names[:] = [] if depth >= _DEEPEST else sorted(n for n in names if _is_listed(n))
            for name in sorted([*names, *(f for f in files if _is_listed(f))]):
                path = Path(folder) / name
                if path.resolve().is_relative_to(self.path):
                    yield path
            names[:] = [n for n in names if not _is_leaf(Path(folder) / n)]


def _read_consent(file: Path, advice: str) -> str:
    """Return a consent text; one that is too long is refused, as nobody may agree to half of it."""
    try:
        with file.open(encoding="utf-8") as stream:
            text = stream.read(LONGEST_CONSENT + 1)
    except (OSError, ValueError) as error:
        raise FormatError(f"{file} is no consent text ({error}); {advice}") from error
    if len(text) > LONGEST_CONSENT:
        raise FormatError(
            f"the consent text in {file} has more than {LONGEST_CONSENT} characters; shorten it"
        )
    return text


def _is_listed(name: str) -> bool:
    return not name.startswith(".") and name != "journal"


def _is_dataset(path: Path) -> bool:
    if path.is_file():
        return path.suffix in _SUFFIXES and not path.name.endswith(".timing.csv")
    is_lerobot = (path / "meta" / "info.json").is_file()
    return is_lerobot or (path / "data" / "metadata.json").is_file()


def _is_run(path: Path) -> bool:
    return (path / "config.json").is_file() and (path / "model.safetensors").is_file()


def _is_leaf(path: Path) -> bool:
    """Return whether a folder is one dataset or one run, whose inside is not listed."""
    return _is_dataset(path) or _is_run(path)
