"""Damage to JSON: one place of its tree is replaced, deleted, doubled, renamed or nudged."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from attack.mutators.odd_values import NUMBERS, TEXTS
from attack.mutators.raw_bytes import change_bytes

_DEEP_SHARE, _DIGITS_SHARE, _ROOT_SHARE = 0.04, 0.03, 0.3
_ELEMENTS = 12  # of a list that are candidates for a change


def change(rng: random.Random, path: Path) -> str:
    """Change one to three places of a .json or .jsonl file."""
    try:
        text = path.read_text("utf-8")
        if rng.random() < _DEEP_SHARE:
            path.write_text(_nested(rng), "utf-8")
            return "json:deep"
        if rng.random() < _DIGITS_SHARE:
            path.write_text(text.replace('": 1', '": ' + "1" * 5000, 1), "utf-8")
            return "json:digits"
        times = rng.choice([1, 1, 1, 2, 3])
        if path.suffix == ".jsonl":
            rows: Any = [json.loads(line) for line in text.splitlines() if line]
            for _ in range(times):
                rows = change_tree(rng, rows)
                rows = rows if isinstance(rows, list) else [rows]
            path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
        else:
            value = json.loads(text)
            for _ in range(times):
                value = change_tree(rng, value)
            path.write_text(json.dumps(value), "utf-8")
    except (ValueError, RecursionError, KeyError, IndexError, TypeError):
        return change_bytes(rng, path)
    return "json:tree"


def _nested(rng: random.Random) -> str:
    depth = rng.choice([500, 5000, 200000])
    if rng.random() < 0.5:
        return "[" * depth + "]" * depth
    return '{"a":' * depth + "1" + "}" * depth


def odd_value(rng: random.Random) -> Any:
    """Return any JSON value that a reader may not expect."""
    kind = rng.choice(
        ["number", "number", "text", "text", "null", "bool", "list", "dict", "deep", "numbers"]
    )
    if kind == "number":
        return rng.choice(NUMBERS)
    if kind == "text":
        return rng.choice(TEXTS)
    if kind == "bool":
        return rng.random() < 0.5
    if kind == "list":
        return [odd_value(rng) for _ in range(rng.randint(0, 3))]
    if kind == "dict":
        keys = [*TEXTS[:3], "a", "kind", "type", "shape"]
        return {rng.choice(keys): odd_value(rng) for _ in range(rng.randint(0, 2))}
    if kind == "deep":
        value: list[Any] = []
        for _ in range(rng.choice([5, 30, 300])):
            value = [value]
        return value
    if kind == "numbers":
        return [rng.choice(NUMBERS) for _ in range(rng.randint(1, 4))]
    return None


def change_tree(rng: random.Random, value: Any) -> Any:
    """Return a JSON value with one place changed."""
    places: list[tuple[Any, ...]] = []
    _collect(value, (), places)
    path = rng.choice(places)
    if not path:
        return odd_value(rng) if rng.random() < _ROOT_SHARE else value
    node = value
    for key in path[:-1]:
        node = node[key]
    _change_entry(rng, node, path[-1])
    return value


def _collect(node: Any, path: tuple[Any, ...], places: list[tuple[Any, ...]]) -> None:
    places.append(path)
    if isinstance(node, dict):
        for key in node:
            _collect(node[key], (*path, key), places)
    elif isinstance(node, list):
        for i in range(min(len(node), _ELEMENTS)):
            _collect(node[i], (*path, i), places)


def _change_entry(rng: random.Random, node: Any, key: Any) -> None:
    kind = rng.choice(
        ["replace", "replace", "replace", "delete", "double", "near", "near", "rename"]
    )
    old = node[key]
    if kind == "replace":
        node[key] = odd_value(rng)
    elif kind == "delete":
        del node[key]
    elif kind == "double":
        node[key] = old + old if isinstance(old, list) else [old, old]
    elif kind == "near":
        node[key] = _near(rng, old)
    elif isinstance(node, dict):
        node[rng.choice(["x", "kind", f"{key}2"])] = node.pop(key)


def _near(rng: random.Random, old: Any) -> Any:
    """Return a value that differs a little from another one."""
    if isinstance(old, int | float) and not isinstance(old, bool):
        return rng.choice([old + 1, old - 1, -old, old * 2, str(old), float(old), old + 0.5, [old]])
    if isinstance(old, str) and old[:1] in ("{", "["):
        try:
            return json.dumps(change_tree(rng, json.loads(old)))
        except ValueError:
            return old[:-1]
    if isinstance(old, str):
        return rng.choice([f"{old}x", old.upper(), old[:-1], f"{old}\n", [old]])
    if isinstance(old, list):
        return rng.choice([old[:-1], old[::-1], [*old, odd_value(rng)], {}])
    return old
