"""Totals of what the server did since its start, in the text format of Prometheus."""

from __future__ import annotations

import asyncio

from spamnb.serve.protocol import METHODS, ExitCode

CONNECTIONS = "spamnb_connections"
REQUESTS = "spamnb_requests_total"
REFUSALS = "spamnb_refusals_total"
VERDICTS = "spamnb_verdicts_total"
LESSONS = "spamnb_lessons_total"
BYTES = "spamnb_message_bytes_total"
SECONDS = "spamnb_request_seconds_total"

_LABELS: dict[str, tuple[str, list[str]]] = {  # of each metric: what it counts by, and the values of that
    CONNECTIONS: ("", [""]),  # a gauge: those that are open now
    REQUESTS: ("method", sorted(METHODS)),
    REFUSALS: ("code", [code.name for code in ExitCode]),
    VERDICTS: ("verdict", ["ham", "spam", "unsure"]),
    LESSONS: ("", [""]),
    BYTES: ("", [""]),
    SECONDS: ("", [""]),  # from a request's first byte to its reply
}


class Metrics:
    """The totals, which the server's event loop alone adds to."""

    def __init__(self) -> None:
        self._totals = {(name, value): 0.0 for name, (_, values) in _LABELS.items() for value in values}

    def add(self, name: str, label: str = "", amount: float = 1) -> None:
        """Add to one of the metrics above, in the row of ``label`` where it has some."""
        self._totals[name, label] += amount

    def text(self) -> bytes:
        """All totals in the text format of Prometheus.

        >>> Metrics().text().splitlines()[:2]
        [b'# TYPE spamnb_connections gauge', b'spamnb_connections 0.0']
        """
        lines = []
        for name, (label, values) in _LABELS.items():
            lines.append(f"# TYPE {name} {'gauge' if name == CONNECTIONS else 'counter'}")
            for value in values:
                row = f'{name}{{{label}="{value}"}}' if label else name
                lines.append(f"{row} {self._totals[name, value]}")
        return ("\n".join(lines) + "\n").encode("ascii")


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
                "Connection: close\r\n\r\n".encode("ascii")
                + body
            )
            await writer.drain()
    except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        pass  # whoever asked has gone, or never was a Prometheus
    finally:
        writer.close()
