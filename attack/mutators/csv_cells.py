"""Damage to CSV files: cells, columns, rows, quotes, line ends and encodings."""

from __future__ import annotations

import random
from pathlib import Path

from attack.mutators.odd_values import NUMBERS

_KINDS = (
    "cell", "cell", "cell", "head", "head", "drop column", "double column", "ragged", "swap rows",
    "quote", "nul", "long", "blank", "digits", "drop row",
)  # fmt: skip
_CELLS = ("", "x", "1,2", "NA", "true", "1e999", "0x10", " 1", "1_000", "\u0661")
_NAMES = ("", "action", "episode", "operator", "reward", "x", "action_0", "é", 'a"b', "episode_id")
_LINE_ENDS = ("\n",) * 8 + ("\r\n", "\r")
_ENCODINGS = ("utf-8",) * 12 + ("utf-16", "utf-8-sig", "latin-1", "utf-32")
_OTHER_DELIMITER_SHARE = 0.08

Rows = list[list[str]]


def change(rng: random.Random, path: Path) -> str:
    """Change one to three places of a CSV file, and sometimes its encoding or delimiter."""
    rows = [line.split(",") for line in path.read_text("utf-8").splitlines()]
    kinds = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        kinds.append(rng.choice(_KINDS))
        row = rng.randrange(len(rows))
        if rows[row]:
            rows = _change_rows(rng, rows, kinds[-1], row) or [[""]]
    text = rng.choice(_LINE_ENDS).join(",".join(row) for row in rows)
    if rng.random() < _OTHER_DELIMITER_SHARE:
        text = text.replace(",", rng.choice([";", "\t", "|"]))
    path.write_bytes(text.encode(rng.choice(_ENCODINGS), errors="replace"))
    return "csv:" + "+".join(kinds)


def _change_rows(rng: random.Random, rows: Rows, kind: str, row: int) -> Rows:
    column = rng.randrange(len(rows[row]))
    if kind == "drop column":
        return [cells[:column] + cells[column + 1 :] for cells in rows]
    if kind == "double column":
        return [cells + cells[column : column + 1] for cells in rows]
    if kind == "drop row":
        return rows[:row] + rows[row + 1 :]
    if kind == "blank":
        return [*rows[:row], [], *rows[row:]]
    if kind == "swap rows":
        target = rng.randrange(len(rows))
        rows[row], rows[target] = rows[target], rows[row]
    elif kind == "head" and rows[0]:
        rows[0][min(column, len(rows[0]) - 1)] = rng.choice([*_NAMES, rows[0][0]])
    elif kind == "ragged":
        rows[row] = rows[row][:column] if rng.random() < 0.5 else [*rows[row], "1"]
    elif kind == "digits":
        rows[row][0] = "1" * rng.choice([18, 19, 25, 5000])
    else:
        rows[row][column] = _cell(rng, kind, rows[row][column])
    return rows


def _cell(rng: random.Random, kind: str, old: str) -> str:
    if kind == "quote":
        return '"' + old + rng.choice(['"', "", '\n"', '""'])
    if kind == "nul":
        return "\0"
    if kind == "long":
        return "9" * rng.choice([400, 5000, 200000])
    return str(rng.choice([*NUMBERS, *_CELLS]))
