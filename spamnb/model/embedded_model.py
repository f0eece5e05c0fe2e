"""Gaussian models: a message is a dense vector, and the vectors of a class have a Gaussian distribution.

Training fits the embedding, a vector for each token, and learning does not change it. The vector of a message is a
weighted sum of the vectors of its tokens. The model file has the vectors of the tokens, and the moments of each class
(model/moments.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from spamnb.core.score import Scores
from spamnb.errors import Damaged, SpamnbError
from spamnb.model import gaussian
from spamnb.model.class_counts import find_sorted
from spamnb.model.delta import Sums
from spamnb.model.embeddings import embed, fit_embedding
from spamnb.model.gaussian import Gaussians, QuadraticForm
from spamnb.model.learner import Fit, Learner
from spamnb.model.model import DENSE_CLASSES, Model
from spamnb.model.moments import Moments, name_arrays, read_moments
from spamnb.model.pooling import sufficient
from spamnb.model.priors import class_log_prior
from spamnb.model.softmax import softmax
from spamnb.reader.rows import Rows
from spamnb.settings import Settings

if TYPE_CHECKING:  # the import would slow down the classification of one message
    from spamnb.model.training_set import TrainingSet

N_FOLDS = 10  # folds that are left out in turn; the embedding is fitted once, to all messages
SHRINKAGE = "oas"  # because a user may have hardly more messages than the embedding has dimensions


class EmbeddedModel(Learner):
    """Gaussian naive Bayes, linear or quadratic discriminant analysis of the vectors of messages."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self._cached_form: tuple[Mapping[str, np.ndarray], QuadraticForm] | None = None

    def fit(self, training_set: TrainingSet) -> Fit:
        training_set = training_set.select_columns(training_set.columns_by_hash())
        classes = training_set.classes
        matrix = training_set.rows.matrix()
        assert self.settings.embedding is not None  # settings.py refuses these models without an embedding
        embedding = fit_embedding(self.settings.embedding, matrix, training_set.tokens)
        vectors = np.zeros((len(training_set.tokens), embedding.vectors.shape[1]), np.float32)
        vectors[embedding.columns] = embedding.vectors
        x = embedding.transform(matrix)
        y = training_set.rows.labels
        fold = training_set.stratified_folds(N_FOLDS)
        diagonal = self.settings.model_type == "gaussian"
        whole = Moments.of(x, y, len(classes), diagonal)
        scores = np.zeros((len(y), len(classes)))
        for f in range(N_FOLDS if len(classes) > 1 else 0):
            inside = fold == f
            if inside.any():
                others = whole.plus(Moments.of(x[inside], y[inside], len(classes), diagonal), -1)
                scores[inside] = self._fit_classes(others, classes).joint(x[inside])
        votes = sufficient(matrix @ vectors.any(axis=1).astype(float) > 0)
        left_out = Scores.zeros(*scores.shape)._replace(scores=scores, typicality=softmax(scores), votes=votes)
        fitted = Fit.of(training_set, left_out, N_FOLDS)
        return fitted._replace(vectors=vectors, arrays=name_arrays(whole), meta={DENSE_CLASSES: list(classes)})

    # -- with the sums of a model ----------------------------------------------------------------------------

    def score(self, model: Model, sums: Sums, rows: Rows, *, with_weights: bool = True) -> Scores:
        form, order = self._read_form(model)
        vectors, cells = sums.vectors, _find_cells(rows, sums.vectors)
        scores, weights = np.tile(form.constant[order], (len(rows), 1)), np.zeros((len(rows.ids), len(order)))
        for i, own in enumerate(cells):
            x, factors = embed(vectors[rows.ids[own]], rows.counts[own])
            # The score of x = Σ_j s_j v_j is xᵀQx + lᵀx + k. The weight of token j is s_j v_jᵀ(Qx + l): of the product
            # of two tokens in xᵀQx each token gets half, as in a Shapley value.
            gradient = (form.linear + form.quadratic @ x)[order]
            weights[own] = (factors[:, None] * vectors[rows.ids[own]]) @ gradient.T
            scores[i] += weights[own].sum(axis=0)
        votes = sufficient(np.array([len(own) > 0 for own in cells], bool))
        return Scores(scores, softmax(scores), votes, weights, weights[:0])

    def vectors(self, messages: Sequence[Rows], sums: Sums) -> list[np.ndarray]:
        embedded = []
        for rows in messages:
            vectors = sums.vectors[find_sorted(sums.hashes, rows.tokens.hashes)]
            (own,) = _find_cells(rows, vectors)
            embedded.append(embed(vectors[rows.ids[own]], rows.counts[own])[0])
        return embedded

    def _read_form(self, model: Model) -> tuple[QuadraticForm, list[int]]:
        """Return the quadratic form of the scores, and for each class of the model its row in the form's arrays."""
        (names, sums), classes = read_moments(model.meta, model.arrays), model.totals.classes
        if not set(names).issuperset(classes):
            raise Damaged("dense_classes in table meta lack a class")
        arrays = model.arrays  # the same object until an array changes
        if self._cached_form is None or self._cached_form[0] is not arrays:  # invert covariances once, not per message
            self._cached_form = arrays, self._fit_classes(sums, names).quadratic_form()
        return self._cached_form[1], [names.index(name) for name in classes]

    def _fit_classes(self, sums: Moments, names: Sequence[str]) -> Gaussians:
        """Fit the classes to the moments. Raise SpamnbError if a covariance is singular."""
        scatter = sums.scatter()
        try:
            with np.errstate(invalid="ignore"):
                if self.settings.model_type == "gaussian":
                    covariances = gaussian.independent_covariances(scatter, names)
                elif self.settings.model_type == "lda":
                    covariances = gaussian.shared_covariance(scatter, SHRINKAGE)
                else:
                    covariances = gaussian.separate_covariances(scatter, names, SHRINKAGE)
        except ValueError as error:
            problem, _, _ = str(error).partition(":")  # after the colon is advice for programmers
            advice = "train on more, or embed in fewer dimensions: lsa:10"
            raise SpamnbError(f"too few messages: {problem}; {advice}") from None
        return Gaussians(class_log_prior(scatter.documents), scatter.mean, *covariances)


def _find_cells(rows: Rows, vectors: np.ndarray) -> list[np.ndarray]:
    """Return for each message its plain cells whose tokens have a vector, ascending by token.

    ``vectors`` (k, d) are those of the tokens, 0 without one. The order matters because the rounding of a sum depends
    on it, and forgetting must subtract the same sum exactly.
    """
    tokens, is_used = list(rows.tokens), np.any(vectors, axis=1)[rows.ids]
    rank = np.empty(len(tokens), np.int64)
    rank[sorted(range(len(tokens)), key=tokens.__getitem__)] = np.arange(len(tokens))
    cells = [np.arange(begin, end) for begin, end in zip(rows.begins.tolist(), rows.plain_ends.tolist())]
    return [own[np.argsort(rank[rows.ids[own]])] for own in (own[is_used[own]] for own in cells)]
