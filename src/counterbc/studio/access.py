"""Who may use the studio: a token, a cookie, and the checks of `Host` and `Origin`.

The address that is printed carries a random token in its fragment, which browsers send to no
server. The page exchanges it for a cookie that other sites cannot use (`SameSite=Strict`) and
scripts cannot read (`HttpOnly`). `Host` is checked against DNS rebinding, `Origin` against pages of
other sites, on HTTP and on the websocket alike.
"""

from __future__ import annotations

import ipaddress
import secrets
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass, field
from http.cookies import CookieError, SimpleCookie
from typing import Any

from counterbc.errors import OptionError

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
OPEN_PATHS = ("/", "/login")
"""Paths without a cookie: the page itself, which holds no data, and where a token is exchanged."""
OPEN_FOLDER = "/static/"


@dataclass(frozen=True)
class Access:
    """The secrets of one server, and the names that it answers to."""

    host: str
    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    cookie: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)

    def __post_init__(self) -> None:
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            if self.host != "localhost":
                raise OptionError(
                    f"host is {self.host!r}; give 127.0.0.1, or one address of this machine"
                ) from None
            return
        if address.is_unspecified:
            raise OptionError(
                f"host is {self.host}, which means every network of this machine; name the one "
                "address that people should use"
            )

    @property
    def is_local(self) -> bool:
        """Whether only programs on this machine can connect."""
        return self.host == "localhost" or ipaddress.ip_address(self.host).is_loopback

    @property
    def authority(self) -> str:
        """The host and port in an address."""
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def url(self) -> str:
        """The address to open, with the token; whoever has it may use the studio."""
        return f"http://{self.authority}/#token={self.token}"

    @property
    def cookie_name(self) -> str:
        """The cookie's name; cookies are shared between ports, so it names the port."""
        return f"counterbc-studio-{self.port}"

    @property
    def hosts(self) -> frozenset[str]:
        """The values of `Host` that are answered; browsers leave the port 80 out."""
        names = [f"{name}:{self.port}" for name in _LOOPBACK] if self.is_local else []
        hosts = [self.authority, *names]
        bare_hosts = [host.removesuffix(":80") for host in hosts] if self.port == 80 else []
        return frozenset([*hosts, *bare_hosts])

    def exposure(self) -> str | None:
        """Say what an address on a network exposes; None if only this machine can connect."""
        if self.is_local:
            return None
        return (
            f"{self.authority} can be reached from the network: whoever has the link can record, "
            "read every dataset of this study and start trainings, and the connection is not "
            "encrypted, so others on that network can read along. To use it from another machine "
            f"without that, leave --host out and run: ssh -L {self.port}:127.0.0.1:{self.port} HOST"
        )

    def has_token(self, token: str) -> bool:
        """Return whether this is the token of the printed address."""
        return secrets.compare_digest(token.encode(), self.token.encode())

    def set_cookie(self) -> str:
        """Return the header that gives a browser its cookie."""
        return f"{self.cookie_name}={self.cookie}; Path=/; HttpOnly; SameSite=Strict"

    def has_cookie(self, headers: Iterable[str]) -> bool:
        """Return whether one of the `Cookie` headers holds the cookie."""
        for header in headers:
            try:
                morsel = SimpleCookie(header).get(self.cookie_name)
            except CookieError:
                continue
            if morsel and secrets.compare_digest(morsel.value.encode(), self.cookie.encode()):
                return True
        return False

    def policy(self) -> str:
        """Return the content security policy: nothing from elsewhere, nothing inline."""
        hosts = sorted(h for h in self.hosts if "[" not in h)  # which a policy cannot name
        sockets = " ".join(f"ws://{host}" for host in hosts)
        return (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
            f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'"
        )


class GuardedApp:
    """An application behind the checks of `Access`; also adds the security headers."""

    def __init__(self, app: App, access: Access) -> None:
        self.app, self.access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        problem = self.problem(scope)
        if problem is None:
            await self.app(scope, receive, self._with_headers(send))
        elif scope["type"] == "websocket":
            await receive()  # the request to connect, which is answered with 403
            await send({"type": "websocket.close", "code": 1008, "reason": problem})
        else:
            await _refuse(self._with_headers(send), problem)

    def problem(self, scope: Scope) -> str | None:
        """Return why a request is refused, or None."""
        access, is_socket = self.access, scope["type"] == "websocket"
        hosts, origins = _values(scope, b"host"), _values(scope, b"origin")
        if len(hosts) != 1 or hosts[0].lower() not in access.hosts:
            return "this server does not answer to that host name; use the printed address"
        is_reading = not is_socket and scope["method"] in ("GET", "HEAD")
        if origins != [f"http://{hosts[0]}"] and not (is_reading and not origins):
            return "requests from other pages are refused; use the printed address"
        path = scope["path"]
        if not is_socket and (path in OPEN_PATHS or path.startswith(OPEN_FOLDER)):
            return None
        if not access.has_cookie(_values(scope, b"cookie")):
            return "this browser has no access; open the address that `counterbc studio` printed"
        return None

    def _with_headers(self, send: Send) -> Send:
        headers = [
            (b"content-security-policy", self.access.policy().encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-opener-policy", b"same-origin"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cache-control", b"no-store"),
        ]

        async def send_with(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *headers]
            await send(message)

        return send_with


def _values(scope: Scope, name: bytes) -> list[str]:
    """Return the values of a header, which may be repeated."""
    return [value.decode("latin-1") for key, value in scope["headers"] if key.lower() == name]


async def _refuse(send: Send, problem: str) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8")]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": problem.encode()})
