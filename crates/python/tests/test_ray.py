"""`wp.ray.map` on two local workers, of which one is killed."""

from __future__ import annotations

import math
import os
import signal
from pathlib import Path
from typing import Any, Iterator

import numpy as np
import pytest

import warpmp as wp

ray = pytest.importorskip("ray", reason="the package ray is not installed")


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, configure_logging=False)
    yield
    ray.shutdown()


def shards(count: int) -> list[Any]:
    return [wp.random(50 + i, 200, seed=i) for i in range(count)]


def test_results_come_in_order() -> None:
    modulus = 2**127 - 1
    found = list(wp.ray.map(wp.powmod, shards(12), 65537, modulus, workers=2))
    assert [powers.to_list() for powers in found] == [[pow(n, 65537, modulus) for n in a] for a in shards(12)]


def test_shards_of_every_kind() -> None:
    a = wp.random(20, 128, seed=1)
    columns = [a, a.to_limbs(np.uint64), a.to_limbs(np.uint32)]
    try:
        import pyarrow  # noqa: F401

        columns.append(a.to_arrow())
    except ImportError:
        pass
    expected = [n * n for n in a]
    for found in wp.ray.map(lambda x, y: x * y, [(column, column) for column in columns]):
        assert found.to_list() == expected
    (divisors,) = wp.ray.map("gcd", [a], 105)
    assert divisors.to_list() == [math.gcd(n, 105) for n in a]
    assert list(wp.ray.map("gcd", [], 5)) == []
    with pytest.raises(ValueError, match="at least one worker"):
        wp.ray.map("gcd", [a], 5, workers=0)


def test_an_error_of_the_operation() -> None:
    with pytest.raises(ZeroDivisionError):
        list(wp.ray.map(lambda a: a // 0 if len(a) == 52 else a, shards(4), workers=2))


def test_a_killed_worker_costs_nothing(tmp_path: Path) -> None:
    killed = tmp_path / "killed"

    def square(a: wp.Array) -> wp.Array:
        # The process dies within the fourth shard, once.
        if len(a) == 53 and not killed.exists():
            killed.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return a * a

    found = list(wp.ray.map(square, shards(10), workers=2))
    assert killed.exists()
    assert [squares.to_list() for squares in found] == [[n * n for n in a] for a in shards(10)]


def test_a_data_set_is_read_as_it_is_needed() -> None:
    read = 0

    def generate() -> Iterator[wp.Array]:
        nonlocal read
        for a in shards(100):
            read += 1
            yield a

    results = wp.ray.map(wp.isqrt, generate(), workers=2)
    assert next(results).to_list()
    assert read < 50
    results.close()  # type: ignore[attr-defined]
