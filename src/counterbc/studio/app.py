"""The web application: the page, the exchange of the token, and the websocket."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import FileResponse, PlainTextResponse, Response

from counterbc.acting.clock import Clock, WallClock
from counterbc.data.version import __version__
from counterbc.studio.access import Access, App, GuardedApp
from counterbc.studio.collect_room import CollectRoom, list_worlds
from counterbc.studio.connection import Connections
from counterbc.studio.datasets import SUFFIXES
from counterbc.studio.limits import LARGEST_BODY, LARGEST_MESSAGE
from counterbc.studio.look_room import LookRoom
from counterbc.studio.person import People, Person
from counterbc.studio.protocol import PROTOCOLS
from counterbc.studio.study_folder import StudyFolder
from counterbc.studio.watch_room import WatchRoom

STATIC = Path(__file__).with_name("static")
_TIDY_EVERY = 60.0  # seconds
_TYPES = {".svg": "image/svg+xml", ".js": "text/javascript", ".css": "text/css"}


def make_app(
    study: StudyFolder, access: Access, make_clock: Callable[[], Clock] = WallClock
) -> App:
    """Return the application of a study, behind its guard."""

    def make_rooms(person: Person) -> dict[str, Any]:
        return {
            "collect": CollectRoom(study, person, make_clock),
            "look": LookRoom(study, person),
            "watch": WatchRoom(study, person, make_clock),
        }

    people = People(make_rooms)
    fixed_facts = {
        "version": __version__,
        "study": study.path.name,
        "worlds": list_worlds(),
        "protocols": PROTOCOLS,
        "formats": tuple(SUFFIXES),
        "largest_message": LARGEST_MESSAGE,
    }

    def read_facts() -> dict[str, Any]:  # the consent text may be edited at any time
        text = study.consent()
        sha256 = hashlib.sha256(text.encode()).hexdigest()
        return {**fixed_facts, "consent": text, "consent_sha256": sha256}

    connections = Connections(people, read_facts)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy(people))
        yield
        tidying.cancel()
        people.close()

    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)

    @app.get("/")
    async def page() -> FileResponse:
        return FileResponse(STATIC / "index.html", media_type="text/html")

    @app.get("/static/{name}")
    async def static(name: str) -> Response:
        return _static(name)

    @app.post("/login")
    async def login(request: Request) -> Response:
        return await _login(request, access)

    @app.websocket("/socket")
    async def socket(websocket: WebSocket) -> None:
        await connections.serve(websocket)

    return GuardedApp(app, access)


async def _tidy(people: People) -> None:
    """Complete the recordings of people whose pages have been gone for long."""
    while True:
        await asyncio.sleep(_TIDY_EVERY)
        await asyncio.to_thread(people.forget)


def _static(name: str) -> Response:
    """Return one of the page's own files; there are no folders."""
    path = STATIC / name
    if name not in {p.name for p in STATIC.iterdir()} or path.suffix not in _TYPES:
        return PlainTextResponse("there is no such file", 404)
    return FileResponse(path, media_type=_TYPES[path.suffix])


async def _login(request: Request, access: Access) -> Response:
    """Exchange the token of the printed address for a cookie."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > LARGEST_BODY:
            return PlainTextResponse("the request is too long", 413)
    try:
        token = json.loads(body)["token"]
    except (ValueError, KeyError, TypeError):
        return PlainTextResponse("the request has no token", 400)
    if not isinstance(token, str) or not access.has_token(token):
        text = "this token is not valid; open the address that `counterbc studio` printed"
        return PlainTextResponse(text, 403)
    return Response(status_code=204, headers={"set-cookie": access.set_cookie()})
