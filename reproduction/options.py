"""Command-line options made from the fields of a dataclass, with argparse alone.

Rows are also computed on machines that have torch and little else, so tyro is not used here.
"""

from __future__ import annotations

import argparse
import types
from collections.abc import Sequence
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

RESULTS = Path(__file__).parent / "results"
"""The numbers, figures and rows that belong to the repository."""
DOCS = RESULTS.parents[1] / "docs"
OUT = Path("runs/reproduction")

USUAL_HELP = {
    "cases": "cases to compute",
    "device": "cpu or cuda; by default cuda if there is a GPU",
    "episodes": "episodes to evaluate each policy or teacher in",
    "network": "the library's default layers, or two wide ones of 256 units",
    "pairs": "pairs of each dataset",
    "seeds": "number of runs, each with its own seed",
    "steps": "gradient steps of each training",
    "teachers": "teachers to record demonstrations of",
    "tracks": "number of tracks to drive on",
    "workers": "cells at a time; by default one per core, 12 on a GPU",
    "worlds": "worlds to compute",
}
"""Help texts of options that mean the same in several studies."""

T = TypeVar("T")


def option(default: Any, help: str, flag: str | None = None) -> Any:
    """Return a dataclass field with a help text, and a flag where it is not the field's name."""
    return field(default=default, metadata={"help": help, "flag": flag})


@dataclass(frozen=True, kw_only=True)
class StudyOptions:
    """Options that every study has."""

    out: Path = option(OUT, "folder of results; finished rows in it are kept")

    def numbers(self, study: str) -> Path:
        """Return the path of the numbers of a study."""
        return self.out / study / "numbers.json"


def parse(kind: type[T], arguments: Sequence[str], name: str) -> T:
    """Return the options of this dataclass that the arguments give."""
    summary = (kind.__doc__ or "").splitlines()[0]
    parser = argparse.ArgumentParser(prog=f"python -m reproduction {name}", description=summary)
    hints = get_type_hints(kind)
    for f in fields(kind):  # type: ignore[arg-type]  # every kind is a dataclass
        text, flag = help_text(f), f.metadata.get("flag")
        default = "" if f.default in (None, (), False) else f" (default: {_text(f.default)})"
        parser.add_argument(
            flag or f"--{f.name.replace('_', '-')}", dest=f.name, default=f.default,
            help=f"{text}{default}".replace("%", "%%").strip(), **_kind(hints[f.name]),
        )  # fmt: skip
    namespace = parser.parse_args(arguments)
    return kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in vars(namespace).items()})


def help_text(field: Field[Any]) -> str:
    """Return the help text of an option: the field's, or the usual one of its name."""
    text: str = field.metadata.get("help") or USUAL_HELP.get(field.name, "")
    preset = field.name == "steps" and field.default is None and "help" not in field.metadata
    return f"{text}; by default the preset's" if preset else text


def _text(default: Any) -> str:
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)


def _kind(hint: Any) -> dict[str, Any]:
    """Return how argparse reads a value of this type; a list may be given at once or in turns."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (h for h in get_args(hint) if h is not types.NoneType)
    if get_origin(hint) is tuple:
        return {"action": _Append, "nargs": "*", "type": get_args(hint)[0]}
    if get_origin(hint) is Literal:
        return {"choices": get_args(hint)}
    return {"action": "store_true"} if hint is bool else {"type": hint}


class _Append(argparse.Action):
    """Add values to those of earlier uses of the same flag; the first use replaces the default."""

    def __call__(self, parser: Any, namespace: Any, values: Any, flag: Any = None) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, [*(before if isinstance(before, list) else ()), *values])
