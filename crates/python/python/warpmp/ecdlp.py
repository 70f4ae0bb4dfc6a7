"""Discrete logarithms on elliptic curves over prime fields, by Pollard's rho."""

from __future__ import annotations

import secrets
from typing import overload

from . import _native
from ._create import get_device
from ._progress import Progress, callback

Point = tuple[int, int]


def curves() -> list[str]:
    """The names of the built-in challenges."""
    return _native.curves()


@overload
def solve(
    name: str, /, *, device: str | None = None, seed: int | None = None, progress: Progress = False
) -> int: ...
@overload
def solve(
    *, p: int, a: int, b: int, n: int, base: Point, target: Point,
    device: str | None = None, seed: int | None = None, progress: Progress = False,
) -> int: ...
def solve(
    name: str | None = None, /, *,
    p: int = 0, a: int = 0, b: int = 0, n: int = 0, base: Point = (0, 0), target: Point = (0, 0),
    device: str | None = None, seed: int | None = None, progress: Progress = False,
) -> int:
    """The `k` with `target = k * base`, by the name of a challenge or by the curve's parameters.

    The curve is `y**2 = x**3 + a*x + b` modulo the prime `p` of 32 to 256 bits, `n` the prime order of `base`. The time grows
    with the square root of `n`: a challenge of 79 bits takes half a minute on one H200. The logarithm is checked before it
    is returned.
    """
    place = device or get_device()
    start = secrets.randbits(63) if seed is None else seed
    if name is not None:
        return _native.solve_named(name, place, start, callback(progress))
    return _native.solve(p, a, b, n, base, target, place, start, callback(progress))
