"""The loops of ``formulas/pooling.py`` and of left-out scores: ``pool.c``, called without Python's lock."""

from __future__ import annotations

import ctypes
from ctypes import POINTER, byref, c_bool, c_double, c_int, c_int64, c_size_t, c_void_p
from typing import Any

import numpy as np

from spamnb.core.library import c_function, checked_array

MODELS = "boolean", "multinomial", "bernoulli"  # enum event_model of pool.h
MAX_LOGS = 1 << 15  # counts whose logarithms are in a table: 256 kB fit the processor's cache; few counts are larger


class Pooling(ctypes.Structure):
    """The struct pooling of pool.h."""

    _fields_ = (
        ("n_classes", c_size_t), ("n_groups", c_size_t), ("is_sum", c_bool),
        *((name, c_double) for name in "information_exponent group_exponent prior_weight".split()),
    )  # fmt: skip


class _EvidenceRows(ctypes.Structure):
    """The struct evidence_rows of pool.h."""

    _fields_ = (
        *((name, c_void_p) for name in "log_likelihoods occurrences bounds groups".split()),
        ("n_messages", c_size_t),
        *((name, c_void_p) for name in "weights scores votes".split()),
    )  # fmt: skip


class _LeftOut(ctypes.Structure):
    """The struct left_out of pool.h."""

    _fields_ = (
        ("model", c_int), ("alpha", c_double), ("vocabulary_size", c_int64),
        *((name, c_void_p) for name in "counts token_groups documents totals logs log_priors".split()),
        *((name, c_void_p) for name in "ids occurrences bounds labels".split()),
        ("n_logs", c_size_t), ("n_messages", c_size_t), ("scores", c_void_p),
    )  # fmt: skip


_pool = c_function("pool_rows", c_bool, POINTER(Pooling), POINTER(_EvidenceRows), without_lock=True)
_score = c_function("score_left_out", c_bool, POINTER(Pooling), POINTER(_LeftOut), without_lock=True)


def _pointers(*arrays: np.ndarray | None) -> list[int | None]:
    return [None if array is None else array.ctypes.data for array in arrays]


def _check_bounds(bounds: np.ndarray, size: int) -> None:
    checked_array(bounds, np.int64)
    if not len(bounds) or bounds[0] or bounds[-1] != size or (bounds[1:] < bounds[:-1]).any():
        raise ValueError("the cells of a message are outside of the array")


def _check_numbers(numbers: np.ndarray, bound: int, least: int = 0) -> None:
    if len(numbers) and not least <= numbers.min() <= numbers.max() < bound:
        raise ValueError("the number of a token, a group or a class is out of bounds")


def pool_rows(
    pooling: Pooling,
    log_likelihoods: np.ndarray,
    occurrences: np.ndarray | None,
    bounds: np.ndarray,
    groups: np.ndarray,
    scores: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Add the pooled evidence of n messages to ``scores`` (n, C); return the weights (C, nnz) and the votes (n,)."""
    classes, cells = log_likelihoods.shape
    checked_array(log_likelihoods, np.float64, pooling.n_classes, cells)
    _check_bounds(bounds, cells)
    if occurrences is not None:
        checked_array(occurrences, np.int64, cells)
    _check_numbers(checked_array(groups, np.int8, cells), pooling.n_groups)
    checked_array(scores, np.float64, len(bounds) - 1, classes, writable=True)
    weights, votes = np.empty(log_likelihoods.shape), np.empty(len(scores))
    inputs = _pointers(log_likelihoods, occurrences, bounds, groups)
    rows = _EvidenceRows(*inputs, len(scores), *_pointers(weights, scores, votes))
    if not _pool(byref(pooling), byref(rows)):
        raise MemoryError
    return weights, votes


class LeftOut:
    """A model of V tokens and C classes. It scores each message of its training set without the message's own counts.

    ``counts`` (V, C) uint32 are occurrences in a multinomial model, or else messages. ``token_groups`` (V,) int8 is −1
    for a token that only one message has. ``documents`` and ``totals`` (C,) are the messages of each class, and its
    sum of counts. Row c of ``log_priors`` (C, C) has the log priors without a message of class c.
    """

    def __init__(
        self, pooling: Pooling, model: str, alpha: float, vocabulary_size: int, counts: np.ndarray,
        token_groups: np.ndarray, documents: np.ndarray, totals: np.ndarray, log_priors: np.ndarray,
    ) -> None:  # fmt: skip
        tokens, classes = counts.shape
        checked_array(counts, np.uint32, tokens, pooling.n_classes)
        _check_numbers(checked_array(token_groups, np.int8, tokens), pooling.n_groups, -1)
        checked_array(documents, np.int64, classes)
        checked_array(totals, np.int64, classes)
        checked_array(log_priors, np.float64, classes, classes)
        self._pooling, self._numbers = pooling, (MODELS.index(model), alpha, vocabulary_size)
        logs = np.log(np.arange(MAX_LOGS) + alpha)
        self._arrays = counts, token_groups, documents, totals, logs, log_priors

    def score(self, bounds: np.ndarray, ids: np.ndarray, occurrences: np.ndarray, labels: np.ndarray) -> np.ndarray:
        """Return the scores (n, C) of n messages. Message i has the tokens ``ids[bounds[i]:bounds[i + 1]]``."""
        tokens, classes = self._arrays[0].shape
        _check_bounds(bounds, len(ids))
        _check_numbers(checked_array(ids, np.int32), tokens)
        checked_array(occurrences, np.int64, len(ids))
        _check_numbers(checked_array(labels, np.int64, len(bounds) - 1), classes)
        scores = np.empty((len(labels), classes))
        arrays: Any = _pointers(*self._arrays, ids, occurrences, bounds, labels)
        left_out = _LeftOut(*self._numbers, *arrays, MAX_LOGS, len(labels), scores.ctypes.data)
        if not _score(byref(self._pooling), byref(left_out)):
            raise MemoryError
        return scores
