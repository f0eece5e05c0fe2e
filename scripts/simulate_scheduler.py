"""What tasks that wait or lie done cost a cluster's scheduler: processor time and memory a task.

    python scripts/simulate_scheduler.py [--workers 20] [--tasks 100 1000]

A real scheduler in a process of its own, so many workers in another, and for each of these so many tasks, each of
which needs what the one before it gave and none of which does anything. All results are kept, as those of a training
are that are still to be asked.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

WORKERS = """
import asyncio, sys
from distributed import Worker
async def main():
    started = [await Worker(sys.argv[1], nthreads=1, local_directory=sys.argv[3], memory_limit=0, dashboard=False)
               for _ in range(int(sys.argv[2]))]
    await asyncio.gather(*(worker.finished() for worker in started))
asyncio.run(main())
"""
TICKS = os.sysconf("SC_CLK_TCK")


def used(pid: int) -> tuple[float, int]:
    """Seconds of the processor and bytes of memory that a process has taken."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return (int(fields[11]) + int(fields[12])) / TICKS, pages * os.sysconf("SC_PAGE_SIZE")


def nothing(before: Any) -> int:
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=20)
    parser.add_argument("--tasks", type=int, nargs="+", default=[100, 1000])
    chosen = parser.parse_args()
    for tasks in chosen.tasks:
        with TemporaryDirectory() as folder:
            measure(chosen.workers, tasks, folder)


def measure(workers: int, tasks: int, folder: str) -> None:
    from distributed import Client

    file = f"{folder}/scheduler.json"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen([*command, "--no-dashboard", "--scheduler-file", file], **quiet)
    while not os.path.exists(file) or not os.path.getsize(file):
        time.sleep(0.1)
    made_client: Any = Client
    client = made_client(scheduler_file=file, set_as_default=False)
    others = subprocess.Popen([sys.executable, "-c", WORKERS, client.scheduler.address, str(workers), folder], **quiet)
    try:
        client.wait_for_workers(workers)
        time.sleep(2)
        begin, (cpu, memory) = time.monotonic(), used(scheduler.pid)
        kept = []
        for w in range(workers):
            before = None
            for t in range(tasks):
                before = client.submit(nothing, before, key=f"task-{w}-{t}", pure=False)
                kept.append(before)
        client.gather(kept[tasks - 1 :: tasks])
        seconds = time.monotonic() - begin
        after, held = used(scheduler.pid)
        n = workers * tasks
        print(
            f"{workers} workers, {tasks:,} tasks each: scheduler {1e3 * (after - cpu) / n:.2f} ms and"
            f" {(held - memory) / n / 1e3:.1f} kB a task, {n / seconds:,.0f} tasks a second"
        )
        time.sleep(10)
        print(f"  at rest {100 * (used(scheduler.pid)[0] - after) / 10:.1f} % of a core", flush=True)
    finally:
        client.close()
        for process in (others, scheduler):
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
