#!/usr/bin/env python3
"""Makes numbers.txt, or checks it and factors.txt with `--check`.

b^n - 1 is the product of the values of the cyclotomic polynomials of the divisors of n at b. The value for n itself has the
factors that no smaller exponent has. Its primes below 10^7 are removed here. The same numbers stand, with their factors, in the
tables of the Cunningham project (Brillhart, Lehmer, Selfridge, Tuckerman, Wagstaff: Factorizations of b^n ± 1).

usage: make.py b^n-1 … | make.py --check
"""
import math
import pathlib
import sys

BOUND = 10**7


def cyclotomic(n, b):
    """The value of the n-th cyclotomic polynomial at b: b^n - 1 without the values for the other divisors of n."""
    value = b**n - 1
    for d in range(1, n):
        if n % d == 0:
            value //= cyclotomic(d, b)
    return value


def cofactor(row):
    """The number of a row `b^n-1`. Each prime of the value divides n, or is 1 modulo n."""
    b, n = map(int, row.removesuffix("-1").split("^"))
    value = cyclotomic(n, b)
    for prime in [p for p in range(2, n + 1) if n % p == 0] + list(range(n + 1, BOUND, n)):
        while value % prime == 0:
            value //= prime
    return value


def is_prime(n):
    """Strong tests to the first 24 prime bases."""
    twos = (n - 1 & 1 - n).bit_length() - 1
    for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73, 79, 83, 89):
        power = pow(base, n - 1 >> twos, n)
        if power != 1 and all(pow(power, 1 << i, n) != n - 1 for i in range(twos)):
            return False
    return True


def check(folder):
    """Are the numbers those of their rows, and the factors prime factors that multiply to them?"""
    lines = (folder / "numbers.txt").read_text().splitlines()
    rows = [line.removeprefix("# ") for line in lines[::2]]
    numbers = [int(line) for line in lines[1::2]]
    products = [line.split(" = ") for line in (folder / "factors.txt").read_text().splitlines()]
    assert [int(n) for n, _ in products] == numbers
    for row, number, (_, product) in zip(rows, numbers, products, strict=True):
        primes = [int(prime) for prime in product.split(" * ")]
        assert math.prod(primes) == number and len(primes) > 1 and all(map(is_prime, primes)), row
        assert cofactor(row) == number, row
    print(f"{len(rows)} numbers and their factors are right")


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        check(pathlib.Path(__file__).parent)
    else:
        for row in sys.argv[1:]:
            print(f"# {row}\n{cofactor(row)}")
