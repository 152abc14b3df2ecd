"""The studio as a process: kills, full disks, addresses and consent texts."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.exceptions import ConnectionClosed

from counterbc.envs import find_world
from counterbc.errors import FormatError, MissingExtra, OptionError
from counterbc.formats import load
from counterbc.studio.limits import LARGEST_MESSAGE
from counterbc.studio.serve import StudioOptions, run_studio
from counterbc.studio.study_folder import LONGEST_CONSENT, StudyFolder
from tests.fixture_types import CallJson
from tests.studio.clients import LiveServer, Page, dataset_of, open_socket, wait_for
from tests.studio.processes import StudioProcess


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    processes: list[StudioProcess] = []

    def start_studio(*options: str, **limits: int) -> StudioProcess:
        processes.append(StudioProcess(tmp_path / "study", *options, **limits))
        return processes[-1]

    yield start_studio
    for studio in processes:
        if studio.process.poll() is None:
            studio.kill()


def record_episode(page: Page) -> None:
    """Record one whole episode of Intersection in real time."""
    page.do("start")
    page.give(0.5, 0.5)
    page.wait("saved")


@pytest.mark.slow
def test_a_kill_in_the_middle_of_an_episode_loses_nothing(start: Any, tmp_path: Path) -> None:
    study, studio = tmp_path / "study", start()
    page = studio.page()
    page.begin("intersection")
    page.do("record")
    record_episode(page)
    page.do("start")
    journal = study / "journal" / "intersection-001" / "0001.jsonl"
    wait_for(lambda: journal.exists() and journal.read_bytes().count(b'"time"') >= 3)
    threads = Path(f"/proc/{studio.process.pid}/task").iterdir()
    children = [pid for thread in threads for pid in (thread / "children").read_text().split()]
    helpers = [Path("/proc") / pid for pid in children]
    assert helpers
    studio.kill()
    wait_for(lambda: not any(helper.exists() for helper in helpers))  # nothing is left behind
    lines = journal.read_bytes().count(b'"time"')
    page_again = start()
    assert "Recovered intersection-001 from its journal.\n" in page_again.lines
    demos = load(study / "intersection-001.hdf5")
    assert [len(e) for e in demos.episodes] == [20, lines]
    page = page_again.page(page.person)  # the page connects again, and starts anew
    assert page.ask("collect.state")["running"] is False
    page.begin("intersection")
    page.do("record")
    record_episode(page)
    assert len(load(study / "intersection-002.hdf5").episodes) == 1


@pytest.mark.slow
def test_a_stop_completes_what_is_recorded(start: Any, tmp_path: Path) -> None:
    studio = start()
    page = studio.page()
    page.begin("air-hockey")
    page.do("record")
    page.do("start")
    while page.receive().get("step", 0) < 5:
        pass
    assert studio.stop() == 143
    (episode,) = load(dataset_of(tmp_path / "study")).episodes
    assert len(episode) >= 5
    assert not any("Traceback" in line for line in studio.lines)


@pytest.mark.slow
def test_a_full_disk_stops_the_recording_and_keeps_finished_episodes(
    start: Any, tmp_path: Path
) -> None:
    studio = start(largest=30_000)
    page = studio.page()
    page.begin("intersection")
    page.do("record")
    record_episode(page)
    whole = load(dataset_of(tmp_path / "study"))
    page.begin("air-hockey")  # its episodes have more steps than fit
    page.do("record")
    page.do("start")
    assert "Recording stopped" in page.wait("problem")["text"]
    assert page.ask("collect.state")["running"] is True
    page.send(type="ping", sent=1)
    page.wait("pong")
    assert load(tmp_path / "study" / "intersection-001.hdf5").fingerprint() == (whole.fingerprint())
    assert studio.stop() == 143


@pytest.mark.slow
def test_a_gigabyte_of_garbage_takes_no_memory_and_the_server_stays_up(start: Any) -> None:
    studio = start()
    page = studio.page()
    page.begin("intersection")
    page.do("record")
    before, size = largest_memory(studio.process.pid), 0
    garbage = text_frame(os.urandom(2**15).hex()[: LARGEST_MESSAGE - 1].encode())
    while size < 2**30:
        garbage_socket = open_socket(studio.access)
        with suppress(ConnectionClosed, OSError):
            garbage_socket.send(json.dumps({"type": "hello", "person": ""}))
            for _ in range(2**10):
                garbage_socket.socket.sendall(garbage)
                size += len(garbage)
        garbage_socket.socket.close()
    assert largest_memory(studio.process.pid) < before + 100e6
    record_episode(page)  # who records notices nothing


def text_frame(content: bytes) -> bytes:
    """Return a message of a client as bytes of a websocket, masked with zeros."""
    return b"\x81\xfe" + len(content).to_bytes(2, "big") + bytes(4) + content


@pytest.mark.slow
@pytest.mark.parametrize(("world", "delay"), [("cartpole", 6), ("air-hockey", 3)])
def test_tune_recovers_the_delay_of_a_scripted_person(
    step_server: LiveServer, world: str, delay: int, call_json: CallJson,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """Follow the paper's protocol from random starts, as a person does who is late and errs.

    Starts and errors are drawn from a seed, so that the test does the same every time.
    """
    starts, rng = np.random.default_rng(1000), np.random.default_rng(delay)
    monkeypatch.setattr("secrets.randbelow", lambda limit: int(starts.integers(limit)))
    monkeypatch.setattr("counterbc.studio.connection.BURST", 1e6)  # this person does not wait
    page = step_server.page()
    page.begin(world, protocol="paper")
    page.do("record")
    while phase(page) == "ready":
        page.do("start")
        answer_late(page, world, delay, rng)
    page.wait("saved")
    page.close()
    quickly = ("--radius", 0, "--steps", 50, "--ensemble", 1)  # the lag does not depend on them
    result = call_json("tune", dataset_of(step_server.study.path), *quickly, "--seed", 0)
    assert result["lag"]["lag"] == [delay], result["lag"]


def answer_late(page: Page, world: str, delay: int, rng: np.random.Generator) -> None:
    """Answer the state of `delay` steps before until the episode is over, with errors of ±0.3.

    Nothing is done before the first state can be answered.
    """
    expert = find_world(world).load_expert()
    while not page.frames or page.frames[-1]["step"] > 0:  # frames may come after replies
        page.receive()
    states = [page.frames[-1]["obs"]]
    rest = np.zeros_like(expert(np.array(states), np.zeros(1, np.int64), 0)[0])
    while phase(page) == "running":
        t = len(states) - 1 - delay
        meant = rest if t < 0 else expert(np.array(states[t])[None], np.zeros(1, np.int64), t)[0]
        page.give(*np.clip(meant + rng.uniform(-0.3, 0.3, len(rest)), -1, 1).tolist())
        states.append(page.wait("frame", step=len(states))["obs"])
        page.ask("collect.state")  # which is answered after the status of the step


def phase(page: Page) -> str:
    """Return the phase of the session as the page was told last."""
    return str([m for m in page.messages if m["type"] == "status"][-1]["phase"])


def largest_memory(process: int) -> float:
    """Return the largest resident memory of a process so far, in bytes."""
    status = Path(f"/proc/{process}/status").read_text()
    return 1024 * float(status.split("VmHWM:")[1].split()[0])


def test_a_port_that_is_taken_is_refused_in_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(OptionError, match=f"port {port} cannot be used"):
            run_studio(StudioOptions(study=tmp_path / "s", port=port), lambda a, s: None)


@pytest.mark.parametrize("host", ["0.0.0.0", "not a host"])
def test_a_host_that_is_not_one_address_is_refused(tmp_path: Path, host: str) -> None:
    with pytest.raises(OptionError, match=host.split()[0]):
        run_studio(StudioOptions(study=tmp_path / "s", host=host), lambda a, s: None)


@pytest.mark.slow
def test_a_consent_text_can_be_given(start: Any, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("Ich bin einverstanden: <i>ja</i>", encoding="utf-8")
    page = start("--consent", str(text)).page()
    assert page.welcome["consent"] == "Ich bin einverstanden: <i>ja</i>"


def test_a_consent_text_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    options = StudioOptions(study=tmp_path / "s", consent=tmp_path / "no.txt")
    with pytest.raises(FormatError, match="consent"):
        run_studio(options, lambda a, s: None)


def test_a_study_whose_consent_text_is_too_long_is_refused_before_it_is_served(
    tmp_path: Path,
) -> None:
    study = StudyFolder.open(tmp_path / "s")
    (study.path / "consent.txt").write_text("x" * (LONGEST_CONSENT + 1), encoding="utf-8")
    with pytest.raises(FormatError, match="shorten it"):
        run_studio(StudioOptions(study=study.path), lambda a, s: None)


def test_without_its_extra_the_studio_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fastapi", None)
    with pytest.raises(MissingExtra, match=r"pip install 'counterbc\[studio\]'"):
        run_studio(StudioOptions(study=tmp_path / "s"), lambda a, s: None)
