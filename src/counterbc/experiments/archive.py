"""The rows of a study as one file instead of hundreds, and back.

    python -m counterbc.experiments.archive pack reproduction/rows results/rows.parquet
    python -m counterbc.experiments.archive unpack results/rows.parquet reproduction/rows

An archive keeps every row. Of what stands beside the rows it leaves out the lists of members and
datasets, whose seeds and hashes the rows have.
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
import pyarrow.parquet as pq

from counterbc.errors import CounterBCError, FormatError
from counterbc.experiments.cell_files import description
from counterbc.files import aside, check_free

NAME = "population"
"""The column that says which file a row is of."""
LEFT_OUT = ("members", "data", "radius_choices")


def pack(folder: Path, path: Path) -> int:
    """Write an archive of the files of a folder; how many they were."""
    check_free(path)
    files = sorted(folder.glob("*.parquet"))
    if not files:
        raise FormatError(f"{folder} holds no rows; give the folder that `reproduce` calls rows")
    about: dict[str, Any] = {}
    tables = []
    for file in files:
        said = description(file)
        config = {k: v for k, v in said["config"].items() if k not in LEFT_OUT}
        about[file.stem] = said | {"config": config}
        table = pq.read_table(file)
        tables.append(table.add_column(0, NAME, pa.array([file.stem] * len(table))))
    whole = pa.concat_tables(tables, promote_options="permissive")
    with aside(path) as temporary:
        said = {"counterbc": json.dumps(about)}
        pq.write_table(whole.replace_schema_metadata(said), temporary, compression="zstd")
    return len(files)


def unpack(path: Path, folder: Path) -> int:
    """Write the files of an archive; how many they are. Those that are there stay as they are."""
    try:
        whole = pq.read_table(path)
        about = json.loads(whole.schema.metadata[b"counterbc"])
    except (OSError, ValueError, TypeError, KeyError) as error:  # pyarrow's too
        raise FormatError(f"{path} is no archive of rows ({type(error).__name__})") from None
    folder.mkdir(parents=True, exist_ok=True)
    for name, said in about.items():
        file = folder / f"{Path(name).name}.parquet"
        if file.exists():
            continue
        rows = whole.filter(pc.equal(whole[NAME], name)).drop_columns([NAME])
        empty = [c for c in rows.column_names if rows[c].null_count == len(rows)]
        # A column that is empty here may be another kind of cell's, or a measure of another world.
        own = rows.drop_columns([c for c in empty if c not in said["population"]])
        with aside(file) as temporary:
            metadata = {"counterbc": json.dumps(said)}
            pq.write_table(own.replace_schema_metadata(metadata), temporary)
    return len(about)


def main(arguments: Sequence[str] | None = None) -> int:
    """0, or 1 for an error that was explained."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("what", choices=["pack", "unpack"])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    given = parser.parse_args(arguments)
    try:
        count = (pack if given.what == "pack" else unpack)(given.source, given.target)
    except CounterBCError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"{count} populations in {given.target}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
