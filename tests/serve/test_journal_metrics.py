"""The journal's figures in /metrics, by Prometheus' own names and grammar, and the dashboard that asks for them."""

from __future__ import annotations

import json
import re
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from served import Server
from served import mail as served_mail

from spamnb.classifier import Classifier
from spamnb.journal.entries import entry_of
from spamnb.journal.figures import days, directions
from spamnb.journal.journal import Journal
from spamnb.journal.teaching import noted
from spamnb.serve.journal_metrics import JOURNAL, MODEL, JournalMetrics
from spamnb.serve.metrics import Metrics, exposition
from spamnb.serve.score import score_message

DASHBOARD = Path(__file__).parents[2] / "docs" / "grafana-dashboard.json"
UNITS = ("_seconds", "_bytes", "_ratio")


def samples(text: str) -> dict[str, dict[str, float]]:
    """{metric: {value of its label: figure}}."""
    found: dict[str, dict[str, float]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            found.setdefault(sample.name, {})["".join(sample.labels.values())] = sample.value
    return found


@pytest.fixture
def journal(model: Path, tmp_path: Path) -> Path:
    path = tmp_path / "journal"
    with Journal.at(path) as kept, Classifier.open(model) as classifier:
        for seed in range(600, 620):
            for label in ("spam", "ham"):
                read = classifier.read(served_mail(label, seed))
                kept.add([entry_of(read, score_message(classifier, read), classifier.settings)])
        kept.correct([noted(classifier.read(served_mail("spam", 600)).digest, "ham", False, "move")])
    return path


def test_the_figures_are_those_of_the_page(model, journal):
    with Classifier.open(model, writable=True) as classifier:
        classifier.store.put_meta({"trained_at": "2026-11-22T10:00:00+00:00"})
    told: list[str] = []
    found = samples(exposition(JournalMetrics(model, journal, told.append))().decode())
    assert set(found) == {*MODEL, *JOURNAL} and told == []
    with Journal.at(journal) as kept:
        counted, made = days(kept, 30), directions(kept, time.time() - 30 * 86_400)
    assert found["spamnb_journal_messages"] == {
        "ham": sum(day.good for day in counted),
        "unsure": sum(day.unsure for day in counted),
        "spam": sum(day.spam for day in counted),
    }
    assert found["spamnb_journal_corrections"] == made._asdict() and made.rescued == 1
    assert found["spamnb_journal_expected_errors"][""] == pytest.approx(sum(day.expected for day in counted))
    assert 0 <= found["spamnb_journal_unknown_tokens_ratio"][""] < 1
    assert sum(found["spamnb_journal_scored_messages"].values()) == 40
    assert found["spamnb_model_messages"] == {"ham": 120, "spam": 120}
    assert found["spamnb_model_trained_timestamp_seconds"][""] == 1_795_341_600
    assert found["spamnb_model_size_bytes"][""] >= model.stat().st_size


def test_names_and_units_are_as_prometheus_wants_them():
    for name, (what, label) in {**MODEL, **JOURNAL}.items():
        assert re.fullmatch("spamnb_[a-z]+(_[a-z]+)+", name) and what.endswith(".")
        assert not name.endswith(("_total", "_count", "_sum", "_bucket")), "these are for counters and histograms"
        assert re.fullmatch("|[a-z]+", label) and label not in ("le", "quantile")
        for unit in ("milli", "_ms", "percent", "kilo", "mega", "days"):
            assert unit not in name, "base units alone"
    for name in ("spamnb_model_trained_timestamp", "spamnb_model_size", "spamnb_journal_unknown_tokens"):
        assert any(name + unit in {**MODEL, **JOURNAL} for unit in UNITS)


def test_what_cannot_be_read_is_told_and_costs_no_other_figure(model, tmp_path):
    (tmp_path / "journal").write_bytes(b"no database at all" * 100)
    told: list[str] = []
    found = samples(exposition(JournalMetrics(model, tmp_path / "journal", told.append))().decode())
    assert "spamnb_model_size_bytes" in found and not set(found) & set(JOURNAL) and len(told) == 1
    assert set(samples(exposition(JournalMetrics(model, None, told.append))().decode())) <= set(MODEL)


def test_each_query_of_the_dashboard_names_metrics_that_there_are(model, journal):
    with Classifier.open(model, writable=True) as classifier:
        classifier.store.put_meta({"trained_at": "2026-11-22T10:00:00+00:00"})
    collectors = Metrics(1), JournalMetrics(model, journal, print)
    there = samples(exposition(*collectors)().decode())
    board = json.loads(DASHBOARD.read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    asked = {name for query in queries for name in re.findall(r"spamnb_\w+", query)}
    assert len(queries) > 10 and asked <= set(there), asked - set(there)
    assert set(JOURNAL) | set(MODEL) - {"spamnb_model_tokens"} <= asked
    for query in queries:
        assert query.count("(") == query.count(")") and query.count("{") == query.count("}")
        for matched in re.findall(r'direction=~"([^"]+)"', query):
            assert set(matched.split("|")) <= set(there["spamnb_journal_corrections"])
    assert len({panel["id"] for panel in board["panels"]}) == len(board["panels"])
    assert {panel["datasource"]["uid"] for panel in board["panels"]} == {"${" + board["__inputs"][0]["name"] + "}"}


def test_the_server_answers_with_them(model, journal, tmp_path):
    server = Server(tmp_path, model, "--port", "0", "--metrics-port", "0", "--journal", str(journal))
    try:
        port = next(line["address"] for line in server.lines() if line["event"] == "metrics").rpartition(":")[2]
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as reply:
            found = samples(reply.read().decode())
    finally:
        server.stop()
    assert found["spamnb_journal_messages"]["spam"] + found["spamnb_journal_messages"]["ham"] > 0
    assert found["spamnb_connections"] == {"": 0}
