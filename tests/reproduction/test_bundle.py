"""Modules that become one script, and data that stand inside a page."""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
from pathlib import Path

import pytest

from counterbc.errors import FormatError
from reproduction.bundle import as_json, as_text, bundle, check_inline, script_hash


def write(folder: Path, **modules: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in modules.items():
        (folder / f"{name}.js").write_text(text, encoding="utf-8")
    return folder


def test_a_module_comes_after_those_it_imports_and_once(tmp_path: Path) -> None:
    page_folder = write(
        tmp_path / "own",
        main='import { a } from "./left.js";\nimport { b } from "./right.js";\na(b);\n',
        left='import { b } from "./right.js";\nexport function a() {}\n',
    )
    studio_folder = write(
        tmp_path / "shared", right="export const b = 1, c = 2;\n", left="never read"
    )
    script = bundle("main", [page_folder, studio_folder])
    places = [script.index(f"const module_{name} = ") for name in ("right", "left", "main")]
    assert places == sorted(places)
    assert script.count("const module_right = ") == 1
    assert "const { b } = module_right;\nfunction a() {}\nreturn { a };" in script
    assert "never read" not in script


def test_an_import_under_another_name_keeps_it(tmp_path: Path) -> None:
    folder = write(tmp_path, main='import { a as b } from "./x.js";\n', x="export class a {}\n")
    assert "const { a: b } = module_x;" in bundle("main", [folder])


@pytest.mark.parametrize(
    "line",
    ["export default 1;\n", 'import x from "./x.js";\n', 'await import("./x.js");\n',
     'import { a } from "elsewhere";\n'],
)  # fmt: skip
def test_what_cannot_be_bundled_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(FormatError, match="cannot be bundled"):
        bundle("main", [write(tmp_path, main=line)])


def test_a_missing_module_and_a_circle_are_named(tmp_path: Path) -> None:
    folder = write(tmp_path, a='import { b } from "./b.js";\n', b='import { a } from "./a.js";\n')
    with pytest.raises(FormatError, match="a → b → a"):
        bundle("a", [folder])
    with pytest.raises(FormatError, match=r"there is no c\.js"):
        bundle("c", [folder])


def test_an_import_that_is_not_exported_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, a='import { c } from "./b.js";\n', b="export const b = 1, c = 2;\n")
    with pytest.raises(FormatError, match=r"a\.js imports c, which b\.js lacks"):
        bundle("a", [folder])


def test_bytes_come_back_from_text() -> None:
    content = bytes(range(256)) * 100
    assert gzip.decompress(base64.b64decode(as_text(content))) == content
    assert as_text(content) == as_text(content)


def test_json_cannot_end_its_element() -> None:
    text = as_json({"name": "</script><b>"})
    assert "<" not in text
    assert json.loads(text) == {"name": "</script><b>"}


def test_a_hash_is_that_of_the_text() -> None:
    digest = base64.b64encode(hashlib.sha256("Δ".encode()).digest()).decode()
    assert script_hash("Δ") == f"'sha256-{digest}'"


def test_a_text_that_would_end_its_element_is_refused() -> None:
    assert check_inline("a < b", "script") == "a < b"
    with pytest.raises(FormatError, match="would end there"):
        check_inline("'</SCRIPT>'", "script")
