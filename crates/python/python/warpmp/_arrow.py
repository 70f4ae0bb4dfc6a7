"""Columns of Arrow: `fixed_size_binary`, one integer a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from ._array import Array, ByteOrder
from ._create import from_limbs


def to_arrow(a: Array, length: int | None = None, byteorder: ByteOrder = "big") -> Any:
    """`Array.to_arrow`."""
    import pyarrow

    rows = a._byte_rows(length, byteorder)
    lanes, width = rows.shape
    valid = None
    if a.mask.any():
        valid = pyarrow.py_buffer(np.packbits(~a.mask, bitorder="little"))
    return pyarrow.Array.from_buffers(pyarrow.binary(width), lanes, [valid, pyarrow.py_buffer(rows)])


def from_arrow(
    column: Any, bits: int | None = None, *,
    signed: bool = False, device: str | None = None, byteorder: ByteOrder = "big",
) -> Array:
    """An array from a column of `pyarrow`, of the type `fixed_size_binary`: `Array.to_arrow` makes them.

    `bits` is the width of a lane, by default that of the column. Numbers with `signed` are two's complements.

    Raises `ValueError` that names the first row without a value, and `OverflowError` for a number that does not fit in `bits`.
    """
    import pyarrow

    if isinstance(column, pyarrow.ChunkedArray):
        column = column.combine_chunks()
    if not isinstance(column, pyarrow.FixedSizeBinaryArray):
        found = getattr(column, "type", type(column).__name__)
        raise TypeError(f"the column has the type {found}; fixed_size_binary is needed")
    if column.null_count:
        row = int(np.flatnonzero(column.is_null())[0])
        raise ValueError(f"row {row} has no value; choose the others by column.drop_null()")
    lanes, width, first = len(column), column.type.byte_width, column.offset
    if width == 0:
        raise ValueError("the rows of the column have no bytes")
    data = column.buffers()[1]
    rows = np.frombuffer(data, np.uint8, lanes * width, first * width) if lanes else np.zeros(0, np.uint8)
    rows = rows.reshape(lanes, width)
    return from_limbs(rows if byteorder == "little" else rows[:, ::-1], bits, signed=signed, device=device)
