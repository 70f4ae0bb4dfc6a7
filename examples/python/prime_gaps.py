"""Searches the longest gap between neighbouring primes above 2**bits.

    python prime_gaps.py --bits 256 --span 100000

Numbers without a small divisor are tested all at once. The merit is the length of the gap over ln p: 1 on average.
"""

from __future__ import annotations

import argparse
import math

import numpy as np
import warpmp as wp

SMALL = [p for p in range(3, 5000, 2) if all(p % d for d in range(3, math.isqrt(p) + 1, 2))]


def survivors(start: int, span: int) -> wp.Array:
    """The odd numbers from `start` to `start + span` without a small divisor."""
    kept = np.ones(span, np.bool_)
    kept[start % 2 :: 2] = False  # even numbers
    for p in SMALL:
        kept[-start % p :: p] = False
    return wp.array(np.flatnonzero(kept)) + start


def main() -> None:
    parser = argparse.ArgumentParser(description="searches long gaps between primes")
    parser.add_argument("--bits", type=int, default=128)
    parser.add_argument("--span", type=int, default=50_000)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()

    numbers = survivors(2**options.bits, options.span)
    primes = numbers[wp.is_prime(numbers, device=options.device, progress=True)].to_list()
    gaps = np.diff(np.array(primes, object))
    print(f"{len(numbers)} numbers tested, {len(primes)} primes, average gap {float(gaps.mean()):.1f}")
    for place in np.argsort(gaps)[: -6 : -1]:
        merit = gaps[place] / math.log(primes[place])
        print(f"gap {gaps[place]:6d}, merit {merit:5.2f}, after 2^{options.bits} + {primes[place] - 2**options.bits}")


if __name__ == "__main__":
    main()
