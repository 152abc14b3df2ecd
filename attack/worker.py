"""A process that runs cases and may die: its limits, its memory, and what it was doing."""

from __future__ import annotations

import faulthandler
import json
import os
import resource
import shutil
import signal
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from attack import causes
from attack.part import Finding, Part
from attack.rows import Row

_ROOM = 3 * 2**30  # bytes of addresses beyond the limit of memory, before allocations fail
_TICKS = os.sysconf("SC_CLK_TCK")


class Worker:
    """A forked process that runs cases one after the other and reports each through a pipe."""

    def __init__(self, part: Part, keys: Sequence[str], folder: Path) -> None:
        self.part, self.folder = part, folder
        self.keys_left = list(keys)
        self.log = folder / f"worker-{os.getpid()}-{time.monotonic_ns()}.log"
        self._key, self._buffer = "", b""
        self._clock = self._cpu = 0.0
        read, write = os.pipe()
        sys.stdout.flush()
        self.pid = os.fork()
        if not self.pid:
            os.close(read)
            _child(part, keys, folder, write, self.log)
        os.close(write)
        os.set_blocking(read, False)
        self.pipe = read

    def poll(self) -> Iterator[Row]:
        """Yield the rows since the last call; end the process if its case is beyond the limits."""
        yield from self._read()
        if self._key and (reason := self._beyond_limits()):
            os.kill(self.pid, signal.SIGUSR1)  # prints what it is doing
            time.sleep(0.5)
            key = self._key
            self.kill()
            os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
            yield from self._read()  # the case may have ended meanwhile, and another begun
            if self._key == key:
                yield self._fail("hang", causes.of_dump(self._log_text()), reason)
            self._key = ""

    def _read(self) -> Iterator[Row]:
        try:
            while chunk := os.read(self.pipe, 1 << 16):
                self._buffer += chunk
        except BlockingIOError:
            pass
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            message: dict[str, Any] = json.loads(line)
            if "begin" in message:
                self._key, self._cpu = message["begin"], message["cpu"]
                self._clock = time.monotonic()
            else:
                row = Row(**message)
                self._forget(row.key)
                yield row

    def finish(self) -> Row | None:
        """Return None after a normal end, or the row of the case that the process died in."""
        code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        os.close(self.pipe)
        row = None
        if self._key:
            text = self._log_text()
            cause = f"{_ending(code)}: {causes.of_dump(text)}"
            row = self._fail("crash", cause, text[-2000:])
        self.log.unlink(missing_ok=True)
        shutil.rmtree(_scratch(self.folder, self.pid), ignore_errors=True)
        return row

    def is_alive(self) -> bool:
        info = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        return info is None

    def kill(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        shutil.rmtree(_scratch(self.folder, self.pid), ignore_errors=True)

    def _beyond_limits(self) -> str:
        limits = self.part.limits
        cpu, clock = _cpu_seconds(self.pid) - self._cpu, time.monotonic() - self._clock
        if cpu > limits.cpu_seconds:
            return f"{cpu:.0f} s of processor time"
        return f"{clock:.0f} s" if clock > limits.clock_seconds else ""

    def _fail(self, outcome: str, cause: str, text: str) -> Row:
        row = Row(self._key, outcome, cause, text, seconds=round(time.monotonic() - self._clock, 2))
        self._forget(self._key)
        return row

    def _forget(self, key: str) -> None:
        self.keys_left.remove(key)
        self._key = ""

    def _log_text(self) -> str:
        return self.log.read_text(errors="replace") if self.log.exists() else ""


def _scratch(folder: Path, pid: int) -> Path:
    return folder / f"scratch-{pid}"


def _ending(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit {code}"


def _cpu_seconds(pid: int) -> float:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICKS


def _child(part: Part, keys: Sequence[str], folder: Path, pipe: int, log: Path) -> None:
    """Run the cases and end the process."""
    os.setpgid(0, 0)
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(output, 1)
    os.dup2(output, 2)
    faulthandler.disable()  # enabling has no effect where a library has replaced its handlers
    faulthandler.enable(2)
    faulthandler.register(signal.SIGUSR1, 2, all_threads=False)
    size = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    most = size + part.limits.memory + _ROOM
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for key in keys:
        _send(pipe, {"begin": key, "cpu": time.process_time()})
        _send(pipe, asdict(run_case(part, key, folder)))
    os._exit(0)


def run_case(part: Part, key: str, folder: Path) -> Row:
    """Run one case in this process; an exception that it raises is a finding."""
    scratch = _scratch(folder, os.getpid())
    scratch.mkdir(exist_ok=True)
    began = time.process_time()
    _reset_peak()
    try:
        row = part.run(key, scratch)
    except Finding as finding:
        row = finding.row(key)
    except MemoryError as error:
        row = Row(key, "memory", causes.of_exception(error), traceback.format_exc()[-2500:])
    except BaseException as error:
        row = Row(key, "traceback", causes.of_exception(error), traceback.format_exc()[-2500:])
    row.seconds = round(time.process_time() - began, 3)
    row.megabytes = round(_peak() / 2**20)
    if _peak() > part.limits.memory and not row.is_finding:
        row.outcome, row.cause = "memory", f"{key.partition('/')[0]}: above the limit"
    shutil.rmtree(scratch, ignore_errors=True)
    return row


def _send(pipe: int, message: dict[str, Any]) -> None:
    line = json.dumps(message).encode() + b"\n"
    while line:
        line = line[os.write(pipe, line) :]


def _reset_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5")


def _peak() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
