"""Products of small matrices in one thread, with what comes before and after them.

    C[i, j] = end(start[j] + Σ_k A[i, k] B[k, j])

Matrices are parts of flat arrays. A is read with any strides, so that it may be transposed; rows of
B and C are contiguous. BLAS computes such products as fast, but not bias and ReLU with them, and
larger ones with threads of its own. Importing this module needs numba.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir
from numba import njit

from counterbc.kernels.numba_vector import (
    FAST,
    FLAGS,
    FLOATS,
    HAS_512_BITS,
    INTS,
    LANES,
    LONG,
    Code,
    address,
    constant,
    data_of,
    first_lanes,
    intrinsic,
    read,
    spread,
    types,
    write,
)

_VECTORS = 4 if HAS_512_BITS else 2  # columns of a tile; with 4 rows they fit the registers
_ROWS, _NARROW_ROWS = 4, 8


class Matrix(NamedTuple):
    """A part of a flat array: element (i, k) is at `begin + i · row + k · column`."""

    data: Any
    begin: int
    row: int
    column: int = 1


@intrinsic
def turn_square(
    typing: Any, a: Any, at: Any, row: Any, out: Any, at_out: Any, row_out: Any
) -> tuple[Any, Code]:
    """Write the transpose of a square with as many rows as a vector has lanes."""

    def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        source, target = (data_of(context, builder, sign.args[i], args[i]) for i in (0, 3))

        def place(data: ir.Value, begin: ir.Value, stride: ir.Value, i: int) -> ir.Value:
            offset = builder.mul(stride, ir.Constant(LONG, i))
            return address(builder, data, builder.add(begin, offset))

        rows = [read(builder, place(source, args[1], args[2], i), None) for i in range(LANES)]
        size = 1
        while size < LANES:  # swap blocks of this size across the diagonal
            for i in (i for i in range(LANES) if not i & size):
                low, high = rows[i], rows[i | size]
                lanes = [j if not j & size else LANES + j - size for j in range(LANES)]
                mirror = [j + size if not j & size else LANES + j for j in range(LANES)]
                rows[i], rows[i | size] = (
                    builder.shuffle_vector(low, high, ir.Constant(INTS, x)) for x in (lanes, mirror)
                )
            size *= 2
        for i, value in enumerate(rows):
            write(builder, place(target, args[4], args[5], i), None, value)
        return context.get_dummy_value()

    one = types.intp
    return types.void(a, one, one, out, one, one), code


@njit(fastmath=FAST, error_model="numpy")
def transpose(source: Any, begin: int, rows: int, columns: int, out: Any) -> None:
    """Write the columns of a matrix (rows, columns) one after the other."""
    whole_rows, whole_columns = rows - rows % LANES, columns - columns % LANES
    for i in range(0, whole_rows, LANES):
        for j in range(0, whole_columns, LANES):
            turn_square(source, begin + i * columns + j, columns, out, j * rows + i, rows)
    for i in range(rows):
        for j in range(whole_columns if i < whole_rows else 0, columns):
            out[j * rows + i] = source[begin + i * columns + j]


class _Tile(NamedTuple):
    """A tile in the making: the code so far, and what it computes with."""

    builder: ir.IRBuilder
    data: list[ir.Value]  # of A, B, C and the extra matrix
    begins: list[ir.Value]
    rows: list[ir.Value]  # the strides
    a_column: ir.Value
    depth: ir.Value
    masks: list[ir.Value | None]  # of the vectors of a row


def _index(tile: _Tile, matrix: int, row: int, column: int) -> ir.Value:
    """Return where a vector of a matrix begins in its array."""
    builder, offset = tile.builder, ir.Constant(LONG, column * LANES)
    begin = builder.add(tile.begins[matrix], offset)
    return builder.add(begin, builder.mul(tile.rows[matrix], ir.Constant(LONG, row)))


def _sums(tile: _Tile, start: list[ir.Value], count: int) -> list[list[ir.Value]]:
    """Emit the loop over k, and return the sums of the tile's rows and vectors."""
    builder, entry = tile.builder, tile.builder.block
    loop, end = builder.append_basic_block("loop"), builder.append_basic_block("end")
    builder.branch(loop)
    builder.position_at_end(loop)
    k, at_a, at_b = (builder.phi(LONG) for _ in range(3))
    sums = [[builder.phi(FLOATS) for _ in start] for _ in range(count)]
    width = [builder.add(at_b, ir.Constant(LONG, v * LANES)) for v in range(len(start))]
    b = [
        read(builder, address(builder, tile.data[1], index), mask)
        for index, mask in zip(width, tile.masks, strict=True)
    ]
    results: list[list[ir.Value]] = []
    for i in range(count):
        index = builder.add(at_a, builder.mul(tile.rows[0], ir.Constant(LONG, i)))
        a = spread(builder, builder.load(builder.gep(tile.data[0], [index])), FLOATS)
        products = [builder.fmul(a, x, flags=FLAGS) for x in b]
        results.append(
            [builder.fadd(x, y, flags=FLAGS) for x, y in zip(products, sums[i], strict=True)]
        )
    one, zero = ir.Constant(LONG, 1), ir.Constant(LONG, 0)
    counters = ((k, zero, one), (at_a, tile.begins[0], tile.a_column))
    for counter, first, step in (*counters, (at_b, tile.begins[1], tile.rows[1])):
        counter.add_incoming(first, entry)
        counter.add_incoming(builder.add(counter, step), loop)
    for before, after in zip(sums, results, strict=True):
        for phi, first, value in zip(before, start, after, strict=True):
            phi.add_incoming(first, entry)
            phi.add_incoming(value, loop)
    builder.cbranch(builder.icmp_signed("<", builder.add(k, one), tile.depth), loop, end)
    builder.position_at_end(end)
    return results


def _emit(tile: _Tile, end: str, count: int) -> None:
    """Emit a tile of C with this many rows."""
    builder, zero = tile.builder, constant(0.0)

    def extra(row: int, v: int) -> ir.Value:
        place = address(builder, tile.data[3], _index(tile, 3, row, v))
        return read(builder, place, tile.masks[v])

    vectors = range(len(tile.masks))
    start = [extra(0, v) if end in ("bias", "relu") else zero for v in vectors]
    for i, values in enumerate(_sums(tile, start, count)):
        for v, value in enumerate(values):
            if end in ("relu", "mask"):  # NaN stays
                tested = value if end == "relu" else extra(i, v)
                is_low = builder.fcmp_ordered("<=", tested, zero)
                value = builder.select(is_low, zero, value)
            if end == "add":
                value = builder.fadd(value, extra(i, v), flags=FLAGS)
            write(
                builder, address(builder, tile.data[2], _index(tile, 2, i, v)), tile.masks[v], value
            )


def _make_tile(count: int, vectors: int, end: str) -> Any:
    """Return a function of numba that computes `count` rows of C, and `vectors` of each.

    A tile of several vectors writes all of them, a tile of one vector the columns that are left.
    """

    @intrinsic
    def tile(
        typing: Any, arrays: Any, begins: Any, rows: Any, a_column: Any, depth: Any, columns: Any
    ) -> tuple[Any, Code]:
        four, one = types.UniTuple(types.intp, 4), types.intp

        def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
            parts = [[builder.extract_value(args[x], i) for i in range(4)] for x in range(3)]
            data = [
                data_of(context, builder, kind, array)
                for kind, array in zip(sign.args[0], parts[0], strict=True)
            ]
            masks = [None if vectors > 1 else first_lanes(builder, args[5])] * vectors
            part = _Tile(
                builder, data, parts[1], parts[2], a_column=args[3], depth=args[4], masks=masks
            )
            _emit(part, end, count)
            return context.get_dummy_value()

        return types.void(arrays, four, four, one, one, one), code

    return tile


def _make_product(end: str) -> Any:
    """Return a product whose end is one of

    nothing: C = A B          bias: C = A B + d           relu: C = ReLU(A B + d)
    add: C = A B + D          mask: C = A B, and 0 where D ≤ 0

    with a row d or a matrix D of the size of C.
    """
    wide, wide_one = _make_tile(_ROWS, _VECTORS, end), _make_tile(1, _VECTORS, end)
    narrow, narrow_one = _make_tile(_NARROW_ROWS, 1, end), _make_tile(1, 1, end)
    step = _VECTORS * LANES

    @njit(fastmath=FAST, error_model="numpy")
    def product(a: Matrix, b: Matrix, c: Matrix, d: Matrix, sizes: Any) -> None:
        """Write C (m, n); `sizes` are m, n and the number of columns of A, which is at least 1."""
        m, n, depth = sizes
        arrays, rows = (a.data, b.data, c.data, d.data), (a.row, b.row, c.row, d.row)
        j = 0
        while j < n:
            is_wide = n - j >= step
            count, rest = _ROWS if is_wide else _NARROW_ROWS, n - j
            i = 0
            while i < m:
                at_c, at_d = c.begin + i * c.row + j, d.begin + i * d.row + j
                begins = (a.begin + i * a.row, b.begin + j, at_c, at_d)
                is_whole = i + count <= m
                if is_wide and is_whole:
                    wide(arrays, begins, rows, a.column, depth, rest)
                elif is_wide:
                    wide_one(arrays, begins, rows, a.column, depth, rest)
                elif is_whole:
                    narrow(arrays, begins, rows, a.column, depth, rest)
                else:
                    narrow_one(arrays, begins, rows, a.column, depth, rest)
                i += count if is_whole else 1
            j += step if is_wide else LANES

    return product


multiply, add_bias, add_bias_relu = (_make_product(end) for end in ("nothing", "bias", "relu"))
add_matrix, mask_by = _make_product("add"), _make_product("mask")
