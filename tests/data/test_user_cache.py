"""The folder of what can be computed again."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.data.user_cache import FOLDER, cache_folder


def test_kinds_have_folders_of_their_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, str(tmp_path))
    assert cache_folder("films") == tmp_path / "films"
    assert cache_folder("cuda") == tmp_path / "cuda"


def test_an_empty_name_keeps_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FOLDER, "")
    assert cache_folder("films") is None


def test_by_default_it_is_the_users_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder("films") == tmp_path / "counterbc" / "films"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert cache_folder("films") == tmp_path / "home" / ".cache" / "counterbc" / "films"


def test_without_a_home_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(FOLDER)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)

    def fail() -> Path:
        raise RuntimeError("no home")

    monkeypatch.setattr(Path, "home", fail)
    assert cache_folder("films") is None
