"""counterbc studio starts a server, says where it is, and explains what it cannot do."""

from __future__ import annotations

from pathlib import Path

import pytest

from counterbc.commands.studio import Studio
from counterbc.studio.access import Access
from tests.fixture_types import CheckRefused
from tests.studio.processes import StudioProcess


@pytest.mark.slow
def test_the_address_is_printed_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    studio = StudioProcess(tmp_path / "study")
    assert studio.url.startswith("http://127.0.0.1:")
    assert studio.stop() == 143
    assert studio.lines[-1] == "stopped\n"
    assert (tmp_path / "study" / "consent.txt").exists()


def test_a_network_address_is_announced_with_what_it_exposes(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    access = Access("192.168.1.7", 8000)
    Studio()._announce(access, ["cartpole-001"])
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Recovered cartpole-001 from its journal."
    assert lines[1].startswith("warning: 192.168.1.7:8000 can be reached from the network")
    assert access.url in lines[2]
    assert opened == [access.url]
    Studio(browser=False)._announce(access, [])
    assert len(opened) == 1


def test_data_that_does_not_exist_is_refused(
    check_refused: CheckRefused, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    check_refused("studio", ("--data", "no.npz"), "does not exist")
