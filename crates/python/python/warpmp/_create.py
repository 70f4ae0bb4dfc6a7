"""Arrays from numbers, text, bytes, limbs and files."""

from __future__ import annotations

import operator
import secrets
from contextvars import ContextVar
from typing import Any, Iterable

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._array import Array, ByteOrder

# DLPack's number of the host.
_HOST = 1

_device: ContextVar[str] = ContextVar("warpmp.device", default="cpu")


def set_device(device: str) -> None:
    """Sets the device of arrays that are made without `device=`, for this thread and context. At first it is `cpu`."""
    _device.set(_native.describe(device)[0])


def get_device() -> str:
    """The device of arrays that are made without `device=`."""
    return _device.get()


def _placed(batch: _native.Batch, signed: bool, device: str | None) -> Array:
    return Array(batch.to(_device.get() if device is None else device), signed)


def array(
    values: Any,
    bits: int | None = None,
    *,
    signed: bool | None = None,
    device: str | None = None,
    byteorder: ByteOrder = "big",
) -> Array:
    """An array of integers.

    `values` are Python integers, NumPy's, gmpy2's `mpz`, or anything with `__index__`; texts in decimal digits or with
    `0x`, `0o`, `0b`; or bytes, whose order is `byteorder`. A single integer is an array of one lane.

    `bits` is the width of a lane, by default that of the longest number. The lanes are signed if a number is negative, or if
    `signed` says so; the sign takes one bit.

    Raises `OverflowError` that names the first number that does not fit.
    """
    if isinstance(values, Array):
        found = values if bits is None and signed is None else values.resize(bits or values.bits, signed)
        return found if device is None else found.to(device)
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1:
        return _from_numpy(values, bits, signed, device)
    if isinstance(values, (str, bytes)) or hasattr(values, "__index__") and not isinstance(values, np.ndarray):
        values = [values]
    numbers = values if type(values) is list else _listed(values)
    if numbers and all(isinstance(number, str) for number in numbers):
        return _placed(*_native.from_text(numbers, bits, signed), device)
    if numbers and all(isinstance(number, (bytes, bytearray)) for number in numbers):
        return _placed(_native.from_bytes(numbers, byteorder == "little", bits), False, device)
    found_batch = _native.from_ints(numbers, bits, signed)
    if found_batch is None:
        found_batch = _native.from_ints([_index(number) for number in numbers], bits, signed)
    if found_batch is None:
        raise TypeError("the numbers are no integers")
    return _placed(*found_batch, device)


def _listed(values: Iterable[Any]) -> list[Any]:
    found = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if found and isinstance(found[0], list):
        raise TypeError("an array has one dimension; from_limbs takes rows of limbs")
    return found


def _index(number: Any) -> int:
    return int(number, 0) if isinstance(number, str) else operator.index(number)


def _from_numpy(values: NDArray[Any], bits: int | None, signed: bool | None, device: str | None) -> Array:
    has_sign = values.dtype.kind == "i"
    wide = np.ascontiguousarray(values, "<i8" if has_sign else "<u8")
    native = Array(_native.from_limbs(wide.view("<u4").reshape(-1, 2), 64), has_sign)
    if bits is None and not (has_sign and signed is False):
        bits = 8 * values.dtype.itemsize + (signed is True and not has_sign)
    if has_sign and signed is False:
        native = native.resize(bits or 63, False) if bits != 0 else native
    else:
        native = native.resize(bits or 64, signed)
    return _placed(native._batch, native.signed, device)


def from_limbs(
    limbs: Any, bits: int | None = None, *, signed: bool = False, device: str | None = None
) -> Array:
    """An array from limbs of 8, 16, 32 or 64 bits, `lanes × limbs`, least significant first.

    `limbs` is an array of NumPy, or anything that NumPy takes. Limbs of 32 or 64 bits may be on a GPU, in an array of CuPy,
    PyTorch, Numba or any library that has `__cuda_array_interface__`: they are copied on that GPU, and the array stays there
    unless `device` says otherwise. Numbers with `signed` are two's complements. `bits` is the width of a lane, by default that of
    its limbs; the limbs' bits above must be zero, or the sign.
    """
    interface = None if isinstance(limbs, np.ndarray) else getattr(limbs, "__cuda_array_interface__", None)
    if interface is not None:
        return _from_gpu(limbs, interface, bits, signed, device)
    words = np.asarray(limbs)
    if words.dtype.kind != "u":
        raise TypeError(f"limbs are unsigned integers of NumPy, not {words.dtype}")
    lanes, count = _lanes_and_limbs(words.shape)
    words = words.reshape(lanes, count)
    full = 8 * words.dtype.itemsize * count
    little = np.ascontiguousarray(words, words.dtype.newbyteorder("<"))
    if full % 32:
        padded = np.zeros((lanes, -(-full // 32) * 4), np.uint8)
        padded[:, : full // 8] = little.view(np.uint8).reshape(lanes, full // 8)
        little = padded
    batch = _native.from_limbs(little.view("<u4").reshape(lanes, -(-full // 32)), full)
    found = Array(batch, signed)
    return _placed((found if bits is None else found.resize(bits))._batch, signed, device)


def _from_gpu(limbs: Any, interface: dict[str, Any], bits: int | None, signed: bool, device: str | None) -> Array:
    """A copy of limbs that another library has on a GPU."""
    if interface["typestr"] not in ("<u4", "<u8"):
        raise TypeError(f"limbs on a GPU are unsigned integers of 32 or 64 bits, not {interface['typestr']}")
    if interface.get("mask") is not None:
        raise TypeError("limbs have no mask")
    size = int(interface["typestr"][2:])
    lanes, count = _lanes_and_limbs(tuple(interface["shape"]))
    if interface.get("strides") not in (None, (size * count, size)[2 - len(interface["shape"]) :]):
        raise ValueError("limbs on a GPU lie one after the other; make the array contiguous")
    # The interface does not name the GPU. A library that does not name it either uses the first one.
    number = limbs.__dlpack_device__()[1] if hasattr(limbs, "__dlpack_device__") else 0
    words = count * size // 4
    batch = _native.from_gpu(interface["data"][0], lanes, words, f"cuda:{int(number)}")
    found = Array(batch, signed)
    found = found if bits is None else found.resize(bits)
    return found if device is None else found.to(device)


def _lanes_and_limbs(shape: tuple[int, ...]) -> tuple[int, int]:
    """The lanes and the limbs of a lane; numbers in one dimension have one limb each."""
    dimensions = len(shape)
    if dimensions not in (1, 2):
        raise ValueError(f"limbs have two dimensions, lanes × limbs; there are {dimensions}")
    return shape[0], shape[1] if dimensions == 2 else 1


def from_dlpack(limbs: Any, bits: int | None = None, *, signed: bool = False, device: str | None = None) -> Array:
    """`from_limbs` of a tensor of another library, on the host by its `__dlpack__`, on a GPU by its
    `__cuda_array_interface__`.
    """
    if hasattr(limbs, "__dlpack_device__") and limbs.__dlpack_device__()[0] != _HOST:
        if getattr(limbs, "__cuda_array_interface__", None) is None:
            raise BufferError("the tensor is on a device that shares its memory with no other library")
        return from_limbs(limbs, bits, signed=signed, device=device)
    return from_limbs(np.from_dlpack(limbs), bits, signed=signed, device=device)


def random(lanes: int, bits: int, *, seed: int | None = None, device: str | None = None) -> Array:
    """Random numbers below `2**bits`, each with the same probability. The same seed gives the same numbers.

    They are good for tests and simulations. For secrets, use `secrets`.
    """
    start = secrets.randbits(64) if seed is None else operator.index(seed)
    return _placed(_native.random(operator.index(lanes), operator.index(bits), start % 2**64), False, device)


def zeros(lanes: int, bits: int, *, device: str | None = None) -> Array:
    """Zeros."""
    return from_limbs(np.zeros((lanes, -(-bits // 32)), np.uint32), bits, device=device)


def load(path: Any, bits: int | None = None, *, signed: bool = False, device: str | None = None) -> Array:
    """An array from a file that `Array.save`, the program `warpmp` or NumPy wrote: limbs, `lanes × limbs`."""
    return from_limbs(np.load(path, mmap_mode="r"), bits, signed=signed, device=device)


def save(path: Any, a: Array) -> None:
    """Writes the limbs to a file of NumPy."""
    a.save(path)
