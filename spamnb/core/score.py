"""Scores of messages: calls of ``score.c``, which release the GIL, and checks of their arrays."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_bool, c_double, c_int, c_int64, c_size_t, c_void_p
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from spamnb.core.library import c_function, checked_array

EVENT_MODELS = "boolean", "multinomial", "bernoulli"  # enum event_model of score.h
MAX_LOGS = 1 << 15  # counts whose logarithms are in a table: 256 kB fit the processor's cache; few counts are larger
MAX_COUNT = (1 << 32) - 1  # of a token in a class


class _Model(ctypes.Structure):
    """The struct score_model of score.h."""

    _fields_ = (
        ("event_model", c_int), ("is_sum", c_bool),
        *((name, c_size_t) for name in "n_classes n_groups n_tokens n_logs information_halves".split()),
        *((name, c_double) for name in "alpha group_exponent prior_weight scale unit".split()),
        ("vocabulary_size", c_int64),
        *((name, c_void_p) for name in "logs counts groups corrections documents totals intercepts".split()),
    )  # fmt: skip


class _Rows(ctypes.Structure):
    """The struct score_rows of score.h."""

    _fields_ = (
        ("n_messages", c_size_t),
        *((name, c_void_p) for name in "bounds ids occurrences labels".split()),
        *((name, c_void_p) for name in "scores votes weights correction_weights".split()),
    )  # fmt: skip


_score = c_function("score_messages", c_bool, POINTER(_Model), POINTER(_Rows), without_lock=True)


class Scores(NamedTuple):
    """Scores of n messages for C classes. A score is an intercept and the sum of the weights of the tokens."""

    scores: np.ndarray  # (n, C) in nats
    votes: np.ndarray  # (n,) how much evidence the model has; 0 if it has none of the tokens
    weights: np.ndarray  # (nnz, C) of each token of each message, in nats; (0, C) if they are not wanted
    corrections: np.ndarray | None  # as ``weights``, the part that corrects naive Bayes


class Pooling(NamedTuple):
    """How the evidence of a message is pooled (formulas/pooling.py)."""

    is_sum: bool
    information_exponent: float  # a whole number of halves
    group_exponent: float
    prior_weight: float


class ScoreModel:
    """A model of V tokens and C classes. The arrays are those of the struct score_model.

    ``counts`` (V, C) uint32 are occurrences in a multinomial model, or else messages. ``groups`` (V,) int8 is −1 for a
    token that is not in the model. ``documents`` and ``totals`` (C,) are the messages of each class, and its sum of
    counts. ``intercepts`` has one row (C,), or, for learned messages, a row for the class of the message, (C, C).
    ``corrections`` (V, C) int64 are in ``unit`` nats. ``scale`` multiplies naive Bayes' scores.
    """

    def __init__(
        self, pooling: Pooling, n_groups: int, event_model: str, alpha: float, vocabulary_size: int, counts: np.ndarray,
        groups: np.ndarray, documents: np.ndarray, totals: np.ndarray, intercepts: np.ndarray,
        corrections: np.ndarray | None = None, scale: float = 1.0, unit: float = 1.0,
    ) -> None:  # fmt: skip
        tokens, classes = counts.shape
        checked_array(counts, np.uint32, tokens, classes)
        _check_numbers(checked_array(groups, np.int8, tokens), n_groups, -1)
        checked_array(documents, np.int64, classes)
        checked_array(totals, np.int64, classes)
        checked_array(intercepts, np.float64, len(intercepts), classes)
        if len(intercepts) not in (1, classes):
            raise ValueError("there must be a row of intercepts, or a row for each class")
        if corrections is not None:
            checked_array(corrections, np.int64, tokens, classes)
        halves = round(2 * pooling.information_exponent)
        if halves != 2 * pooling.information_exponent or halves < 0:
            raise ValueError("the exponent of information is no number of halves")
        logs = _logs(alpha)
        self._arrays = logs, counts, groups, corrections, documents, totals, intercepts
        self._n_tokens, self._n_classes, self._n_intercepts = tokens, classes, len(intercepts)
        self._model = _Model(
            EVENT_MODELS.index(event_model), pooling.is_sum, classes, n_groups, tokens, len(logs), halves,
            alpha, pooling.group_exponent, pooling.prior_weight, scale, unit, vocabulary_size,
            *_pointers(*self._arrays),
        )  # fmt: skip

    def score(
        self, bounds: np.ndarray, ids: np.ndarray, occurrences: np.ndarray, labels: np.ndarray | None = None,
        with_weights: bool = False,
    ) -> Scores:  # fmt: skip
        """Score n messages. Message i has the distinct tokens ``ids[bounds[i]:bounds[i + 1]]``.

        The model has learned the messages if there are ``labels`` (n,); each message is scored by the model without it.
        """
        n, classes, cells = len(bounds) - 1, self._n_classes, len(ids)
        checked_array(bounds, np.int64)
        if n < 0 or bounds[0] or bounds[-1] != cells or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("the cells of a message are outside of the array")
        _check_numbers(checked_array(ids, np.int32), self._n_tokens)
        checked_array(occurrences, np.int64, cells)
        if labels is not None:
            _check_numbers(checked_array(labels, np.int64, n), min(classes, self._n_intercepts))
        scores, votes = np.empty((n, classes)), np.empty(n)
        weights = np.zeros((cells if with_weights else 0, classes))
        corrections = None if self._arrays[3] is None else np.zeros_like(weights)
        wanted = (weights, corrections) if with_weights else (None, None)
        rows = _Rows(n, *_pointers(bounds, ids, occurrences, labels, scores, votes, *wanted))
        if not _score(byref(self._model), byref(rows)):
            raise MemoryError
        return Scores(scores, votes, weights, corrections)


@lru_cache(4)
def _logs(alpha: float) -> np.ndarray:
    return np.log(np.arange(MAX_LOGS) + alpha)


def _pointers(*arrays: np.ndarray | None) -> list[int | None]:
    return [None if array is None else array.ctypes.data for array in arrays]


def _check_numbers(numbers: np.ndarray, bound: int, least: int = 0) -> None:
    if len(numbers) and not least <= numbers.min() <= numbers.max() < bound:
        raise ValueError("the number of a token, a group or a class is out of bounds")
