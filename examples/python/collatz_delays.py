"""Plots the delays of Collatz, the steps down to 1, and marks the records.

    python collatz_delays.py --count 100000 --out delays.png

Without matplotlib the records are printed alone.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import warpmp as wp


def main() -> None:
    parser = argparse.ArgumentParser(description="plots the delays of Collatz")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--out", type=Path, default=Path("delays.png"))
    options = parser.parse_args()

    delays = wp.collatz.delay(1, options.count, device=options.device)
    starts = np.arange(1, options.count + 1)
    is_record = delays > np.concatenate([[-1], np.maximum.accumulate(delays.astype(np.int64))[:-1]])
    for start, delay in zip(starts[is_record][-10:], delays[is_record][-10:]):
        print(f"{start:12d} {delay:6d} steps")

    try:
        from matplotlib import pyplot
    except ImportError:
        print("matplotlib is not installed: there is no plot")
        return
    figure, axes = pyplot.subplots(figsize=(9, 5))
    axes.plot(starts, delays, ",", color="gray")
    axes.plot(starts[is_record], delays[is_record], "o", color="black", markersize=4)
    axes.set_xscale("log")
    axes.set_xlabel("start")
    axes.set_ylabel("delay")
    figure.savefig(options.out, dpi=150)
    print(f"written to {options.out}")


if __name__ == "__main__":
    main()
