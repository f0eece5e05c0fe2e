"""A result summed up: every figure that the table, the page and the json show, computed once."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.evaluation import intervals, metrics
from spamnb.evaluation.intervals import Estimate
from spamnb.evaluation.metrics import UNSURE, precision_recall
from spamnb.evaluation.result import Result


class ClassFigures(NamedTuple):
    """One class against the rest, in percent."""

    name: str
    messages: int
    precision: float
    recall: float
    f1: float
    one_minus_roca: float


class SpamFigures(NamedTuple):
    """What a filter is chosen for: good mail lost, spam let through, and how well its scores could do."""

    hm: Estimate
    sm: Estimate
    one_minus_roca: Estimate
    sm_at_hm: Estimate  # the least sm% at which hm% is at most HM_LIMIT
    unsure_ham: float  # percent of the ham whose verdict is unsure
    unsure_spam: float


class CalibrationFigures(NamedTuple):
    """What the probabilities are worth: log loss in nats, calibration error in percent."""

    log_loss: float
    expected_calibration_error: float
    reliability: list[metrics.Bin]


class Figures(NamedTuple):
    """All there is to say of one result; intervals are 95 %."""

    protocol: str
    messages: int
    classes: tuple[str, ...]
    accuracy: Estimate
    spam: SpamFigures | None
    calibration: CalibrationFigures
    by_class: list[ClassFigures]
    confusion: list[list[int]]  # rows true, columns verdicts, last unsure


def figures(result: Result, *, replicates: int = intervals.REPLICATES, seed: int = 0) -> Figures:
    """Sum a result of one message and more up. The same seed gives the same intervals."""
    return Figures(
        result.protocol,
        len(result),
        result.classes,
        intervals.share(int(result.right.sum()), len(result)),
        _spam(result, replicates, seed),
        _calibration(result),
        _by_class(result),
        result.confusion.tolist(),
    )


def _spam(result: Result, replicates: int, seed: int) -> SpamFigures | None:
    spam = result.spam_index
    if spam is None:
        return None
    is_spam = result.truth == spam
    step = metrics.roc_counts(is_spam, result.margins[:, spam])
    unsure = result.verdicts == UNSURE
    return SpamFigures(
        *intervals.error_rates(is_spam, result.verdicts == spam),
        *intervals.roc_estimates(step, replicates, seed),
        _percent(unsure[~is_spam]),
        _percent(unsure[is_spam]),
    )


def _percent(which: NDArray[np.bool_]) -> float:
    return 100 * float(which.mean()) if which.size else math.nan


def _calibration(result: Result) -> CalibrationFigures:
    truth, p = result.truth, result.probabilities
    table = metrics.reliability(truth, p, result.spam_index)
    return CalibrationFigures(metrics.log_loss(truth, p), metrics.expected_calibration_error(table), table)


def _by_class(result: Result) -> list[ClassFigures]:
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


def as_json(value: Any) -> Any:
    """Figures as what json can hold; null for NaN and infinity, which json has no word for."""
    if hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, dict):
        return {key: as_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
