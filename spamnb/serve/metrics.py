"""Totals of what the server did since its start, in the text format of Prometheus."""

from __future__ import annotations

import asyncio
from itertools import groupby

CONNECTIONS = "spamnb_connections"  # a gauge: those that are open now
REQUESTS = "spamnb_requests_total"
REFUSALS = "spamnb_refusals_total"
VERDICTS = "spamnb_verdicts_total"
LESSONS = "spamnb_lessons_total"
BYTES = "spamnb_message_bytes_total"
SECONDS = "spamnb_request_seconds_total"  # from a request's first byte to its reply
_LABELS = {REQUESTS: "method", REFUSALS: "code", VERDICTS: "verdict"}  # what some of them count by

Totals = dict[tuple[str, str], float]  # by metric and the value of its label, "" where it has none


def text(totals: Totals) -> bytes:
    """All totals in the text format of Prometheus.

    >>> text({(CONNECTIONS, ""): 2, (VERDICTS, "ham"): 1}).splitlines()[:2]
    [b'# TYPE spamnb_connections gauge', b'spamnb_connections 2']
    """
    lines = []
    for name, rows in groupby(sorted(totals), key=lambda row: row[0]):
        lines.append(f"# TYPE {name} {'gauge' if name == CONNECTIONS else 'counter'}")
        for row in rows:
            label = f'{{{_LABELS[name]}="{row[1]}"}}' if name in _LABELS else ""
            lines.append(f"{name}{label} {totals[row]}")
    return ("\n".join(lines) + "\n").encode("ascii")


async def answer(totals: Totals, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers one HTTP request: `/metrics` with the totals, anything else with 404."""
    try:
        async with asyncio.timeout(5):
            first = await reader.readuntil(b"\r\n")
            while (await reader.readuntil(b"\r\n")).strip():
                pass
            if first.split()[:2] == [b"GET", b"/metrics"]:
                status, kind, body = "200 OK", "text/plain; version=0.0.4; charset=utf-8", text(totals)
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
