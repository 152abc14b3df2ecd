"""List everything that breaks a rule of the layout, the imports or the language, by room.

    python tests/identities/report.py [ROOM …]

A room is a folder such as `src/training` or `tests/training`; without one, all are listed.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.identities import test_imports, test_language, test_layout
from tests.identities.source_tree import (
    ROOT,
    cycles,
    library_imports,
    library_modules,
)
from tests.identities.vocabulary import bare_identifiers

RULES: dict[str, Callable[[], Iterable[str]]] = {
    "file over 300 lines": test_layout.long_files,
    "function over 60 lines": test_layout.long_functions,
    "call with 7 or more positional arguments": test_layout.long_calls,
    "too many modules at the root": test_layout.modules_at_the_root,
    "module without a test file of its name": test_layout.modules_without_test,
    "test file without a module of its name": test_layout.stray_tests,
    "import against the arrows": lambda: dict.fromkeys(
        test_imports.wrong_directions(library_imports(library_modules()))
    ),
    "private import": test_imports.private_imports_of_reproduction,
    "docstring missing": test_language.missing_docstrings,
    "docstring of a function without a verb": test_language.docstrings_without_verb,
    "puzzling phrase": test_language.puzzling_phrases,
}


def room_of(place: str) -> str:
    """Return the room of a file, such as `src/training` or `tests/training`."""
    parts = PurePosixPath(place.partition(":")[0]).parts
    inside = parts[2:] if parts[:2] == ("src", "counterbc") else parts[1:]
    return f"{parts[0]}/{inside[0]}" if len(inside) > 1 else parts[0]


def bare_share(room: Path) -> str:
    """Return how many identifiers of a room say nothing alone."""
    total, bare, _ = bare_identifiers([room])
    share = 100 * sum(bare.values()) / max(total, 1)
    words = ", ".join(f"{word} {count}" for word, count in bare.most_common(8))
    return f"{share:4.1f} % of {total} identifiers are bare: {words}"


def main() -> None:
    rooms: dict[str, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for rule, offenders in RULES.items():
        for offender in offenders():
            rooms[room_of(offender)].append(f"  [{rule}] {offender}")
            counts[rule] += 1
    chosen_rooms = sys.argv[1:] or sorted(rooms)
    for room in chosen_rooms:
        print(f"\n{room}: {len(rooms[room])}", *rooms[room], sep="\n")
    if not sys.argv[1:]:
        groups = cycles(library_imports(library_modules()))
        print("\nGroups of modules that import each other:", *groups, sep="\n  ")
        for folder in ("src/counterbc", "reproduction", "benchmarks", "attack", "tests"):
            for path in (ROOT / folder, *sorted((ROOT / folder).iterdir())):
                if path.suffix == ".py" or (path.is_dir() and any(path.rglob("*.py"))):
                    print(f"{path.relative_to(ROOT)}: {bare_share(path)}")
        print("\nIn all:", *(f"{n:5d}  {rule}" for rule, n in counts.items()), sep="\n  ")


if __name__ == "__main__":
    main()
