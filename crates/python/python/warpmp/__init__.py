"""Arithmetic on many big integers at once, on NVIDIA GPUs and on all cores of a CPU.

>>> import warpmp as wp
>>> a = wp.array([3**200, 5**100, 7], bits=384)
>>> (a * a + 1)[2]
50
>>> wp.powmod(2, a, 1000003).to_list() == [pow(2, n, 1000003) for n in a]
True

An `Array` holds integers of one width. Operators work lane by lane, results are exact, and nothing is copied between devices
unless `Array.to` says so. Functions have gmpy2's names where gmpy2 has them.
"""

import importlib
from typing import Any

from . import collatz, ecdlp
from ._array import Array, concatenate, where
from ._arrow import from_arrow
from ._create import array, from_dlpack, from_limbs, get_device, load, random, save, set_device, zeros
from ._factors import Factors, Find, ecm, factor, pm1, pp1
from ._functions import (
    addmod,
    apply,
    batch_gcd,
    bit_length,
    describe,
    devices,
    divexact,
    f_divmod,
    fma,
    gcd,
    gcdext,
    hamdist,
    invert,
    is_even,
    is_odd,
    is_prime,
    is_square,
    is_strong_prp,
    isqrt,
    isqrt_rem,
    jacobi,
    kronecker,
    lcm,
    legendre,
    maximum,
    minimum,
    mulmod,
    next_prime,
    operations,
    popcount,
    powmod,
    prod,
    submod,
    wrapping,
)
from ._mod import Mod, Residues
from ._status import LaneError, LaneZeroDivisionError, Status, errors

__version__ = "0.1.0"

__all__ = [
    "Array",
    "Factors",
    "Find",
    "LaneError",
    "LaneZeroDivisionError",
    "Mod",
    "Residues",
    "Status",
    "addmod",
    "apply",
    "array",
    "batch_gcd",
    "bit_length",
    "collatz",
    "concatenate",
    "describe",
    "devices",
    "divexact",
    "ecdlp",
    "ecm",
    "errors",
    "f_divmod",
    "factor",
    "fma",
    "from_arrow",
    "from_dlpack",
    "from_limbs",
    "gcd",
    "gcdext",
    "get_device",
    "hamdist",
    "invert",
    "is_even",
    "is_odd",
    "is_prime",
    "is_square",
    "is_strong_prp",
    "isqrt",
    "isqrt_rem",
    "jacobi",
    "kronecker",
    "lcm",
    "legendre",
    "load",
    "maximum",
    "minimum",
    "mulmod",
    "next_prime",
    "operations",
    "pm1",
    "popcount",
    "powmod",
    "pp1",
    "prod",
    "random",
    "save",
    "set_device",
    "submod",
    "where",
    "wrapping",
    "zeros",
]


def __getattr__(name: str) -> Any:
    """`wp.ray` is imported when it is used first: it needs the package `ray`."""
    if name == "ray":
        return importlib.import_module(".ray", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
