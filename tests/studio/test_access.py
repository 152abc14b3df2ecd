"""Only the printed address opens the studio: token, cookie, Host, Origin and headers."""

from __future__ import annotations

import json

import pytest
from websockets.exceptions import InvalidStatus

from counterbc.errors import OptionError
from counterbc.studio.access import Access, GuardedApp
from tests.studio.clients import LiveServer, login, open_socket


def refusal_status(server: LiveServer, **headers: str | None) -> int:
    """Return the status with which a websocket is refused."""
    with pytest.raises(InvalidStatus) as error:
        open_socket(server.access, **headers)
    return error.value.response.status_code


def test_the_token_is_in_the_fragment_and_nowhere_else() -> None:
    access = Access("127.0.0.1", 80)
    assert access.url == f"http://127.0.0.1:80/#token={access.token}"
    assert len(access.token) >= 43  # 256 bits
    assert access.token not in repr(access)
    assert access.cookie not in repr(access)
    assert Access("127.0.0.1", 80).token != access.token


def test_the_token_is_exchanged_for_a_cookie_that_other_sites_cannot_use(
    server: LiveServer,
) -> None:
    origin = f"http://{server.access.authority}"
    body = json.dumps({"token": server.access.token})
    response, _ = server.http("POST", "/login", body, Origin=origin)
    assert response.status == 204
    value, *flags = response.headers["set-cookie"].split("; ")
    assert value == f"{server.access.cookie_name}={server.access.cookie}"
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} == set(flags)
    assert login(server.access) == value


@pytest.mark.parametrize("token", ["", "x" * 43, 5, None, ["a"]])
def test_a_wrong_token_gets_no_cookie(server: LiveServer, token: object) -> None:
    origin = f"http://{server.access.authority}"
    response, _ = server.http("POST", "/login", json.dumps({"token": token}), Origin=origin)
    assert response.status == 403
    assert "set-cookie" not in response.headers


@pytest.mark.parametrize("body", ["", "[]", "{}", "nonsense", "3"])
def test_a_login_without_a_token_is_refused(server: LiveServer, body: str) -> None:
    origin = f"http://{server.access.authority}"
    assert server.http("POST", "/login", body, Origin=origin)[0].status == 400


def test_a_long_login_is_refused(server: LiveServer) -> None:
    origin = f"http://{server.access.authority}"
    body = json.dumps({"token": "x" * 10_000})
    assert server.http("POST", "/login", body, Origin=origin)[0].status == 413


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "0.0.0.0", ""])
def test_other_host_names_are_refused_against_dns_rebinding(server: LiveServer, host: str) -> None:
    for path in ("/", "/static/main.js", "/socket"):
        assert server.http("GET", path, Host=host)[0].status == 403
    assert refusal_status(server, Host=host) == 403


def test_the_page_itself_needs_no_cookie_and_its_code_is_plain_files(server: LiveServer) -> None:
    for path in ("/", "/static/main.js", "/static/style.css"):
        response, body = server.http("GET", path)
        assert response.status == 200
        assert body
    assert server.http("GET", "/anything")[0].status == 403


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/x.py",
        "/static/index.html",
    ],
)
def test_static_files_do_not_lead_outside(server: LiveServer, path: str) -> None:
    assert server.http("GET", path)[0].status in (403, 404)


def test_a_socket_needs_the_cookie_and_the_origin_of_the_page(server: LiveServer) -> None:
    access = server.access
    open_socket(access).close()
    assert refusal_status(server, Cookie=None) == 403
    assert refusal_status(server, Cookie=f"{access.cookie_name}=wrong") == 403
    assert refusal_status(server, Cookie=";=;a") == 403
    assert refusal_status(server, Origin=None) == 403
    assert refusal_status(server, Origin="http://evil.example") == 403
    assert refusal_status(server, Origin="null") == 403
    assert refusal_status(server, Origin=f"https://{access.authority}") == 403


def test_requests_of_other_pages_are_refused(server: LiveServer) -> None:
    body = json.dumps({"token": server.access.token})
    assert server.http("POST", "/login", body)[0].status == 403
    assert server.http("POST", "/login", body, Origin="http://evil.example")[0].status == 403
    assert server.http("GET", "/", Origin="http://evil.example")[0].status == 403


def test_every_answer_carries_a_strict_policy(server: LiveServer) -> None:
    hosts = [f"{name}:{server.access.port}" for name in ("127.0.0.1", "localhost")]
    for path in ("/", "/static/main.js", "/nothing"):
        headers = server.http("GET", path)[0].headers
        policy = dict(rule.split(" ", 1) for rule in headers["content-security-policy"].split("; "))
        assert policy == {
            "default-src": "'none'", "script-src": "'self'", "style-src": "'self'",
            "img-src": "'self'", "connect-src": " ".join(["'self'", *(f"ws://{h}" for h in hosts)]),
            "base-uri": "'none'", "form-action": "'none'", "frame-ancestors": "'none'",
        }  # fmt: skip
        expected = {
            "x-content-type-options": "nosniff", "cache-control": "no-store",
            "referrer-policy": "no-referrer", "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
        }  # fmt: skip
        assert {name: headers[name] for name in expected} == expected


def test_studios_on_two_ports_do_not_take_each_others_cookies() -> None:
    first, second = Access("127.0.0.1", 8000), Access("127.0.0.1", 8001)
    cookies = [access.set_cookie().partition(";")[0] for access in (first, second)]
    assert len({cookie.partition("=")[0] for cookie in cookies}) == 2  # browsers keep both
    assert first.has_cookie(["; ".join(cookies)])
    assert second.has_cookie(["; ".join(cookies)])


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.com", "", "127.0.0.1.evil"])
def test_a_host_that_is_not_one_address_is_refused(host: str) -> None:
    with pytest.raises(OptionError, match="host is"):
        Access(host, 80)


def test_a_network_address_says_what_it_exposes() -> None:
    assert Access("127.0.0.1", 80).exposure() is None
    assert Access("::1", 80).exposure() is None
    text = Access("192.168.1.7", 8000).exposure()
    assert text is not None
    for words in ("from the network", "not encrypted", "ssh -L 8000:127.0.0.1:8000"):
        assert words in text
    assert Access("192.168.1.7", 8000).hosts == {"192.168.1.7:8000"}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_on_port_80_browsers_may_leave_the_port_out(host: str) -> None:
    def problem(port: int, origin: str) -> str | None:
        access = Access("127.0.0.1", port)
        headers = {"host": host, "origin": origin}
        scope = {
            "type": "http", "method": "POST", "path": "/login",
            "headers": [(k.encode(), v.encode()) for k, v in headers.items()],
        }  # fmt: skip
        return GuardedApp(None, access).problem(scope)  # type: ignore[arg-type]  # not called

    assert problem(80, f"http://{host}") is None
    assert problem(8000, f"http://{host}") is not None
    assert problem(80, "http://evil.example") is not None
