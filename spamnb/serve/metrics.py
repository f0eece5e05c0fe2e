"""What the server counted, in Prometheus' text format, summed over its processes.

The counts live in memory that all workers share: each adds to its own row, whoever is asked sums the columns.
A worker that is replaced hands its row on, so no counter ever falls.
"""

from __future__ import annotations

import asyncio
import mmap
from bisect import bisect_left
from collections.abc import Iterable

from spamnb.serve.protocol import METHODS, ExitCode

# Seconds from a request's first byte to its reply.
BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_OPEN, _BYTES, _SECONDS = "spamnb_connections", "spamnb_message_bytes_total", "spamnb_request_seconds"
_HELP = {
    _OPEN: ("gauge", "Connections that are open now."),
    "spamnb_requests_total": ("counter", "Requests answered, by method."),
    "spamnb_refusals_total": ("counter", "Requests refused, by the code of the reply."),
    "spamnb_verdicts_total": ("counter", "Messages classified, by verdict."),
    "spamnb_lessons_total": ("counter", "Messages learned and forgotten, by who taught them."),
    _BYTES: ("counter", "Bytes of the messages received."),
    _SECONDS: ("histogram", "Time from a request's first byte to its reply."),
}


def _labelled(name: str, label: str, values: Iterable[str]) -> list[str]:
    return [f'{name}{{{label}="{value}"}}' for value in values]


_COLUMNS = [
    _OPEN,
    *_labelled("spamnb_requests_total", "method", sorted(METHODS)),
    *_labelled("spamnb_refusals_total", "code", [code.name for code in ExitCode]),
    *_labelled("spamnb_verdicts_total", "verdict", ["ham", "spam", "unsure"]),
    *_labelled("spamnb_lessons_total", "by", ["person", "filter"]),
    _BYTES,
    *_labelled(_SECONDS + "_bucket", "le", [f"{bound:g}" for bound in BUCKETS] + ["+Inf"]),
    _SECONDS + "_sum",
]
_INDEX = {column: index for index, column in enumerate(_COLUMNS)}
_FIRST_BUCKET = _INDEX[f'{_SECONDS}_bucket{{le="{BUCKETS[0]:g}"}}']


class Metrics:
    """The counts of all workers; made before they are forked."""

    def __init__(self, workers: int) -> None:
        self._table: memoryview[float] = memoryview(mmap.mmap(-1, 8 * workers * len(_COLUMNS))).cast("d")

    def counts(self, worker: int) -> WorkerCounts:
        """The row of one worker, which starts with no open connection."""
        width = len(_COLUMNS)
        return WorkerCounts(self._table[worker * width : (worker + 1) * width])

    def text(self) -> str:
        """All sums as Prometheus reads them."""
        width = len(_COLUMNS)
        sums = [sum(self._table[column::width]) for column in range(width)]
        lines: list[str] = []
        described = ""
        below = 0.0
        for column, value in zip(_COLUMNS, sums):
            name = column.partition("{")[0].removesuffix("_bucket").removesuffix("_sum")
            if name != described:
                described = name
                kind, text = _HELP[name]
                lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
            if "_bucket{" in column:  # Prometheus' buckets are cumulative
                value = below = below + value
            lines.append(f"{column} {value:.17g}")
        lines.append(f"{_SECONDS}_count {below:.17g}")
        return "\n".join(lines) + "\n"


class WorkerCounts:
    """One worker's row."""

    def __init__(self, row: memoryview[float]) -> None:
        self._row = row
        row[_INDEX[_OPEN]] = 0

    def opened(self, change: int) -> None:
        self._row[_INDEX[_OPEN]] += change

    def request(self, method: str, seconds: float, size: int) -> None:
        self._add("spamnb_requests_total", "method", method)
        self._row[_INDEX[_BYTES]] += size
        self._row[_FIRST_BUCKET + bisect_left(BUCKETS, seconds)] += 1
        self._row[_INDEX[_SECONDS + "_sum"]] += seconds

    def refusal(self, code: ExitCode) -> None:
        self._add("spamnb_refusals_total", "code", code.name)

    def verdict(self, verdict: str) -> None:
        self._add("spamnb_verdicts_total", "verdict", verdict)

    def lesson(self, by: str) -> None:
        self._add("spamnb_lessons_total", "by", by)

    def _add(self, name: str, label: str, value: str) -> None:
        self._row[_INDEX[f'{name}{{{label}="{value}"}}']] += 1


async def answer(metrics: Metrics, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One HTTP request for ``/metrics``; anything else is 404."""
    try:
        async with asyncio.timeout(5):
            first = await reader.readuntil(b"\r\n")
            while (await reader.readuntil(b"\r\n")).strip():
                pass
            if first.split()[:2] == [b"GET", b"/metrics"]:
                status, kind, body = "200 OK", "text/plain; version=0.0.4", metrics.text()
            else:
                status, kind, body = "404 Not Found", "text/plain", "only /metrics is here\n"
            writer.write(
                f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
                f"Connection: close\r\n\r\n{body}".encode("ascii")
            )
            await writer.drain()
    except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # whoever asked has gone, or never was a Prometheus
    finally:
        writer.close()
