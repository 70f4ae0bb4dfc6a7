"""Long work: threads, Ctrl-C, progress; number theory, Collatz, discrete logarithms."""

import contextlib
import pathlib
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import warpmp as wp

# 2**521 - 1 is a prime.
M521 = 2**521 - 1


def test_threads():
    def work(seed):
        a, b = wp.random(300, bits=700, seed=seed), wp.random(300, bits=300, seed=seed + 100)
        c = pow(a * b + seed, 3, M521)
        return c.to_list() == [pow(x * y + seed, 3, M521) for x, y in zip(a, b)]

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(24)))


def test_errors_of_threads_are_their_own():
    def work(mode):
        with wp.errors(mode):
            try:
                return (wp.array([1]) // 0).to_list()
            except ZeroDivisionError:
                return "raised"

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(work, ["mask", "raise"] * 8)) == [[None], "raised"] * 8


def interrupted(call):
    """The seconds until a call ends after Ctrl-C."""
    start = time.monotonic()
    delay = 0.3
    timer = threading.Timer(delay, signal.raise_signal, (signal.SIGINT,))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    timer.join()
    return time.monotonic() - start - delay


def thread_names():
    """The names of the threads of this process. A thread may end before its name is read."""
    names = []
    for thread in pathlib.Path("/proc/self/task").glob("*/comm"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            names.append(thread.read_text().strip())
    return names


@pytest.mark.parametrize("name", ["powmod", "batch_gcd", "is_prime", "verify", "ecm", "factor"])
def test_ctrl_c(name):
    a = wp.random(20_000, bits=2048, seed=1)
    calls = {
        "powmod": lambda: wp.powmod(a, a, a | 1),
        "batch_gcd": lambda: wp.batch_gcd(a),
        "is_prime": lambda: wp.is_prime(a | 1),
        "verify": lambda: wp.collatz.verify(2**71, 2**33),
        "ecm": lambda: wp.ecm(2**1061 - 1, 10**6, curves=1000, seed=1),
        "factor": lambda: wp.factor([2**1061 - 1, 15], digits=50, seed=1),
    }
    # An idle machine takes less than a second; a busy one must not fail.
    assert interrupted(calls[name]) < 5.0
    assert (wp.array([2]) * 3).to_list() == [6]
    # Nothing goes on for long in the background.
    end = time.monotonic() + 20
    while "warpmp" in thread_names():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_progress(capsys):
    shares = []
    wp.is_prime(wp.random(20_000, bits=256, seed=2), progress=shares.append)
    assert shares == sorted(shares) and shares[-1] == 1.0
    for call in (
        lambda progress: wp.powmod(wp.random(200, bits=512, seed=3), M521, M521 + 2, progress=progress),
        lambda progress: wp.apply("mul", [3], [4], progress=progress),
    ):
        shares.clear()
        call(shares.append)
        assert shares == sorted(shares) and shares[-1] == 1.0
    wp.is_prime([5], progress=True)
    assert "100.0 %" in capsys.readouterr().err

    def stop(share):
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        wp.collatz.verify(2**71, 2**33, progress=stop)


def test_primes():
    sieve = [n for n in range(-3, 2000) if n > 1 and all(n % d for d in range(2, int(n**0.5) + 1))]
    numbers = wp.array(range(-3, 2000))
    assert numbers[wp.is_prime(numbers)].to_list() == sieve
    assert wp.is_prime([M521, M521 + 2, 561, 2**61 - 1]).tolist() == [True, False, False, True]
    assert wp.is_prime([M521, 3215031751], rounds=20, seed=1).tolist() == [True, False]
    assert wp.is_strong_prp([2047, 2049, 13], 2).tolist() == [True, False, True]


def test_next_primes():
    assert wp.next_prime([-5, 0, 1, 2, 7, 90, 1_000_000]).to_list() == [2, 2, 2, 3, 11, 97, 1_000_003]
    assert wp.next_prime(M521 - 1).to_list() == [M521]
    shares = []
    wp.next_prime(wp.random(300, bits=128, seed=4), progress=shares.append)
    assert shares[-1] == 1.0


def test_factors():
    first, second = 15329478340397551129, 14517577769892627371
    [found] = wp.ecm(first, 200, 10000, sigma="3:974277738")
    assert found.primes == [261833641, 58546633969] and found.complete
    assert found.finds[0] == wp.Find(261833641, "ECM", "3:974277738", 200, 10000, 1)
    assert found.finds[1].method is None and str(found) == f"{first} = 261833641 * 58546633969"
    [found] = wp.ecm([second], 200, 10000, sigma="3:2227979599")
    assert found.finds[0].stage == 2
    [found] = wp.ecm([second], 200, 0, sigma="3:2227979599")
    assert found.composites == (second,) and not found.primes and not found.complete and found.attempts == 1
    assert wp.pm1(2**67 - 1, 3000)[0].primes == [193707721, 761838257287]
    assert wp.pp1(304328559663589584905753312658037004309, 1000, 100000, x0=[5])[0].complete
    for attempt in (wp.pm1, wp.pp1):
        assert attempt([first, second], 200, device="sim") == attempt([first, second], 200)
    shares = []
    numbers = [0, 1, 97, 2**10 * 1000003**2, (2**61 - 1) ** 3, second, 2**67 - 1]
    known = wp.factor(numbers, digits=15, seed=1, progress=shares.append)
    assert [it.n for it in known] == numbers and all(it.complete for it in known) and shares[-1] == 1.0
    assert [len(it.primes) for it in known] == [0, 0, 1, 12, 3, 2, 2]
    assert known == wp.factor(numbers, digits=15, seed=1)
    curve = {"b1": 200, "b2": 10000, "sigma": "3:974277738"}
    for on_device in wp.ecm(first, device="sim", **curve), wp.ecm(wp.array([first], device="sim"), **curve):
        assert on_device == wp.ecm(first, **curve) and on_device[0].complete
    assert wp.factor(first, digits=5, seed=1, device="sim") == wp.factor(first, digits=5, seed=1)
    for wrong in [
        lambda: wp.ecm(15, 2),
        lambda: wp.ecm(15, 100, sigma="2:7"),
        lambda: wp.ecm(15, 100, sigma="3:4294967295", curves=2),
        lambda: wp.factor(15, digits=66),
        lambda: wp.factor(-15),
    ]:
        with pytest.raises(ValueError):
            wrong()


def test_shared_factors():
    p, q, r = M521, 2**127 - 1, 2**89 - 1
    found = wp.batch_gcd([p * q, q * r, 5, p * q, 0, 1])
    rows = [tuple(row) for row in found]
    assert ("shared", 0, -1, q) in rows and ("pair", 0, 1, q) in rows and ("duplicate", 3, 0, 0) in rows
    assert ("zero", 4, -1, 0) in rows and ("one", 5, -1, 1) in rows and len(rows) == 6
    assert found["lane"][found["kind"] == "shared"].tolist() == [0, 1]
    assert set(wp.batch_gcd([p * q, q * r], pairs=False)["kind"]) == {"shared"}
    assert len(wp.batch_gcd([15, 77])) == 0


def steps(n):
    count = 0
    while n != 1:
        n = 3 * n + 1 if n % 2 else n // 2
        count += 1
    return count


def test_collatz():
    assert wp.collatz.delay(27) == 111
    assert wp.collatz.delay(1, 500).tolist() == [steps(n) for n in range(1, 501)]
    trace = wp.collatz.trace(27)
    assert (trace.delay, trace.highest, trace.values[0], trace.values[-1]) == (111, 9232, 82, 1)
    assert trace.odd_steps == 41 and trace.glide == 96 and len(trace.values) == 111
    assert wp.collatz.trace(2**1000 - 1).delay == steps(2**1000 - 1)
    assert wp.collatz.records(10_000) == wp.collatz.known_records()[: len(wp.collatz.records(10_000))]
    assert (27, 9232) in wp.collatz.records(100, "path")
    found = wp.collatz.verify(2**71, 2**24)
    assert 0 < found.tested < 2**24 and found.count == 2**24
    assert found.highest is not None and 2**71 <= found.highest[0] < 2**71 + 2**24
    with pytest.raises(ValueError, match="at least 1"):
        wp.collatz.verify(0, 5)
    with pytest.raises(ValueError, match="past 2\\^127"):
        wp.collatz.delay(2**127, 5)


def test_discrete_logarithms():
    assert "eccp-79" in wp.ecdlp.curves()
    with pytest.raises(ValueError, match="no built-in curve"):
        wp.ecdlp.solve("x")
    with pytest.raises(ValueError, match="refused"):
        wp.ecdlp.solve(p=15, a=1, b=1, n=7, base=(1, 1), target=(2, 2))
    # Last: the starts of the walks are made in one piece, which goes on for a while in a build without optimisation.
    assert interrupted(lambda: wp.ecdlp.solve("eccp-131")) < 2.0
