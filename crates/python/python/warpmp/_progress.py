"""Progress of long calls."""

from __future__ import annotations

import sys
from typing import Callable

Progress = bool | Callable[[float], object]

_WIDTH = 40


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
