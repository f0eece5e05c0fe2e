"""metrics.py: sums over workers in the text format of Prometheus, read here by its own grammar."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from spamnb.serve.metrics import BUCKETS, Metrics
from spamnb.serve.protocol import ExitCode

LINE = re.compile(r'(?:# (?:HELP|TYPE) (\w+) .+|(\w+)(?:\{(\w+)="([^"]*)"\})? ([\d.e+-]+))\Z')


def read(text: str) -> dict[str, float]:
    """Every sample by its name and label; each name stands in one batch under its help and type."""
    samples, described = {}, []
    assert text.endswith("\n")
    for line in text.splitlines():
        found = LINE.match(line)
        assert found, line
        header, name, _, label, value = found.groups()
        if header:
            described.append(header)
            continue
        assert re.sub("_(bucket|sum|count)$", "", name) == described[-1]
        key = name if label is None else f"{name} {label}"
        assert key not in samples
        samples[key] = float(value)
    assert set(Counter(described).values()) == {2}
    return samples


def test_counts_are_sums_over_the_workers():
    metrics = Metrics(2)
    one, two = metrics.counts(0), metrics.counts(1)
    assert set(read(metrics.text()).values()) == {0}
    for worker, seconds, size in ((one, 0.001, 10), (two, 0.0011, 20), (two, 11, 30), (one, 0.3, 0)):
        worker.request("CHECK", seconds, size)
    two.request("PING", 0.0, 0)
    one.opened(1), two.opened(1), two.opened(1), two.opened(-1)
    one.refusal(ExitCode.EX_TIMEOUT), one.verdict("spam"), two.verdict("unsure"), two.lesson("filter")
    found = read(metrics.text())
    assert found["spamnb_connections"] == 2
    assert (found["spamnb_requests_total CHECK"], found["spamnb_requests_total PING"]) == (4, 1)
    assert found["spamnb_message_bytes_total"] == 60
    assert (found["spamnb_verdicts_total spam"], found["spamnb_verdicts_total ham"]) == (1, 0)
    assert (found["spamnb_lessons_total filter"], found["spamnb_refusals_total EX_TIMEOUT"]) == (1, 1)
    assert found["spamnb_request_seconds_sum"] == pytest.approx(11.3021)
    for bound in BUCKETS:
        expected = sum(seconds <= bound for seconds in (0.001, 0.0011, 11, 0.3, 0.0))
        assert found[f"spamnb_request_seconds_bucket {bound:g}"] == expected
    assert found["spamnb_request_seconds_bucket +Inf"] == found["spamnb_request_seconds_count"] == 5


def test_a_new_worker_goes_on_where_the_old_one_ended_but_for_its_connections():
    metrics = Metrics(2)
    metrics.counts(0).opened(1)
    metrics.counts(1).opened(1)
    metrics.counts(1).verdict("ham")
    metrics.counts(1)
    found = read(metrics.text())
    assert (found["spamnb_connections"], found["spamnb_verdicts_total ham"]) == (1, 1)
