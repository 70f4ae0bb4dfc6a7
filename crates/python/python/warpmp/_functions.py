"""Functions of arrays, by the names that gmpy2 gives them."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._array import (
    Array,
    Number,
    _of,
    applied,
    as_array,
    floor_divide,
    order,
    small_signed,
    together,
    unsigned,
    where,
    with_device,
)
from ._progress import Progress, callback

FINDING = np.dtype([("kind", "U9"), ("lane", np.int64), ("other", np.int64), ("divisor", object)])
"""A row of `batch_gcd`."""


def wrapping(a: Number, bits: int, *, signed: bool = False) -> Array:
    """The low bits of each number: modulo `2**bits`, or in two's complement if `signed`."""
    operand = as_array(a)
    return Array(operand._batch.resize(bits, operand.signed), signed, operand._status)


def _residue(a: Array, m: Array) -> Array:
    """A number that may be negative as a residue."""
    return a % m if a.signed else a


def powmod(
    a: Number, exponent: Number, modulus: Number, *,
    secret: bool = False, errors: str | None = None, progress: Progress = False,
) -> Array:
    """`a**exponent % modulus`. A negative exponent needs an inverse.

    With `secret` the instructions and addresses do not depend on `a` and the exponent; the modulus must be odd.
    """
    base, power, m = together(a, exponent, modulus)
    m = unsigned(m)
    base = _residue(base, m)
    if power.signed:
        if len(power) > 1 or power[0] >= 0:
            power = unsigned(power)
        else:
            base, power = invert(base, m, errors=errors), unsigned(-power)
    return applied("pow_mod_sec" if secret else "pow_mod", [base, power, m], [False], errors, progress=progress)[0]


def invert(a: Number, modulus: Number, *, errors: str | None = None) -> Array:
    """The inverses of `a` modulo `modulus`."""
    operand, m = together(a, modulus)
    m = unsigned(m)
    return applied("inv_mod", [_residue(operand, m), m], [False], errors)[0]


def mulmod(a: Number, b: Number, modulus: Number, *, errors: str | None = None) -> Array:
    """`a * b % modulus`."""
    left, right, m = together(a, b, modulus)
    m = unsigned(m)
    return applied("mul_mod", [_residue(left, m), _residue(right, m), m], [False], errors)[0]


def addmod(a: Number, b: Number, modulus: Number, *, errors: str | None = None) -> Array:
    """`(a + b) % modulus`."""
    return _linear_mod("add_mod", a, b, modulus, errors)


def submod(a: Number, b: Number, modulus: Number, *, errors: str | None = None) -> Array:
    """`(a - b) % modulus`."""
    return _linear_mod("sub_mod", a, b, modulus, errors)


def _linear_mod(name: str, a: Number, b: Number, modulus: Number, errors: str | None) -> Array:
    left, right, m = together(a, b, modulus)
    m = unsigned(m)
    operands = [applied("reduce", [_residue(it, m), m], [False], errors)[0] for it in (left, right)]
    return applied(name, [*operands, m], [False], errors)[0]


def gcd(a: Number, b: Number) -> Array:
    """The greatest common divisors; of 0 and 0 it is 0."""
    left, right = (abs(it) for it in together(a, b))
    return _of(_native.apply("gcd", [left._batch, right._batch])[0], False, left, right)


def lcm(a: Number, b: Number) -> Array:
    """The least common multiples; of 0 and any number it is 0."""
    left, right = (abs(it) for it in together(a, b))
    return _of(_native.apply("lcm", [left._batch, right._batch])[0], False, left, right)


def gcdext(a: Number, b: Number) -> tuple[Array, Array, Array]:
    """`g`, `x`, `y` with `a*x + b*y == g == gcd(a, b)`.

    Of numbers without signs `x` is the least that is not negative. gmpy2 may choose other cofactors.
    """
    left, right = together(a, b)
    magnitudes = [abs(left)._batch, abs(right)._batch]
    g, x, y = _native.apply("gcd_ext", magnitudes)
    divisors, first, second = (_of(it, sign, left, right) for it, sign in ((g, False), (x, False), (y, True)))
    if left.signed:
        first = where(left < 0, -first, first)
    if right.signed:
        second = where(right < 0, -second, second)
    return divisors, first, second


def divexact(a: Number, b: Number, *, errors: str | None = None) -> Array:
    """`a // b` where nothing remains; a lane with a remainder has no result."""
    left, right = together(a, b)
    if left.signed or right.signed:
        quotient = applied("div_exact", [abs(left), abs(right)], [False], errors)[0]
        return where((left < 0) != (right < 0), -quotient, quotient)
    return applied("div_exact", [left, right], [False], errors)[0]


def f_divmod(a: Number, b: Number, *, errors: str | None = None) -> tuple[Array, Array]:
    """`divmod(a, b)`: quotients rounded down, remainders with the sign of `b`."""
    left, right = together(a, b)
    return floor_divide(left, right, errors)


def isqrt(a: Number) -> Array:
    """The square roots, rounded down."""
    return isqrt_rem(a)[0]


def isqrt_rem(a: Number) -> tuple[Array, Array]:
    """The square roots, rounded down, and what remains."""
    operand = unsigned(as_array(a))
    root, rest = _native.apply("sqrt", [operand._batch])
    return _of(root, False, operand), _of(rest, False, operand)


def is_square(a: Number) -> NDArray[np.bool_]:
    """Is each number a square?"""
    return isqrt_rem(a)[1] == 0


def fma(a: Number, b: Number, c: Number) -> Array:
    """`a * b + c`."""
    operands = together(a, b, c)
    if any(it.signed for it in operands):
        return operands[0] * operands[1] + operands[2]
    return _of(_native.apply("mul_add", [it._batch for it in operands])[0], False, *operands)


def jacobi(a: Number, n: Number) -> NDArray[np.int8]:
    """The Kronecker symbols of `a` over `n`, −1, 0 or 1: of Jacobi for odd `n`, of Legendre for primes."""
    top, bottom = together(a, n)
    bottom = unsigned(bottom)
    negative = None
    if top.signed:
        # (−1 / n) · (|a| / n), where (−1 / n) depends on the odd part of n modulo 4.
        negative, top = np.asarray(top < 0), abs(top)
    symbols = small_signed(_native.apply("jacobi", [top._batch, bottom._batch])[0])
    if negative is not None:
        signs = np.array([_minus_one_over(int(number)) for number in bottom], np.int8)
        symbols = np.where(negative, symbols * signs, symbols).astype(np.int8)
    return symbols


kronecker = legendre = jacobi


def _minus_one_over(n: int) -> int:
    if n == 0:
        return 1
    odd = n >> ((n & -n).bit_length() - 1)
    return 1 if odd % 4 == 1 else -1


def is_prime(
    a: Number, rounds: int | None = None, *,
    seed: int | None = None, device: str | None = None, progress: Progress = False,
) -> NDArray[np.bool_]:
    """Is each number prime?

    By the test of Baillie and Wagstaff: `False` is a proof, `True` is one below 2**64, and nobody knows a composite that
    passes. With `rounds`, by this number of strong tests to random bases, which depend on `seed`. The tests run on `device`,
    by default on the array's.
    """
    numbers, place = with_device(a, device)
    verdicts = _native.is_prime(abs(numbers)._batch, rounds, seed, place, callback(progress))
    return verdicts & (numbers > 0) if numbers.signed else verdicts


def next_prime(a: Number, *, device: str | None = None, progress: Progress = False) -> Array:
    """The least prime above each number, by the test of `is_prime`, on `device`, by default on the array's."""
    numbers, place = with_device(a, device)
    if numbers.signed:
        # The least prime above any negative number is 2, as above 0.
        numbers = unsigned(where(numbers < 0, 0, numbers))
    found = Array(_native.next_primes(numbers._batch, place, callback(progress)), False)
    return found.to(place)


def is_strong_prp(n: Number, a: Number) -> NDArray[np.bool_]:
    """Is each `n` a strong probable prime to base `a`?"""
    number, base = (unsigned(it) for it in together(n, a))
    verdict = _native.apply("miller_rabin", [base._batch, number._batch])[0]
    return np.asarray(np.asarray(verdict.to("cpu"))[:, 0] == 1)


def is_odd(a: Number) -> NDArray[np.bool_]:
    """Is each number odd?"""
    low = wrapping(a, 1)._batch.to("cpu")
    return np.asarray(np.asarray(low)[:, 0] == 1)


def is_even(a: Number) -> NDArray[np.bool_]:
    """Is each number even?"""
    return ~is_odd(a)


def bit_length(a: Number) -> NDArray[np.int64]:
    """The bits of each number."""
    return as_array(a).bit_length()


def popcount(a: Number) -> NDArray[np.int64]:
    """The ones in each number, which must not be negative."""
    return unsigned(as_array(a)).bit_count()


def hamdist(a: Number, b: Number) -> NDArray[np.int64]:
    """The bits in which two numbers differ."""
    left, right = together(a, b)
    return popcount(unsigned(left) ^ unsigned(right))


def maximum(a: Number, b: Number) -> Array:
    """The greater number, lane by lane."""
    left, right = together(a, b)
    return where(order(left, right) >= 0, left, right)


def minimum(a: Number, b: Number) -> Array:
    """The lesser number, lane by lane."""
    left, right = together(a, b)
    return where(order(left, right) <= 0, left, right)


def batch_gcd(
    moduli: Number, *, pairs: bool = True, device: str | None = None, progress: Progress = False
) -> NDArray[np.void]:
    """The numbers that share a factor with another one, as a structured array of NumPy.

    | `kind`      | `lane`          | `other`          | `divisor`                            |
    |-------------|-----------------|------------------|--------------------------------------|
    | `zero`      | the number      | -1               | 0                                    |
    | `one`       | the number      | -1               | 1                                    |
    | `duplicate` | the later lane  | the first lane   | 0                                    |
    | `shared`    | the number      | -1               | its gcd with the product of all others |
    | `pair`      | the first lane  | the second lane  | their gcd                            |

    Zeros, ones and duplicates are left out of the search. Without `pairs` there are no rows for pairs. The
    products and remainders are computed on `device`, by default on the array's.
    """
    numbers, place = with_device(moduli, device)
    found = _native.batch_gcd(unsigned(numbers)._batch, pairs, place, callback(progress))
    rows = np.empty(len(found), FINDING)
    for number, row in enumerate(found):
        rows[number] = row
    return cast("NDArray[np.void]", rows)


def apply(
    name: str, *operands: Number,
    constant: int | None = None, errors: str | None = None, progress: Progress = False,
) -> Any:
    """Any operation of the library by its name; `operations()` lists them.

    Gives an array, or a tuple of arrays if the operation has several results. Operands count as patterns of bits: their
    signs are not looked at.
    """
    row = next((row for row in _native.operations() if row[0] == name.replace("-", "_")), None)
    if row is None:
        raise ValueError(f"no operation is called {name!r}; operations() lists them")
    _, _, names, signed, has_status, _ = row
    arrays = together(*operands)
    signs = [number in signed for number in range(len(names))]
    if has_status:
        found = applied(name, arrays, signs, errors, constant, progress)
    else:
        batches = _native.apply(name, [it._batch for it in arrays], constant, callback(progress))
        found = [_of(batch, sign, *arrays) for batch, sign in zip(batches, signs)]
    return found[0] if len(found) == 1 else tuple(found)


def operations() -> list[str]:
    """The names of all operations of the library."""
    return [row[0] for row in _native.operations()]


def devices() -> list[str]:
    """The devices that can compute here: `cpu`, and each usable GPU as `cuda:N`."""
    return _native.devices()


def describe(device: str) -> str:
    """The full name of a device."""
    return _native.describe(device)[1]


def prod(a: Number) -> int:
    """The product of all lanes."""
    return as_array(a).prod()
