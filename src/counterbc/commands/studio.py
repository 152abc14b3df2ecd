"""counterbc studio"""

from __future__ import annotations

import html
import os
import sys
import webbrowser
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import RenderableType
from tyro.conf import Positional, UseAppendAction

from counterbc.commands.command import Command, Json, prepare_real_time, suggestion
from counterbc.printing import sentence

if TYPE_CHECKING:
    from counterbc.studio.access import Access
    from counterbc.studio.datasets import Recovery

_DATASETS = (".csv", ".h5", ".hdf5", ".npz", ".parquet")  # endings of files
_DOOR = ".open-studio.html"


@dataclass(frozen=True)
class Studio(Command):
    """Open a web page on which people demonstrate, see what they meant, and watch policies."""

    study: Positional[Path] = Path("study")
    """The folder of the study; it is created if it does not exist."""
    data: UseAppendAction[tuple[Path, ...]] = ()
    """A dataset outside the study to look at; repeat it for several."""
    run_folder: UseAppendAction[tuple[Path, ...]] = ()
    """A trained run outside the study to watch; repeat it for several."""
    consent: Path | None = None
    """A text file that people agree to before they record, in place of the study's consent.txt."""
    host: str = "127.0.0.1"
    """The address to listen on. With an address of a network, others on it can connect."""
    port: int = 0
    """The port to listen on; 0 takes any that is free."""
    browser: bool = True
    """Open the page in the default browser."""

    def run(self) -> tuple[Json, list[RenderableType]]:
        from counterbc.errors import OptionError
        from counterbc.studio.serve import StudioOptions, run_studio

        if self.study.suffix.lower() in _DATASETS or self.study.is_file():
            raise OptionError(
                f"{self.study} is no folder of a study; to look at a dataset, type "
                + suggestion("studio", "--data", self.study)
            )
        options = StudioOptions(
            study=self.study, datasets=self.data, runs=self.run_folder, consent=self.consent,
            host=self.host, port=self.port,
        )  # fmt: skip
        try:
            run_studio(options, self._announce)
        finally:
            (self.study / _DOOR).unlink(missing_ok=True)
        return {"study": str(self.study)}, [f"The study is in {self.study}."]

    def _announce(self, access: Access, recoveries: list[Recovery]) -> None:
        """Print the address, what it exposes, and what was recovered from a crash."""
        for recovery in recoveries:
            print(sentence(str(recovery)), file=sys.stderr)
        if (warning := access.exposure()) is not None:
            print(sentence(f"warning: {warning}"), file=sys.stderr)
        print(f"The studio is at {access.url}", file=sys.stderr)
        print("Stop it with Ctrl-C.", file=sys.stderr, flush=True)
        prepare_real_time()
        if self.browser:
            self._open(access.url)

    def _open(self, url: str) -> None:
        """Open the page by a file that only its owner can read, and that leads to the address.

        Everybody on a machine can read the arguments of a browser's process, where the address
        with its token would be.
        """
        path, link = self.study.resolve() / _DOOR, html.escape(url)
        text = f'<!doctype html><meta http-equiv="refresh" content="0; url={link}">{link}\n'
        with suppress(OSError):  # the address is printed
            path.unlink(missing_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            with open(os.open(path, flags, 0o600), "w", encoding="utf-8") as file:
                file.write(text)
            webbrowser.open(path.as_uri())
