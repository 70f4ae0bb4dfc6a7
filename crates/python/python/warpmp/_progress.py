"""Progress of long calls."""

from __future__ import annotations

import sys
import time
from typing import Callable

Progress = bool | Callable[[float], object]

_WIDTH = 40
# Seconds after which a wait is worth a line.
_PATIENCE = 1.0


def callback(progress: Progress) -> Callable[[float], object] | None:
    """`True` draws a bar on the standard error; a function gets the share of the work that is done, from 0 to 1."""
    if progress is True:
        return _bar
    if progress is False:
        return None
    return progress


def _bar(share: float) -> None:
    done = round(share * _WIDTH)
    end = "\n" if share >= 1 else ""
    sys.stderr.write(f"\r[{'#' * done}{'.' * (_WIDTH - done)}] {100 * share:5.1f} %{end}")
    sys.stderr.flush()


class Compiling:
    """Says, in a terminal or a notebook, that the driver compiles a kernel, once it takes longer than a second."""

    def __init__(self) -> None:
        self._start = time.monotonic()
        self._is_shown = False

    def __call__(self, share: float) -> None:
        if self._is_shown or share >= 1 or time.monotonic() - self._start < _PATIENCE:
            return
        self._is_shown = True
        if sys.stderr.isatty() or "ipykernel" in sys.modules:
            sys.stderr.write("warpmp: the driver compiles a kernel; it keeps the kernel for later\n")
            sys.stderr.flush()
