"""Web pages in one file: JavaScript modules and data that need no server and no network.

Browsers refuse to import or fetch files beside a page that was opened from a disk. So modules
become one script, and binary data become text inside the page.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterbc.errors import FormatError

IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.M)


def bundle(entry: str, folders: Sequence[Path]) -> str:
    """Return one script that runs a module and those that it imports, each of them once.

    A module `name.js` is looked for in the folders in order. It becomes a function that returns its
    exports, so that names of modules stay apart. Only `import { a } from "./name.js"` and exported
    declarations are understood; anything else is refused.
    """
    modules: dict[str, _Module] = {}
    _add(entry, folders, modules, ())
    return "".join(module.script for module in modules.values())


@dataclass(frozen=True)
class _Module:
    """A module as a script that defines one variable, and the names that it exports."""

    script: str
    exports: tuple[str, ...]


def _add(
    name: str, folders: Sequence[Path], modules: dict[str, _Module], path: tuple[str, ...]
) -> None:
    """Add a module after those that it imports."""
    if name in path:
        raise FormatError(f"JavaScript modules import each other: {' → '.join((*path, name))}")
    if name in modules:
        return
    text = _read(f"{name}.js", folders)
    for names, source in IMPORT.findall(text):
        _add(source, folders, modules, (*path, name))
        for item in names.split(","):
            if item.split()[0] not in modules[source].exports:
                raise FormatError(f"{name}.js imports {item.strip()}, which {source}.js lacks")
    exports = tuple(EXPORT.findall(text))
    body = EXPORT.sub("", IMPORT.sub(_destructure, text))
    if strange := re.search(r"^(?:import|export)\b.*|^.*\bimport\(.*", body, re.M):
        raise FormatError(f"{name}.js has a line that cannot be bundled: {strange[0]}")
    result = f"return {{ {', '.join(exports)} }};"
    script = f"const {_variable(name)} = (() => {{\n{body}{result}\n}})();\n"
    modules[name] = _Module(script, exports)


def _read(name: str, folders: Sequence[Path]) -> str:
    for folder in folders:
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise FormatError(f"there is no {name} in {', '.join(map(str, folders))}")


def _destructure(match: re.Match[str]) -> str:
    """Return the assignment that stands for an import."""
    return f"const {{{match[1].replace(' as ', ': ')}}} = {_variable(match[2])};\n"


def _variable(name: str) -> str:
    return f"module_{name.replace('-', '_')}"


def as_text(content: bytes) -> str:
    """Return compressed bytes in base64; a page reads them with `DecompressionStream`."""
    return base64.b64encode(gzip.compress(content, mtime=0)).decode()


def as_json(payload: Any) -> str:
    """Return JSON that may stand inside a script element."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")


def script_hash(text: str) -> str:
    """Return the source expression with which a content security policy allows an inline text."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def check_inline(text: str, element: str) -> str:
    """Return a text that stands inside an element, or raise an error if it would end it."""
    if f"</{element}" in text.lower() or "<!--" in text:
        raise FormatError(
            f"a text for <{element}> contains </{element} or <!--; it would end there"
        )
    return text
