"""Every operation of the library by its name, against Python's integers."""

import math

import pytest
import warpmp as wp
from hypothesis import given, settings
from hypothesis import strategies as st
from operands import WIDTHS

# Of these, all operands before the modulus are below it.
REDUCED = ["add_mod", "sub_mod", "neg_mod", "to_mont", "from_mont", "mont_mul", "mont_sqr"]
ODD = ["pow_mod_sec", "pow_mod_public", "to_mont", "from_mont", "mont_mul", "mont_sqr", "redc"]
CONSTANTS = {"distance": [0, 1, 31, 32, 33, 200], "extension": [1, 31, 64], "exponent": [1, 3, 65537], "base": [2, 3, 31]}


def signed(pattern, bits):
    return pattern - (pattern >> (bits - 1) << bits)


def sign(number):
    return (number > 0) - (number < 0)


def radix(bits):
    """Montgomery's R for moduli of this width."""
    return 2 ** (-(-bits // 32) * 32)


def gcd_ext(a, b):
    g = math.gcd(a, b)
    if b == 0:
        return g, int(a > 0), 0
    x = pow(a // g, -1, b // g) if b > g else 0
    return g, x, (g - a * x) // b


def kronecker(a, n):
    if n == 0:
        return int(a == 1)
    found = 1
    while n % 2 == 0:
        n //= 2
        found *= [0, 1, 0, -1, 0, -1, 0, 1][a % 8]
    # The reciprocity of odd numbers.
    a %= n
    while a:
        while a % 2 == 0:
            a //= 2
            found *= -1 if n % 8 in (3, 5) else 1
        a, n = n, a
        found *= -1 if a % 4 == n % 4 == 3 else 1
        a %= n
    return found if n == 1 else 0


def strong(a, n):
    if n < 3 or n % 2 == 0:
        return 0
    d, s = n - 1, 0
    while d % 2 == 0:
        d, s = d // 2, s + 1
    powers = [pow(a, d << i, n) for i in range(s)]
    return int(powers[0] == 1 or n - 1 in powers)


# Of the widths `w` and the operands: the results.
DEFINED = {
    "mul": lambda w, a, b: a * b,
    "sqr": lambda w, a: a * a,
    "mul_lo": lambda w, a, b: a * b % 2 ** max(w),
    "mul_hi": lambda w, a, b: a * b >> max(w),
    "mul_add": lambda w, a, b, c: a * b + c,
    "signed_mul": lambda w, a, b: signed(a, w[0]) * signed(b, w[1]),
    "add": lambda w, a, b: a + b,
    "wrapping_add": lambda w, a, b: (a + b) % 2 ** max(w),
    "carrying_add": lambda w, a, b, c: tuple(reversed(divmod(a + b + c % 2, 2 ** max(w[:2])))),
    "sub": lambda w, a, b: a - b,
    "wrapping_sub": lambda w, a, b: (a - b) % 2 ** max(w),
    "borrowing_sub": lambda w, a, b, c: ((a - b - c % 2) % 2 ** max(w[:2]), int(a - b - c % 2 < 0)),
    "neg": lambda w, a: -a,
    "wrapping_neg": lambda w, a: -a % 2 ** w[0],
    "cmp": lambda w, a, b: sign(a - b),
    "shl": lambda w, a, n: a << n,
    "wrapping_shl": lambda w, a, n: (a << n) % 2 ** w[0],
    "shr": lambda w, a, n: a >> n,
    "and": lambda w, a, b: a & b,
    "or": lambda w, a, b: a | b,
    "xor": lambda w, a, b: a ^ b,
    "not": lambda w, a: 2 ** w[0] - 1 - a,
    "select": lambda w, a, b, c: b if a % 2 else c,
    "signed_add": lambda w, a, b: signed(a, w[0]) + signed(b, w[1]),
    "signed_sub": lambda w, a, b: signed(a, w[0]) - signed(b, w[1]),
    "signed_neg": lambda w, a: -signed(a, w[0]),
    "signed_cmp": lambda w, a, b: sign(signed(a, w[0]) - signed(b, w[1])),
    "sign_extend": lambda w, a, n: signed(a, w[0]),
    "to_sign_magnitude": lambda w, a: (abs(signed(a, w[0])), int(signed(a, w[0]) < 0)),
    "from_sign_magnitude": lambda w, a, b: -a if b % 2 else a,
    "div_rem": lambda w, a, b: divmod(a, b),
    "rem": lambda w, a, b: a % b,
    "div_exact": lambda w, a, b: a // b if a % b == 0 else None,
    "gcd": lambda w, a, b: math.gcd(a, b),
    "lcm": lambda w, a, b: math.lcm(a, b),
    "gcd_ext": lambda w, a, b: gcd_ext(a, b),
    "jacobi": lambda w, a, n: kronecker(a, n),
    "sqrt": lambda w, a: (math.isqrt(a), a - math.isqrt(a) ** 2),
    "add_mod": lambda w, a, b, m: (a + b) % m,
    "sub_mod": lambda w, a, b, m: (a - b) % m,
    "neg_mod": lambda w, a, m: -a % m,
    "mul_mod": lambda w, a, b, m: a * b % m,
    "sqr_mod": lambda w, a, m: a * a % m,
    "pow_mod": lambda w, a, e, m: pow(a, e, m),
    "pow_mod_sec": lambda w, a, e, m: pow(a, e, m),
    "pow_mod_public": lambda w, a, m, e: pow(a, e, m),
    "inv_mod": lambda w, a, m: pow(a, -1, m) if math.gcd(a, m) == 1 else None,
    "strong_test": lambda w, n, a: strong(a, n),
    "miller_rabin": lambda w, a, n: strong(a, n),
    "reduce": lambda w, a, m: a % m,
    "to_mont": lambda w, a, m: a * radix(w[1]) % m,
    "from_mont": lambda w, a, m: a * pow(radix(w[1]), -1, m) % m,
    "mont_mul": lambda w, a, b, m: a * b * pow(radix(w[2]), -1, m) % m,
    "mont_sqr": lambda w, a, m: a * a * pow(radix(w[1]), -1, m) % m,
    "redc": lambda w, a, m: a * pow(radix(w[1]), -1, m) % m,
}


def test_every_operation_is_defined():
    assert sorted(DEFINED) == sorted(wp.operations())


@pytest.mark.parametrize("row", wp._native.operations(), ids=lambda row: row[0])
@settings(max_examples=15)
@given(data=st.data())
def test_operation(row, data):
    name, arity, results, _, has_status, role = row
    widths = [data.draw(st.sampled_from(WIDTHS)) for _ in range(arity)]
    constant = data.draw(st.sampled_from(CONSTANTS[role])) if role else None
    lanes = []
    for _ in range(3):
        numbers = [data.draw(st.integers(0, 2**bits - 1) | st.sampled_from([0, 1, 2**bits - 1])) for bits in widths]
        if has_status:
            numbers[-1] = max(1, numbers[-1]) | (name in ODD)
        if name in REDUCED:
            numbers = [number % numbers[-1] for number in numbers[:-1]] + numbers[-1:]
        if name == "redc":
            numbers[0] %= numbers[1] * radix(widths[1])
        if name == "div_exact" and data.draw(st.booleans()):
            numbers[0] -= numbers[0] % numbers[1]
        lanes.append(numbers)
    arrays = [wp.array(list(column), bits=bits) for column, bits in zip(zip(*lanes), widths)]
    found = wp.apply(name, *arrays, constant=constant, errors="mask" if has_status else None)
    columns = [it.to_list() for it in (found if isinstance(found, tuple) else (found,))]
    assert len(columns) == len(results)
    for lane, numbers in enumerate(lanes):
        expected = DEFINED[name](widths, *numbers, *([] if constant is None else [constant]))
        expected = expected if isinstance(expected, tuple) else (expected,) * len(results)
        assert tuple(column[lane] for column in columns) == expected, (name, widths, numbers, constant)
