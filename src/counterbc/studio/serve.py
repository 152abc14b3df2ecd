"""Start the studio: check, recover, bind, print the address, and serve until Ctrl-C."""

from __future__ import annotations

import socket
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from counterbc.errors import MissingExtra, OptionError

if TYPE_CHECKING:
    from uvicorn import Server

    from counterbc.studio.access import Access
    from counterbc.studio.datasets import Recovery

_SWITCH = 0.001  # seconds after which Python lets another thread run; a control loop may need it
_BACKLOG = 128


@dataclass(frozen=True, kw_only=True)
class StudioOptions:
    """Where the study is, and where the page is served."""

    study: Path
    datasets: Sequence[Path] = ()
    runs: Sequence[Path] = ()
    host: str = "127.0.0.1"
    port: int = 0
    """0 takes any free port."""
    consent: Path | None = None
    """A text that replaces the study's consent text."""


def run_studio(options: StudioOptions, announce: Callable[[Access, list[Recovery]], None]) -> None:
    """Serve until interrupted; `announce` gets the address and the sessions that a crash ended.

    Returns when everything that was recorded is on the disk.
    """
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as error:
        raise MissingExtra(str(error.name), "studio", "counterbc studio") from None
    from counterbc.studio.access import Access
    from counterbc.studio.datasets import recover
    from counterbc.studio.study_folder import StudyFolder

    Access(options.host, options.port)  # refuses a host that is not one address
    study = StudyFolder.open(options.study, options.datasets, options.runs)
    if options.consent is not None:
        study.set_consent(options.consent)
    study.consent()  # refuses a text that no page could show
    listener = _bind(options.host, options.port)
    with listener:
        server, access = make_server(study, options.host, listener)
        recoveries = recover(study)
        sys.setswitchinterval(_SWITCH)
        announce(access, recoveries)
        server.run(sockets=[listener])


def make_server(study: object, host: str, listener: socket.socket) -> tuple[Server, Access]:
    """Return a server for a bound socket, and its secrets."""
    import uvicorn

    from counterbc.studio.access import Access
    from counterbc.studio.app import make_app
    from counterbc.studio.limits import CONNECTIONS, LARGEST_MESSAGE, PING_INTERVAL, PING_TIMEOUT
    from counterbc.studio.study_folder import StudyFolder

    assert isinstance(study, StudyFolder)
    access = Access(host, listener.getsockname()[1])
    config = uvicorn.Config(
        make_app(study, access),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws_max_size=LARGEST_MESSAGE,
        ws_ping_interval=PING_INTERVAL,
        ws_ping_timeout=PING_TIMEOUT,
        ws_per_message_deflate=False,
        limit_concurrency=4 * CONNECTIONS,
        timeout_graceful_shutdown=5,
    )
    return uvicorn.Server(config), access


def _bind(host: str, port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        listener.close()
        raise OptionError(
            f"{host} port {port} cannot be used ({error}); choose another --port, or leave it out"
        ) from None
    return listener
