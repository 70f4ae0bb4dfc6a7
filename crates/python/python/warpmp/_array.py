"""The array: many integers of one width."""

from __future__ import annotations

import operator
from typing import Any, Callable, Iterable, Iterator, Literal, Sequence, TypeVar, Union, overload

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._native import Batch
from ._progress import Progress, callback
from ._status import Codes, judged, merged

# Numbers that `iter` converts at a time.
_CHUNK = 4096
# Numbers of more bits are shown in short.
_SHOWN_BITS = 256
_SHOWN_LANES = 6

T = TypeVar("T")
Number = Union["Array", int, np.integer, Sequence[int], NDArray[Any]]
ByteOrder = Literal["big", "little"]


class Array:
    """Many integers of one width, on the host or on a device. An array never changes.

    Make one by `array`, `from_limbs`, `random` or `load`. Operators work lane by lane; an operand with one lane, or a
    Python integer, serves all lanes of the other one. Results are exact: they get the bits that they need.
    """

    __slots__ = ("_batch", "_signed", "_status")

    # NumPy's operators leave arrays of this class to this class.
    __array_ufunc__ = None

    _batch: Batch
    _signed: bool
    _status: Codes | None

    def __init__(self, batch: Batch, signed: bool, status: Codes | None = None) -> None:
        self._batch = batch
        self._signed = signed
        self._status = status

    # What an array is.

    def __len__(self) -> int:
        return self._batch.lanes

    @property
    def shape(self) -> tuple[int]:
        """The number of lanes, as NumPy gives it."""
        return (self._batch.lanes,)

    @property
    def size(self) -> int:
        """The number of lanes."""
        return self._batch.lanes

    @property
    def ndim(self) -> int:
        """1."""
        return 1

    @property
    def bits(self) -> int:
        """The bits of a lane; with the sign, if there is one."""
        return self._batch.bits

    @property
    def signed(self) -> bool:
        """Can lanes be negative? They are two's complements then."""
        return self._signed

    @property
    def nbytes(self) -> int:
        """The bytes of all limbs."""
        return self._batch.lanes * -(-self._batch.bits // 32) * 4

    @property
    def device(self) -> str:
        """`cpu`, `cuda:0`, …; `sim` is the simulated GPU."""
        return self._batch.device

    @property
    def status(self) -> Codes:
        """The `Status` of every lane."""
        return np.zeros(len(self), np.uint32) if self._status is None else self._status

    @property
    def mask(self) -> NDArray[np.bool_]:
        """The lanes without a result."""
        return np.asarray(self.status != 0)

    def __repr__(self) -> str:
        lanes = len(self)
        if lanes <= _SHOWN_LANES:
            shown = [_short(number) for number in self.to_list()]
        else:
            shown = [_short(number) for number in self[:3].to_list()]
            shown += ["…"] + [_short(number) for number in self[-2:].to_list()]
        sign = ", signed" if self._signed else ""
        place = "" if self.device == "cpu" else f", {self.device}"
        noun = "lane" if lanes == 1 else "lanes"
        return f"Array([{', '.join(shown)}], {lanes} {noun} of {self.bits} bits{sign}{place})"

    # Elsewhere, and in other bits.

    def to(self, device: str) -> Array:
        """The same lanes on another device: `cpu`, `cuda:0`, `sim`."""
        return Array(self._batch.to(device), self._signed, self._status)

    def resize(self, bits: int, signed: bool | None = None) -> Array:
        """The same numbers in other bits, with or without a sign.

        Raises `OverflowError` that names the first lane that does not fit. `wrapping` cuts off instead.
        """
        signed = self._signed if signed is None else signed
        if self._signed and not signed:
            return _unsigned(self).resize(bits)
        # An unsigned number that becomes a signed one needs a zero above it.
        room = bits - 1 if signed and not self._signed else bits
        if room < self.bits:
            lane = self._batch.first_wider(room, self._signed)
            if lane is not None:
                raise OverflowError(f"lane {lane} does not fit in {bits} bits")
        return Array(self._batch.resize(bits, self._signed), signed, self._status)

    def trim(self) -> Array:
        """The same numbers in as few bits as the longest one needs."""
        return Array(self._batch.resize(self._batch.needed_bits(self._signed), self._signed), self._signed, self._status)

    # Out of the array.

    def to_list(self) -> list[Any]:
        """Python integers; `None` for a lane without a result."""
        numbers: list[Any] = self._batch.to_ints(self._signed)
        for lane in np.flatnonzero(self.mask) if self._status is not None else ():
            numbers[lane] = None
        return numbers

    tolist = to_list

    def __iter__(self) -> Iterator[Any]:
        for first in range(0, len(self), _CHUNK):
            yield from self[first : first + _CHUNK].to_list()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Python integers in an array of objects, or numbers of the type `dtype`. `to_limbs` has the limbs."""
        numbers = np.empty(len(self), object)
        numbers[:] = self.to_list()
        return numbers if dtype is None else numbers.astype(dtype)

    def to_limbs(self, dtype: Any = np.uint32) -> NDArray[Any]:
        """The limbs, `lanes × limbs`, least significant first, of 8, 16, 32 or 64 bits.

        Limbs of the host are not copied, so the result cannot be written to. Two's complements fill their last limb.
        """
        word = np.dtype(dtype)
        if word.kind != "u" or word.itemsize not in (1, 2, 4, 8):
            raise TypeError(f"limbs are unsigned integers of NumPy, not {word}")
        granule = max(32, 8 * word.itemsize)
        bits = -(-self.bits // granule) * granule
        batch = self._batch.to("cpu")
        if self._signed or bits - self.bits >= 32:
            batch = batch.resize(bits, self._signed)
        return np.asarray(batch).view(word.newbyteorder("<"))

    def _byte_rows(self, length: int | None = None, byteorder: ByteOrder = "big") -> NDArray[np.uint8]:
        """The bytes of each lane as a row of NumPy's; by default as long as the width needs."""
        length = -(-self.bits // 8) if length is None else length
        wide = self.resize(8 * length).to_limbs(np.uint8)[:, :length]
        return np.ascontiguousarray(wide[:, ::-1] if byteorder == "big" else wide)

    def to_bytes(self, length: int | None = None, byteorder: ByteOrder = "big") -> list[bytes]:
        """The bytes of each lane, all as long; by default as long as the width needs."""
        rows = self._byte_rows(length, byteorder)
        width, data = rows.shape[1], rows.tobytes()
        return [data[first : first + width] for first in range(0, len(data), width)]

    def to_arrow(self, length: int | None = None, byteorder: ByteOrder = "big") -> Any:
        """A column of `pyarrow` of the type `fixed_size_binary`, with the bytes of `to_bytes`: for tables, and for Parquet.

        A lane without a result is null. Signed numbers are two's complements.
        """
        from ._arrow import to_arrow

        return to_arrow(self, length, byteorder)

    def save(self, path: Any) -> None:
        """Writes the limbs to a file of NumPy, which `load` and the program `warpmp` read."""
        np.save(path, self.to_limbs())

    def __dlpack__(self, **options: Any) -> Any:
        """The limbs for other libraries, on the host or on a GPU. Nobody may write to them."""
        if self.device != "cpu":
            return self._batch.__dlpack__(**options)
        limbs = self.to_limbs()
        if options.get("max_version") is None:
            # An older protocol, which cannot say that the limbs must not be written to.
            limbs = limbs.copy()
        return limbs.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self._batch.__dlpack_device__()

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self._batch.__cuda_array_interface__

    def __reduce__(self) -> tuple[Callable[..., Array], tuple[Any, ...]]:
        limbs = self._batch.to("cpu")
        return _restore, (np.asarray(limbs), self.bits, self._signed, self._status)

    def __copy__(self) -> Array:
        return self

    def __deepcopy__(self, memo: Any) -> Array:
        return self

    # Lanes of the array.

    @overload
    def __getitem__(self, key: int | np.integer) -> int: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[Any]) -> Array: ...
    def __getitem__(self, key: Any) -> Any:
        lanes = len(self)
        if isinstance(key, (int, np.integer)) and not isinstance(key, (bool, np.bool_)):
            place = operator.index(key)
            if not -lanes <= place < lanes:
                raise IndexError(f"there is no lane {place}; there are {lanes}")
            place %= lanes
            return self[place : place + 1].to_list()[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(lanes)
            if step == 1:
                stop = max(start, stop)
                status = None if self._status is None else self._status[start:stop]
                return Array(self._batch.slice(start, stop), self._signed, status)
            return self._take(np.arange(start, stop, step))
        places = np.asarray(key)
        if places.ndim != 1 and places.size or isinstance(key, tuple):
            raise IndexError("an array has one dimension")
        if places.dtype == np.bool_:
            if len(places) != lanes:
                raise IndexError(f"the mask has {len(places)} lanes; the array has {lanes}")
            return self._take(np.flatnonzero(places))
        if places.size and places.dtype.kind not in "iu":
            raise IndexError("lanes are chosen by integers, slices and masks")
        wrapped = np.where(places < 0, places + lanes, places)
        if ((wrapped < 0) | (wrapped >= lanes)).any():
            raise IndexError(f"there are {lanes} lanes")
        return self._take(wrapped)

    def _take(self, places: NDArray[Any]) -> Array:
        status = None if self._status is None else self._status[places]
        return Array(self._batch.take(np.ascontiguousarray(places, np.int64)), self._signed, status)

    # Operators.

    def __add__(self, other: Number) -> Array:
        return _binary(_add, self, other)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Array:
        return _binary(_sub, self, other)

    def __rsub__(self, other: Number) -> Array:
        return _binary(lambda a, b: _sub(b, a), self, other)

    def __mul__(self, other: Number) -> Array:
        return _binary(_mul, self, other)

    __rmul__ = __mul__

    def __floordiv__(self, other: Number) -> Array:
        return _binary(lambda a, b: floor_divide(a, b)[0], self, other)

    def __rfloordiv__(self, other: Number) -> Array:
        return _binary(lambda a, b: floor_divide(b, a)[0], self, other)

    def __mod__(self, other: Number) -> Array:
        return _binary(_mod, self, other)

    def __rmod__(self, other: Number) -> Array:
        return _binary(lambda a, b: _mod(b, a), self, other)

    def __divmod__(self, other: Number) -> tuple[Array, Array]:
        return _binary(floor_divide, self, other)

    def __rdivmod__(self, other: Number) -> tuple[Array, Array]:
        return _binary(lambda a, b: floor_divide(b, a), self, other)

    def mod(self, m: Number) -> Array:
        """`self % m`."""
        return self % m

    def __pow__(self, exponent: Number, modulus: Number | None = None) -> Array:
        if modulus is not None:
            from ._functions import powmod

            return powmod(self, exponent, modulus)
        if not isinstance(exponent, (int, np.integer)):
            raise TypeError("a power without a modulus has one integer as its exponent")
        return _power(self, operator.index(exponent))

    def __lshift__(self, distance: int) -> Array:
        distance = _distance(distance)
        return _of(_native.apply("shl", [self._batch], distance)[0], self._signed, self)

    def __rshift__(self, distance: int) -> Array:
        # The last bit of a two's complement is its sign.
        distance = min(_distance(distance), self.bits - 1) if self._signed else _distance(distance)
        return _of(_native.apply("shr", [self._batch], distance)[0], self._signed, self)

    def __and__(self, other: Number) -> Array:
        return _binary(lambda a, b: _bitwise("and", a, b), self, other)

    __rand__ = __and__

    def __or__(self, other: Number) -> Array:
        return _binary(lambda a, b: _bitwise("or", a, b), self, other)

    __ror__ = __or__

    def __xor__(self, other: Number) -> Array:
        return _binary(lambda a, b: _bitwise("xor", a, b), self, other)

    __rxor__ = __xor__

    def __invert__(self) -> Array:
        return _of(_native.apply("not", [_two_complement(self)])[0], True, self)

    def __neg__(self) -> Array:
        return _of(_native.apply("signed_neg" if self._signed else "neg", [self._batch])[0], True, self)

    def __pos__(self) -> Array:
        return self

    def __abs__(self) -> Array:
        if not self._signed:
            return self
        return _of(_native.apply("to_sign_magnitude", [self._batch])[0], False, self)

    def __eq__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        return _compared(self, other, lambda order: order == 0)

    def __ne__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        return _compared(self, other, lambda order: order != 0)

    def __lt__(self, other: Number) -> NDArray[np.bool_]:
        return _compared(self, other, lambda order: order < 0)

    def __le__(self, other: Number) -> NDArray[np.bool_]:
        return _compared(self, other, lambda order: order <= 0)

    def __gt__(self, other: Number) -> NDArray[np.bool_]:
        return _compared(self, other, lambda order: order > 0)

    def __ge__(self, other: Number) -> NDArray[np.bool_]:
        return _compared(self, other, lambda order: order >= 0)

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> bool:
        if len(self) == 1:
            return bool(self[0])
        raise ValueError("the truth of an array with more than one lane is not defined; compare it first")

    # Figures of lanes.

    def bit_length(self) -> NDArray[np.int64]:
        """The bits of each number, as `int.bit_length` counts them."""
        return self._batch.bit_lengths(self._signed)

    def bit_count(self) -> NDArray[np.int64]:
        """The ones of each magnitude, as `int.bit_count` counts them."""
        return abs(self)._batch.popcounts()

    def sum(self) -> int:
        """The sum of all lanes."""
        return _folded(self, _add, 0)

    def prod(self) -> int:
        """The product of all lanes."""
        return _folded(self, _mul, 1)

    def max(self) -> int:
        """The greatest lane."""
        return _extreme(self, lambda a, b: a >= b)

    def min(self) -> int:
        """The least lane."""
        return _extreme(self, lambda a, b: a <= b)


def _short(number: Any) -> str:
    if number is None:
        return "None"
    if abs(number).bit_length() <= _SHOWN_BITS:
        return str(number)
    digits = hex(number)
    return f"{digits[:14]}…{digits[-6:]}"


def _restore(limbs: NDArray[np.uint32], bits: int, signed: bool, status: Codes | None) -> Array:
    return Array(_native.from_limbs(np.ascontiguousarray(limbs), bits), signed, status)


# Making operands.


def as_array(value: Any, device: str | None = None) -> Array:
    """The value as an array on the device; an array that is one already stays where it is."""
    if isinstance(value, Array):
        return value
    from ._create import array

    return array(value, device=device)


def together(*values: Any) -> list[Array]:
    """The values as arrays on the device of the arrays among them."""
    device = next((value.device for value in values if isinstance(value, Array)), None)
    return [as_array(value, device) for value in values]


def with_device(value: Any, device: str | None) -> tuple[Array, str]:
    """The value as an array, for work that begins on the host, and the device of the work: by default the array's.

    A value that is no array yet stays on the host.
    """
    if isinstance(value, Array):
        return value, device or value.device
    from ._create import array, get_device

    return array(value, device="cpu"), device or get_device()


def _is_number(value: object) -> bool:
    return isinstance(value, (Array, int, np.integer, list, np.ndarray)) or hasattr(value, "__index__")


def _binary(operation: Callable[[Array, Array], T], a: Array, b: Any) -> T:
    if not _is_number(b):
        return NotImplemented  # type: ignore[no-any-return]
    left, right = together(a, b)
    return operation(left, right)


def _of(batch: Batch, signed: bool, *operands: Array) -> Array:
    """A result with the statuses of its operands."""
    status = merged(*(operand._status for operand in operands))
    if status is not None and len(status) != batch.lanes:
        status = np.broadcast_to(status, batch.lanes)
    return Array(batch, signed, status)


def applied(
    name: str, operands: Sequence[Array], signed: Sequence[bool], errors: str | None = None,
    constant: int | None = None, progress: Progress = False,
) -> list[Array]:
    """The results of an operation that has a status; `signed` has an entry for each result."""
    batches = [operand._batch for operand in operands]
    *results, status = _native.apply(name, batches, constant, callback(progress))
    codes = np.asarray(status.to("cpu"))[:, 0]
    before = merged(*(operand._status for operand in operands))
    found = judged(codes, before, errors)
    return [Array(batch, sign, found) for batch, sign in zip(results, signed)]


def _two_complement(a: Array) -> Batch:
    """The lanes as two's complements."""
    return a._batch if a._signed else a._batch.resize(a.bits + 1, False)


def _unsigned(a: Array) -> Array:
    """The lanes without a sign; raises if there is a negative one."""
    if not a._signed:
        return a
    magnitude, sign = _native.apply("to_sign_magnitude", [a._batch])
    negative = np.flatnonzero(np.asarray(sign.to("cpu"))[:, 0])
    if len(negative):
        raise ValueError(f"lane {negative[0]} is negative")
    return Array(magnitude.resize(max(1, a.bits - 1), False), False, a._status)


unsigned = _unsigned


def _distance(distance: int) -> int:
    number = operator.index(distance)
    if number < 0:
        raise ValueError("negative shift count")
    return min(number, 2**31)


# Operators on arrays.


def _add(a: Array, b: Array) -> Array:
    if a._signed or b._signed:
        return _of(_native.apply("signed_add", [_two_complement(a), _two_complement(b)])[0], True, a, b)
    return _of(_native.apply("add", [a._batch, b._batch])[0], False, a, b)


def _sub(a: Array, b: Array) -> Array:
    if a._signed or b._signed:
        return _of(_native.apply("signed_sub", [_two_complement(a), _two_complement(b)])[0], True, a, b)
    return _of(_native.apply("sub", [a._batch, b._batch])[0], True, a, b)


def _mul(a: Array, b: Array) -> Array:
    if a._signed or b._signed:
        return _of(_native.apply("signed_mul", [_two_complement(a), _two_complement(b)])[0], True, a, b)
    if a is b:
        return _of(_native.apply("sqr", [a._batch])[0], False, a)
    return _of(_native.apply("mul", [a._batch, b._batch])[0], False, a, b)


def _bitwise(name: str, a: Array, b: Array) -> Array:
    if not (a._signed or b._signed):
        return _of(_native.apply(name, [a._batch, b._batch])[0], False, a, b)
    left, right = _two_complement(a), _two_complement(b)
    bits = max(left.bits, right.bits)
    return _of(_native.apply(name, [left.resize(bits, True), right.resize(bits, True)])[0], True, a, b)


def floor_divide(a: Array, b: Array, errors: str | None = None) -> tuple[Array, Array]:
    """Quotients, rounded down, and remainders with the sign of the divisor: without one if the divisor has none."""
    if not (a._signed or b._signed):
        quotient, remainder = applied("div_rem", [a, b], [False, False], errors)
        return quotient, remainder
    left, left_sign = _native.apply("to_sign_magnitude", [_two_complement(a)])
    right, right_sign = _native.apply("to_sign_magnitude", [_two_complement(b)])
    magnitudes = [Array(left, False, a._status), Array(right, False, b._status)]
    quotient, remainder = applied("div_rem", magnitudes, [True, True], errors)
    # Signs that differ: −⌈|a| / |b|⌉ = −(q + 1) and |b| − r where there is a remainder, else −q and 0.
    zero = as_array(0, a.device)._batch
    differ = _native.apply("xor", [left_sign, right_sign])[0]
    is_rest = _native.apply("cmp", [remainder._batch, zero])[0].resize(1, False)
    up = _native.apply("and", [differ, is_rest])[0]
    if quotient._status is not None:
        # A lane without a quotient stays zero.
        fine = _native.from_bits(np.ascontiguousarray(quotient._status == 0)).to(a.device)
        up = _native.apply("and", [up, fine])[0]
    raised = _native.apply("add", [quotient._batch, up])[0]
    rest = _native.apply("wrapping_sub", [right, remainder._batch])[0]
    rest = _native.apply("select", [up, rest, remainder._batch])[0]
    if b._signed:
        rest = _native.apply("from_sign_magnitude", [rest, right_sign])[0]
    return (
        Array(_native.apply("from_sign_magnitude", [raised, differ])[0], True, quotient._status),
        Array(rest if b._signed else rest.resize(b.bits, False), b._signed, quotient._status),
    )


def _mod(a: Array, b: Array) -> Array:
    if len(b) == 1 and b._status is None and not b._signed and b.device == "cpu":
        m = int(b[0])
        if m > 1 and m & (m - 1) == 0:
            return _of(a._batch.resize(m.bit_length() - 1, a._signed), False, a)
    if a._signed or b._signed:
        return floor_divide(a, b)[1]
    return applied("rem", [a, b], [False])[0]


def _power(a: Array, exponent: int) -> Array:
    if exponent < 0:
        raise ValueError("a negative power is no integer; powmod has negative exponents")
    if exponent == 0:
        return _of(as_array(1, a.device)._batch.take(np.zeros(len(a), np.int64)), False, a)
    power = a
    for digit in bin(exponent)[3:]:
        power = _mul(power, power)
        if digit == "1":
            power = _mul(power, a)
    return power


def order(a: Array, b: Array) -> NDArray[np.int8]:
    """−1, 0, 1 where `a` is less, equal, greater."""
    if a._signed or b._signed:
        found = _native.apply("signed_cmp", [_two_complement(a), _two_complement(b)])[0]
    else:
        found = _native.apply("cmp", [a._batch, b._batch])[0]
    return small_signed(found)


def small_signed(batch: Batch) -> NDArray[np.int8]:
    """Two's complements of two bits."""
    codes = np.asarray(batch.to("cpu"))[:, 0].astype(np.int8)
    codes[codes == 3] = -1
    return codes


def _compared(a: Array, b: Any, verdict: Callable[[NDArray[np.int8]], Any]) -> NDArray[np.bool_]:
    return _binary(lambda left, right: np.asarray(verdict(order(left, right))), a, b)


# All lanes together.


def _folded(a: Array, operation: Callable[[Array, Array], Array], empty: int) -> int:
    if a._status is not None:
        raise ValueError("some lanes have no result: choose the others by a[~a.mask]")
    if not len(a):
        return empty
    while len(a) > 1:
        half = len(a) // 2
        rest = a[2 * half :]
        a = operation(a[:half], a[half : 2 * half])
        if len(rest):
            a = concatenate([a, rest])
    return int(a[0])


def _extreme(a: Array, keep: Callable[[Array, Array], NDArray[np.bool_]]) -> int:
    if not len(a):
        raise ValueError("an array without lanes has no greatest and no least lane")

    def better(left: Array, right: Array) -> Array:
        return where(keep(left, right), left, right)

    return _folded(a, better, 0)


def common_width(arrays: Sequence[Array]) -> tuple[list[Batch], bool]:
    """The lanes of all arrays in the same bits, and whether they are two's complements."""
    signed = any(a._signed for a in arrays)
    batches = [_two_complement(a) if signed else a._batch for a in arrays]
    bits = max(batch.bits for batch in batches)
    return [batch.resize(bits, signed) for batch in batches], signed


def concatenate(arrays: Iterable[Number]) -> Array:
    """The lanes of all arrays, one array after the other."""
    operands = together(*arrays)
    if not operands:
        raise ValueError("there is nothing to concatenate")
    batches, signed = common_width(operands)
    status = None
    if any(a._status is not None for a in operands):
        status = np.concatenate([a.status for a in operands])
    return Array(_native.concatenate(batches).to(operands[0].device), signed, status)


def where(condition: Any, a: Number, b: Number) -> Array:
    """The lane of `a` where the condition holds, else the lane of `b`."""
    left, right = together(a, b)
    mask = np.atleast_1d(np.ascontiguousarray(condition, np.bool_))
    if mask.ndim != 1:
        raise ValueError("a condition has one dimension")
    bits = _native.from_bits(mask).to(left.device)
    (first, second), signed = common_width([left, right])
    chosen = _native.apply("select", [bits, first, second])[0]
    status = None
    if left._status is not None or right._status is not None:
        status = np.where(mask, left.status, right.status).astype(np.uint32)
    return Array(chosen, signed, status)
