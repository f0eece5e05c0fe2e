"""The figures of a result, which the table, the page and the JSON show."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.evaluation import intervals, metrics
from spamnb.evaluation.intervals import Estimate
from spamnb.evaluation.metrics import UNSURE_NUMBER, precision_recall
from spamnb.evaluation.result import Result
from spamnb.model.new_senders import NewSenders


class ClassFigures(NamedTuple):
    """Figures of one class against all other classes, in percent."""

    name: str
    messages: int
    precision: float
    recall: float
    f1: float
    one_minus_roca: float


class SpamFigures(NamedTuple):
    """Figures of good mail lost (hm) and spam let through (sm). ROCA is the area under the ROC curve."""

    hm: Estimate
    sm: Estimate
    one_minus_roca: Estimate
    sm_at_hm: Estimate  # the least sm of all thresholds that lose at most intervals.HM_LIMIT percent of the good mail
    unsure_ham: float  # percent of the ham
    unsure_spam: float  # percent of the spam


class CalibrationFigures(NamedTuple):
    """Errors of the probabilities: log loss in nats, calibration error in percent."""

    log_loss: float
    expected_calibration_error: float
    reliability: list[metrics.Bin]


class Figures(NamedTuple):
    """All figures of one result, with 95 % intervals."""

    protocol: str
    messages: int
    classes: tuple[str, ...]
    accuracy: Estimate
    spam: SpamFigures | None
    calibration: CalibrationFigures
    new_senders: NewSenders
    by_class: list[ClassFigures]
    confusion: list[list[int]]  # a row per true class, a column per verdict; the last column is unsure


def compute_figures(result: Result, *, replicates: int = intervals.REPLICATES, seed: int = 0) -> Figures:
    """Return the figures of a result of at least one message. The same seed gives the same intervals."""
    return Figures(
        result.protocol,
        len(result),
        result.classes,
        intervals.binomial_interval(int(result.is_right.sum()), len(result)),
        _spam_figures(result, replicates, seed),
        _calibration_figures(result),
        result.new_senders,
        _class_figures(result),
        result.confusion.tolist(),
    )


def _spam_figures(result: Result, replicates: int, seed: int) -> SpamFigures | None:
    spam = result.spam_index
    if spam is None:
        return None
    is_spam = result.truth == spam
    steps = metrics.roc_counts(is_spam, result.margins[:, spam])
    is_unsure = result.verdicts == UNSURE_NUMBER
    return SpamFigures(
        *intervals.error_rates(is_spam, result.verdicts == spam),
        *intervals.roc_estimates(steps, replicates, seed),
        _percent(is_unsure[~is_spam]),
        _percent(is_unsure[is_spam]),
    )


def _percent(events: NDArray[np.bool_]) -> float:
    return 100 * float(events.mean()) if events.size else math.nan


def _calibration_figures(result: Result) -> CalibrationFigures:
    truth, p = result.truth, result.probabilities
    table = metrics.reliability_table(truth, p, result.spam_index)
    return CalibrationFigures(metrics.log_loss(truth, p), metrics.expected_calibration_error(table), table)


def _class_figures(result: Result) -> list[ClassFigures]:
    table = precision_recall(result.confusion)
    return [
        ClassFigures(
            name,
            int(table.support[c]),
            100 * float(table.precision[c]),
            100 * float(table.recall[c]),
            100 * float(table.f1[c]),
            metrics.one_minus_roca(result.truth == c, result.margins[:, c]) if len(result.classes) > 1 else math.nan,
        )
        for c, name in enumerate(result.classes)
    ]


def to_json(value: Any) -> Any:
    """Return figures as values of JSON, with None for NaN and infinity."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
