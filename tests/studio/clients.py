"""A real server on loopback, and pages that speak to it without a browser."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.sync.client import ClientConnection, connect

from counterbc.acting.clock import Clock, WallClock
from counterbc.data.arrays import Array
from counterbc.data.demonstrations import Demonstrations
from counterbc.formats import load
from counterbc.studio.access import Access
from counterbc.studio.app import make_app
from counterbc.studio.collecting import Collecting, Input
from counterbc.studio.frames import Frame
from counterbc.studio.journal import read_session
from counterbc.studio.protocol import Plan, Protocol
from counterbc.studio.serve import make_server
from counterbc.studio.study_folder import StudyFolder

Json = dict[str, Any]
WORLDS = (
    "intersection", "cartpole", "air-hockey",
    pytest.param("push-t", marks=pytest.mark.needs("gym_pusht")),
    pytest.param("car-racing", marks=pytest.mark.needs("envpool")),
)  # fmt: skip
"""Every world, for tests of each."""
PATIENCE = 60.0
"""Seconds to wait for what must happen; machines may be busy."""


class Lockstep:
    """A clock that ticks once for each input, so that tests do not depend on time."""

    def __init__(self) -> None:
        self.time, self._inputs = 0.0, threading.Semaphore(0)

    def now(self) -> float:
        return self.time

    def wait_until(self, due: float) -> None:
        self._inputs.acquire()
        self.time = due

    def notify(self) -> None:
        self._inputs.release()


class LiveServer:
    """A server in a thread of this process."""

    def __init__(self, study: StudyFolder, make_clock: Callable[[], Clock] = WallClock) -> None:
        self.study = study
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(128)
        self.server, self.access = make_server(study, "127.0.0.1", self.listener)
        if make_clock is not WallClock:
            self.server.config.app = make_app(study, self.access, make_clock)
        self.thread = threading.Thread(
            target=self.server.run, kwargs={"sockets": [self.listener]}, daemon=True
        )
        self.thread.start()
        wait_for(lambda: self.server.started)

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=PATIENCE)
        self.listener.close()
        assert not self.thread.is_alive()

    def http(
        self, method: str, path: str, body: str | None = None, **headers: str
    ) -> tuple[HTTPResponse, bytes]:
        """Send a request with exactly these headers, and the right Host unless it is given."""
        return http(self.access, method, path, body, **headers)

    def page(self, person: str = "") -> Page:
        return Page(self.access, person)


def http(
    access: Access, method: str, path: str, body: str | None = None, **headers: str
) -> tuple[HTTPResponse, bytes]:
    connection = HTTPConnection("127.0.0.1", access.port, timeout=PATIENCE)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in {"Host": f"127.0.0.1:{access.port}", **headers}.items():
        connection.putheader(name.replace("_", "-"), value)
    if body is not None:
        connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(None if body is None else body.encode())
    response = connection.getresponse()
    content = response.read()
    connection.close()
    return response, content


def login(access: Access) -> str:
    """Exchange the token for the cookie, as the page does."""
    origin = f"http://{access.authority}"
    body = json.dumps({"token": access.token})
    response, _ = http(access, "POST", "/login", body, Origin=origin)
    assert response.status == 204
    return response.headers["set-cookie"].partition(";")[0]


def open_socket(access: Access, **changes: Any) -> ClientConnection:
    """Connect as the page does; `changes` replace the headers Origin and Cookie, or drop them."""
    headers = {"Cookie": f"{access.cookie_name}={access.cookie}"} | changes
    origin = headers.pop("Origin", f"http://{access.authority}")
    connection = connect(
        f"ws://127.0.0.1:{access.port}/socket",
        origin=origin,
        additional_headers={k: v for k, v in headers.items() if v is not None},
        open_timeout=PATIENCE,
        close_timeout=1,
        max_size=2**24,
        compression=None,
    )
    return connection.__enter__()  # closed by its user


class Page:
    """A page without a browser: it says hello, asks, and keeps what it is sent."""

    def __init__(self, access: Access, person: str = "") -> None:
        self.socket = open_socket(access)
        self.messages: list[Json] = []
        self.frames: list[Json] = []
        self._ids = 0
        self.send(type="hello", person=person)
        self.welcome = self.wait("welcome")
        self.person: str = self.welcome["person"]

    def send(self, **message: Any) -> None:
        self.socket.send(json.dumps(message))

    def receive(self) -> Json:
        content = self.socket.recv(timeout=PATIENCE)
        if isinstance(content, bytes):
            size = int.from_bytes(content[:4], "little")
            message: Json = json.loads(content[4 : 4 + size])
            message["pixels"] = content[4 + size :]
        else:
            message = json.loads(content)
        if message["type"] == "frame":
            self.send(type="frame.seen", slot=message["slot"])
        (self.frames if message["type"] == "frame" else self.messages).append(message)
        return message

    def wait(self, type: str, **fields: Any) -> Json:
        """Return the next message with these fields."""
        while True:
            message = self.receive()
            if message["type"] == type and fields.items() <= message.items():
                return message

    def ask(self, type: str, **fields: Any) -> Json:
        """Return the reply to a request, or its refusal."""
        self._ids += 1
        self.send(type=type, id=self._ids, **fields)
        while True:
            message = self.receive()
            if message["type"] in ("reply", "refused") and message["id"] == self._ids:
                return message

    def begin(self, world: str, **changes: Any) -> Json:
        fields = {
            "operator": "Ada", "protocol": "free", "format": "robomimic", "speed": 1.0,
            "agreed": True, "consent": self.welcome["consent_sha256"],
        }  # fmt: skip
        return self.ask("collect.begin", world=world, **(fields | changes))

    def do(self, action: str) -> Json:
        return self.ask("collect.do", do=action)

    def give(self, *action: float, device: str = "keyboard", **fields: Any) -> None:
        self.send(type="collect.input", action=list(action), device=device, **fields)

    def close(self) -> None:
        self.socket.close()


class Desk:
    """A session without a page: one input, one tick."""

    def __init__(self, study: StudyFolder, world: str, **limits: Any) -> None:
        self.messages: list[Json] = []
        self.frames: list[Frame] = []
        protocol = Protocol(**({"practice": None} | limits))
        plan = Plan(world=world, operator="Ada", protocol_name="test", protocol=protocol)
        self.clock = Lockstep()
        self.session = Collecting(
            study, plan, self.clock, send=self.messages.append, draw=self.frames.append
        )

    def step(self, *action: float, device: str = "keyboard", at: float | None = None) -> bool:
        """Give one input and wait for its tick; return whether it had one.

        The last status of a session comes after the frame of its last tick.
        """
        count = len(self.frames)
        self.session.give(Input(action, device, at))
        wait_for(lambda: len(self.frames) > count or self.status["phase"] == "finished")
        return len(self.frames) > count

    def feasible_action(self, t: int) -> Array:
        """Return an action inside the feasible set, another one at each step."""
        low, high = self.session.stage.low, self.session.stage.high
        return f32(low + (high - low) * (0.5 + 0.3 * np.cos(np.arange(len(low)) + t)))

    @property
    def status(self) -> Json:
        return [m for m in self.messages if m["type"] == "status"][-1]


def f32(values: Any) -> Array:
    """Return an array of 32-bit numbers."""
    return np.array(values, np.float32)


def wait_for(condition: Callable[[], Any], patience: float = PATIENCE) -> None:
    """Wait until a condition holds; fail if it does not within a minute."""
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, "the condition did not come true"
        time.sleep(0.01)


def load_recording(study: StudyFolder) -> Demonstrations:
    """Return the demonstrations of the only dataset of a study; images if it has them."""
    path = dataset_of(study.path)
    (journal, *_) = read_session(study.journal(path.stem))
    return load(path, obs=("image",)) if journal.header["image"] else load(path)


def dataset_of(study: Path) -> Path:
    """Return the only dataset of a study."""
    (path,) = [p for p in study.iterdir() if p.suffix == ".hdf5"]
    return path
