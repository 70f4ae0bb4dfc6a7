"""Operations on the shards of a data set by the workers of a Ray cluster.

`wp.ray` is imported when it is used first, and needs the package `ray`; nothing else in `warpmp` does.

    import ray, warpmp as wp
    ray.init()                                            # or the address of a cluster
    shards = [wp.random(1_000_000, 2048, seed=i) for i in range(100)]
    for powers in wp.ray.map(wp.powmod, shards, 65537, 2**255 - 19, workers=4, gpus=1):
        ...                                               # in the order of the shards
"""

from __future__ import annotations

import builtins
import os
from typing import Any, Callable, Iterable, Iterator

import ray

__all__ = ["map"]

#: Shards of a worker that are under way or wait for it: while one is computed, the next one travels.
_AHEAD = 2


class _Worker:
    """Holds the engines of one process: kernels that one shard has compiled serve the next."""

    def __init__(self, device: str, cpus: float) -> None:
        # The pool of threads begins with the first operation.
        os.environ.setdefault("RAYON_NUM_THREADS", str(builtins.max(1, int(cpus))))
        self.device = device

    def run(self, op: str | Callable[..., Any], shard: tuple[Any, ...], constants: tuple[Any, ...]) -> Any:
        import warpmp

        warpmp.set_device(self.device)
        function = getattr(warpmp, op) if isinstance(op, str) else op
        found = function(*builtins.map(_placed, shard), *constants)
        # The driver of the cluster may have no GPU.
        return found.to("cpu") if isinstance(found, warpmp.Array) else found


def _placed(value: Any) -> Any:
    """The array of a shard's part: an array, limbs of NumPy, or a column of Arrow. Anything else stays as it is."""
    import numpy as np

    import warpmp

    if isinstance(value, warpmp.Array):
        return value.to(warpmp.get_device())
    if isinstance(value, np.ndarray):
        return warpmp.from_limbs(value) if value.ndim == 2 else warpmp.array(value)
    if type(value).__module__.partition(".")[0] == "pyarrow":
        return warpmp.from_arrow(value)
    return value


def map(
    op: str | Callable[..., Any],
    dataset: Iterable[Any],
    *constants: Any,
    workers: int = 1,
    cpus: float = 1,
    gpus: float = 0,
    device: str | None = None,
    retries: int = 3,
) -> Iterator[Any]:
    """`op(*shard, *constants)` for each shard of `dataset`, in its order.

    `op` is a function, or the name of one of `warpmp`. A shard is an array, limbs of NumPy (`lanes × limbs`), integers of NumPy, a
    column of Arrow, or a tuple of these: one operand each. The data set may be a generator: it is read as far as the workers are.

    `workers` actors compute, each with `cpus` processors and `gpus` GPUs of the cluster. `device` is the device of each actor:
    without it `cuda` with GPUs, else `cpu`; Ray shows an actor its own GPUs only.

    A worker that dies is started again, and its shards are computed again, each at most `retries` times; a shard may thus be computed
    twice. An error of `op` itself is raised here, as `ray.exceptions.RayTaskError` and as its own class.

    Raises `ValueError` for fewer than one worker.
    """
    if workers < 1:
        raise ValueError(f"at least one worker is needed, not {workers}")
    place = device if device is not None else "cuda" if gpus else "cpu"
    actor = ray.remote(_Worker).options(num_cpus=cpus, num_gpus=gpus, max_restarts=-1, max_task_retries=retries)
    actors = [actor.remote(place, cpus) for _ in range(workers)]
    return _results(actors, op, dataset, constants)


def _results(
    actors: list[Any], op: str | Callable[..., Any], dataset: Iterable[Any], constants: tuple[Any, ...]
) -> Iterator[Any]:
    """Deals shards to the workers, and gives the results in the order of the shards."""
    shards = enumerate(dataset)
    # Results on their way, with the number of the shard and its worker; results that wait for earlier ones.
    pending: dict[Any, tuple[int, Any]] = {}
    ready: dict[int, Any] = {}
    wanted = 0

    def give(worker: Any) -> None:
        # A slow shard lets the others run ahead of it, but not without end: results wait in memory.
        if len(ready) > 4 * _AHEAD * len(actors):
            return
        following = next(shards, None)
        if following is not None:
            number, shard = following
            parts = shard if isinstance(shard, tuple) else (shard,)
            pending[worker.run.remote(op, parts, constants)] = number, worker

    try:
        for _ in range(_AHEAD):
            for worker in actors:
                give(worker)
        while pending:
            for reference in ray.wait(list(pending))[0]:
                number, worker = pending.pop(reference)
                ready[number] = ray.get(reference)
                give(worker)
            while wanted in ready:
                yield ready.pop(wanted)
                wanted += 1
            # Workers that were held back.
            busy = [worker for _, worker in pending.values()]
            for worker in actors:
                for _ in range(_AHEAD - busy.count(worker)):
                    give(worker)
    finally:
        for worker in actors:
            ray.kill(worker)
