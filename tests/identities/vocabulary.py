"""Measure how many identifiers are bare participles or pronouns, which say nothing alone.

    python tests/identities/vocabulary.py [--top 40] [PATH …]

An identifier is counted wherever it is bound: variables, parameters, fields, functions and
classes. `found` and `_said` count as bare; `found_keys` does not.
"""

from __future__ import annotations

import argparse
import ast
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "counterbc"
WORDS = Path(__file__).with_name("bare_words.txt").read_text().splitlines()
BARE = frozenset(w for line in WORDS if not line.startswith("#") for w in line.split())


def identifiers(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield each name with its line wherever it is bound."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr, node.lineno
        elif isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def bare_identifiers(paths: list[Path]) -> tuple[int, Counter[str], list[str]]:
    """Return the number of identifiers, the bare ones with their counts, and where they are."""
    total, bare, places = 0, Counter[str](), []
    for path in sorted(file for p in paths for file in ([p] if p.is_file() else p.rglob("*.py"))):
        for name, line in identifiers(ast.parse(path.read_text(encoding="utf-8"))):
            total += 1
            word = "" if name.startswith("__") else name.strip("_").lower()
            if word in BARE:
                bare[word] += 1
                places.append(f"{path}:{line}: {name}")
    return total, bare, places


def main() -> None:
    parser = argparse.ArgumentParser(description="Share of identifiers that say nothing alone.")
    parser.add_argument("paths", nargs="*", type=Path, default=[SOURCE])
    parser.add_argument("--top", type=int, default=40)
    parser.add_argument("--places", action="store_true", help="list every occurrence")
    options = parser.parse_args()
    total, bare, places = bare_identifiers(options.paths)
    if options.places:
        print("\n".join(places))
    print(", ".join(f"{word} {count}" for word, count in bare.most_common(options.top)))
    print(f"{sum(bare.values())} of {total} identifiers, {100 * sum(bare.values()) / total:.1f} %")


if __name__ == "__main__":
    main()
