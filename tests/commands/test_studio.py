"""counterbc studio starts a server, says where it is, and explains what it cannot do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from counterbc.commands import command
from counterbc.commands.studio import Studio
from counterbc.studio.access import Access
from counterbc.studio.datasets import Recovery
from tests.fixture_types import Call
from tests.studio.processes import StudioProcess


@pytest.mark.slow
def test_the_address_is_printed_and_ctrl_c_ends_it(tmp_path: Path) -> None:
    studio = StudioProcess(tmp_path / "study")
    assert studio.url.startswith("http://127.0.0.1:")
    port = f":{studio.access.port:04X}"
    sockets = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    addresses = [s[1].removesuffix(port) for s in sockets if s[1].endswith(port) and s[3] == "0A"]
    assert addresses == ["0100007F"]  # listens on loopback alone
    assert studio.stop() == 143
    assert studio.lines[-1] == "stopped\n"
    assert (tmp_path / "study" / "consent.txt").exists()


def test_a_network_address_is_announced_with_what_it_exposes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    opened, calls = list[str](), list[bool]()
    monkeypatch.setattr(command, "before_real_time", [lambda: calls.append(True)])
    monkeypatch.setattr("webbrowser.open", opened.append)
    access = Access("192.168.1.7", 8000)
    Studio(tmp_path)._announce(
        access, [Recovery("cartpole-001"), Recovery("push-t-002", "KeyError: header")]
    )
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "Recovered cartpole-001 from its journal."
    assert lines[1].startswith("push-t-002 could not be recovered (KeyError: header). Its journal")
    assert lines[2].startswith("warning: 192.168.1.7:8000 can be reached from the network")
    assert access.url in lines[3]
    assert len(opened) == 1
    assert calls == [True], "slow imports are no longer watched"
    Studio(tmp_path, browser=False)._announce(access, [])
    assert len(opened) == 1


def test_the_token_is_in_no_argument_of_the_browser_but_in_a_file_of_its_owner(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()
    monkeypatch.setattr("webbrowser.open", opened.append)
    access = Access("127.0.0.1", 8000)
    door = tmp_path / ".open-studio.html"
    door.write_text("")
    door.chmod(0o644)  # left behind, or laid there by somebody else
    Studio(tmp_path)._announce(access, [])
    assert opened == [door.as_uri()]
    assert door.stat().st_mode & 0o777 == 0o600
    assert access.url in door.read_text()


def test_the_file_with_the_token_is_deleted_when_the_studio_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()
    monkeypatch.setattr("webbrowser.open", opened.append)

    def serve(options: object, announce: Callable[[Access, list[Recovery]], None]) -> None:
        announce(Access("127.0.0.1", 8000), [])
        assert (tmp_path / ".open-studio.html").exists()
        raise KeyboardInterrupt

    monkeypatch.setattr("counterbc.studio.serve.run_studio", serve)
    with pytest.raises(KeyboardInterrupt):
        Studio(tmp_path).run()
    assert opened
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_does_not_keep_the_studio_from_starting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = list[str]()
    monkeypatch.setattr("webbrowser.open", opened.append)
    Studio(tmp_path / "missing")._announce(Access("127.0.0.1", 8000), [])
    assert opened == []  # the address is printed


def test_data_that_does_not_exist_is_refused(
    tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    status, out, err = call("studio", "study", "--data", "no.npz")
    assert (status, out, len(err.splitlines())) == (1, "", 1)
    assert "no.npz does not exist" in err


@pytest.mark.parametrize("name", ["missing.hdf5", "notes"])
def test_a_dataset_in_place_of_a_study_is_answered_with_the_option(
    name: str, tmp_path: Path, call: Call
) -> None:
    (tmp_path / "notes").write_text("")
    status, _, err = call("studio", tmp_path / name)
    assert status == 1
    assert f"counterbc studio --data {tmp_path / name}" in err
    assert not (tmp_path / "missing.hdf5").exists()
