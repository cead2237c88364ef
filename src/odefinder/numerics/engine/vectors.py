"""Vectors of eight numbers for compiled code, because numba leaves short loops scalar.

numba neither vectorises loops of a fixed small length nor tells LLVM that two arrays do not overlap.  These
few functions, to be called from compiled code only, emit LLVM's vector instructions directly; LLVM maps
eight doubles to whatever the processor has (one AVX-512, two AVX or four SSE / NEON registers).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]  # comes with numba
from numba import extending
from numba.core import types
from numpy.typing import NDArray

from odefinder.compiling.jit import compiled

# As a value of no type: an intrinsic is called without the typing context that it is written with.
intrinsic: Any = extending.intrinsic

WIDTH = 8
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)
_CONTRACT = ("contract",)  # a product and a sum may become one fused operation


class VectorType(types.Type):
    """numba's name for a vector."""

    def __init__(self) -> None:
        super().__init__(name="Vector8")


vector_type = VectorType()


@extending.register_model(VectorType)
class _VectorModel(extending.models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: Any) -> None:
        super().__init__(dmm, fe_type, _VECTOR)


def _splat(builder: Any, value: Any) -> Any:
    undefined = ir.Constant(ir.VectorType(value.type, WIDTH), ir.Undefined)
    zeros = ir.Constant(ir.VectorType(_INT32, WIDTH), [0] * WIDTH)
    return builder.shuffle_vector(builder.insert_element(undefined, value, _INT32(0)), undefined, zeros)


def _address(context: Any, builder: Any, array_type: Any, array: Any, index: Any) -> Any:
    data = context.make_array(array_type)(context, builder, array).data
    return builder.bitcast(builder.gep(data, [index]), _VECTOR.as_pointer())


@compiled
def zeros(n: int) -> NDArray[np.float64]:
    """n zeros that begin at a cache line, so that no vector lies across two."""
    room = np.zeros(n + WIDTH)
    start = -(room.ctypes.data // 8) % WIDTH
    return room[start : start + n]


@intrinsic
def load(typingctx: Any, array: Any, index: Any) -> Any:
    """array[index : index + 8]; the index must not be negative."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.load(_address(context, builder, signature.args[0], args[0], args[1]), align=8)

    return vector_type(array, types.intp), codegen


@intrinsic
def store(typingctx: Any, array: Any, index: Any, vector: Any) -> Any:
    """array[index : index + 8] = vector."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.store(args[2], _address(context, builder, signature.args[0], args[0], args[1]), align=8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector_type), codegen


@intrinsic
def store_first(typingctx: Any, array: Any, index: Any, vector: Any, n: Any) -> Any:
    """array[index : index + n] = vector[:n] (8 if n is more); the index counts in the flattened array."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        address = _address(context, builder, signature.args[0], args[0], args[1])
        positions = ir.Constant(ir.VectorType(_INT64, WIDTH), list(range(WIDTH)))
        mask = builder.icmp_signed("<", positions, _splat(builder, args[3]))
        kind = ir.FunctionType(ir.VoidType(), [_VECTOR, address.type, _INT32, mask.type])
        function = builder.module.declare_intrinsic("llvm.masked.store.v8f64.p0", (), kind)
        builder.call(function, [args[2], address, _INT32(8), mask])
        return context.get_dummy_value()

    return types.void(array, types.intp, vector_type, types.intp), codegen


@intrinsic
def fill(typingctx: Any, value: Any) -> Any:
    """Eight times the same number."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return _splat(builder, args[0])

    return vector_type(types.float64), codegen


@intrinsic
def add(typingctx: Any, a: Any, b: Any) -> Any:
    """a + b."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fadd(args[0], args[1], flags=_CONTRACT)

    return vector_type(vector_type, vector_type), codegen


@intrinsic
def mul(typingctx: Any, a: Any, b: Any) -> Any:
    """a * b."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.fmul(args[0], args[1], flags=_CONTRACT)

    return vector_type(vector_type, vector_type), codegen
