"""gmpy2's functions against Python's integers, and beside gmpy2 if it is installed."""

import math

import pytest
import warpmp as wp
from hypothesis import given, settings
from operands import integers, naturals, pairs


def columns(rows):
    return [list(column) for column in zip(*rows)]


@settings(max_examples=30)
@given(pairs(integers(), naturals(), naturals(1)))
def test_powmod(rows):
    a, e, m = columns(rows)
    expected = [pow(x, y, z) for x, y, z in rows]
    assert wp.powmod(wp.array(a), wp.array(e), wp.array(m)).to_list() == expected
    assert pow(wp.array(a), e[0], wp.array(m)).to_list() == [pow(x, e[0], z) for x, _, z in rows]
    odd = [z | 1 for z in m]
    assert wp.powmod(a, e, odd, secret=True).to_list() == [pow(x, y, z) for x, y, z in zip(a, e, odd)]


@given(pairs(integers(), naturals(1)))
def test_invert(rows):
    a, m = columns(rows)
    with wp.errors("mask"):
        found = wp.invert(wp.array(a), wp.array(m))
        negative = wp.powmod(wp.array(a), -3, wp.array(m))
    for lane, (x, z) in enumerate(rows):
        if math.gcd(x, z) == 1:
            assert (found[lane], negative[lane]) == (pow(x, -1, z), pow(x, -3, z))
        else:
            assert found[lane] is negative[lane] is None
            assert found.status[lane] == wp.Status.NO_INVERSE


@given(pairs(integers(), integers(), naturals(1)))
def test_modular(rows):
    a, b, m = (wp.array(column) for column in columns(rows))
    assert wp.mulmod(a, b, m).to_list() == [x * y % z for x, y, z in rows]
    assert wp.addmod(a, b, m).to_list() == [(x + y) % z for x, y, z in rows]
    assert wp.submod(a, b, m).to_list() == [(x - y) % z for x, y, z in rows]


@given(pairs(integers(), integers()))
def test_divisors(rows):
    a, b = (wp.array(column) for column in columns(rows))
    assert wp.gcd(a, b).to_list() == [math.gcd(x, y) for x, y in rows]
    assert wp.lcm(a, b).to_list() == [math.lcm(x, y) for x, y in rows]
    for (x, y), g, s, t in zip(rows, *wp.gcdext(a, b)):
        assert g == math.gcd(x, y) == x * s + y * t


@given(pairs(integers(), integers()))
def test_exact_division(rows):
    rows = [(x, y or 1) for x, y in rows]
    a, b = columns(rows)
    products = wp.array(a) * wp.array(b)
    assert wp.divexact(products, wp.array(b)).to_list() == a


def test_inexact_division():
    with pytest.raises(wp.LaneError, match="lane 1: a remainder"):
        wp.divexact([6, 7], [3, 3])


@given(pairs(naturals(), naturals(), naturals()))
def test_roots_and_sums(rows):
    a, b, c = (wp.array(column) for column in columns(rows))
    roots, rests = wp.isqrt_rem(a)
    assert roots.to_list() == wp.isqrt(a).to_list() == [math.isqrt(x) for x, _, _ in rows]
    assert rests.to_list() == [x - math.isqrt(x) ** 2 for x, _, _ in rows]
    assert wp.is_square(a * a).all()
    assert wp.fma(a, b, c).to_list() == [x * y + z for x, y, z in rows]
    assert wp.maximum(a, b).to_list() == [max(x, y) for x, y, _ in rows]
    assert wp.minimum(a, b).to_list() == [min(x, y) for x, y, _ in rows]


@given(pairs(integers(), naturals()))
def test_figures(rows):
    a, b = columns(rows)
    assert wp.bit_length(a).tolist() == [x.bit_length() for x in a]
    assert wp.array(a).bit_count().tolist() == [bin(abs(x)).count("1") for x in a]
    assert wp.popcount(b).tolist() == [bin(x).count("1") for x in b]
    assert wp.is_odd(a).tolist() == [x % 2 == 1 for x in a]
    assert wp.is_even(a).tolist() == [x % 2 == 0 for x in a]


def euler(a: int, p: int) -> int:
    symbol = pow(a, (p - 1) // 2, p)
    return -1 if symbol == p - 1 else symbol


@given(pairs(integers()))
def test_jacobi(rows):
    (a,) = columns(rows)
    for p in [3, 7, 65537, 2**61 - 1, 2**127 - 1]:
        assert wp.jacobi(a, p).tolist() == [euler(x, p) for x in a]
    composite = 3 * (2**61 - 1)
    assert wp.jacobi(a, composite).tolist() == [euler(x, 3) * euler(x, 2**61 - 1) for x in a]


@given(pairs(integers(), integers()))
def test_rings(rows):
    a, b = columns(rows)
    m = 2**127 - 1
    ring = wp.Mod(m)
    x, y = ring(a), ring(b)
    assert (x + y).to_list() == [(p + q) % m for p, q in rows]
    assert (x - y).to_list() == [(p - q) % m for p, q in rows]
    assert (x * y).to_list() == [p * q % m for p, q in rows]
    assert (x * x - 3 * x + 1).to_list() == [(p * p - 3 * p + 1) % m for p in a]
    assert (x**5).to_list() == [pow(p, 5, m) for p in a]
    assert (-x == 0 - x).all() and (x + y != x).tolist() == [q % m != 0 for q in b]
    units = [p if p % m else 1 for p in a]
    assert (y / ring(units)).to_list() == [q * pow(p, -1, m) % m for p, q in zip(units, b)]


def test_rings_of_many_moduli():
    moduli = [97, 2**64 - 59, 2**131 + 1]
    ring = wp.Mod(moduli)
    assert (ring([5, 6, 7]) * 10).to_list() == [50, 60, 70]
    assert ring(wp.array([-1])).to_list() == [m - 1 for m in moduli]
    with pytest.raises(ValueError, match="even modulus"):
        wp.Mod(10)
    with pytest.raises(ValueError, match="different rings"):
        ring([1]) + wp.Mod(97)([1])


def test_every_operation_has_a_name():
    assert len(wp.operations()) > 50
    quotient, remainder = wp.apply("div_rem", [7, 9], [2, 4])
    assert (quotient.to_list(), remainder.to_list()) == ([3, 2], [1, 1])
    assert wp.apply("pow_mod_public", [2, 3], 97, constant=3).to_list() == [8, 27]
    assert wp.apply("cmp", [1, 2, 3], 2).to_list() == [-1, 0, 1]
    with pytest.raises(ValueError, match="abacus"):
        wp.apply("abacus", 1)
    with pytest.raises(ValueError, match="takes 2 operands"):
        wp.apply("mul", [1])


@given(pairs(naturals(), naturals(), naturals(1)))
def test_beside_gmpy2(rows):
    gmpy2 = pytest.importorskip("gmpy2")
    a, b, m = columns(rows)
    big = [[gmpy2.mpz(x) for x in column] for column in (a, b, m)]
    assert wp.array(big[0]).to_list() == a
    x, y, z = (wp.array(column) for column in (a, b, m))

    def expected(function, *columns):
        return [int(function(*lane)) for lane in zip(*columns)]

    assert wp.gcd(x, y).to_list() == expected(gmpy2.gcd, *big[:2])
    assert wp.lcm(x, y).to_list() == expected(gmpy2.lcm, *big[:2])
    assert wp.powmod(x, y, z).to_list() == expected(gmpy2.powmod, *big)
    assert wp.isqrt(x).to_list() == expected(gmpy2.isqrt, big[0])
    assert wp.kronecker(x, z).tolist() == expected(gmpy2.kronecker, big[0], big[2])
    assert wp.kronecker(-x, z).tolist() == expected(gmpy2.kronecker, [-n for n in big[0]], big[2])
    assert wp.is_prime(x).tolist() == [gmpy2.is_prime(n) for n in big[0]]
    assert wp.hamdist(x, y).tolist() == expected(gmpy2.hamdist, *big[:2])
    assert wp.f_divmod(-x, z)[0].to_list() == [int(gmpy2.f_divmod(-p, q)[0]) for p, q in zip(big[0], big[2])]
