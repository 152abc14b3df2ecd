"""Measure how regular the studio's control loop is while somebody records, and how late inputs act.

    python benchmarks/studio.py [--seconds 20] [--out benchmarks/results/studio.json]

A server in a process of its own records on loopback; a client sends inputs 60 times a second with
the server's clock, as the page does. Lateness is how long after its due time a tick came, jitter
how far the time between two ticks is from the period. Run it on an idle machine.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from websockets.sync.client import connect
from websockets.typing import Origin

from counterbc.envs import find_world
from counterbc.studio.stage import STAGES, missing_extra

INPUTS_PER_SECOND = 60
SIZES = {"intersection": 2, "cartpole": 1, "air-hockey": 2, "car-racing": 3, "push-t": 2}


def start(study: Path) -> tuple[subprocess.Popen[str], str, int, str]:
    """Start a server; return it, its host and port, and the cookie of a page."""
    command = [sys.executable, "-m", "counterbc", "studio", str(study), "--no-browser"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    for line in server.stderr:
        if match := re.search(r"http://(127\.0\.0\.1):(\d+)/#token=(\S+)", line):
            host, port, token = match[1], int(match[2]), match[3]
            return server, host, port, _cookie(host, port, token)
    raise SystemExit("the studio did not start")


def _cookie(host: str, port: int, token: str) -> str:
    for _ in range(100):
        try:
            connection = HTTPConnection(host, port)
            headers = {"Origin": f"http://{host}:{port}"}
            connection.request("POST", "/login", json.dumps({"token": token}), headers)
            return str(connection.getresponse().headers["set-cookie"]).partition(";")[0]
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise SystemExit("the studio does not answer")


def record(host: str, port: int, cookie: str, world: str, seconds: float) -> None:
    """Record episodes of a world until the time is over."""
    url, origin = f"ws://{host}:{port}/socket", f"http://{host}:{port}"
    with connect(url, origin=Origin(origin), additional_headers={"Cookie": cookie}) as socket:

        def send(**message: Any) -> None:
            socket.send(json.dumps(message))

        send(type="hello", person="")
        welcome = json.loads(socket.recv(timeout=30))
        send(
            type="collect.begin", world=world, operator="script", protocol="free", agreed=True,
            consent=welcome["consent_sha256"], format="robomimic", speed=1.0, id=0,
        )  # fmt: skip
        send(type="collect.do", do="record", id=1)
        send(type="collect.do", do="start", id=2)
        over = threading.Event()
        reader = threading.Thread(target=_read, args=(socket, send, over), daemon=True)
        reader.start()
        end, tick = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            action = [0.3 * math.sin(0.1 * tick + i) for i in range(SIZES[world])]
            if world == "push-t":
                action = [256 + 200 * a for a in action]
            send(
                type="collect.input", action=action, device="gamepad",
                at=time.perf_counter() * 1000,
            )  # fmt: skip
            tick += 1
            time.sleep(1 / INPUTS_PER_SECOND)
        send(type="collect.do", do="finish", id=3)
        over.wait(30)


def _read(socket: Any, send: Any, over: threading.Event) -> None:
    """Read what the server sends, and start the next episode when one is over."""
    for content in socket:
        message = {"type": "frame"} if isinstance(content, bytes) else json.loads(content)
        if message["type"] == "frame":
            send(type="frame.seen", slot=0)  # so that the next drawing is sent, as to a page
        if message.get("type") == "status" and message["phase"] == "ready":
            send(type="collect.do", do="start", id=9)
        if message.get("type") == "reply" and message.get("id") == 3:
            over.set()
            return


def measure(path: Path, world: str) -> dict[str, Any]:
    """Return the quantiles of a recording's timing, in milliseconds."""
    period = 1 / find_world(world).rate
    late, jitter, latency = list[float](), list[float](), list[float]()
    with h5py.File(path) as file:
        for demo in file["data"].values():
            late += (1000 * demo["timing/late"][:]).tolist()
            jitter += (1000 * np.abs(np.diff(demo["timing/time"][:]) - period)).tolist()
            latency += demo["timing/latency"][:].tolist()
    columns = {"late": late, "jitter": jitter, "latency": latency}
    row: dict[str, Any] = {"world": world, "rate": find_world(world).rate, "steps": len(late)}
    for name, values in columns.items():
        shares = np.nanquantile(values, [0.5, 0.99, 1.0])
        row |= {f"{name}_p50": shares[0], f"{name}_p99": shares[1], f"{name}_max": shares[2]}
    return {k: round(v, 3) if isinstance(v, float) else v for k, v in row.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = []
    for world in (w for w in STAGES if missing_extra(w) is None):
        with tempfile.TemporaryDirectory() as folder:
            study = Path(folder)
            server, host, port, cookie = start(study)
            record(host, port, cookie, world, options.seconds)
            server.terminate()
            server.wait()
            (path,) = study.glob("*.hdf5")
            rows.append(measure(path, world))
            print(json.dumps(rows[-1]), flush=True)
    load = os.getloadavg()[0]
    if options.out:
        options.out.write_text(json.dumps({"load": load, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
