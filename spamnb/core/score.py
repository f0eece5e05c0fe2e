"""Scores of messages: calls of ``score.c``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from spamnb.core.library import ffi, lib, numbers, pointer

EVENT_MODELS = {"boolean": lib.BOOLEAN_MODEL, "multinomial": lib.MULTINOMIAL_MODEL, "bernoulli": lib.BERNOULLI_MODEL}
MAX_LOGS = 1 << 15  # counts whose logarithms are in a table: 256 kB fit the processor's cache; few counts are larger
MAX_COUNT = (1 << 32) - 1  # of a token in a class


class Scores(NamedTuple):
    """Scores of n messages for C classes. A score is an intercept and the sum of the weights of the tokens."""

    scores: np.ndarray  # (n, C) in nats
    typicality: np.ndarray  # (n, C) how typical each message is of each class, 0 to 1 (model/decision.py)
    votes: np.ndarray  # (n,) how much evidence the model has; 0 if it has none of the tokens (model/pooling.py)
    weights: np.ndarray  # (nnz, C) of each token of each message, in nats; (0, C) if they are not wanted
    corrections: np.ndarray  # as ``weights``, the part that corrects naive Bayes; (0, C) also without a correction

    @classmethod
    def zeros(cls, messages: int, classes: int) -> Scores:
        """Return scores of 0 without weights."""
        scores, typicality = np.zeros((2, messages, classes))
        return cls(scores, typicality, np.zeros(messages), *np.zeros((2, 0, classes)))

    def take(self, messages: np.ndarray) -> Scores:
        """Return the scores of some messages, by their numbers or a mask, without weights."""
        scores, typicality, votes = (values[messages] for values in self[:3])
        return Scores(scores, typicality, votes, self.weights[:0], self.corrections[:0])

    @classmethod
    def concat(cls, parts: Sequence[Scores]) -> Scores:
        """Join one or more parts."""
        return cls(*map(np.concatenate, zip(*parts)))


class Pooling(NamedTuple):
    """How the evidence of a message is pooled (model/pooling.py)."""

    is_sum: bool
    information_exponent: float  # a whole number of halves
    group_exponent: float
    prior_weight: float


class ScoreModel:
    """A model of V tokens and C classes. The arrays are those of the struct score_model of interface.h.

    The tokens of the first ``n_word_groups`` groups are words, those of the first one single words, and those of
    the last group structure, with ``structure_weight`` in typicality. ``counts`` (V, C) uint32 are occurrences in a
    multinomial model, or else messages. ``groups`` (V,) int8 is −1 − group for a token that is not in the model.
    ``documents`` and ``totals`` (C,) are the messages of each class, and its sum of counts. ``intercepts`` has one
    row (C,), or, for learned messages, a row for the class of the message, (C, C). ``corrections`` (V, C) int64 are
    in ``unit`` nats. ``scale`` multiplies naive Bayes' scores. ``spam`` is the class that doubtful tokens may speak
    for; None if there is none.
    """

    def __init__(
        self, pooling: Pooling, n_groups: int, n_word_groups: int, structure_weight: float, event_model: str,
        alpha: float, vocabulary_size: int, counts: np.ndarray, groups: np.ndarray,
        documents: np.ndarray, totals: np.ndarray, intercepts: np.ndarray,
        spam: int | None = None, corrections: np.ndarray | None = None, scale: float = 1.0, unit: float = 1.0,
    ) -> None:  # fmt: skip
        tokens, classes = counts.shape
        if len(intercepts) not in (1, classes):
            raise ValueError("there must be a row of intercepts, or a row for each class")
        halves = round(2 * pooling.information_exponent)
        if halves != 2 * pooling.information_exponent or halves < 0:
            raise ValueError("the exponent of information is no number of halves")
        fields = {
            "event_model": EVENT_MODELS[event_model], "is_sum": pooling.is_sum,
            "n_classes": classes, "n_groups": n_groups, "n_word_groups": n_word_groups, "n_tokens": tokens,
            "n_logs": MAX_LOGS, "information_halves": halves, "spam": classes if spam is None else spam,
            "alpha": alpha, "group_exponent": pooling.group_exponent, "prior_weight": pooling.prior_weight,
            "structure_weight": structure_weight,
            "scale": scale, "unit": unit, "vocabulary_size": vocabulary_size,
            "logs": pointer("double", _logs(alpha)),
            "counts": pointer("uint32_t", counts, tokens, classes),
            "groups": numbers("int8_t", groups, n_groups, tokens, least=-n_groups),
            "corrections": ffi.NULL if corrections is None else pointer("int64_t", corrections, tokens, classes),
            "documents": pointer("int64_t", documents, classes),
            "totals": pointer("int64_t", totals, classes),
            "intercepts": pointer("double", intercepts, len(intercepts), classes),
        }  # fmt: skip
        self._n_intercepts = len(intercepts)
        self._pointers = fields  # keep the arrays alive
        self._model = ffi.new("struct score_model *", fields)

    def score(
        self, bounds: np.ndarray, ids: np.ndarray, occurrences: np.ndarray, is_doubtful: np.ndarray | None = None,
        labels: np.ndarray | None = None, with_weights: bool = False, reference: ScoreModel | None = None,
    ) -> Scores:  # fmt: skip
        """Score n messages. Message i has the distinct tokens ``ids[bounds[i]:bounds[i + 1]]``.

        The model has learned the messages if there are ``labels`` (n,); each message is scored by the model without it.
        ``is_doubtful`` (nnz,) are the tokens that occur only in text that may be hidden; None means none.
        ``reference`` is the model, of the same tokens and classes, that computes typicality; None is this one.
        """
        n, classes, cells, reference = len(bounds) - 1, self._model.n_classes, len(ids), reference or self
        if (reference._model.n_classes, reference._model.n_tokens) != (classes, self._model.n_tokens):
            raise ValueError("the model of typicality has other tokens or classes")
        bounds_pointer = pointer("int64_t", bounds)
        if n < 0 or bounds[0] or bounds[-1] != cells or (bounds[1:] < bounds[:-1]).any():
            raise ValueError("the cells of a message are outside of the array")
        scores, typicality, votes = np.empty((n, classes)), np.empty((n, classes)), np.empty(n)
        weights = np.zeros((cells if with_weights else 0, classes))
        corrections = np.zeros((len(weights) if self._model.corrections else 0, classes))
        fields = {
            "n_messages": n, "bounds": bounds_pointer, "ids": numbers("int32_t", ids, self._model.n_tokens),
            "occurrences": pointer("int64_t", occurrences, cells),
            "scores": pointer("double", scores, n, classes),
            "typicality": pointer("double", typicality, n, classes), "votes": pointer("double", votes),
        }  # fmt: skip
        if labels is not None:
            fields["labels"] = numbers("int64_t", labels, min(classes, self._n_intercepts), n)
        if is_doubtful is not None:
            fields["is_doubtful"] = pointer("bool", is_doubtful, cells)
        if with_weights:
            fields["weights"] = pointer("double", weights, cells, classes)
        if len(corrections):
            fields["correction_weights"] = pointer("double", corrections, cells, classes)
        if not lib.score_messages(self._model, reference._model, ffi.new("struct score_rows *", fields)):
            raise MemoryError
        return Scores(scores, typicality, votes, weights, corrections)


@lru_cache(4)
def _logs(alpha: float) -> np.ndarray:
    return np.log(np.arange(MAX_LOGS) + alpha)
