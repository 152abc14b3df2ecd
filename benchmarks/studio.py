"""Measure how regular the studio's control loop is while somebody records, and how late inputs act.

    python benchmarks/studio.py [--seconds 20] [--out benchmarks/results/studio.json]
    python benchmarks/studio.py --browser [--out benchmarks/results/studio-browser.json]

A server in a process of its own records on loopback; a client sends inputs 60 times a second with
the server's clock, as the page does. Lateness is how long after its due time a tick came, jitter
how far the time between two ticks is from the period. With --browser the client is the page in
Chromium on the same machine, whose keys are pressed and released. Then a picture's time is that of
drawing it on the canvas, and the time to the disk is from a tick to the end of the sync of its
line. Run it on an idle machine.
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
from collections import deque
from collections.abc import Callable, Sequence
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from websockets.sync.client import connect
from websockets.typing import Origin

from counterbc import cli
from counterbc.envs import find_world
from counterbc.errors import FormatError
from counterbc.studio import recorder
from counterbc.studio.journal import JournalWriter
from counterbc.studio.stage import STAGES, missing_extra

INPUTS_PER_SECOND = 60
KEYS = ("ArrowRight", "ArrowUp", "ArrowLeft", "ArrowUp")
DISK_TIMES = "disk-times.json"
# The page draws in its animation frames.
DRAW_TIMES = """
window.drawTimes = [];
const frame = window.requestAnimationFrame;
window.requestAnimationFrame = (draw) => frame((now) => {
  const start = performance.now();
  draw(now);
  window.drawTimes.push(performance.now() - start);
});
"""
SIZES = {"intersection": 2, "cartpole": 1, "air-hockey": 2, "car-racing": 3, "push-t": 2}


def start(study: Path) -> tuple[subprocess.Popen[str], str, int, str]:
    """Start a server; return it, its host and port, and the cookie of a page."""
    server, host, port, token = launch(["-m", "counterbc", "studio", str(study), "--no-browser"])
    return server, host, port, _cookie(host, port, token)


def launch(words: list[str]) -> tuple[subprocess.Popen[str], str, int, str]:
    """Start Python with these words; return the server, its host and port, and its token."""
    server = subprocess.Popen([sys.executable, *words], stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    for line in server.stderr:
        if match := re.search(r"http://(127\.0\.0\.1):(\d+)/#token=(\S+)", line):
            return server, match[1], int(match[2]), match[3]
    raise SystemExit("the studio did not start")


def stop(server: subprocess.Popen[str]) -> None:
    """End a server when what was recorded is complete."""
    server.terminate()
    server.wait()
    assert server.stderr is not None
    server.stderr.close()


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
        row |= quantiles(name, values)
    return row


def quantiles(name: str, values: Sequence[float]) -> dict[str, float]:
    """Return median, 99 % and largest of values; those that are NaN do not count."""
    shares = np.nanquantile(values, [0.5, 0.99, 1.0]).tolist()
    return {f"{name}_{k}": round(v, 3) for k, v in zip(("p50", "p99", "max"), shares, strict=True)}


def measure_client(study: Path, world: str, seconds: float) -> dict[str, Any]:
    """Record a world with a client; return its timing."""
    server, host, port, cookie = start(study)
    record(host, port, cookie, world, seconds)
    stop(server)
    (path,) = study.glob("*.hdf5")
    return measure(path, world)


def measure_in_browser(study: Path, world: str, seconds: float) -> dict[str, Any]:
    """Record a world with the page in Chromium; return its timing, the page's and the disk's."""
    server, host, port, token = launch([__file__, "--serve", str(study)])
    draw_times = record_in_browser(f"http://{host}:{port}/#token={token}", world, seconds)
    stop(server)
    (path,) = study.glob("*.hdf5")
    disk_times = json.loads((study / DISK_TIMES).read_text())
    row = measure(path, world) | quantiles("draw", draw_times) | quantiles("disk", disk_times)
    return row | {"pictures": len(draw_times)}


def record_in_browser(url: str, world: str, seconds: float) -> list[float]:
    """Press keys on the page until the time is over; return the ms of drawing each picture."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        flags = ["--headless", "--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        page = browser.new_page()
        page.add_init_script(DRAW_TIMES)
        page.goto(url)
        page.check(f"input[value='{world}']")
        page.fill("#operator", "script")
        page.select_option("#protocol", "free")
        page.check("#agreed")
        page.click("button:text-is('Begin')")
        page.click("button:text-is('Record now')")
        page.wait_for_selector("text=record episode 1")
        page.evaluate("() => { window.drawTimes = []; }")
        end, count = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            if page.locator("button:text-is('Start')").count():
                page.keyboard.press("Space")
            page.keyboard.press(KEYS[count % len(KEYS)], delay=40)
            count += 1
        times: list[float] = page.evaluate("() => window.drawTimes")
        page.click("button:text-is('Finish session')")
        page.wait_for_selector("dd.saved-in:text-matches('hdf5')")
        browser.close()
    return times


class TimedWriter(JournalWriter):
    """A writer of journals that notes the milliseconds from each step to the end of its sync."""

    def __init__(self, folder: Path, on_error: Callable[[FormatError], None]) -> None:
        self.waiting, self.times, self.written = deque[float](), list[float](), 0
        super().__init__(folder, on_error)

    def line(self, episode: int, content: dict[str, Any]) -> None:
        if "action" in content:
            self.waiting.append(time.perf_counter())
        super().line(episode, content)

    def _append(self, name: str, content: bytes) -> None:
        super()._append(name, content)
        self.written += b'"action"' in content and name.endswith(".jsonl")

    def _sync(self) -> None:
        super()._sync()
        now = time.perf_counter()
        self.times += [1000 * (now - self.waiting.popleft()) for _ in range(self.written)]
        self.written = 0

    def close(self) -> None:
        super().close()
        (self.folder.parents[1] / DISK_TIMES).write_text(json.dumps(self.times))


def serve(study: str) -> None:
    """Serve a study as the command does, and note when its steps are on the disk."""
    setattr(recorder, "JournalWriter", TimedWriter)  # noqa: B010  # not exported from there
    sys.exit(cli.main(["studio", study, "--no-browser"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--browser", action="store_true", help="record with the page in Chromium")
    parser.add_argument("--worlds", nargs="*", default=STAGES, choices=STAGES)
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve)
    measure_world = measure_in_browser if options.browser else measure_client
    rows = []
    for world in (w for w in options.worlds if missing_extra(w) is None):
        with tempfile.TemporaryDirectory() as folder:
            rows.append(measure_world(Path(folder), world, options.seconds))
            print(json.dumps(rows[-1]), flush=True)
    load = os.getloadavg()[0]
    if options.out:
        options.out.write_text(json.dumps({"load": load, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
