"""metrics.py: sums over workers in the text format of Prometheus, read here by its own grammar.

The oracle of what is counted are prometheus_client's own counters, told of the same events in one process.
"""

from __future__ import annotations

import random
import re
import subprocess
import sys
from collections import Counter

import prometheus_client
import pytest
from prometheus_client.parser import text_string_to_metric_families

from spamnb.serve.metrics import BUCKETS, Metrics, exposition
from spamnb.serve.protocol import ExitCode

LINE = re.compile(r'(?:# (?:HELP|TYPE) (\w+) .+|(\w+)(?:\{(\w+)="([^"]*)"\})? ([\d.e+-]+))\Z')


def read(metrics: Metrics) -> dict[str, float]:
    """Every sample by its name and label; each name stands in one block under its help and type."""
    samples, described = {}, []
    text = exposition(metrics)().decode("ascii")
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
    assert set(read(metrics).values()) == {0}
    for worker, seconds, size in ((one, 0.001, 10), (two, 0.0011, 20), (two, 11, 30), (one, 0.3, 0)):
        worker.request("CHECK", seconds, size)
    two.request("PING", 0.0, 0)
    one.opened(1), two.opened(1), two.opened(1), two.opened(-1)
    one.refusal(ExitCode.EX_TIMEOUT), one.verdict("spam"), two.verdict("unsure"), two.lesson("filter")
    found = read(metrics)
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
    found = read(metrics)
    assert (found["spamnb_connections"], found["spamnb_verdicts_total ham"]) == (1, 1)


def test_the_sums_are_those_of_prometheus_clients_own_counters():
    chance = random.Random(1)
    registry = prometheus_client.CollectorRegistry()
    requests = prometheus_client.Counter("spamnb_requests_total", "Requests.", ["method"], registry=registry)
    received = prometheus_client.Counter("spamnb_message_bytes_total", "Bytes.", registry=registry)
    seconds = prometheus_client.Histogram("spamnb_request_seconds", "Time.", buckets=BUCKETS, registry=registry)
    verdicts = prometheus_client.Counter("spamnb_verdicts_total", "Verdicts.", ["verdict"], registry=registry)
    metrics = Metrics(3)
    workers = [metrics.counts(number) for number in range(3)]
    for _ in range(500):
        worker, method, size = chance.choice(workers), chance.choice(["CHECK", "PING", "TELL"]), chance.randrange(9999)
        time = chance.choice([*BUCKETS, chance.expovariate(5), 2.0**-20, 60.0])
        verdict = chance.choice(["ham", "spam", "unsure"])
        worker.request(method, time, size), worker.verdict(verdict)
        requests.labels(method).inc(), received.inc(size), seconds.observe(time), verdicts.labels(verdict).inc()

    def samples(text: bytes) -> dict[tuple, float]:
        families = text_string_to_metric_families(text.decode("ascii"))
        found = [sample for family in families for sample in family.samples]
        labels = [{k: float(v) if k == "le" else v for k, v in sample.labels.items()} for sample in found]
        return {(sample.name, *label.items()): sample.value for sample, label in zip(found, labels, strict=True)}

    ours = samples(exposition(metrics)())
    expected = {
        key: value
        for key, value in samples(prometheus_client.generate_latest(registry)).items()
        if not key[0].endswith("_created")
    }
    assert len(expected) == 3 + 1 + 3 + len(BUCKETS) + 3
    assert {key: ours[key] for key in expected} == pytest.approx(expected)
    assert all(value == 0 for key, value in ours.items() if key not in expected)


def test_prometheus_client_is_imported_only_where_metrics_are_asked_for():
    program = """if True:
        import sys
        from spamnb.serve import service
        metrics = service.metrics.Metrics(1)
        metrics.counts(0).verdict("ham")
        assert "prometheus_client" not in sys.modules
        assert b"spamnb_verdicts" in service.metrics.exposition(metrics)()
        assert "prometheus_client" in sys.modules
    """
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
