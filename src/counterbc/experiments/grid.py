"""A grid of methods × data × settings, read from a TOML or JSON file, as cells of a study."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from types import NoneType
from typing import Any, get_args, get_origin, get_type_hints

from counterbc.acting.act import ACTS
from counterbc.data.names import shorten
from counterbc.demonstrators import DEFAULT_TEACHER
from counterbc.errors import FormatError, OptionError, unknown
from counterbc.experiments.cell import Cell
from counterbc.experiments.file_cell import FileCell
from counterbc.experiments.file_data import Subset
from counterbc.experiments.held_out_cell import HeldOutCell
from counterbc.experiments.simulated_cell import SimulatedCell
from counterbc.experiments.text import join_value
from counterbc.methods import find_method
from counterbc.settings import Settings, settings_for
from counterbc.supports import Demonstrated

FILE_KEYS: dict[str, Any] = {
    "file": str, "name": str | None, "env": str, "obs": tuple[str, ...],
    "action": tuple[str, ...],
    **get_type_hints(Subset), "cleaned": bool,
}  # fmt: skip
"""The types of the keys of a file; those with None may be null in JSON, as if they were absent."""
SIMULATED_KEYS: dict[str, Any] = {
    "world": str, "name": str, "teacher": str, "noise": str, "sigma": float, "pairs": int,
    "pool": int,
}  # fmt: skip
LIST_KEYS = tuple(key for key, hint in FILE_KEYS.items() if get_origin(hint) is tuple)
"""Keys whose value is a list, which therefore does not make an axis."""
KIND_TEXTS: dict[Any, str] = {
    list: "a list",
    Mapping: "a table",
    int: "a whole number",
    float: "a number",
    str: "text",
    bool: "true or false",
}


@dataclass(frozen=True)
class Entry:
    """A cell with its place in the grid."""

    cell: Cell
    data: str
    settings: str
    """Settings that all methods of a comparison share and that vary within the grid."""
    method: str
    radius: str
    measure: str
    """The column of the rows that is compared."""


@dataclass(frozen=True, kw_only=True)
class Grid:
    """Methods × data × settings; a list in `settings` or `data` is an axis."""

    methods: Sequence[str]
    data: Sequence[Mapping[str, Any]]
    """One table per dataset: `file` or `world`, and the options of `Subset` or of a teacher."""
    settings: Mapping[str, Any]
    """Fields of `Settings` that differ from the preset's."""
    seeds: int = 5
    episodes: int = 50
    """Test starts of each seed, where there is an environment."""
    acts: Sequence[str] = ("mean",)
    preset: str = "default"
    test_share: float = 0.2
    """Share of the episodes that each seed holds out, where there is no environment."""
    folder: Path = Path()
    """Files are relative to this folder."""

    def __post_init__(self) -> None:
        """Refuse names that do not exist."""
        for method in self.methods:
            find_method(method)
        for name in self.settings:
            if name not in (names := [f.name for f in fields(Settings)]):
                raise unknown("setting in the grid", name, names)
        for act in self.acts:
            if act not in ACTS:
                raise unknown("way of acting", act, ACTS)
        for table in self.data:
            _check_data(table)

    def entries(self) -> list[Entry]:
        """Return all cells, dataset by dataset; equal ones once."""
        entries = [
            entry
            for table in self.data
            for data in _axes(table, lists=LIST_KEYS)
            for settings in _axes(self.settings, lists=_tuple_settings())
            for method in self.methods
            for entry in [self._entry(data, settings, method)]
        ]
        return list({entry.cell.name: entry for entry in entries}.values())

    def _entry(self, data: dict[str, Any], settings: dict[str, Any], method: str) -> Entry:
        changes = {name: _as_tuple(value) for name, value in settings.items()}
        radius = changes.pop("radius", settings_for(self.preset).radius)
        if isinstance(find_method(method)[1].support, Demonstrated):
            radius = None
        varying = [n for n, v in self.settings.items() if n != "radius" and _is_axis(n, v)]
        options: dict[str, Any] = {
            "method": method, "radius": radius, "seeds": self.seeds, "preset": self.preset,
            "steps": changes.pop("steps", None), "changes": changes,
        }  # fmt: skip
        cell, measure = self._cell(data, options)
        return Entry(
            cell=cell,
            data=data.get("name") or _label(data),
            settings=", ".join(f"{n} {join_value(settings[n])}" for n in varying),
            method=method,
            radius=join_value(radius),
            measure=measure,
        )

    def _cell(self, data: dict[str, Any], options: dict[str, Any]) -> tuple[Cell, str]:
        """Return the cell of one dataset and the name of its measure."""
        tests: dict[str, Any] = {"episodes": self.episodes, "acts": tuple(self.acts)}
        if "world" in data:
            teacher, sigma = _teacher(data)
            simulated = SimulatedCell(
                world=data["world"], teacher=teacher, sigma=sigma, pairs=data["pairs"],
                pool=data.get("pool", 0), **tests, **options,
            )  # fmt: skip
            return simulated, simulated.performance
        names = [f.name for f in fields(Subset) if f.name in data]
        subset = Subset(**{name: _as_tuple(data[name]) for name in names})
        file = self.folder / data["file"]
        options |= {name: tuple(data.get(name, ())) for name in ("obs", "action")}
        options |= {"file": file, "subset": subset, "cleaned": data.get("cleaned", False)}
        cell = (
            FileCell(world=data["env"], **tests, **options)
            if "env" in data
            else HeldOutCell(world=None, test_share=self.test_share, **options)
        )
        return cell, cell.performance


def _grid_keys() -> dict[str, Any]:
    """Return the kind of each key of a grid file."""
    hints = {f.name: get_type_hints(Grid)[f.name] for f in fields(Grid) if f.name != "folder"}
    origins = {name: get_origin(hint) or hint for name, hint in hints.items()}
    return {name: list if origin is Sequence else origin for name, origin in origins.items()}


def read_grid(path: Path) -> Grid:
    """Return the grid in a TOML or JSON file; refuse unknown keys and wrong kinds of values."""
    try:
        text = path.read_text(encoding="utf-8")
        table = json.loads(text) if path.suffix.lower() == ".json" else tomllib.loads(text)
    except OSError as error:
        raise FormatError(f"{path} cannot be read ({error.strerror}); give a grid file") from None
    except ValueError as error:  # of both parsers, and of text that is not UTF-8
        raise FormatError(
            f"{path} is not valid {'JSON' if path.suffix.lower() == '.json' else 'TOML'}: {error}"
        ) from None
    if not isinstance(table, dict):
        raise FormatError(f"{path} holds {type(table).__name__}; a grid is a table of keys")
    keys = _grid_keys()
    for key, value in table.items():
        if key not in keys:
            raise unknown("key in the grid", key, keys)
        _check_kind(key, value, keys[key])
        for item in value if key in ("methods", "acts") else ():
            _check_kind(f"one of the {key}", item, str)
    for key in ("methods", "data"):
        if not table.get(key):
            raise OptionError(f"{path} has no {key}; a grid needs at least one")
    return Grid(**{"settings": {}} | table, folder=path.parent)


def _check_kind(key: str, value: Any, kind: Any) -> None:
    kinds = {float: (int, float), list: (list, tuple)}
    good = isinstance(value, kinds.get(kind, kind))
    if not good or (isinstance(value, bool) and kind is not bool):
        raise OptionError(f"{key} is {value!r} in the grid; it must be {KIND_TEXTS[kind]}")


def _check_data(table: Any) -> None:
    """Refuse a dataset with keys that do not exist or do not belong together."""
    if not isinstance(table, Mapping) or ("file" in table) == ("world" in table):
        raise OptionError(f"data is {table!r} in the grid; each dataset needs a file or a world")
    keys = FILE_KEYS if "file" in table else SIMULATED_KEYS
    for key in table:
        if key not in keys:
            raise unknown(f"key of a {next(iter(keys))} in the grid", key, keys)
        _check_data_kind(key, table[key], keys[key])
    if "world" in table and "pairs" not in table:
        raise OptionError(f"data of the world {table['world']!r} has no pairs; give their number")


def _check_data_kind(key: str, value: Any, hint: Any) -> None:
    """Refuse a value, or one of an axis, that is not of the type of its key."""
    kind, *others = get_args(hint) or (hint,)
    for choice in value if _is_axis(key, value, LIST_KEYS) else [value]:
        if choice is None and NoneType in others:
            continue
        if key in LIST_KEYS:
            _check_kind(key, choice, list)
        for item in choice if key in LIST_KEYS else [choice]:
            _check_kind(key, item, kind)


def _teacher(data: Mapping[str, Any]) -> tuple[str, float | None]:
    """Return the name of a teacher or noise, and the strength of a noise."""
    if "teacher" not in data:
        return data.get("noise", DEFAULT_TEACHER.name), float(
            data.get("sigma", DEFAULT_TEACHER.sigma)
        )
    if "noise" in data or "sigma" in data:
        raise OptionError(f"data has the teacher {data['teacher']!r} and a noise; give one of them")
    return data["teacher"], None


def _label(data: Mapping[str, Any]) -> str:
    """Return a short title of a dataset for tables and figures."""
    if "world" in data:
        teacher, sigma = _teacher(data)
        noise = teacher if sigma is None else f"{teacher} {sigma:g}"
        return f"{data['world']}, {noise}, {data['pairs']} pairs"
    words = [Path(data["file"]).stem, data.get("mask", ""), "+".join(data.get("operators", ()))]
    words += ["successful" if data.get("success") else ""]
    words += [f"without {shorten(data['exclude'])}" if data.get("exclude") else ""]
    words += [f"{100 * data['share']:g} %" if "share" in data else ""]
    words += [f"{data['pairs']} pairs" if "pairs" in data else ""]
    words += ["cleaned" if data.get("cleaned") else ""]
    return ", ".join(word for word in words if word)


def _tuple_settings() -> list[str]:
    """Return the settings whose value is a list of numbers, such as `hidden`."""
    return [f.name for f in fields(Settings) if str(f.type).startswith("tuple")]


def _is_axis(name: str, value: Any, lists: Sequence[str] | None = None) -> bool:
    """Return whether a list holds several values, rather than being one value."""
    if name in (_tuple_settings() if lists is None else lists):
        return isinstance(value, list) and any(isinstance(v, list) for v in value)
    return isinstance(value, list)


def _axes(table: Mapping[str, Any], lists: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield one table for every combination of the values of its axes."""
    choices = [v if _is_axis(k, v, lists) else [v] for k, v in table.items()]
    for values in product(*choices):
        yield dict(zip(table, values, strict=True))


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
