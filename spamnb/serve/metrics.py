"""Totals of requests, verdicts and changes of models since the server's start, in the text format of Prometheus."""

from __future__ import annotations

from functools import partial
from itertools import groupby

from spamnb.serve.http_wire import Routes, http_reply
from spamnb.serve.wire import Request

CONNECTIONS = "spamnb_connections"  # a gauge: the open connections
REQUESTS = "spamnb_requests_total"
REFUSALS = "spamnb_refusals_total"
VERDICTS = "spamnb_verdicts_total"
CHANGES = "spamnb_model_changes_total"  # messages that were learned or forgotten
BYTES = "spamnb_message_bytes_total"
SECONDS = "spamnb_request_seconds_total"  # from a connection's start to its reply
_LABELS = {REQUESTS: "method", REFUSALS: "code", VERDICTS: "verdict"}  # other totals have no label
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Totals = dict[tuple[str, str], float]  # by metric and the value of its label, which is "" without a label


def format_totals(totals: Totals) -> bytes:
    """Return all totals in the text format of Prometheus.

    >>> format_totals({(CONNECTIONS, ""): 2, (VERDICTS, "ham"): 1}).splitlines()[:2]
    [b'# TYPE spamnb_connections gauge', b'spamnb_connections 2']
    """
    lines = []
    for name, rows in groupby(sorted(totals), key=lambda row: row[0]):
        lines.append(f"# TYPE {name} {'gauge' if name == CONNECTIONS else 'counter'}")
        for row in rows:
            label = f'{{{_LABELS[name]}="{row[1]}"}}' if name in _LABELS else ""
            lines.append(f"{name}{label} {totals[row]}")
    return ("\n".join(lines) + "\n").encode("ascii")


def metrics_routes(totals: Totals) -> Routes:
    """Return the HTTP route that shows these totals."""
    reply = partial(http_reply, "200 OK", kind=_CONTENT_TYPE)
    return {"GET /metrics": lambda **fields: Request("METRICS", reply=reply(format_totals(totals)), **fields)}
