"""The application serves its own files and nothing else."""

from __future__ import annotations

from counterbc.studio.app import STATIC
from tests.studio.clients import LiveServer


def test_every_file_of_the_page_is_served_with_its_type(server: LiveServer) -> None:
    types = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
    for path in STATIC.iterdir():
        if path.suffix in types:
            response, body = server.http("GET", f"/static/{path.name}")
            assert response.headers["content-type"].startswith(types[path.suffix])
            assert body == path.read_bytes()


def test_the_page_uses_nothing_from_elsewhere_and_nothing_inline() -> None:
    for path in STATIC.iterdir():
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text
        assert "innerHTML" not in text
        assert "insertAdjacentHTML" not in text
        assert "document.write" not in text
        if path.suffix == ".html":
            assert "style=" not in text
            assert text.count("<script") == text.count('<script type="module" src=')


def test_the_files_of_the_page_are_short() -> None:
    lengths = {p.name: len(p.read_text().splitlines()) for p in STATIC.iterdir()}
    assert {name: n for name, n in lengths.items() if n > 300} == {}


def test_there_is_no_documentation_of_an_interface_to_probe(server: LiveServer) -> None:
    cookie = f"{server.access.cookie_name}={server.access.cookie}"
    for path in ("/docs", "/openapi.json", "/redoc", "/journal", "/../consent.txt"):
        assert server.http("GET", path, Cookie=cookie)[0].status in (403, 404)


def test_a_page_learns_what_it_needs_in_one_message(server: LiveServer) -> None:
    page = server.page()
    welcome = page.welcome
    assert welcome["consent"] == server.study.consent()
    assert next(w["name"] for w in welcome["worlds"]) == "intersection"
    assert welcome["formats"] == ["robomimic", "lerobot", "minari"]
    assert str(server.study.path) not in str(welcome)  # only its name
    page.close()
