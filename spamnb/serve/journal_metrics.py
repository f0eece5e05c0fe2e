"""The figures of the page *How it does*, for Prometheus: what the journal knows of thirty days, and the model as it is.

They are gauges, since the journal lets go of what is old: the figures of the page, by the same functions.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal.figures import days, directions
from spamnb.journal.journal import Journal
from spamnb.serve.drift import columns, scores_of, state_of

if TYPE_CHECKING:
    from prometheus_client import Metric

DAYS = 30
KEPT_SECONDS = 60.0  # figures that were asked for twice in a minute are those of before: they take 50 ms at 90,000 rows

Samples = Mapping[str, float]  # by the value of the label; of a metric without one, by ""

MODEL = {  # metric → what it is, its label
    "spamnb_model_trained_timestamp_seconds": ("When the model was trained, seconds since 1970.", ""),
    "spamnb_model_size_bytes": ("Bytes of the model's file and what lies beside it.", ""),
    "spamnb_model_tokens": ("Tokens that the model knows.", ""),
    "spamnb_model_messages": ("Messages that the model has learned, by class.", "class"),
    "spamnb_training_scored_messages": ("Messages by points, judged at training without themselves.", "points"),
}
JOURNAL = {
    "spamnb_journal_messages": ("Messages of thirty days, by verdict.", "verdict"),
    "spamnb_journal_doubtful_messages": ("Those whose verdict was close to another.", ""),
    "spamnb_journal_expected_errors": ("Verdicts of thirty days that the model itself expects to be wrong.", ""),
    "spamnb_journal_corrections": ("Corrections of thirty days that stand, by direction.", "direction"),
    "spamnb_journal_unknown_tokens_ratio": ("Mean share of a message's tokens that the model did not know.", ""),
    "spamnb_journal_scored_messages": ("Messages of thirty days, by points.", "points"),
}


class JournalMetrics:
    """One of prometheus_client's collectors; ``tell`` takes a line where a file cannot be read, and no figure of it is
    given then."""

    def __init__(self, model: Path, journal: Path | None, tell: Callable[[str], None]) -> None:
        self._model, self._journal, self._tell = model, journal, tell
        self._lock = threading.Lock()
        self._kept: tuple[float, list[tuple[str, str, str, Samples]]] | None = None

    def collect(self) -> Iterator[Metric]:
        """All figures as prometheus_client wants them."""
        from prometheus_client.core import GaugeMetricFamily

        for name, what, label, samples in self._figures():
            family = GaugeMetricFamily(name, what, labels=[label] if label else [])
            for value, number in samples.items():
                family.add_metric([value] if label else [], number)
            yield family

    def _figures(self) -> list[tuple[str, str, str, Samples]]:
        with self._lock:
            if self._kept is None or time.monotonic() - self._kept[0] > KEPT_SECONDS:
                found: list[tuple[str, str, str, Samples]] = []
                for described, read in ((MODEL, self._of_model), (JOURNAL, self._of_journal)):
                    try:
                        figures = read()
                    except (SpamnbError, OSError) as error:
                        self._tell(str(error))
                        continue
                    found += [(name, *described[name], samples) for name, samples in figures.items()]
                self._kept = time.monotonic(), found
            return self._kept[1]

    def _of_model(self) -> dict[str, Samples]:
        with Classifier.open(self._model) as classifier:
            state = state_of(classifier)
        found: dict[str, Samples] = {
            "spamnb_model_size_bytes": {"": state.bytes},
            "spamnb_model_tokens": {"": state.tokens},
            "spamnb_model_messages": state.messages,
        }
        if state.trained_at is not None:
            found["spamnb_model_trained_timestamp_seconds"] = {"": state.trained_at}
        if state.at_training is not None:
            found["spamnb_training_scored_messages"] = dict(zip(columns(), state.at_training))
        return found

    def _of_journal(self) -> dict[str, Samples]:
        if self._journal is None:
            return {}
        since = time.time() - DAYS * 86_400
        with Journal.at(self._journal) as journal:
            counted, made = days(journal, DAYS), directions(journal, since)
            scores = scores_of(journal, since)
        verdicts = {kind: sum(getattr(day, kind) for day in counted) for kind in ("good", "unsure", "spam")}
        known = [(day.unknown, day.total) for day in counted if day.unknown is not None]
        found: dict[str, Samples] = {
            "spamnb_journal_messages": {"ham" if kind == "good" else kind: n for kind, n in verdicts.items()},
            "spamnb_journal_doubtful_messages": {"": sum(day.doubtful for day in counted)},
            "spamnb_journal_expected_errors": {"": sum(day.expected for day in counted)},
            "spamnb_journal_corrections": made._asdict(),
            "spamnb_journal_scored_messages": dict(zip(columns(), scores)),
        }
        if total := sum(number for _, number in known):
            found["spamnb_journal_unknown_tokens_ratio"] = {"": sum(share * n for share, n in known) / total}
        return found
