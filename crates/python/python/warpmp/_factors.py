"""Factors of many integers: elliptic curves, P-1, P+1, and all of them one after the other."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Sequence

from . import _native
from ._array import Number, unsigned, with_device
from ._progress import Progress, callback


@dataclass(frozen=True)
class Find:
    """A prime factor, and how it was found."""

    prime: int
    method: str | None
    """ECM, P-1, P+1 or trial division; None for a prime that was left after other factors."""
    sigma: str | None
    """The curve, FAMILY:SIGMA as GMP-ECM has it."""
    b1: int
    b2: int
    stage: int
    """The stage that found it; 0 if no attempt did."""


@dataclass(frozen=True)
class Factors:
    """What is known of an integer: its primes and its composite factors multiply to it."""

    n: int
    finds: tuple[Find, ...]
    """The prime factors, rising, each as often as it divides."""
    composites: tuple[int, ...]
    """The other factors."""
    attempts: int
    """Curves and other attempts that were made."""

    @property
    def primes(self) -> list[int]:
        """The prime factors, rising, each as often as it divides."""
        return [find.prime for find in self.finds]

    @property
    def complete(self) -> bool:
        """Are all factors prime?"""
        return not self.composites

    def __str__(self) -> str:
        parts = [str(prime) for prime in self.primes] + [f"({part})" for part in self.composites]
        return f"{self.n} = {' * '.join(parts) or self.n}"


_Row = tuple[int, list[tuple[int, str | None, str | None, int, int, int]], list[int], int]


def _factors(rows: list[_Row]) -> list[Factors]:
    return [
        Factors(n, tuple(sorted((Find(*find) for find in finds), key=lambda it: it.prime)), tuple(sorted(parts)), attempts)
        for n, finds, parts, attempts in rows
    ]


def _seed(seed: int | None) -> int:
    return secrets.randbits(63) if seed is None else seed


def _placed(numbers: Number, device: str | None) -> tuple[_native.Batch, str]:
    array, place = with_device(numbers, device)
    return unsigned(array)._batch, place


def factor(
    numbers: Number, *, digits: int = 30, seed: int | None = None, device: str | None = None, progress: Progress = False
) -> list[Factors]:
    """The factorisation of each number: trial division, powers, primality, P-1, P+1, and curves with rising bounds.

    The search goes on until all factors are prime, or until a factor of `digits` decimal digits is found with a probability of
    1 - 1/e. A composite of at most twice as many digits is factored completely. The same seed gives the same curves.

    Curves run on `device`, by default on the array's; `"cuda"` means all GPUs. The CPU does the rest, and the result is the
    same on every device.
    """
    if not 1 <= digits <= 65:
        raise ValueError(f"digits is from 1 to 65, not {digits}")
    batch, place = _placed(numbers, device)
    return _factors(_native.factor(batch, digits, _seed(seed), place, callback(progress)))


def ecm(
    numbers: Number, b1: int, b2: int | None = None, *,
    curves: int = 1, sigma: str | None = None, seed: int | None = None, device: str | None = None,
    progress: Progress = False,
) -> list[Factors]:
    """Looks for factors of each number by elliptic curves with the bounds `b1` and `b2`; `b2` is 100 times `b1` without this.

    `sigma` names the first curve as GMP-ECM does, `"3:17"`; the next ones have the next sigmas. Without it the curves are of
    Suyama's family and depend on the seed and the number. Numbers are odd, or their factors 2 are split off.

    The curves run on `device`, by default on the array's: integers of at most 16384 bits on a GPU, longer ones on the CPU.
    `"cuda"` means all GPUs.
    """
    batch, place = _placed(numbers, device)
    return _factors(_native.ecm(batch, b1, b2, curves, sigma, _seed(seed), place, callback(progress)))


def pm1(
    numbers: Number, b1: int, b2: int | None = None, *,
    x0: int = 3, device: str | None = None, progress: Progress = False,
) -> list[Factors]:
    """Looks for factors `p` of each number for which `p - 1` is a product of small primes, from the base `x0`.

    The work runs on `device`, as the curves of `ecm`.
    """
    batch, place = _placed(numbers, device)
    return _factors(_native.pm1(batch, b1, b2, x0, place, callback(progress)))


def pp1(
    numbers: Number, b1: int, b2: int | None = None, *,
    x0: Sequence[int] = (), device: str | None = None, progress: Progress = False,
) -> list[Factors]:
    """Looks for factors `p` of each number for which `p + 1` is a product of small primes, from each start of `x0`.

    Without `x0` the starts are 2/7, 6/5 and 5. The work runs on `device`, as the curves of `ecm`.
    """
    batch, place = _placed(numbers, device)
    return _factors(_native.pp1(batch, b1, b2, list(x0), place, callback(progress)))
