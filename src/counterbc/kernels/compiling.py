"""Compiling native code, which takes a while: announced, stopped by Ctrl-C, and done by one process
while others wait for its result."""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from contextvars import ContextVar, copy_context
from functools import partial
from pathlib import Path
from typing import Any

MESSAGE = "Compiling the training step for this machine, once: 5 to 20 seconds if it is idle."
_LOOK_EVERY = 0.2  # seconds
_PATIENCE = 300.0  # seconds; on a busy machine a compiler may take minutes
_announced: set[str] = set()  # by this process, where no file can remember it
_announce: ContextVar[Callable[[str], None]] = ContextVar("announce", default=lambda text: None)
_at_once: ContextVar[Callable[[], AbstractContextManager[None]]] = ContextVar(
    "at_once", default=nullcontext
)


@contextmanager
def hear_compiling(
    announce: Callable[[str], None],
    at_once: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Iterator[None]:
    """Let a function be called with a sentence before code is compiled.

    While it is compiled, `at_once` is entered, in which Ctrl-C should raise a KeyboardInterrupt.
    """
    tokens = _announce.set(announce), _at_once.set(at_once)
    try:
        yield
    finally:
        _announce.reset(tokens[0])
        _at_once.reset(tokens[1])


def announce_compiling() -> None:
    """Tell whoever listens that code will be compiled."""
    _announce.get()(MESSAGE)


@contextmanager
def announced_once(folder: Path | None, code: str) -> Iterator[None]:
    """Announce that a block compiles, unless one with the same code has ended well before.

    This is for compilers that keep a cache of their own and do not tell whether they used it. An
    empty file in `folder` remembers the code; None: only this process remembers it.
    """
    name = hashlib.sha256(code.encode()).hexdigest()
    if name in _announced or (folder is not None and (folder / name).exists()):
        yield
        return
    announce_compiling()
    yield
    _announced.add(name)
    if folder is not None:
        with suppress(OSError):  # otherwise it is announced again next time
            folder.mkdir(parents=True, exist_ok=True)
            (folder / name).touch()


def compile_aside(compile_code: Callable[[Any], Any], signature: Any) -> Any:
    """Return the compiled code of a signature, and let Ctrl-C stop the waiting for it.

    A compiler does not return to Python for many seconds, so it runs in a thread. What is compiled
    on the way is compiled in the same thread, which holds the compiler's lock.
    """
    if threading.current_thread() is not threading.main_thread():
        return compile_code(signature)
    results: list[Any] = []
    errors: list[BaseException] = []

    def work() -> None:
        try:
            results.append(compile_code(signature))
        except BaseException as error:  # raised again where the code was asked for
            errors.append(error)

    thread = threading.Thread(target=partial(copy_context().run, work), daemon=True)
    with _at_once.get()():
        thread.start()
        while thread.is_alive():
            thread.join(_LOOK_EVERY)
    if errors:
        raise errors[0]
    return results[0]


@contextmanager
def only_here(folder: Path, name: str, patience: float = _PATIENCE) -> Iterator[None]:
    """Run a block while no other process runs one of the same name and folder.

    The system ends the claim of a process that ends, however it ends. After `patience` seconds, and
    where there are no locks or the folder cannot be written, the block runs beside others: work may
    then be repeated.
    """
    path = folder / f".{hashlib.sha256(name.encode()).hexdigest()[:16]}.lock"
    end = time.monotonic() + patience
    try:
        import fcntl

        folder.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    except (ImportError, OSError):  # Windows, or a read-only folder
        yield
        return
    try:
        while not _is_ours(fcntl, descriptor) and time.monotonic() < end:
            time.sleep(_LOOK_EVERY)
        yield
    finally:
        with suppress(OSError):  # not by closing: a process that was forked may have it open
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def _is_ours(fcntl: Any, descriptor: int) -> bool:
    """Lock a file; return False if another process has locked it."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True
