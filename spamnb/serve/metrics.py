"""What the server counted, summed over its processes, for Prometheus.

The counts live in memory that all workers share: each adds to its own row, whoever is asked sums the columns.
A worker that is replaced hands its row on, so no counter ever falls. The text is written by prometheus_client, which is
imported where /metrics is asked for and nowhere else. Its own counters for several processes are not used: they lie
in files, three more for each worker that is replaced, and where the disk is full a worker that counts dies of SIGBUS.
"""

from __future__ import annotations

import asyncio
import mmap
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Protocol

from spamnb.errors import SpamnbError
from spamnb.serve.protocol import METHODS, ExitCode

if TYPE_CHECKING:
    from prometheus_client import Metric

# Seconds from a request's first byte to its reply.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_BOUNDS = (*(f"{bound:g}" for bound in BUCKETS), "+Inf")
_OPEN, _BYTES, _SECONDS = "spamnb_connections", "spamnb_message_bytes_total", "spamnb_request_seconds"
_REQUESTS, _REFUSALS = "spamnb_requests_total", "spamnb_refusals_total"
_VERDICTS, _LESSONS = "spamnb_verdicts_total", "spamnb_lessons_total"
_LABELLED = {  # counter → what it counts, its label, the label's values
    _REQUESTS: ("Requests answered, by method.", "method", sorted(METHODS)),
    _REFUSALS: ("Requests refused, by the code of the reply.", "code", [code.name for code in ExitCode]),
    _VERDICTS: ("Messages classified, by verdict.", "verdict", ["ham", "spam", "unsure"]),
    _LESSONS: ("Messages learned and forgotten, by who taught them.", "by", ["person", "filter"]),
}
_COLUMNS = [
    (_OPEN, ""),
    *((name, value) for name, (_, _, values) in _LABELLED.items() for value in values),
    (_BYTES, ""),
    *((_SECONDS, bound) for bound in _BOUNDS),
    (_SECONDS, ""),  # their sum
]
_INDEX = {column: index for index, column in enumerate(_COLUMNS)}
_FIRST_BUCKET = _INDEX[_SECONDS, _BOUNDS[0]]


class Metrics:
    """The counts of all workers, made before they are forked; one of prometheus_client's collectors."""

    def __init__(self, workers: int) -> None:
        self._table: memoryview[float] = memoryview(mmap.mmap(-1, 8 * workers * len(_COLUMNS))).cast("d")

    def counts(self, worker: int) -> WorkerCounts:
        """The row of one worker, which starts with no open connection."""
        width = len(_COLUMNS)
        return WorkerCounts(self._table[worker * width : (worker + 1) * width])

    def collect(self) -> Iterator[Metric]:
        """All sums as prometheus_client wants them."""
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

        width = len(_COLUMNS)
        sums = {name: sum(self._table[column::width]) for column, name in enumerate(_COLUMNS)}
        yield GaugeMetricFamily(_OPEN, "Connections that are open now.", sums[_OPEN, ""])
        for name, (what, label, values) in _LABELLED.items():
            family = CounterMetricFamily(name, what, labels=[label])
            for value in values:
                family.add_metric([value], sums[name, value])
            yield family
        yield CounterMetricFamily(_BYTES, "Bytes of the messages received.", sums[_BYTES, ""])
        cumulative = accumulate(sums[_SECONDS, bound] for bound in _BOUNDS)
        what = "Time from a request's first byte to its reply."
        yield HistogramMetricFamily(_SECONDS, what, list(zip(_BOUNDS, cumulative)), sums[_SECONDS, ""])


class Collector(Protocol):
    """What prometheus_client asks for figures."""

    def collect(self) -> Iterator[Metric]: ...


def exposition(*collectors: Collector) -> Callable[[], bytes]:
    """What writes figures in Prometheus' text format. Raises SpamnbError where prometheus_client is lacking."""
    try:
        from prometheus_client import CollectorRegistry, generate_latest
    except ImportError as error:
        raise SpamnbError("--metrics-port needs prometheus_client: pip install 'spamnb[metrics]'") from error
    registry = CollectorRegistry()
    for each in collectors:
        registry.register(each)
    return lambda: generate_latest(registry)


class WorkerCounts:
    """One worker's row."""

    def __init__(self, row: memoryview[float]) -> None:
        self._row = row
        row[_INDEX[_OPEN, ""]] = 0

    def opened(self, change: int) -> None:
        self._row[_INDEX[_OPEN, ""]] += change

    def request(self, method: str, seconds: float, size: int) -> None:
        self._row[_INDEX[_REQUESTS, method]] += 1
        self._row[_INDEX[_BYTES, ""]] += size
        self._row[_FIRST_BUCKET + bisect_left(BUCKETS, seconds)] += 1
        self._row[_INDEX[_SECONDS, ""]] += seconds

    def refusal(self, code: ExitCode) -> None:
        self._row[_INDEX[_REFUSALS, code.name]] += 1

    def verdict(self, verdict: str) -> None:
        self._row[_INDEX[_VERDICTS, verdict]] += 1

    def lesson(self, by: str) -> None:
        self._row[_INDEX[_LESSONS, by]] += 1


async def answer(text: Callable[[], bytes], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One HTTP request for ``/metrics``, whose *text* is made when asked for; anything else is 404."""
    try:
        async with asyncio.timeout(5):
            first = await reader.readuntil(b"\r\n")
            while (await reader.readuntil(b"\r\n")).strip():
                pass
            if first.split()[:2] == [b"GET", b"/metrics"]:
                # In a thread: the journal's figures take some 50 ms, and mail is not to wait for them.
                status, kind, body = "200 OK", "text/plain; version=0.0.4; charset=utf-8", await asyncio.to_thread(text)
            else:
                status, kind, body = "404 Not Found", "text/plain", b"only /metrics is here\n"
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                "Connection: close\r\n\r\n".encode("ascii") + body
            )
            await writer.drain()
    except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # whoever asked has gone, or never was a Prometheus
    finally:
        writer.close()
