"""Operators against Python's integers."""

import operator

import numpy as np
import pytest
import warpmp as wp
from hypothesis import given
from hypothesis import strategies as st
from operands import integers, naturals, pairs

BINARY = [operator.add, operator.sub, operator.mul, operator.and_, operator.or_, operator.xor]
COMPARISONS = [operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge]
DIVISIONS = [operator.floordiv, operator.mod]
UNARY = [operator.neg, operator.pos, operator.invert, abs]


def columns(rows):
    return [list(column) for column in zip(*rows)]


@pytest.mark.parametrize("elements", [(naturals(), naturals()), (integers(), integers()), (naturals(), integers())])
@pytest.mark.parametrize("op", BINARY)
def test_binary(op, elements):
    @given(pairs(*elements))
    def check(rows):
        a, b = columns(rows)
        assert op(wp.array(a), wp.array(b)).to_list() == [op(x, y) for x, y in rows]

    check()


@pytest.mark.parametrize("op", DIVISIONS)
@given(rows=pairs(integers(), integers()))
def test_division(op, rows):
    rows = [(x, y or 1) for x, y in rows]
    a, b = columns(rows)
    assert op(wp.array(a), wp.array(b)).to_list() == [op(x, y) for x, y in rows]


@given(pairs(integers(), naturals(1)))
def test_divmod(rows):
    a, b = columns(rows)
    quotients, remainders = divmod(wp.array(a), wp.array(b))
    assert list(zip(quotients, remainders)) == [divmod(x, y) for x, y in rows]
    assert not remainders.signed


@pytest.mark.parametrize("op", COMPARISONS)
@given(rows=pairs(integers(), integers()))
def test_comparisons(op, rows):
    rows += [(x, x) for x, _ in rows]
    a, b = columns(rows)
    found = op(wp.array(a), wp.array(b))
    assert found.dtype == np.bool_ and found.tolist() == [op(x, y) for x, y in rows]


@pytest.mark.parametrize("op", UNARY)
@given(numbers=st.lists(integers(), min_size=1, max_size=5))
def test_unary(op, numbers):
    assert op(wp.array(numbers)).to_list() == [op(x) for x in numbers]


@given(st.lists(integers(), min_size=1, max_size=5), st.integers(0, 300))
def test_shifts(numbers, distance):
    a = wp.array(numbers)
    assert (a << distance).to_list() == [x << distance for x in numbers]
    assert (a >> distance).to_list() == [x >> distance for x in numbers]


@given(st.lists(integers(), min_size=1, max_size=4), st.integers(0, 9))
def test_powers(numbers, exponent):
    assert (wp.array(numbers) ** exponent).to_list() == [x**exponent for x in numbers]


@given(st.lists(integers(), min_size=1, max_size=5), integers())
def test_one_number_serves_all_lanes(numbers, one):
    a = wp.array(numbers)
    for op in [*BINARY, *(DIVISIONS if one else [])]:
        assert op(a, one).to_list() == [op(x, one) for x in numbers]
    for op in BINARY:
        assert op(one, a).to_list() == [op(one, x) for x in numbers]
    assert (a < one).tolist() == [x < one for x in numbers]
    assert (a + wp.array([one])).to_list() == (wp.array([one]) + a).to_list() == [x + one for x in numbers]


@given(st.lists(integers(), min_size=1, max_size=5), st.integers(1, 300))
def test_wrapping(numbers, bits):
    a = wp.array(numbers)
    expected = [x % 2**bits for x in numbers]
    assert wp.wrapping(a, bits).to_list() == expected
    assert a.mod(2**bits).to_list() == expected
    assert wp.wrapping(a, bits, signed=True).to_list() == [(x + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1) for x in numbers]


@given(st.lists(integers(), min_size=1, max_size=20))
def test_all_lanes_together(numbers):
    a = wp.array(numbers)
    assert (a.sum(), a.max(), a.min()) == (sum(numbers), max(numbers), min(numbers))
    product = 1
    for x in numbers[:6]:
        product *= x
    assert wp.prod(a[:6]) == product


def test_squares_and_exactness():
    a = wp.array([2**131 - 1, 0, 1])
    assert (a * a).to_list() == [x * x for x in a]
    c = a * a + 1
    assert c.bits == 263 and c.to_list() == [x * x + 1 for x in a]


def test_division_by_zero():
    a = wp.array([1, -2, 3])
    with pytest.raises(ZeroDivisionError, match="1 of 3 lanes has no result: lane 1: division by zero"):
        wp.array([1, 2, 3]) // wp.array([1, 0, 2])
    with pytest.raises(wp.LaneError) as error:
        a % wp.array([0, 5, 0])
    assert error.value.lanes.tolist() == [0, 2]
    assert error.value.status.tolist() == [1, 0, 1]


def test_wrong_operands():
    a = wp.array([1, 2])
    with pytest.raises(ValueError, match="operands have 2 and 3 lanes"):
        a + wp.array([1, 2, 3])
    with pytest.raises(TypeError):
        a + "1"
    with pytest.raises(TypeError):
        a + 1.5
    with pytest.raises(ValueError):
        a << -1
    with pytest.raises(ValueError):
        a**-1
    with pytest.raises(OverflowError, match="at most 16777216"):
        wp.array([1], bits=2**24 + 1) * a
    with pytest.raises(OverflowError):
        a << 2**40
    assert (a == "x") is False or not np.any(a == "x")


def test_numpy_leaves_operators_to_arrays():
    a = wp.array([1, 2, 3])
    numbers = np.array([4, 5, 6])
    assert isinstance(numbers * a, wp.Array) and (numbers * a).to_list() == [4, 10, 18]
    assert (numbers - a).to_list() == [3, 3, 3]
    assert (numbers < a).tolist() == [False] * 3
    assert (np.uint64(2**64 - 1) + a).to_list() == [2**64, 2**64 + 1, 2**64 + 2]
