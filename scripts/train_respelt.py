"""What training costs on much mail: so many messages of respelt mail, on a cluster of this machine or on it alone.

    SPAMNB_CORPORA=DIR python scripts/train_respelt.py 100000 --dask --workers 2 --memory-limit 500MB
    SPAMNB_CORPORA=DIR python scripts/train_respelt.py 100000 --workers 2
    python scripts/train_respelt.py 100000 --workers 2 --sources ham=DIR/ham spam=DIR/spam

Prints time, processor time of all processes, the largest of them, and what workers sent each other. With --kill N the
workers are ended by SIGKILL, one in turn, N times on the way. --digest prints a digest of the export, which tells
whether two runs made the same model.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Thread
from typing import Any

from mail_corpora import corpora_folder, sources
from respelt_mail import respelt

from spamnb.engines.rebuilding import Lessons, rebuild
from spamnb.settings import MODELS, Settings
from spamnb.store.jsonl import export
from spamnb.store.store import Store

CORPORA = ("spamassassin", "enron1", "enron2", "enron3", "lingspam")
BETWEEN_KILLS = 10  # seconds


def unreadable(name: str, error: Exception) -> None:
    raise SystemExit(f"{name}: {error}")


def shown(begin: float, least: float = 30) -> Any:
    last = 0.0

    def show(done: int, total: int | None) -> None:
        nonlocal last
        if time.monotonic() - last > least:
            last = time.monotonic()
            print(f"{last - begin:.0f} s: {done:,} of {total or 0:,}", file=sys.stderr, flush=True)

    return show


def sent(dask_worker: Any) -> int:
    """Bytes that a worker gave to others."""
    return int(dask_worker.transfer_outgoing_bytes_total)


class Peaks:
    """The largest resident memory of this process and of each worker, looked at twice a second."""

    def __init__(self) -> None:
        self.of: dict[int, int] = {}
        self.killed: list[int] = []

    def look(self, pids: list[int]) -> None:
        for pid in [os.getpid(), *pids]:
            try:
                status = Path(f"/proc/{pid}/status").read_text()
            except OSError:
                continue  # it has ended
            fields = dict(line.split(":", 1) for line in status.splitlines())
            if "VmHWM" in fields:
                self.of[pid] = max(self.of.get(pid, 0), int(fields["VmHWM"].split()[0]) * 1024)


@contextmanager
def watched(cluster: Any, kills: int) -> Iterator[Peaks]:
    peaks, done = Peaks(), Event()

    def watch() -> None:
        next_kill = time.monotonic() + BETWEEN_KILLS
        while not done.wait(0.5):
            pids = [nanny.pid for nanny in list(cluster.workers.values()) if nanny.pid]
            peaks.look(pids)
            if len(peaks.killed) < kills and time.monotonic() > next_kill and pids:
                pid = pids[len(peaks.killed) % len(pids)]
                os.kill(pid, signal.SIGKILL)
                peaks.killed.append(pid)
                next_kill = time.monotonic() + BETWEEN_KILLS

    watcher = Thread(target=watch)
    watcher.start()
    try:
        yield peaks
    finally:
        done.set()
        watcher.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("messages", type=int)
    parser.add_argument("--dask", action="store_true")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--memory-limit", default="500MB")
    parser.add_argument("--model-type", choices=MODELS, default="boolean")
    parser.add_argument("--kill", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--digest", action="store_true")
    parser.add_argument("--sources", nargs="+", metavar="SOURCE", help="instead of five corpora; some again, perhaps")
    chosen = parser.parse_args()
    specs = chosen.sources or [spec for name in CORPORA for spec in sources(name, corpora_folder())]
    begin = time.monotonic()
    with TemporaryDirectory(prefix="spamnb-respelt-") as name:
        folder = Path(name)
        scratch = folder / "scratch"
        scratch.mkdir()
        settings = Settings(model_type=chosen.model_type)
        path = folder / "model.spamnb"

        def make(workers: int | None, cluster: Any = None) -> Any:
            return rebuild(
                path,
                respelt(specs, chosen.messages, chosen.seed),
                settings,
                Lessons(None, None, unreadable),
                {},
                scratch,
                unreadable,
                shown(begin),
                workers,
                cluster=cluster,
            )

        if chosen.dask:
            made, told = on_dask(make, chosen, folder)
        else:
            made, told = make(chosen.workers), ""
        left_out = made.left_out
        own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        seconds = sum(used.ru_utime + used.ru_stime for used in (own, others))
        print(
            f"{int(left_out.documents.sum()):,} messages learned, {left_out.tokens:,} tokens,"
            f" {path.stat().st_size / 1e6:.0f} MB; {time.monotonic() - begin:.0f} s, processor time {seconds:.1f} s,"
            f" {1e3 * seconds / chosen.messages:.3f} ms a message, {own.ru_utime + own.ru_stime:.1f} s of it here;"
            f" peak here {own.ru_maxrss / 1e3:.0f} MB, of the largest other process {others.ru_maxrss / 1e3:.0f} MB"
            f"{told}"
        )
        wrong = sum(verdict != left_out.classes[label] for verdict, label in zip(left_out.verdicts, left_out.labels))
        print(f"left out: {wrong:,} not judged as they are labelled")
        if chosen.digest:
            digest = hashlib.sha256()
            with Store.open(path) as store:
                for line in export(store):
                    digest.update(line.encode())
            print(f"export: {digest.hexdigest()}")


def on_dask(make: Any, chosen: argparse.Namespace, folder: Path) -> tuple[Any, str]:
    import distributed
    from dask import config

    from spamnb.engines.cluster import LOCAL_CONFIG, cluster

    local: Any = distributed.LocalCluster
    client: Any = distributed.Client
    with (
        config.set({**LOCAL_CONFIG, "distributed.scheduler.allowed-failures": 10}),
        local(
            n_workers=chosen.workers,
            threads_per_worker=1,
            memory_limit=chosen.memory_limit,
            dashboard_address="127.0.0.1:0",
            local_directory=str(folder),
            protocol="tcp",
        ) as workers,
        client(workers, set_as_default=False) as asking,
        cluster(workers.scheduler_address, None, folder, lambda line: None) as found,
        watched(workers, chosen.kill) as peaks,
    ):
        made = make(None, found)
        moved = sum(asking.run(sent).values())
    of_workers = max(peak for pid, peak in peaks.of.items() if pid != os.getpid())
    told = (
        f"; peak of a worker {of_workers / 1e6:.0f} MB; {moved / chosen.messages:,.0f} bytes a message between workers"
    )
    return made, told + (f"; {len(peaks.killed)} workers killed" if peaks.killed else "")


if __name__ == "__main__":
    main()
