#!/usr/bin/env python3
"""Writes numbers.txt: composite cofactors of the Cunningham numbers b^n - 1, from the mathematics alone.

b^n - 1 is the product of the values of the cyclotomic polynomials of the divisors of n at b. The value for n itself has the
factors that no smaller exponent has. Its primes below 10^8 are removed here; a cofactor that is prime is left out. The same numbers stand
in the tables of the Cunningham project (Brillhart, Lehmer, Selfridge, Tuckerman, Wagstaff) with their factors.
"""
import sys


def cyclotomic(n, b):
    """The value of the n-th cyclotomic polynomial at b: b^n - 1 without the values for the divisors of n."""
    value = b**n - 1
    for d in range(1, n):
        if n % d == 0:
            value //= cyclotomic(d, b)
    return value


def without_small_primes(value, n, bound):
    """The value without its primes below the bound: they divide n, or are 1 modulo n."""
    for prime in [p for p in range(2, n + 1) if n % p == 0] + list(range(n + 1, bound, n)):
        while value % prime == 0:
            value //= prime
    return value


def is_composite(value):
    """Fermat's test: no number here is a pseudoprime."""
    return value > 1 and pow(3, value - 1, value) != 1


def main(rows):
    for row in rows:
        b, n = map(int, row.split("^"))
        cofactor = without_small_primes(cyclotomic(n, b), n, 10**8)
        if is_composite(cofactor):
            print(f"# {b}^{n}-1\n{cofactor}")


if __name__ == "__main__":
    main(sys.argv[1:])
