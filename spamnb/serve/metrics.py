"""Totals of requests, verdicts and changes of models since the server's start, and facts of the shared model.

``/metrics`` shows them in the text format of Prometheus, and ``/stat`` as rspamd's controller does.
"""

from __future__ import annotations

import json
import math
import os
import time
from bisect import bisect_left
from collections.abc import Mapping
from functools import partial
from itertools import accumulate, groupby
from pathlib import Path

import spamnb
from spamnb.serve.http_wire import Routes, http_reply
from spamnb.serve.wire import ModelFacts, Request

CONNECTIONS = "spamnb_connections"  # a gauge: the open connections
REQUESTS = "spamnb_requests_total"
REFUSALS = "spamnb_refusals_total"
VERDICTS = "spamnb_verdicts_total"
CHANGES = "spamnb_model_changes_total"  # messages that were learned or forgotten
BYTES = "spamnb_message_bytes_total"
_LABELS = {REQUESTS: "method", REFUSALS: "code", VERDICTS: "verdict"}  # other totals have no label
_LATENCY = "spamnb_request_seconds"  # a histogram: from a connection's start to its reply, of requests with a message
_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, math.inf)  # upper bounds
_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"

Totals = dict[tuple[str, str], float]  # by metric and the value of its label, which is "" without a label


class Latency:
    """A histogram of seconds."""

    def __init__(self) -> None:
        self._counts = [0] * len(_BUCKETS)
        self._sum = 0.0

    def add(self, seconds: float) -> None:
        self._counts[bisect_left(_BUCKETS, seconds)] += 1
        self._sum += seconds

    def format(self) -> str:
        """Return the lines of the histogram in the text format of Prometheus.

        >>> latency = Latency()
        >>> latency.add(0.002)
        >>> lines = latency.format().splitlines()
        >>> lines[1:3]
        ['spamnb_request_seconds_bucket{le="0.001"} 0', 'spamnb_request_seconds_bucket{le="0.0025"} 1']
        >>> lines[-2:]
        ['spamnb_request_seconds_sum 0.002', 'spamnb_request_seconds_count 1']
        """
        bounds = ["+Inf" if bound == math.inf else f"{bound:g}" for bound in _BUCKETS]
        rows = zip(bounds, accumulate(self._counts), strict=True)
        lines = [f'{_LATENCY}_bucket{{le="{bound}"}} {n}\n' for bound, n in rows]
        total = f"{_LATENCY}_sum {self._sum}\n{_LATENCY}_count {sum(self._counts)}\n"
        return f"# TYPE {_LATENCY} histogram\n{''.join(lines)}{total}"


def format_totals(totals: Totals) -> str:
    """Return all totals in the text format of Prometheus.

    >>> format_totals({(CONNECTIONS, ""): 2, (VERDICTS, "ham"): 1}).splitlines()[:2]
    ['# TYPE spamnb_connections gauge', 'spamnb_connections 2']
    """
    lines = []
    for name, rows in groupby(sorted(totals), key=lambda row: row[0]):
        lines.append(f"# TYPE {name} {'gauge' if name == CONNECTIONS else 'counter'}")
        for row in rows:
            label = f'{{{_LABELS[name]}="{row[1]}"}}' if name in _LABELS else ""
            lines.append(f"{name}{label} {totals[row]}")
    return "\n".join(lines) + "\n"


def resident_bytes() -> int | None:
    """Return the memory of this process; None where the system does not tell it (only Linux does)."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return None


def _format_gauges(model: ModelFacts) -> str:
    gauges: Mapping[str, float | None] = {
        "process_resident_memory_bytes": resident_bytes(),
        "spamnb_model_bytes": model.n_bytes,
        "spamnb_model_changed_timestamp_seconds": model.changed_at,
        "spamnb_model_trained_timestamp_seconds": model.trained_at,
    }
    return "".join(f"# TYPE {name} gauge\n{name} {value}\n" for name, value in gauges.items() if value is not None)


def metrics_routes(totals: Totals, latency: Latency) -> Routes:
    """Return the HTTP route that shows these totals to Prometheus."""

    def format_reply(model: ModelFacts) -> bytes:
        text = format_totals(totals) + latency.format() + _format_gauges(model)
        return http_reply("200 OK", text.encode("ascii"), _CONTENT_TYPE)

    return {"GET /metrics": partial(Request, "METRICS", reply=format_reply)}


def stat_routes(totals: Totals) -> Routes:
    """Return the HTTP route that shows these totals to ``rspamc stat``, by the names that rspamd's controller uses.

    rspamd has a statfile for each of spam and ham, whose "revision" is the number of its messages. What spamnb does not
    have, such as pools of memory and fuzzy hashes, is left out.
    """
    start = time.monotonic()

    def format_reply(model: ModelFacts) -> bytes:
        n_scanned = int(sum(n for (name, _), n in totals.items() if name == VERDICTS))
        n_spam = int(totals.get((VERDICTS, "spam"), 0))
        statfiles = {"BAYES_SPAM": model.spam_messages, "BAYES_HAM": model.other_messages}
        answer = {
            "version": spamnb.__version__,
            "uptime": int(time.monotonic() - start),
            "scanned": n_scanned,
            "spam_count": n_spam,
            "ham_count": n_scanned - n_spam,
            "learned": int(totals.get((CHANGES, ""), 0)),
            "actions": {"add header": n_spam, "no action": n_scanned - n_spam},
            "connections": int(sum(n for (name, _), n in totals.items() if name == REQUESTS)),
            "bytes_allocated": resident_bytes() or 0,
            "statfiles": [
                {"symbol": symbol, "type": "spamnb", "revision": n_messages, "size": model.n_bytes}
                for symbol, n_messages in statfiles.items()
            ],
            "total_learns": sum(statfiles.values()),
        }
        return http_reply("200 OK", json.dumps(answer).encode("ascii"))

    return {"GET /stat": partial(Request, "STAT", reply=format_reply)}
