"""Logistic regression on the tokens themselves: which are there, each row scaled to length 1.

Training fits a penalised softmax to all messages at once; learning is one step w ← w − η ∇E on one message's tokens.
It is the one model that is no sum: a step cannot be taken back, so nothing can be forgotten.

Every token has a vector of one weight a class, in the order of the classes' first appearance, which ``linear_classes``
of the model's meta holds; a class that came later has weight 0 in the vectors that were written before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spamnb.errors import Damaged
from spamnb.formulas.cross_entropy import with_first_of_two
from spamnb.formulas.pooling import row_sums
from spamnb.formulas.softmax import softmax
from spamnb.learners.learner import BatchScores, FitResult, Learner, Lesson, Screened, class_names
from spamnb.reader.rows import CsrRows, take_tokens
from spamnb.store.store import Store

# Chosen in docs/experiments.md#logistic-regression. C is the penalty in scikit-learn's terms, Σ_n E_n + |w|²/(2C), on
# 0/1 rows of length 1; a token has a weight if at least MIN_DF messages hold it. LEARNING_RATE is η of learning one
# message, whose row has length 1, and INTERCEPT_RATE the share of it that moves the intercept.
C = 1000.0
MIN_DF = 2
LEARNING_RATE = 8.0
INTERCEPT_RATE = 0.1


class Logistic(Learner):
    """Softmax regression with one weight a token and class."""

    forgets = False  # a step cannot be taken back

    def train(self, screened: Screened) -> FitResult:
        """Each message is scored by a fit without its fold. Five folds; two where there are more than two classes,
        whose fits take minutes."""
        training_set = screened.training_set
        classes, y = training_set.counts.classes, training_set.included_labels()
        # The document frequencies are those of all messages, also where a fold is left out.
        holds = training_set.matrix().astype(float)
        holds.data = (training_set.counts.document_frequency() >= MIN_DF)[holds.indices].astype(float)
        holds.eliminate_zeros()
        folds = 5 if len(classes) == 2 else 2
        fold = training_set.stratified_folds(folds)
        scores = np.zeros((len(y), len(classes)))
        for f in range(folds):
            inside = fold == f
            weights, intercept = fit(holds[~inside], y[~inside], len(classes))
            lengths = np.sqrt(np.maximum(holds[inside] @ weights.any(axis=1), 1))  # of the tokens that have a weight
            scores[inside] = (holds[inside] @ weights) / lengths[:, None] + intercept
        weights, intercept = fit(holds, y, len(classes))
        meta = {"linear_classes": list(classes)}
        return FitResult(y, scores, folds, {"linear_intercept": intercept}, weights.astype(np.float32), meta)

    # -- on the store ----------------------------------------------------------------------------------------

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        names, intercept = _parameters(store)
        vectors = _vectors(store, tokens, len(names))
        positions = np.array([i for i, token in enumerate(tokens) if token in vectors], np.intp)
        known_tokens, known = take_tokens(tokens, positions), rows.select(positions, len(tokens))
        order = [names.index(name) if name in names else -1 for name in store.totals().classes]
        table = _table(known_tokens, vectors, len(names) + 1)  # the last column is 0: for classes never stepped to
        lengths = row_sums(table[known.ids].any(axis=1).astype(int), known.indptr)  # of the tokens that have a weight
        cells = np.sqrt(np.maximum(lengths, 1))[known.row_numbers]
        weights = table[:, order].T[:, known.ids] / cells
        scores = row_sums(weights, known.indptr).T + np.append(intercept, 0.0)[order]
        return BatchScores(known_tokens, known, scores, weights, lambda: softmax(scores))

    def learn(self, store: Store, lesson: Lesson) -> Mapping[str, Any]:
        names, intercept = _parameters(store)
        label, tokens = lesson.label, list(lesson.message.tokens)
        if label not in names:
            names, intercept = [*names, label], np.append(intercept, 0.0)
        table = _table(tokens, _vectors(store, tokens, len(names)), len(names))
        value = 1 / np.sqrt(max(len(tokens), 1))
        score = table.sum(axis=0) * value + intercept
        residual = softmax(score)
        residual[names.index(label)] -= 1
        if len(names) > 1:  # one class alone has probability 1 whatever its weights
            # Of two classes both weights move, so that their difference makes the step.
            table -= LEARNING_RATE / 2 * value * residual
            intercept = intercept - INTERCEPT_RATE * LEARNING_RATE / 2 * residual
        store.put_vectors(tokens, table)
        store.put_arrays({"linear_intercept": intercept})
        store.put_meta({"linear_classes": names})
        return {}


def _parameters(store: Store) -> tuple[list[str], np.ndarray]:
    names = store.meta().get("linear_classes", [])
    intercept = store.arrays().get("linear_intercept", np.zeros(0))
    if not class_names(names) or intercept.shape != (len(names),):
        raise Damaged("linear_classes in table meta and the array linear_intercept do not belong together")
    return names, intercept


def _vectors(store: Store, tokens: Sequence[str], classes: int) -> dict[str, np.ndarray]:
    """{token: its weights for the first classes} of those tokens that have any."""
    vectors = store.look_up_vectors(tokens)
    if max(map(len, vectors.values()), default=0) > classes:
        raise Damaged("vectors of more classes than there are")
    return vectors


def _table(tokens: Sequence[str], vectors: dict[str, np.ndarray], classes: int) -> np.ndarray:
    """The weights of tokens (k, C), 0 where there are none."""
    table = np.zeros((len(tokens), classes))
    for row, token in enumerate(tokens):
        vector = vectors.get(token, ())
        table[row, : len(vector)] = vector
    return table


def fit(holds: Any, y: np.ndarray, classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Weights (V, C) and intercept (C,) of messages that hold tokens as the 0/1 rows ``holds`` (n, V), sparse, say."""
    from spamnb.estimators.logistic import LogisticRegression

    weights, intercept = np.zeros((holds.shape[1], classes)), np.zeros(classes)
    if len(np.unique(y)) < 2:
        return weights, intercept
    X, lengths = holds.copy(), np.diff(holds.indptr)
    X.data /= np.sqrt(np.repeat(lengths, lengths))
    model = LogisticRegression(C=C, tol=1e-5).fit(X, y)
    # Two classes have one row of weights; split evenly it is a softmax like any other.
    fitted = with_first_of_two(np.column_stack([model.coef_, model.intercept_]).T)
    fitted -= fitted.mean(axis=1, keepdims=True)
    weights[:, model.classes_] = fitted[:-1]
    intercept[:] = fitted[-1].min() - 10  # of a class that has no message in these folds
    intercept[model.classes_] = fitted[-1]
    return weights, intercept
