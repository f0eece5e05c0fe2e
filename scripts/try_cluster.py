"""A cluster of three machines and a scheduler, each a network namespace of its own: the commands of docs/cluster.md.

    sudo python scripts/try_cluster.py SOURCE... [--memory-limit 300MB] [--kill]

Makes a bridge and four namespaces (iproute2, as root), starts a scheduler in the first and a worker in each of the
others, trains there, and compares the export with that of this machine alone. With --kill a worker is ended by SIGKILL
when the training has begun; its nanny starts another. Ends with 1 where the exports differ.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

BRIDGE, NETWORK = "spamnb-try", "10.213.77"
MACHINES = 4
PORT = 8786


def ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)


@contextmanager
def machines() -> Iterator[list[str]]:
    """Names of network namespaces that see each other and nothing else; the n-th has the address .n+1."""
    names = [f"{BRIDGE}{n}" for n in range(MACHINES)]
    with ExitStack() as stack:
        ip("link", "add", BRIDGE, "type", "bridge")
        stack.callback(ip, "link", "del", BRIDGE)
        ip("link", "set", BRIDGE, "up")
        for n, name in enumerate(names):
            ip("netns", "add", name)
            stack.callback(ip, "netns", "del", name)
            ip("link", "add", f"sptry{n}", "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("link", "set", f"sptry{n}", "master", BRIDGE, "up")
            ip("-n", name, "address", "add", f"{NETWORK}.{n + 1}/24", "dev", "eth0")
            for device in ("lo", "eth0"):
                ip("-n", name, "link", "set", device, "up")
        yield names


@contextmanager
def running(name: str, *command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A program on one of these machines, in a process group of its own."""
    process = subprocess.Popen(["ip", "netns", "exec", name, sys.executable, *command], start_new_session=True)
    try:
        yield process
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def spamnb(*arguments: str, name: str | None = None) -> subprocess.Popen[bytes]:
    there = ["ip", "netns", "exec", name] if name else []
    return subprocess.Popen([*there, sys.executable, "-m", "spamnb", *arguments], stdout=subprocess.PIPE)


def export(model: Path) -> list[bytes]:
    """The model's export without the line that says when and of what it was made."""
    return subprocess.run(
        [sys.executable, "-m", "spamnb", "export", "-m", str(model)], capture_output=True, check=True
    ).stdout.splitlines()[1:]


def kill_one(worker: subprocess.Popen[bytes]) -> int:
    """End the process in which a worker's nanny lets it run."""
    for _ in range(300):
        for thread in Path(f"/proc/{worker.pid}/task").iterdir():
            for child in map(int, (thread / "children").read_text().split()):
                if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes():
                    os.kill(child, signal.SIGKILL)
                    return child
        time.sleep(0.2)
    raise SystemExit("no worker's process was found to be ended")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", nargs="+")
    parser.add_argument("--memory-limit", default="300MB")
    parser.add_argument("--model-type", default="boolean")
    parser.add_argument("--kill", action="store_true")
    chosen = parser.parse_args()
    kind = ["--set", f"model_type={chosen.model_type}"]
    with TemporaryDirectory(prefix="spamnb-try-") as folder, machines() as names, ExitStack() as stack:
        alone, shared = Path(folder, "alone"), Path(folder, "shared")
        address = f"tcp://{NETWORK}.1:{PORT}"
        here = ["-m", "distributed.cli.dask_scheduler", "--host", f"{NETWORK}.1", "--port", str(PORT)]
        stack.enter_context(running(names[0], *here, "--no-dashboard"))
        there: list[Any] = ["-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard"]
        there += ["--memory-limit", chosen.memory_limit, "--local-directory", folder]
        workers = [stack.enter_context(running(name, *there)) for name in names[1:]]
        begin = time.monotonic()
        with spamnb("train", "--dask", address, "-m", str(shared), *kind, *chosen.sources, name=names[0]) as training:
            assert training.stdout is not None
            if chosen.kill:
                time.sleep(10)
                print(f"killed the worker {kill_one(workers[1])}", flush=True)
            said = training.stdout.read().decode().splitlines()
        print(*said[:1], f"in {time.monotonic() - begin:.0f} s on three machines")
        with spamnb("train", "-m", str(alone), *kind, *chosen.sources) as training:
            training.communicate()
        same = export(alone) == export(shared)
        print("the export is that of one machine" if same else "the exports differ")
        raise SystemExit(not same)


if __name__ == "__main__":
    main()
