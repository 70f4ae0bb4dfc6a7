"""Rings of residues, in Montgomery's form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _native
from ._array import Array, Number, _of, applied, as_array, order, unsigned
from ._functions import invert, powmod


class Mod:
    """The ring of integers modulo an odd `m`: one number, or one for each lane.

    `ring(a)` makes residues. Their products need no division, and they stay on the device of `m`.

    >>> ring = Mod(97)
    >>> (ring([5, 60]) * 2 - 1).to_list()
    [9, 22]
    """

    __slots__ = ("modulus",)

    modulus: Array

    def __init__(self, m: Number, *, device: str | None = None) -> None:
        modulus = unsigned(as_array(m, device))
        if device is not None:
            modulus = modulus.to(device)
        # Raises for a modulus that is even or zero.
        applied("to_mont", [as_array(0, modulus.device), modulus], [False], "raise")
        self.modulus = modulus

    def __call__(self, values: Number) -> Residues:
        """The residues of these numbers."""
        numbers = as_array(values, self.modulus.device)
        reduced = numbers % self.modulus if numbers.signed else self._do("reduce", numbers)
        return Residues(self, self._do("to_mont", reduced))

    def _do(self, name: str, *operands: Array) -> Array:
        # The modulus is odd and residues are below it, so that no lane can be at fault: the statuses stay where they are.
        batches = [operand._batch for operand in (*operands, self.modulus)]
        return _of(_native.apply(name, batches)[0], False, *operands)

    def __repr__(self) -> str:
        return f"Mod({self.modulus!r})"


class Residues:
    """Residues of a ring. `+`, `-`, `*`, `**`, `/` work lane by lane; numbers become residues first."""

    __slots__ = ("ring", "_form")

    __array_ufunc__ = None

    ring: Mod
    _form: Array

    def __init__(self, ring: Mod, form: Array) -> None:
        self.ring = ring
        self._form = form

    def __len__(self) -> int:
        return len(self._form)

    def _with(self, name: str, other: Any, swapped: bool = False) -> Residues:
        if isinstance(other, Residues):
            if other.ring is not self.ring:
                raise ValueError("the residues belong to different rings")
            form = other._form
        elif isinstance(other, (Array, int, np.integer, list, np.ndarray)):
            form = self.ring(other)._form
        else:
            return NotImplemented  # type: ignore[no-any-return]
        operands = (form, self._form) if swapped else (self._form, form)
        return Residues(self.ring, self.ring._do(name, *operands))

    def __add__(self, other: Any) -> Residues:
        return self._with("add_mod", other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Residues:
        return self._with("sub_mod", other)

    def __rsub__(self, other: Any) -> Residues:
        return self._with("sub_mod", other, swapped=True)

    def __mul__(self, other: Any) -> Residues:
        if other is self:
            return Residues(self.ring, self.ring._do("mont_sqr", self._form))
        return self._with("mont_mul", other)

    __rmul__ = __mul__

    def __neg__(self) -> Residues:
        return Residues(self.ring, self.ring._do("neg_mod", self._form))

    def __pow__(self, exponent: Number) -> Residues:
        return self.ring(powmod(self.to_array(), exponent, self.ring.modulus))

    def inverse(self) -> Residues:
        """The inverses. A lane without one raises `LaneError`, or is masked."""
        return self.ring(invert(self.to_array(), self.ring.modulus))

    def __truediv__(self, other: Any) -> Residues:
        divisor: Residues = other if isinstance(other, Residues) else self.ring(other)
        return self * divisor.inverse()

    def __rtruediv__(self, other: Any) -> Residues:
        return self.inverse()._with("mont_mul", other)

    def __eq__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        if not isinstance(other, Residues):
            other = self.ring(other)  # type: ignore[arg-type]
        return np.asarray(order(self._form, other._form) == 0)

    def __ne__(self, other: object) -> NDArray[np.bool_]:  # type: ignore[override]
        return ~(self == other)

    __hash__ = None  # type: ignore[assignment]

    def __getitem__(self, key: slice | NDArray[Any]) -> Residues:
        if len(self.ring.modulus) > 1:
            raise IndexError("each lane has a modulus of its own: choose lanes of the array instead")
        return Residues(self.ring, self._form[key])

    def to_array(self) -> Array:
        """The numbers below the modulus."""
        return self.ring._do("from_mont", self._form)

    def to_list(self) -> list[Any]:
        """The numbers below the modulus."""
        return self.to_array().to_list()

    def __repr__(self) -> str:
        return f"Residues({self.to_array()!r})"
