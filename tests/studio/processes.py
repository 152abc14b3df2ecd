"""A studio in a process of its own, which can be killed, and a small disk for its study."""

from __future__ import annotations

import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from counterbc.studio.access import Access
from tests.studio.clients import PATIENCE, Page, http, wait_for


class StudioProcess:
    """`counterbc studio` as a user starts it; `largest` bounds the size of every file it writes."""

    def __init__(self, study: Path, *options: str, largest: int | None = None) -> None:
        def limit() -> None:
            if largest is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))

        self.lines: list[str] = []
        self.process = subprocess.Popen(
            [sys.executable, "-m", "counterbc", "studio", str(study), "--no-browser", *options],
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=limit,
        )
        url = self._read_url()
        match = re.fullmatch(r"http://(127\.0\.0\.1):(\d+)/#token=(\S+)", url)
        assert match, url
        self.url = url
        login_access = Access(match[1], int(match[2]), token=match[3])
        self.access = Access(match[1], int(match[2]), token=match[3], cookie=_cookie(login_access))

    def _read_url(self) -> str:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if match := re.search(r"The studio is at (\S+)", line):
                return match[1]
        raise AssertionError("".join(self.lines))

    def page(self, person: str = "") -> Page:
        return Page(self.access, person)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        self._close()

    def stop(self) -> int:
        self.process.terminate()
        code = self.process.wait(PATIENCE)
        self._close()
        return code

    def _close(self) -> None:
        assert self.process.stderr is not None
        self.lines += self.process.stderr.readlines()
        self.process.stderr.close()


def _cookie(access: Access) -> str:
    body = f'{{"token": "{access.token}"}}'
    wait_for(lambda: _answers(access))
    response, _ = http(access, "POST", "/login", body, Origin=f"http://{access.authority}")
    cookie: str = response.headers["set-cookie"].partition(";")[0].partition("=")[2]
    return cookie


def _answers(access: Access) -> bool:
    try:
        return http(access, "GET", "/")[0].status == 200
    except OSError:
        return False


@contextmanager
def small_disk(folder: Path, size: int) -> Iterator[Callable[[], None] | None]:
    """Mount a small disk on a folder; yield what enlarges it, or None where that is not allowed."""
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    try:
        is_mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        is_mounted = False
    if not is_mounted:
        yield None
        return
    larger = ["mount", "-o", "remount,size=50m", str(folder)]

    def enlarge() -> None:
        subprocess.run(larger, check=True)

    try:
        yield enlarge
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
