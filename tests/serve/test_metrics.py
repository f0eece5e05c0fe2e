"""metrics.py: totals over the workers, read by the grammar of Prometheus' own client, and the dashboard of them."""

import json
import re
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from spamnb.serve.metrics import Metrics
from spamnb.serve.protocol import ExitCode


def read(metrics: Metrics) -> dict[str, float]:
    """Every sample by its name and the value of its label."""
    families = list(text_string_to_metric_families(metrics.text().decode("ascii")))
    assert all(family.documentation and family.type in ("counter", "gauge") for family in families)
    found = [sample for family in families for sample in family.samples]
    return {" ".join([sample.name, *sample.labels.values()]): sample.value for sample in found}


def test_totals_are_sums_over_the_workers():
    metrics = Metrics(2)
    one, two = metrics.counts(0), metrics.counts(1)
    assert set(read(metrics).values()) == {0}
    for worker, seconds, size in ((one, 0.001, 10), (two, 0.0011, 20), (two, 11, 30), (one, 0.3, 0)):
        worker.request("CHECK", seconds, size)
    two.request("PING", 0.0, 0)
    one.opened(1), two.opened(1), two.opened(1), two.opened(-1)
    one.refusal(ExitCode.EX_TIMEOUT), one.verdict("spam"), two.verdict("unsure"), two.lesson("filter")
    found = read(metrics)
    assert {name: value for name, value in found.items() if value} == {
        "spamnb_connections": 2,
        "spamnb_requests_total CHECK": 4,
        "spamnb_requests_total PING": 1,
        "spamnb_message_bytes_total": 60,
        "spamnb_verdicts_total spam": 1,
        "spamnb_verdicts_total unsure": 1,
        "spamnb_lessons_total filter": 1,
        "spamnb_refusals_total EX_TIMEOUT": 1,
        "spamnb_request_seconds_total": pytest.approx(11.3021),
    }


def test_a_new_worker_goes_on_where_the_old_one_ended_but_for_its_connections():
    metrics = Metrics(2)
    metrics.counts(0).opened(1)
    metrics.counts(1).opened(1)
    metrics.counts(1).verdict("ham")
    metrics.counts(1)
    found = read(metrics)
    assert (found["spamnb_connections"], found["spamnb_verdicts_total ham"]) == (1, 1)


def test_each_query_of_the_dashboard_names_totals_that_there_are():
    board = json.loads((Path(__file__).parents[2] / "docs" / "grafana-dashboard.json").read_text())
    asked = {name for panel in board["panels"] for query in panel["targets"] for name in metric_names(query["expr"])}
    there = {name.split()[0] for name in read(Metrics(1))}
    assert asked and asked <= there, asked - there


def metric_names(query: str) -> list[str]:
    return re.findall(r"spamnb_\w+", query)
