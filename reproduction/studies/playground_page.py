"""The page without a server: policies, worlds and ONNX Runtime Web in one HTML file.

The page shows the policies of the study `playground`. It draws with the studio's own files, needs
no network, and its content security policy allows none.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import counterbc as cb
from counterbc.errors import FormatError, MissingExtra
from counterbc.files import aside
from reproduction.bundle import as_json, as_text, bundle, check_inline, script_hash
from reproduction.npm import Package
from reproduction.options import DOCS, RESULTS, option
from reproduction.paper import PAPER_RADIUS
from reproduction.records import Record, read
from reproduction.studies.playground import policy_path

RUNTIME = Package(
    "onnxruntime-web",
    "1.30.0",
    "sha512-q0y+JrrtukXSzsBWEMccVfqX25LRmosXHF+CaRJmg8pZClzcV7svNc4rKY3jL02Vb7QmRMDs1SigqR4CXAfKYQ==",
)
SCRIPT, WASM = "dist/ort.wasm.bundle.min.mjs", "dist/ort-wasm-simd-threaded.wasm"
"""The build that runs on the CPU alone, half the size of those that also use a GPU."""
SOURCES = DOCS / "playground"
EXPORTS = re.compile(r"export\s*\{([^{}]*)\};?")
CONTENT_POLICY = (
    "default-src 'none'; script-src {scripts} 'wasm-unsafe-eval'; style-src {style}; img-src data:"
)
PAGE_POLICY = "base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, kw_only=True)
class PageOptions:
    """Write the page without a server."""

    results: Path = option(RESULTS, "folder of results, with the study `playground`")
    page: Path = option(Path("build/playground.html"), "file of the page")
    cache: Path = option(Path("build/npm"), "folder of downloaded packages")


def run(options: PageOptions) -> None:
    """Write the page, and print its size."""
    text = make_page(options.results, options.cache)
    options.page.parent.mkdir(parents=True, exist_ok=True)
    with aside(options.page, replace=True) as temporary:
        temporary.write_text(text, encoding="utf-8")
    print(f"{options.page}: {options.page.stat().st_size / 1e6:.1f} MB, open it in a browser")


def make_page(results: Path, cache: Path) -> str:
    """Return the page as one text."""
    studio = Path(str(files("counterbc.studio"))) / "static"
    script, wasm = RUNTIME.read(cache, SCRIPT, WASM)
    licence, notices = licence_texts()
    scripts = {
        "ort": as_global(script.decode()), "script": bundle("playground", [SOURCES, studio])
    }  # fmt: skip
    style = "".join(p.read_text() for p in (studio / "style.css", SOURCES / "playground.css"))
    runtime = {"name": f"ONNX Runtime Web {RUNTIME.version}", "licence": licence}
    hashes = " ".join(script_hash(text) for text in scripts.values())
    policy = f"{CONTENT_POLICY.format(scripts=hashes, style=script_hash(style))}; {PAGE_POLICY}"
    values = {
        "policy": policy,
        "icon": base64.b64encode((studio / "icon.svg").read_bytes()).decode(),
        "style": check_inline(style, "style"),
        "data": as_json({"runtime": runtime, "worlds": world_data(results)}),
        "runtime": as_text(wasm),
        "notices": as_text(notices.encode()),
        **{name: check_inline(text, "script") for name, text in scripts.items()},
    }
    template = (SOURCES / "page.html").read_text(encoding="utf-8")
    return re.sub("@@([a-z]+)@@", lambda match: values[match[1]], template)


def world_data(results: Path) -> Record:
    """Return what the page needs of each world: facts, test starts and policies in base64."""
    worlds: Record = {}
    for name, numbers in read(results / "playground" / "numbers.json").items():
        rows = [
            row | {"onnx": _policy(results, name, row["radius"])} for row in numbers["policies"]
        ]
        radii = [row["radius"] for row in rows]
        fields = ("teacher", "pairs", "episodes", "demonstrated", "steps", "seeds", "lag", "keys")
        worlds[name] = {key: numbers[key] for key in fields} | {
            "rate": cb.WORLDS[name].rate,
            "policies": rows,
            "opening": min(range(len(radii)), key=lambda i: abs(radii[i] - PAPER_RADIUS)),
        }
    return worlds


def _policy(results: Path, world: str, radius: float) -> str:
    path = policy_path(results, world, radius)
    if not path.exists():
        raise FormatError(
            f"{path} does not exist; train it: "
            f"python -m reproduction run playground --out {results}"
        )
    return base64.b64encode(path.read_bytes()).decode()


def as_global(module: str) -> str:
    """Return the module of the runtime as a script that sets the global variable `ort`."""
    exports = EXPORTS.findall(module)
    if len(exports) != 1:
        raise FormatError(f"{SCRIPT} has {len(exports)} lists of exports; expected 1")
    pairs = (item.split(" as ") for item in exports[0].split(","))
    names = ",".join(f"{pair[-1].strip()}:{pair[0].strip()}" for pair in pairs)
    script = EXPORTS.sub(lambda _: f"globalThis.ort={{{names}}};", module)
    return re.sub(r"//# sourceMappingURL=.*", "", script)


def licence_texts() -> tuple[str, str]:
    """Return the licence and the third-party notices of ONNX Runtime.

    The npm package contains neither; the Python package of the same project does.
    """
    try:
        folder: Any = files("onnxruntime")
    except ModuleNotFoundError:
        raise MissingExtra("onnxruntime", "export", "the licence texts of the page") from None
    licence, notices = (
        (folder / name).read_text(encoding="utf-8") for name in ("LICENSE", "ThirdPartyNotices.txt")
    )
    return licence, notices
