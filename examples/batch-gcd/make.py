"""Writes moduli.txt and planted.txt: 48 moduli of 512 bits, some with a prime in common. The same on every machine."""

import hashlib

STREAM = b"warpmp batch-gcd example"


def prime(number):
    """The first prime from the number's 256-bit hash on whose two top bits are set."""
    digest = hashlib.sha256(STREAM + number.to_bytes(4, "big")).digest()
    candidate = int.from_bytes(digest, "big") | 3 << 254 | 1
    while not is_prime(candidate):
        candidate += 2
    return candidate


def is_prime(n):
    """Miller-Rabin with the first 20 primes as bases."""
    twos = (n - 1 & 1 - n).bit_length() - 1
    for base in [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71]:
        powers = [pow(base, n - 1 >> twos, n)]
        for _ in range(twos - 1):
            powers.append(powers[-1] ** 2 % n)
        if powers[0] != 1 and n - 1 not in powers:
            return False
    return True


# Modulus i is the product of primes 2i and 2i + 1, but for these: a pair, a prime in three, and a chain in which the
# middle modulus shares both of its primes.
factors = [[2 * i, 2 * i + 1] for i in range(48)]
factors[30][0] = factors[4][0]
factors[17][1] = factors[41][1] = factors[9][0]
factors[22] = [factors[12][1], factors[35][0]]

moduli = [prime(p) * prime(q) for p, q in factors]
with open("moduli.txt", "w") as file:
    file.writelines(f"{modulus:#x}\n" for modulus in moduli)
with open("planted.txt", "w") as file:
    file.write("# line, line, prime that both have\n")
    for i in range(48):
        for j in range(i + 1, 48):
            file.writelines(f"{i + 1}\t{j + 1}\t{prime(p):#x}\n" for p in factors[i] if p in factors[j])
