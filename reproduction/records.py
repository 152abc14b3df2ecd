"""Rows of a study in a JSON file, kept as soon as they are computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterbc.errors import FormatError
from counterbc.files import aside
from counterbc.printing import without_nan

if TYPE_CHECKING:
    from counterbc.acting.policies import Policies

Record = dict[str, Any]
ROWS_FILE = "rows.parquet"
UNFINISHED_FILE = "rows.json"
"""The rows of a study that is not finished, beside those that it writes at the end."""


class Records:
    """A list of rows in a file; a stopped study resumes after the last row in it.

    Where there is no rows.json, a study resumes after the rows that it wrote when it finished, so
    that its further cells can be computed from a checkout, which has rows.parquet alone.
    """

    def __init__(self, path: Path, indent: int | None = 1, *, device: str | None = None) -> None:
        self.path, self.indent, self.device = path, indent, device
        self.rows: list[Record] = []
        if path.exists():
            self.rows = read(path)
        elif path.name == UNFINISHED_FILE:
            self.rows = read_rows(path.parent)
        self._texts = [json_row(row, indent) for row in self.rows]

    def has(self, **values: Any) -> bool:
        """Return whether a row has all of these values."""
        return any(values.items() <= row.items() for row in self.rows)

    def add(self, *rows: Record) -> None:
        """Append rows, with the device, kernel and versions of this run, and write the file.

        Rows of a training name its kernel themselves.
        """
        new_rows = [row | computed_with(self.device, row.get("kernel")) for row in rows]
        self.rows += new_rows
        self._texts += [json_row(row, self.indent) for row in new_rows]
        start, between, end = ("[", ", ", "]") if self.indent is None else ("[\n", ",\n", "\n]")
        write_text(start + between.join(self._texts) + end, self.path)


def kernels_of(*trainings: Policies) -> str:
    """Return the kernel of one or several trainings, as a row names it."""
    return " and ".join(dict.fromkeys(policies.run_config.kernel for policies in trainings))


def computed_with(device: str | None = None, kernel: str | None = None) -> Record:
    """Return the device, the kernel and the versions that a row computed now depends on.

    Without the kernel of a training, the row names the setting, which leaves the choice to the
    library. The version of a kernel library is null where that library is not installed.
    """
    from counterbc.acting.device import find_device
    from counterbc.settings import Settings
    from counterbc.training.run import versions

    named = {"kernel_setting": Settings.kernel} if kernel is None else {"kernel": kernel}
    return {"device": find_device(device).type, **named, "versions": versions()}


def read(path: Path) -> Any:
    """Return what a JSON file holds."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FormatError(f"{path} does not exist; compute the numbers of its study") from None
    except ValueError:
        raise FormatError(f"{path} is not JSON; delete it and compute it again") from None


def write_rows(rows: list[Record], folder: Path) -> None:
    """Write the rows of a finished study as rows.parquet; versions become columns.

    A column that some rows lack is null there.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    flat = [{k: v for k, v in r.items() if k != "versions"} | r.get("versions", {}) for r in rows]
    empty = dict.fromkeys(column for row in flat for column in row)
    folder.mkdir(parents=True, exist_ok=True)
    with aside(folder / ROWS_FILE, replace=True) as temporary:
        table = pa.Table.from_pylist([empty | row for row in flat])
        pq.write_table(table, temporary, compression="zstd")


def read_rows(folder: Path) -> list[Record]:
    """Return the rows of a finished study; none where it was not run."""
    path = folder / ROWS_FILE
    return read_parquet(path) if path.exists() else []


def read_parquet(path: Path) -> list[Record]:
    """Return the rows of a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        rows: list[Record] = pq.read_table(path).to_pylist()
    except FileNotFoundError:
        raise FormatError(f"{path} does not exist; give the rows.parquet of a run") from None
    except pa.ArrowInvalid:
        raise FormatError(f"{path} is not Parquet; give the rows.parquet of a run") from None
    return rows


def write(payload: Any, path: Path, indent: int | None = 1) -> Path:
    """Write JSON, with null in the place of numbers that are not finite."""
    return write_text(json_text(payload, indent), path)


def json_text(payload: Any, indent: int | None) -> str:
    """Return JSON, with null in the place of numbers that are not finite."""
    return json.dumps(without_nan(payload), indent=indent, default=float)


def json_row(row: Record, indent: int | None) -> str:
    """Return a row as it stands in the JSON of a list of rows."""
    return json_text([row], indent)[1:-1].strip("\n")


def write_text(text: str, path: Path) -> Path:
    """Write a file and its folder, aside first, so that a stop leaves the old file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with aside(path, replace=True) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")
    return path


def update(path: Path, **sections: Any) -> dict[str, Any]:
    """Replace these sections of a JSON object in a file, keep the others, and return all."""
    whole: Record = (read(path) if path.exists() else {}) | without_nan(sections)
    write(whole, path)
    return whole
