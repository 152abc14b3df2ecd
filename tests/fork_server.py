"""Commands in forks of one process that has imported the library, for tests that run many of them.

    python tests/fork_server.py serve SOCKET            wait for commands, and run each in a fork
    python -S tests/fork_server.py ask SOCKET WORD…     run `counterbc WORD…` there, as if here

The fork has the files, the folder and the environment of the process that asks. This saves the
seconds in which Python and torch start. Trainings are short unless the words say how long they are,
and no lag is searched.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import sys
import traceback
from dataclasses import replace
from typing import NoReturn

_MOST = 1 << 16  # bytes that are read at once


def serve(path: str) -> NoReturn:
    """Import what commands need, then run whatever is asked for, one command after the other."""
    from counterbc import commands, trainer  # noqa: F401 - imports torch
    from counterbc.diagnosis import meaning  # noqa: F401
    from counterbc.settings import PRESETS

    PRESETS["default"] = replace(PRESETS["default"], steps=500, lag=0.0)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path)
        server.listen()
        while True:
            with server.accept()[0] as asker:
                message, files, _, _ = socket.recv_fds(asker, _MOST, 3)
                while part := asker.recv(_MOST):
                    message += part
                asker.sendall(str(_fork(json.loads(message), files)).encode())


def _fork(question: dict[str, object], files: list[int]) -> int:
    """Run a command in a fork, with these files as stdin, stdout and stderr; return its status."""
    child = os.fork()
    if not child:
        for number, file in enumerate(files):
            os.dup2(file, number)
        _run(**question)  # type: ignore[arg-type]  # as `ask` sent it
    for file in files:
        os.close(file)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _run(words: list[str], folder: str, environment: dict[str, str]) -> NoReturn:
    """Run a command in this process, and end it."""
    from counterbc.__main__ import run

    status: object = 1
    try:
        sys.stdin, sys.stdout = open(0, closefd=False), open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, closefd=False)  # noqa: SIM115
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = ["counterbc", *words]
        run()
    except SystemExit as end:
        status = end.code or 0
    except BaseException:
        traceback.print_exc()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status if isinstance(status, int) else 1)


def ask(path: str, words: list[str]) -> int:
    """Run a command in a fork of the server; return its status."""
    question = {"words": words, "folder": os.getcwd(), "environment": dict(os.environ)}
    with socket.socket(socket.AF_UNIX) as server:
        server.connect(path)
        message = json.dumps(question).encode()
        sent = socket.send_fds(server, [message[:_MOST]], [0, 1, 2])
        server.sendall(message[sent:])
        server.shutdown(socket.SHUT_WR)
        return int(server.recv(16) or 1)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2])
    sys.exit(ask(sys.argv[2], sys.argv[3:]))
