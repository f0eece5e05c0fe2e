"""Totals of what the server did, summed over its workers, in the text format of Prometheus.

The totals lie in memory that all workers share. Each worker adds to its own row; `/metrics` sums the columns.
A worker that is replaced hands its row on, so no total ever falls.
"""

from __future__ import annotations

import asyncio
import mmap

from spamnb.serve.protocol import METHODS, ExitCode

_TOTALS = {  # metric → its type, what it counts, its label, the label's values
    "spamnb_connections": ("gauge", "Connections that are open now.", "", [""]),
    "spamnb_requests_total": ("counter", "Requests answered, by method.", "method", sorted(METHODS)),
    "spamnb_refusals_total": ("counter", "Requests refused, by reply code.", "code", [code.name for code in ExitCode]),
    "spamnb_verdicts_total": ("counter", "Messages classified, by verdict.", "verdict", ["ham", "spam", "unsure"]),
    "spamnb_lessons_total": ("counter", "Messages learned and forgotten, by teacher.", "by", ["person", "filter"]),
    "spamnb_message_bytes_total": ("counter", "Bytes of the messages received.", "", [""]),
    "spamnb_request_seconds_total": ("counter", "Seconds from requests' first bytes to their replies.", "", [""]),
}
_COLUMNS = [(name, value) for name, (_, _, _, values) in _TOTALS.items() for value in values]
_INDEX = {column: index for index, column in enumerate(_COLUMNS)}
_OPEN = _INDEX["spamnb_connections", ""]


class Metrics:
    """The totals of all workers. Make it before the workers are forked."""

    def __init__(self, workers: int) -> None:
        self._table: memoryview[float] = memoryview(mmap.mmap(-1, 8 * workers * len(_COLUMNS))).cast("d")

    def counts(self, worker: int) -> WorkerCounts:
        """The row of one worker, which starts with no open connection."""
        width = len(_COLUMNS)
        return WorkerCounts(self._table[worker * width : (worker + 1) * width])

    def text(self) -> bytes:
        """All totals in the text format of Prometheus.

        >>> Metrics(1).text().splitlines()[:3]
        [b'# HELP spamnb_connections Connections that are open now.', b'# TYPE spamnb_connections gauge',
        b'spamnb_connections 0.0']
        """
        lines = []
        for name, (kind, what, label, values) in _TOTALS.items():
            lines += [f"# HELP {name} {what}", f"# TYPE {name} {kind}"]
            for value in values:
                total = sum(self._table[_INDEX[name, value] :: len(_COLUMNS)])
                lines.append(f'{name}{{{label}="{value}"}} {total}' if label else f"{name} {total}")
        return ("\n".join(lines) + "\n").encode("ascii")


class WorkerCounts:
    """One worker's row."""

    def __init__(self, row: memoryview[float]) -> None:
        self._row = row
        row[_OPEN] = 0

    def opened(self, change: int) -> None:
        self._row[_OPEN] += change

    def request(self, method: str, seconds: float, size: int) -> None:
        self._add("spamnb_requests_total", method)
        self._add("spamnb_message_bytes_total", "", size)
        self._add("spamnb_request_seconds_total", "", seconds)

    def refusal(self, code: ExitCode) -> None:
        self._add("spamnb_refusals_total", code.name)

    def verdict(self, verdict: str) -> None:
        self._add("spamnb_verdicts_total", verdict)

    def lesson(self, by: str) -> None:
        self._add("spamnb_lessons_total", by)

    def _add(self, name: str, value: str, amount: float = 1) -> None:
        self._row[_INDEX[name, value]] += amount


async def answer(metrics: Metrics, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers one HTTP request: `/metrics` with the totals, anything else with 404."""
    try:
        async with asyncio.timeout(5):
            first = await reader.readuntil(b"\r\n")
            while (await reader.readuntil(b"\r\n")).strip():
                pass
            if first.split()[:2] == [b"GET", b"/metrics"]:
                status, kind, body = "200 OK", "text/plain; version=0.0.4; charset=utf-8", metrics.text()
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
