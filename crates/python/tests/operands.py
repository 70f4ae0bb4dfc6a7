"""Operands that provoke carries and borrows, at widths beside and between the limits of limbs."""

from __future__ import annotations

from hypothesis import strategies as st

WIDTHS = [1, 2, 7, 31, 32, 33, 63, 64, 65, 96, 127, 128, 131, 255, 257, 521, 1000]


def _number(bits: int) -> st.SearchStrategy[int]:
    top = 2**bits - 1
    place = st.integers(0, bits)
    # A run of ones from one place to another.
    runs = st.tuples(place, place).map(lambda pair: (2 ** max(pair) - 1) ^ (2 ** min(pair) - 1))
    near = st.tuples(place, st.integers(-1, 1)).map(lambda pair: 2 ** pair[0] + pair[1])
    return st.one_of(
        st.sampled_from([0, 1, top, top - 1 if top > 1 else 0, 2 ** (bits - 1)]),
        st.integers(0, top),
        runs,
        near.map(lambda number: max(0, min(number, top))),
        runs.map(lambda number: top ^ number),
    )


def naturals(least: int = 0) -> st.SearchStrategy[int]:
    """Numbers from `least` on."""
    return st.sampled_from(WIDTHS).flatmap(_number).map(lambda number: max(number, least))


def integers() -> st.SearchStrategy[int]:
    """Numbers of both signs."""
    return st.tuples(naturals(), st.sampled_from([1, -1])).map(lambda pair: pair[0] * pair[1])


def pairs(*elements: st.SearchStrategy[int], lanes: int = 5) -> st.SearchStrategy[list[tuple[int, ...]]]:
    """Lanes, each with a number of every strategy."""
    return st.lists(st.tuples(*elements), min_size=1, max_size=lanes)
