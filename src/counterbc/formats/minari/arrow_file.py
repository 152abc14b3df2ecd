"""Arrow files, whose compressed columns are measured before they are decompressed.

An Arrow file is a mark, a stream of messages, and a footer. Only the stream is read: a footer could
name the same batch many times. Every compressed buffer begins with its size before compression.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import unpack_from
from typing import Any

import pyarrow as pa

from counterbc.errors import FormatError
from counterbc.files import Guard, check_regular
from counterbc.formats.guard import check_content
from counterbc.formats.untrusted import check_size

_MARK = b"ARROW1\0\0"
_RECORD_BATCH, _DICTIONARY_BATCH = 3, 2  # kinds of messages
_HEADER_TYPE, _HEADER = 1, 2  # fields of a message
_DATA = 1  # field of a dictionary batch: its record batch
_BUFFERS, _COMPRESSION = 2, 3  # fields of a record batch
_PREFIX = 8  # bytes of the size before compression
_PLAIN = -1  # the "size" of a buffer that is stored as it is


def read_table(path: Path) -> pa.Table:
    """Read a file; refuse one that would take far more memory than it stores."""
    with Guard(path):
        check_regular(path)
        check_content(path)
        content = pa.py_buffer(path.read_bytes())
        if content[: len(_MARK)].to_pybytes() != _MARK:
            raise ValueError("it does not begin with the mark of Arrow files")
        batch_count = pa.ipc.open_file(pa.BufferReader(content)).num_record_batches
        stream = content.slice(len(_MARK))
        size = 0
        for message in pa.ipc.MessageReader.open_stream(pa.BufferReader(stream)):
            size += _size(message)
            check_size(str(path), size, content.size)
        batches = list(pa.ipc.open_stream(pa.BufferReader(stream)))
        if len(batches) != batch_count:
            raise ValueError(f"it has {len(batches)} batches, but its footer lists {batch_count}")
        if not batches:
            raise ValueError("it has no rows")
        table = pa.Table.from_batches(batches)
        table.validate(full=True)  # Arrow trusts the file otherwise
    if len(set(table.column_names)) < len(table.column_names):
        raise FormatError(f"{path} has two columns of the same name; rename or remove one")
    return table


def _size(message: pa.ipc.Message) -> int:
    """Return the bytes that a message takes in memory."""
    metadata, body = message.metadata, message.body
    if body is None:
        return 0
    root = unpack_from("<I", metadata, 0)[0]
    kind_place, header = _field(metadata, root, _HEADER_TYPE), _table(metadata, root, _HEADER)
    kind = metadata[kind_place] if kind_place else 0
    if kind == _DICTIONARY_BATCH:
        header = _table(metadata, header, _DATA)
    elif kind != _RECORD_BATCH:
        return int(body.size)
    if not _field(metadata, header, _COMPRESSION):
        return int(body.size)
    return sum(_buffer_size(body, *place) for place in _buffers(metadata, header))


def _buffer_size(body: pa.Buffer, offset: int, length: int) -> int:
    if length < _PREFIX or offset < 0 or offset + length > body.size:
        return 0  # empty, or Arrow reports it
    size: int = unpack_from("<q", body, offset)[0]
    return length if size == _PLAIN else max(size, 0)


def _buffers(metadata: Any, batch: int) -> Iterator[tuple[int, int]]:
    """Yield offset and length of every buffer of a record batch."""
    if not _field(metadata, batch, _BUFFERS):
        return
    start = _table(metadata, batch, _BUFFERS)
    for i in range(unpack_from("<I", metadata, start)[0]):
        yield unpack_from("<qq", metadata, start + 4 + 16 * i)


def _field(metadata: Any, table: int, number: int) -> int:
    """Return where a field of a flatbuffers table is stored, or 0 if it is absent."""
    fields = table - int(unpack_from("<i", metadata, table)[0])
    if 4 + 2 * number >= unpack_from("<H", metadata, fields)[0]:
        return 0
    offset = int(unpack_from("<H", metadata, fields + 4 + 2 * number)[0])
    return table + offset if offset else 0


def _table(metadata: Any, table: int, number: int) -> int:
    """Return where the table or list that a field refers to is stored."""
    place = _field(metadata, table, number)
    if not place:
        raise ValueError("a message lacks its content")
    return place + int(unpack_from("<I", metadata, place)[0])
