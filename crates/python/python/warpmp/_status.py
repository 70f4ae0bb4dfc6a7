"""Lanes without a result: why, and what happens then."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from enum import IntEnum
from typing import Iterator, Literal, cast

import numpy as np
from numpy.typing import NDArray

from . import _native

Errors = Literal["raise", "mask"]
Codes = NDArray[np.uint32]

_SHOWN = 5
_WORDS = dict(_native.statuses())


class Status(IntEnum):
    """How a lane ended; the values of `Array.status`."""

    FINE = 0
    DIVISION_BY_ZERO = 1
    EVEN_MODULUS = 2
    NOT_REDUCED = 3
    NO_INVERSE = 4
    NOT_EXACT = 5


class LaneError(ValueError):
    """Some lanes have no result. `lanes` has their numbers, `status` the status of every lane."""

    lanes: NDArray[np.intp]
    status: Codes

    def __init__(self, text: str, status: Codes) -> None:
        super().__init__(text)
        self.status = status
        self.lanes = np.flatnonzero(status)

    def __reduce__(self) -> tuple[type[LaneError], tuple[str, Codes]]:
        # An exception is made again from its arguments: both of them, for the error of another process.
        return type(self), (self.args[0], self.status)


class LaneZeroDivisionError(LaneError, ZeroDivisionError):
    """Some lanes divide by zero."""


_mode: ContextVar[Errors] = ContextVar("warpmp.errors", default="raise")


@contextlib.contextmanager
def errors(mode: Errors) -> Iterator[None]:
    """Sets what happens to lanes without a result, within a `with` block.

    `"raise"`, the default, raises `LaneError`. `"mask"` goes on: such a lane is `None` in `to_list()`, and `status` of the
    result says why.
    """
    token = _mode.set(checked(mode))
    try:
        yield
    finally:
        _mode.reset(token)


def checked(mode: str | None) -> Errors:
    """The mode, or the one in force for `None`."""
    if mode is None:
        return _mode.get()
    if mode not in ("raise", "mask"):
        raise ValueError(f"errors must be 'raise' or 'mask', not {mode!r}")
    return cast(Errors, mode)


def merged(*statuses: Codes | None) -> Codes | None:
    """The first fault of each lane."""
    found: Codes | None = None
    for status in statuses:
        if status is not None:
            found = status if found is None else np.where(found != 0, found, status).astype(np.uint32)
    return found


def judged(status: Codes, before: Codes | None, mode: str | None) -> Codes | None:
    """The statuses of a result; raises for lanes that the operation itself put at fault, if errors shall be raised."""
    new = status if before is None else np.where(before != 0, 0, status).astype(np.uint32)
    shall_raise = checked(mode) == "raise"
    if shall_raise and new.any():
        raise _error(new)
    both = merged(before, status)
    return both if both is not None and both.any() else None


def _error(status: Codes) -> LaneError:
    lanes = np.flatnonzero(status)
    shown = "; ".join(f"lane {lane}: {_WORDS[int(status[lane])]}" for lane in lanes[:_SHOWN])
    more = "; …" if len(lanes) > _SHOWN else ""
    noun = "lane" if len(status) == 1 else "lanes"
    verb = "has" if len(lanes) == 1 else "have"
    text = f"{len(lanes)} of {len(status)} {noun} {verb} no result: {shown}{more}"
    kind = LaneZeroDivisionError if status[lanes[0]] == Status.DIVISION_BY_ZERO else LaneError
    return kind(text, status)
