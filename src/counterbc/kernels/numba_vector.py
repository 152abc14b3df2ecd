"""A type of numba for vectors of float32 numbers, as many as the CPU computes with at once.

Loops over vectors are fast whatever the compiler can prove about them. A loop over n numbers is

    for i in range(0, n, LANES):
        store(out, i, n - i, load(x, i, n - i) * splat(f(2)))

Lanes beyond the count are neither read nor written. Importing this module needs numba.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from llvmlite import ir
from numba import extending, njit
from numba import types as numba_types
from numba.core import cgutils as numba_cgutils
from numba.core import imputils
from numba.core.registry import cpu_target
from numba.core.typing import templates

# The tools of numba for its extension have no types of Python's.
intrinsic: Callable[[Any], Any] = extending.intrinsic
models: Any = extending.models
types: Any = numba_types
cgutils: Any = numba_cgutils
lower_builtin: Any = imputils.lower_builtin
infer_global: Any = templates.infer_global
signature: Any = templates.signature

f, i32 = np.float32, np.int32
# No "nnan" or "ninf": a member that diverged must show it.
FAST = {"reassoc", "contract", "arcp", "nsz"}
Function = TypeVar("Function", bound=Callable[..., Any])


def _inlined(**options: Any) -> Callable[[Function], Function]:
    """Return the decorator of functions that become part of those that call them.

    Otherwise a process that compiles them would run other machine code than one that loads them.
    None of them is called from C.
    """
    options |= {"fastmath": FAST, "error_model": "numpy", "no_cfunc_wrapper": True}
    decorate: Callable[[Function], Function] = njit(**options)
    return decorate


inline = _inlined(forceinline=True)
"""The decorator of functions that LLVM inlines."""
inline_source = _inlined(inline="always")
"""That of functions that are called once, which are inlined before types are known."""

HAS_512_BITS = "+avx512f" in cpu_target.target_context.codegen().magic_tuple()[2]
LANES = 16 if HAS_512_BITS else 8
"""The numbers of a vector."""

FLOAT, INT, LONG, BIT = ir.FloatType(), ir.IntType(32), ir.IntType(64), ir.IntType(1)
FLOATS, INTS = ir.VectorType(FLOAT, LANES), ir.VectorType(INT, LANES)
BITS = ir.VectorType(BIT, LANES)
ALIGN = ir.Constant(INT, 4)
FLAGS = ("arcp", "contract", "nsz")
"""Sums are added in the order in which they are written."""


class VectorType(numba_types.Type):
    """The type of a vector in numba."""

    def __init__(self) -> None:
        super().__init__(name=f"float32 x {LANES}")


vector = VectorType()


@extending.register_model(VectorType)
class _VectorModel(models.PrimitiveModel):  # type: ignore[misc]  # numba has no types
    def __init__(self, manager: Any, kind: VectorType) -> None:
        super().__init__(manager, kind, FLOATS)


def constant(value: float) -> ir.Constant:
    """Return a vector of LLVM with one number in all lanes."""
    return ir.Constant(FLOATS, [value] * LANES)


def spread(builder: ir.IRBuilder, value: ir.Value, kind: ir.VectorType) -> ir.Value:
    """Return a vector of LLVM with one value in all lanes."""
    first = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(INT, 0))
    return builder.shuffle_vector(first, first, ir.Constant(INTS, [0] * LANES))


def first_lanes(builder: ir.IRBuilder, count: ir.Value) -> ir.Value:
    """Return a mask of the lanes below a count."""
    all_lanes, numbers = ir.Constant(LONG, LANES), ir.Constant(INTS, list(range(LANES)))
    # Of integers as wide as the numbers, the lanes are compared by one instruction.
    few = builder.select(builder.icmp_signed("<", count, all_lanes), count, all_lanes)
    return builder.icmp_signed("<", numbers, spread(builder, builder.trunc(few, INT), INTS))


def address(builder: ir.IRBuilder, data: ir.Value, index: ir.Value) -> ir.Value:
    """Return where the vector begins that starts with a number of an array."""
    return builder.bitcast(builder.gep(data, [index]), FLOATS.as_pointer())


def read(builder: ir.IRBuilder, place: ir.Value, mask: ir.Value | None) -> ir.Value:
    """Load a vector; lanes outside the mask are 0."""
    if mask is None:
        return builder.load(place, align=4)
    name = f"llvm.masked.load.v{LANES}f32.p0"
    kind = ir.FunctionType(FLOATS, [FLOATS.as_pointer(), INT, BITS, FLOATS])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    return builder.call(function, [place, ALIGN, mask, constant(0.0)])


def write(builder: ir.IRBuilder, place: ir.Value, mask: ir.Value | None, value: ir.Value) -> None:
    """Store the lanes of a vector that are in the mask."""
    if mask is None:
        builder.store(value, place, align=4)
        return
    name = f"llvm.masked.store.v{LANES}f32.p0"
    kind = ir.FunctionType(ir.VoidType(), [FLOATS, FLOATS.as_pointer(), INT, BITS])
    function = cgutils.get_or_insert_function(builder.module, kind, name)
    builder.call(function, [value, place, ALIGN, mask])


def data_of(context: Any, builder: ir.IRBuilder, kind: Any, value: ir.Value) -> ir.Value:
    """Return the address of the first number of an array."""
    return cgutils.create_struct_proxy(kind)(context, builder, value).data


Code = Callable[[Any, ir.IRBuilder, Any, Any], Any]


@intrinsic
def load(typing: Any, array: Any, index: Any, count: Any) -> tuple[Any, Code]:
    """Return the vector that begins at an index of a flat array; beyond the count it is 0."""

    def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        place = address(builder, data_of(context, builder, sign.args[0], args[0]), args[1])
        return read(builder, place, first_lanes(builder, args[2]))

    return vector(array, types.intp, types.intp), code


@intrinsic
def store(typing: Any, array: Any, index: Any, count: Any, value: Any) -> tuple[Any, Code]:
    """Write the first lanes of a vector, as many as the count, to an index of a flat array."""

    def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        place = address(builder, data_of(context, builder, sign.args[0], args[0]), args[1])
        write(builder, place, first_lanes(builder, args[2]), args[3])
        return context.get_dummy_value()

    return types.void(array, types.intp, types.intp, vector), code


@intrinsic
def splat(typing: Any, value: Any) -> tuple[Any, Code]:
    """Return a vector with one number in all lanes."""

    def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        return spread(builder, args[0], FLOATS)

    return vector(types.float32), code


@intrinsic
def if_below(typing: Any, x: Any, y: Any, yes: Any, no: Any) -> tuple[Any, Code]:
    """Return `yes` in the lanes where x < y and `no` in the others, where x may be NaN."""

    def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        return builder.select(builder.fcmp_ordered("<", args[0], args[1]), args[2], args[3])

    return vector(vector, vector, vector, vector), code


@intrinsic
def keep_first(typing: Any, value: Any, count: Any, other: Any) -> tuple[Any, Code]:
    """Return a vector with another one's lanes beyond the count."""

    def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        return builder.select(first_lanes(builder, args[1]), args[0], args[2])

    return vector(vector, types.intp, vector), code


def _reduction(name: str, start: float | None, flags: tuple[str, ...]) -> Any:
    """Return a function of numba that reduces a vector to a number."""

    @intrinsic
    def reduce(typing: Any, value: Any) -> tuple[Any, Code]:
        def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
            before = [] if start is None else [ir.Constant(FLOAT, start)]
            kind = ir.FunctionType(FLOAT, [FLOAT] * len(before) + [FLOATS])
            full = f"llvm.vector.reduce.{name}.v{LANES}f32"
            function = cgutils.get_or_insert_function(builder.module, kind, full)
            return builder.call(function, [*before, args[0]], fastmath=flags)

        return types.float32(vector), code

    return reduce


total = _reduction("fadd", -0.0, ("reassoc",))
largest = _reduction("fmax", None, ("nnan", "nsz"))  # of numbers without NaN


def _unary(name: str) -> Any:
    """Return a function of numba that applies one of LLVM's to every lane."""

    @intrinsic
    def apply(typing: Any, value: Any) -> tuple[Any, Code]:
        def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
            kind = ir.FunctionType(FLOATS, [FLOATS])
            full = f"llvm.{name}.v{LANES}f32"
            function = cgutils.get_or_insert_function(builder.module, kind, full)
            return builder.call(function, [args[0]])

        return vector(vector), code

    return apply


floor, root_of = _unary("floor"), _unary("sqrt")


@intrinsic
def power_of_two(typing: Any, k: Any) -> tuple[Any, Code]:
    """Return 2ᵏ of whole numbers from −126 to 127."""

    def code(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        whole = builder.fptosi(args[0], INTS)
        exponent = builder.add(whole, ir.Constant(INTS, [127] * LANES))
        return builder.bitcast(builder.shl(exponent, ir.Constant(INTS, [23] * LANES)), FLOATS)

    return vector(vector), code


def _operator(function: Any, name: str) -> None:
    """Let an operator of Python compute with vectors."""

    @infer_global(function)
    class Template(templates.ConcreteTemplate):
        cases = [signature(vector, vector, vector)]  # noqa: RUF012 - as numba reads it

    def lower(context: Any, builder: ir.IRBuilder, sign: Any, args: Any) -> ir.Value:
        return getattr(builder, name)(*args, flags=FLAGS)

    lower_builtin(function, vector, vector)(lower)


for _function, _name in (
    (operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul"),
    (operator.truediv, "fdiv"),
):  # fmt: skip
    _operator(_function, _name)

ONE, TWO, HALF = f(1), f(2), f(0.5)
LOG2E, LN2_HIGH, LN2_LOW = f(1.44269504), f(0.693359375), f(-2.12194440e-4)
C3, C4, C5, C6 = f(0.16666667), f(0.041666485), f(0.0083333), f(0.0013998)
_LARGE = f(87.0)


@inline
def exp(x: Any) -> Any:
    """Return eˣ to about 1e-7 of itself, of x cut off at ±87; NaN stays."""
    return exp_of_low(if_below(splat(_LARGE), x, splat(_LARGE), x))


@inline
def exp_of_low(x: Any) -> Any:
    """Return eˣ of x cut off at −87, where it is not above 87."""
    x = if_below(x, splat(-_LARGE), splat(-_LARGE), x)
    k = floor(x * splat(LOG2E) + splat(HALF))
    r = x - k * splat(LN2_HIGH) - k * splat(LN2_LOW)
    high = splat(C3) + r * (splat(C4) + r * (splat(C5) + r * splat(C6)))
    return (splat(ONE) + r + r * r * (splat(HALF) + r * high)) * power_of_two(k)


@inline
def sigmoid(x: Any) -> Any:
    """Return 1 / (1 + e⁻ˣ)."""
    return splat(ONE) / (splat(ONE) + exp(splat(f(0)) - x))


@inline
def tanh(x: Any) -> Any:
    """Return 1 − 2 / (e²ˣ + 1), to about 1e-7."""
    return splat(ONE) - splat(TWO) / (exp(x + x) + splat(ONE))


@inline
def copy(source: Any, begin: int, out: Any, begin_out: int, count: int) -> None:
    """Copy numbers of a flat array to another; slices would compile what says that they differ."""
    for i in range(0, count, LANES):
        store(out, begin_out + i, count - i, load(source, begin + i, count - i))
