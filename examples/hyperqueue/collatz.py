"""A Collatz campaign by the tasks of HyperQueue, for machines without Slurm.

    pip install hyperqueue
    python collatz.py campaign --from 2^71 --count 2^50 --tasks 8 --local 16

All tasks work in one directory. A task that is killed, or whose machine is lost, is submitted again; meanwhile the others do its
windows. Without --local the tasks go to a HyperQueue server that runs already (`hq server start`, `hq worker start` on each machine).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

from hyperqueue import Client, Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
from hyperqueue.ffi.protocol import ResourceRequest

#: Rounds of tasks that failed: then something else is wrong.
MOST_ROUNDS = 5


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A Collatz campaign by the tasks of HyperQueue.")
    parser.add_argument("campaign", type=Path, help="directory of the campaign, which all machines see")
    parser.add_argument("--from", dest="first", required=True, metavar="N", help="first start")
    parser.add_argument("--count", required=True, metavar="K", help="how many starts")
    parser.add_argument("--window", metavar="W", help="starts of a window")
    parser.add_argument("--tasks", type=int, default=8, help="tasks at most at a time")
    parser.add_argument("--cores", type=int, default=1, help="cores of a task")
    parser.add_argument("--gpus", type=int, default=0, help="NVIDIA GPUs of a task")
    parser.add_argument("--device", default="auto", help="engine of a task")
    parser.add_argument("--local", type=int, metavar="CORES", help="start a server and a worker of so many cores here")
    parser.add_argument("--warpmp", default="warpmp", metavar="PROGRAM")
    return parser.parse_args()


def run(client: Client, command: list[str], tasks: int, args: argparse.Namespace) -> int:
    """Runs so many tasks to their ends; how many of them failed."""
    resources = {"gpus/nvidia": args.gpus} if args.gpus else {}
    job = Job(max_fails=None, name=args.campaign.name)
    logs = args.campaign.with_name(args.campaign.name + ".logs")
    logs.mkdir(parents=True, exist_ok=True)
    for _ in range(tasks):
        output = str(logs / "%{JOB_ID}-%{TASK_ID}")
        job.program(
            command, resources=ResourceRequest(cpus=args.cores, resources=resources),
            stdout=output + ".out", stderr=output + ".err",
        )
    submitted = client.submit(job)
    client.wait_for_jobs([submitted], raise_on_error=False)
    return len(client.get_failed_tasks(submitted))


def main() -> int:
    args = arguments()
    args.campaign = args.campaign.resolve()
    command = [args.warpmp, "collatz", "verify", "--from", args.first, "--count", args.count]
    command += ["--window", args.window] if args.window else []
    command += ["--output", str(args.campaign), "--shared", "--device", args.device, "--json"]
    with ExitStack() as stack:
        if args.local:
            cluster = stack.enter_context(LocalCluster())
            cluster.start_worker(WorkerConfig(cores=args.local))
            client = cluster.client()
        else:
            client = Client()
        tasks = args.tasks
        for _ in range(MOST_ROUNDS):
            tasks = run(client, command, tasks, args)
            if not tasks:
                break
            print(f"{tasks} tasks failed: they are submitted again", flush=True)
    return subprocess.run([args.warpmp, "collatz", "status", str(args.campaign), "--complete"], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
