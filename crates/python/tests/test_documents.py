"""The programs and tables of the documents."""

import csv
import importlib.util
import pathlib
import re
import subprocess
import sys

import pytest
import warpmp as wp

ROOT = pathlib.Path(__file__).resolve().parents[3]
CHAPTER = (ROOT / "book/src/python.md").read_text()


@pytest.mark.parametrize("document", ["book/src/python.md", "README.md", "crates/python/README.md"])
def test_programs(document):
    programs = re.findall(r"```python\n(.*?)```", (ROOT / document).read_text(), re.DOTALL)
    assert programs
    names = {}
    for program in programs:
        exec(compile(program, document, "exec"), names)


def script(name, *options):
    """What a script of the examples prints."""
    path = ROOT / "examples/python" / name
    run = subprocess.run([sys.executable, path, *map(str, options)], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_weak_rsa_keys(tmp_path):
    assert "share 0x" in script("weak_rsa_keys.py")
    p, q, r, s = 2**127 - 1, 2**89 - 1, 2**107 - 1, 2**61 - 1
    with (tmp_path / "keys.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerows([["host", "n"], ["a", p * q], ["b", r * s], ["c", hex(p * s)], ["d", p * q]])
    printed = script("weak_rsa_keys.py", tmp_path / "keys.csv", "--name", "host", "--modulus", "n")
    assert f"a and c share {p:#x}" in printed and f"b and c share {s:#x}" in printed and "d has the key of a" in printed


def test_prime_gaps():
    printed = script("prime_gaps.py", "--bits", 64, "--span", 4000)
    numbers = wp.array(range(2**64, 2**64 + 4000))
    primes = numbers[wp.is_prime(numbers)].to_list()
    widest = max(q - p for p, q in zip(primes, primes[1:]))
    assert f"{len(primes)} primes" in printed and f"gap {widest:6d}," in printed


def test_collatz_delays(tmp_path):
    printed = script("collatz_delays.py", "--count", 3000, "--out", tmp_path / "delays.png")
    assert "2919    216 steps" in printed
    assert (tmp_path / "delays.png").exists() == (importlib.util.find_spec("matplotlib") is not None)


def expressions():
    section = CHAPTER.split("## From gmpy2 and NumPy")[1].split("\n## ")[0]
    rows = [re.split(r"(?<!\\)\|", row) for row in re.findall(r"^\| `.*\|$", section, re.MULTILINE)]
    return [found for row in rows for found in re.findall(r"`([^`]+)`", row[2].replace("\\|", "|"))]


@pytest.mark.parametrize("expression", expressions())
def test_table(expression):
    a, b, m = wp.array([3**40, 5, 8, 10]), wp.array([4, 5, 6, 3]), wp.array([7, 11, 13, 101])
    assert eval(expression, {"wp": wp}, {"a": a, "b": b, "m": m}) is not None
