"""Finds RSA keys with a common prime in a CSV file.

    python weak_rsa_keys.py keys.csv --name host --modulus n

Each row has a name and a modulus, decimal or with 0x. Keys that were made with too little chance share a prime; its divisor
then opens both (Heninger and others, "Mining your Ps and Qs", 2012). Without a file the program makes its own keys.
"""

from __future__ import annotations

import argparse
import csv
import random
from pathlib import Path

import warpmp as wp


def read(path: Path, name: str, modulus: str) -> tuple[list[str], wp.Array]:
    """The names and the moduli."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    return [row[name] for row in rows], wp.array([row[modulus] for row in rows])


def made(keys: int, bits: int) -> tuple[list[str], wp.Array]:
    """Keys of which two share a prime."""
    candidates = wp.random(400 * keys, bits // 2, seed=2012) | (3 << (bits // 2 - 2)) | 1
    primes = candidates[wp.is_prime(candidates)][: 2 * keys]
    p, q = primes.to_list()[:keys], primes.to_list()[keys:]
    q[-1] = p[0]
    names = [f"host-{number}" for number in range(keys)]
    random.Random(1).shuffle(names)
    return names, wp.array(p) * wp.array(q)


def main() -> None:
    parser = argparse.ArgumentParser(description="finds RSA keys with a common prime")
    parser.add_argument("file", type=Path, nargs="?")
    parser.add_argument("--name", default="name", help="the column of the names")
    parser.add_argument("--modulus", default="modulus", help="the column of the moduli")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()

    names, moduli = read(options.file, options.name, options.modulus) if options.file else made(50, 512)
    found = wp.batch_gcd(moduli, device=options.device, progress=True)
    print(f"{len(moduli)} keys of up to {moduli.bits} bits")
    for kind, lane, other, divisor in found.tolist():
        if kind == "pair":
            print(f"{names[lane]} and {names[other]} share {divisor:#x}")
        elif kind == "duplicate":
            print(f"{names[lane]} has the key of {names[other]}")


if __name__ == "__main__":
    main()
