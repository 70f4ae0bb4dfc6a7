"""Collatz: convergence, delays, trajectories, records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._create import get_device
from ._progress import Progress, callback

# Values of a trajectory that are kept.
_VALUES = 1_000_000


@dataclass(frozen=True)
class Verified:
    """A range whose starts all converge: each reaches a smaller number."""

    start: int
    count: int
    tested: int
    """Starts that were tested; the rest is excluded by theorems."""
    plain: int
    """Small starts, followed step by step."""
    overflowed: int
    """Tested starts whose values leave 128 bits."""
    checksum: int
    """The checksum of the scheme, modulo 2**64."""
    highest: tuple[int, int] | None
    """The start with the highest value, and the value."""


@dataclass(frozen=True)
class Trace:
    """The trajectory of a start. Every step counts: `3n+1` for odd `n`, `n/2` for even `n`."""

    start: int
    delay: int
    """Steps down to 1."""
    odd_steps: int
    """Steps `3n+1` among them."""
    glide: int
    """Steps until the value is below the start; 0 for the start 1."""
    highest: int
    """The highest value."""
    values: list[int]
    """The value after every step. At most a million are kept, and at most 256 MiB."""


def verify(start: int, count: int, *, device: str | None = None, progress: Progress = False) -> Verified:
    """Verifies that `count` starts from `start` on converge. The program `warpmp` writes certificates, too."""
    found = _native.verify(start, count, device or get_device(), callback(progress))
    return Verified(start, count, *found)


@overload
def delay(start: int, count: None = None, *, device: str | None = None, progress: Progress = False) -> int: ...
@overload
def delay(start: int, count: int, *, device: str | None = None, progress: Progress = False) -> NDArray[np.uint32]: ...
def delay(
    start: int, count: int | None = None, *, device: str | None = None, progress: Progress = False
) -> int | NDArray[np.uint32]:
    """The delay of `start`: steps down to 1. With a count, the delays of as many starts from `start` on."""
    delays = _native.delays(start, 1 if count is None else count, device or get_device(), callback(progress))
    return int(delays[0]) if count is None else delays


def trace(start: int) -> Trace:
    """Follows a start of any length down to 1."""
    delay, odd_steps, glide, highest, values = _native.trace(start, _VALUES)
    return Trace(start, delay, odd_steps, glide, highest, values)


def records(
    below: int, kind: Literal["delay", "path"] = "delay", *, device: str | None = None, progress: Progress = False
) -> list[tuple[int, int]]:
    """Starts below `below` with a longer delay, or a higher value, than every smaller start; each with the figure."""
    return _native.records(kind, below, device or get_device(), callback(progress))


def known_records(kind: Literal["delay", "path"] = "delay") -> list[tuple[int, int]]:
    """The published records."""
    return _native.known_records(kind)
