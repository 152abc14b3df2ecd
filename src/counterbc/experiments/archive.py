"""Pack the rows of a study, one file per cell, into a single archive file, and unpack them.

    python -m counterbc.experiments.archive pack study/cells results/study/rows.parquet
    python -m counterbc.experiments.archive unpack results/study/rows.parquet study/cells

An archive keeps every row. It drops the lists of members and datasets from the configuration,
because the rows have their seeds and hashes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from counterbc.errors import CounterBCError, FormatError
from counterbc.experiments.cell_files import description, renamed_keys
from counterbc.files import aside, check_free, make_folder
from counterbc.formats import parquet

NAME_COLUMN = "cell"
"""The column with the name of a row's file; `population` in archives of version 0.1."""
DROPPED_KEYS = ("members", "data", "radius_choices", "choices")


def pack(folder: Path, path: Path) -> int:
    """Write an archive of the files in a folder and return their number."""
    check_free(path)
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise FormatError(f"{folder} holds no rows; give the folder with the files of the cells")
    about: dict[str, Any] = {}
    tables = []
    for file in files:
        contents = description(file)
        config = {k: v for k, v in contents["config"].items() if k not in DROPPED_KEYS}
        about[file.stem] = contents | {"config": config}
        table = parquet.read(file)
        tables.append(table.add_column(0, NAME_COLUMN, pa.array([file.stem] * len(table))))
    archive = pa.concat_tables(tables, promote_options="permissive")
    with aside(path) as temporary:
        metadata = {"counterbc": json.dumps(about)}
        parquet.write(archive.replace_schema_metadata(metadata), temporary, compression="zstd")
    return len(files)


def unpack(path: Path, folder: Path) -> int:
    """Write the files of an archive and return their number; existing files are not changed."""
    try:
        archive = parquet.read(path)
        about = json.loads(archive.schema.metadata[b"counterbc"])
        (column,) = {NAME_COLUMN, "population"} & set(archive.column_names)
    except (OSError, ValueError, TypeError, KeyError) as error:  # pyarrow's too
        raise FormatError(f"{path} is not an archive of rows ({type(error).__name__})") from None
    make_folder(folder)
    for name, contents in ((name, renamed_keys(c)) for name, c in about.items()):
        file = folder / f"{Path(name).name}.parquet"
        if file.exists():
            continue
        rows = archive.filter(pc.equal(archive[column], name)).drop_columns([column])
        empty = [c for c in rows.column_names if rows[c].null_count == len(rows)]
        # An empty column can belong to another kind of cell, or to another world.
        rows = rows.drop_columns([c for c in empty if c not in contents["cell"]])
        with aside(file, replace=True) as temporary:
            metadata = {"counterbc": json.dumps(contents)}
            parquet.write(rows.replace_schema_metadata(metadata), temporary)
    return len(about)


def main(arguments: Sequence[str] | None = None) -> int:
    """Pack or unpack, and return the exit status: 0, or 1 for an error with an explanation."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=["pack", "unpack"])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    options = parser.parse_args(arguments)
    try:
        count = (pack if options.action == "pack" else unpack)(options.source, options.target)
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{count} cells in {options.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
