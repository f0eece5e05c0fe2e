"""Gaussian models: a message is a dense vector, and the vectors of a class have a Gaussian distribution.

Training fits the embedding, a vector for each token, and learning does not change it. The vector of a message is a
weighted sum of the vectors of its tokens. The model file has the vectors of the tokens, and the moments of each class
(model/moments.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.model import gaussian
from spamnb.model.class_counts import find_sorted
from spamnb.model.delta import Lesson, MessageRecord, Sums
from spamnb.model.embeddings import embed, fit_embedding
from spamnb.model.gaussian import Gaussians, QuadraticForm
from spamnb.model.learner import BatchScores, Fit, Learner, LeftOut
from spamnb.model.model import DENSE_CLASSES, Model
from spamnb.model.moments import Moments, name_arrays, read_moments
from spamnb.model.pooling import row_sums
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
        classes = training_set.counts.classes
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
        meta = {DENSE_CLASSES: list(classes)}
        has_evidence = np.sign(matrix @ vectors.any(axis=1).astype(float))
        left_out = LeftOut(scores, softmax(scores), has_evidence)
        return Fit(training_set, left_out, N_FOLDS, arrays=name_arrays(whole), vectors=vectors, meta=meta)

    # -- with the sums of a model ----------------------------------------------------------------------------

    def score(self, model: Model, sums: Sums, rows: Rows, *, with_weights: bool = True) -> BatchScores:
        form, order = self._read_form(model)
        model_rows, vectors = _select_vectors(rows, sums.vectors)
        width = form.linear.shape[1]
        if len(vectors) and vectors.shape[1] != width:
            raise Damaged(f"a vector in table tokens that does not have {width} numbers")
        vectors, weights = vectors.reshape(-1, width), np.zeros((len(order), len(model_rows.ids)))
        for start, stop in pairwise(model_rows.indptr.tolist()):
            x, factors = embed(vectors[model_rows.ids[start:stop]], model_rows.counts[start:stop])
            # The score of x = Σ_j s_j v_j is xᵀQx + lᵀx + k. The weight of token j is s_j v_jᵀ(Qx + l): of the product
            # of two tokens in xᵀQx each token gets half, as in a Shapley value.
            gradient = (form.linear + form.quadratic @ x)[order]
            weights[:, start:stop] = gradient @ (factors[:, None] * vectors[model_rows.ids[start:stop]]).T
        scores = row_sums(weights, model_rows.indptr).T + form.constant[order]
        has_evidence = np.sign(np.diff(model_rows.indptr)).astype(float)
        return BatchScores(model_rows, scores, weights, softmax(scores), has_evidence)

    def lesson(self, digest: bytes, rows: Rows, record: MessageRecord, sums: Sums) -> Lesson:
        model_rows, vectors = _select_vectors(rows, sums.vectors[find_sorted(sums.hashes, rows.tokens.hashes)])
        return Lesson(digest, rows, record, embed(vectors[model_rows.ids], model_rows.counts)[0])

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


def _select_vectors(rows: Rows, vectors: np.ndarray) -> tuple[Rows, np.ndarray]:
    """Return packed rows over the k tokens that have a vector, ascending, and the vectors (k, d)."""
    tokens = list(rows.tokens)
    # Sorted, because the rounding of a sum depends on its order, and forgetting must subtract the same sum exactly.
    positions = np.array(sorted(np.flatnonzero(vectors.any(axis=1)).tolist(), key=tokens.__getitem__), np.intp)
    return rows.select(positions).sorted(), vectors[positions]
