"""Messages as dense vectors under Gaussian classes (or logistic regression): an embedding, and an estimator of it.

The embedding is fitted in training and stays; a message is a sum over the vectors of its tokens, which the file holds
one by one. Of Gaussian models the file keeps plain sums (moments.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from spamnb.counts.class_counts import ClassTotals, CountedTokens
from spamnb.counts.moments import Moments
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import Damaged, SpamnbError
from spamnb.estimators.discriminant import QuadraticForm
from spamnb.estimators.gaussian import GaussianNB
from spamnb.estimators.lda import LinearDiscriminantAnalysis
from spamnb.estimators.logistic import LogisticRegression
from spamnb.estimators.qda import QuadraticDiscriminantAnalysis
from spamnb.formulas.pooling import softmax
from spamnb.learners.embeddings import embed, embed_rows, parse_embedding, shares_of
from spamnb.learners.learner import BatchScores, Direction, FitResult, Learner, Lesson, ModelFile, Screened, class_names
from spamnb.reader.rows import CsrRows, take_tokens
from spamnb.settings import Settings

N_FOLDS = 10  # of the left-out scores; the embedding is that of all messages in each


class EmbeddedModel(Learner):
    """Gaussian naive Bayes, linear and quadratic discriminant analysis, and logistic regression, of vectors."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        prior = settings.prior
        self._new: Any = {
            "gaussian": lambda: GaussianNB(class_prior=prior),
            "lda": lambda: LinearDiscriminantAnalysis(class_prior=prior),
            "qda": lambda: QuadraticDiscriminantAnalysis("oas", class_prior=prior),
            "logistic": lambda: LogisticRegression(C=1.0),
        }[settings.model_type]
        self._sums = settings.model_type != "logistic"
        self._derived: tuple[Any, Any, QuadraticForm] | None = None

    def train(self, screened: Screened) -> FitResult:
        training_set = screened.training_set
        classes = training_set.counts.classes
        embedding = parse_embedding(self.settings.embedding or "lsa").fit(_matrix(training_set), training_set.tokens)
        vectors = np.zeros((len(training_set.tokens), embedding.vectors_.shape[1]), np.float32)
        vectors[embedding.columns_] = embedding.vectors_
        x = [np.zeros((0, vectors.shape[1]))]
        labels, positions = [np.zeros(0, np.intp)], [np.zeros(0, np.int64)]
        for batch in training_set.batches():
            x.append(_embedded(batch.rows, vectors))
            labels.append(batch.labels)
            positions.append(batch.positions)
        X, y = np.concatenate(x), np.concatenate(labels)
        fold = training_set.stratified_folds(N_FOLDS)[np.concatenate(positions)]
        meta = {
            "dense_classes": list(classes),
            "dense_directions": [[list(ends) for ends in poles] for poles in embedding.poles(training_set.tokens)],
        }
        fit = self._fit_sums if self._sums else self._fit_logistic
        scores, arrays = fit(X, y, fold, classes)
        return FitResult(y, scores, N_FOLDS, arrays, vectors, meta)

    def _fit_sums(
        self, X: np.ndarray, y: np.ndarray, fold: np.ndarray, classes: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Scores (n, C) of the rows, each by all folds but its own, and the arrays of the model of all."""
        diagonal = self.settings.model_type == "gaussian"
        of_folds = [Moments.of(X[fold == f], y[fold == f], len(classes), diagonal) for f in range(N_FOLDS)]
        whole = of_folds[0]
        for moments in of_folds[1:]:
            whole = whole.plus(moments)
        scores = np.zeros((len(y), len(classes)))
        for f in range(N_FOLDS if len(classes) > 1 else 0):
            if (fold == f).any():
                scores[fold == f] = _scores(self._estimator(whole.plus(of_folds[f], -1), classes), X[fold == f])
        return scores, _arrays(whole)

    def _fit_logistic(
        self, X: np.ndarray, y: np.ndarray, fold: np.ndarray, classes: Sequence[str]
    ) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """As ``_fit_sums``; rows of a fold without which a class is lacking score 0."""
        if len(classes) < 2:
            raise SpamnbError("logistic regression needs two classes to tell apart; there is one")
        scores = np.zeros((len(y), len(classes)))
        for f in range(N_FOLDS):
            rest = fold != f
            if (~rest).any() and len(np.unique(y[rest])) == len(classes):
                scores[~rest] = _scores(self._new().fit(X[rest], y[rest]), X[~rest])
        return scores, _parameters(self._new().fit(X, y))

    # -- on the store ----------------------------------------------------------------------------------------

    def score(self, store: ModelFile, totals: ClassTotals, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        estimator, form, order = self._of(store, totals)
        known_tokens, known, vectors = _with_vectors(store, tokens, rows)
        X = embed_rows(vectors, known.ids, known.counts, known.indptr)
        scores = _scores(estimator, X)[:, order]
        weights = np.zeros((len(order), len(known.ids)))
        for i in range(len(X)):
            cells = slice(known.indptr[i], known.indptr[i + 1])
            explanation = shares_of(form, vectors[known.ids[cells]], known.counts[cells])
            weights[:, cells] = explanation.tokens.T[order]
        return BatchScores(known_tokens, known, scores, weights, lambda: softmax(scores))

    def directions(
        self, store: ModelFile, totals: ClassTotals, tokens: Sequence[str], rows: CsrRows
    ) -> list[Direction]:
        _, form, order = self._of(store, totals)
        _, known, vectors = _with_vectors(store, tokens, rows)
        explanation = shares_of(form, vectors[known.ids], known.counts)
        poles = store.meta().get("dense_directions")
        try:
            if not isinstance(poles, list):
                raise TypeError
            ends = [(tuple(map(str, up)), tuple(map(str, down))) for up, down in poles]
        except (TypeError, ValueError):
            raise Damaged("dense_directions in table meta are no pairs of words") from None
        if len(ends) not in (0, len(explanation.directions)):
            raise Damaged("dense_directions in table meta are not as many as the embedding has")
        return [Direction(up, down, explanation.directions[i][order]) for i, (up, down) in enumerate(ends)]

    def learn(self, store: ModelFile, totals: ClassTotals, lesson: Lesson) -> None:
        label, x = lesson.label, self._message(store, lesson.message)
        names, arrays = self._stored(store)
        if not self._sums:
            if label not in names:
                raise SpamnbError(f"{store.path}: no class {label!r} in this logistic regression; train again with it")
            estimator = self._logistic(arrays, names)
            estimator.partial_fit(x, [names.index(label)])
            store.put_arrays(_parameters(estimator))
            return
        sums = _moments(arrays)
        if label not in names:
            names = [*names, label]
            sums = Moments(*(np.concatenate([part, np.zeros((1, *part.shape[1:]), np.int64)]) for part in sums))
        self._put(store, names, sums.plus(self._one(x, names.index(label), sums)))

    @property
    def forgets(self) -> bool:
        return self._sums

    def forget(
        self, store: ModelFile, totals: ClassTotals, label: str, message: CountedTokens, digest: bytes
    ) -> None:
        if not self._sums:
            return
        names, arrays = self._stored(store)
        if label not in names:
            raise Damaged(f"dense_classes in table meta lack {label!r}")
        sums = _moments(arrays)
        sums = sums.plus(self._one(self._message(store, message), names.index(label), sums), -1)
        if label == names[-1] and not sums.documents[-1]:  # a class that learning added goes with its last message
            names, sums = names[:-1], Moments(*(part[:-1] for part in sums))
        self._put(store, names, sums)

    def _one(self, x: np.ndarray, place: int, sums: Moments) -> Moments:
        return Moments.of(x, np.array([place]), len(sums.documents), sums.second.ndim == 2)

    def _put(self, store: ModelFile, names: Sequence[str], sums: Moments) -> None:
        store.put_arrays(_arrays(sums))
        store.put_meta({"dense_classes": list(names)})

    def _message(self, store: ModelFile, message: CountedTokens) -> np.ndarray:
        _, known, vectors = _with_vectors(store, message.tokens, message.row)
        return embed(vectors[known.ids], known.counts)[0][None, :]

    def _of(self, store: ModelFile, totals: ClassTotals) -> tuple[Any, QuadraticForm, np.ndarray]:
        """The estimator, its scores as polynomials, and for each class of ``totals`` its column in the scores."""
        names, arrays = self._stored(store)
        if not set(names).issuperset(totals.classes):
            raise Damaged("dense_classes in table meta lack some")
        if self._derived is None or self._derived[0] is not arrays:  # covariances are inverted once, not per message
            with _advice_where_singular():
                estimator = self._estimator(_moments(arrays), names) if self._sums else self._logistic(arrays, names)
                self._derived = arrays, estimator, estimator.quadratic_form()
        return self._derived[1], self._derived[2], np.array([names.index(name) for name in totals.classes], np.intp)

    def _stored(self, store: ModelFile) -> tuple[list[str], Mapping[str, np.ndarray]]:
        """The classes, and the arrays in which they are the rows."""
        names, arrays = store.meta().get("dense_classes"), store.arrays()
        if names is None and not arrays:
            raise SpamnbError(f"{store.path}: a {self.settings.model_type} model begins with 'spamnb train'")
        if names is None or not class_names(names):
            raise Damaged("dense_classes in table meta are no names")
        width = _width(arrays)
        if self._sums:
            second = (width,) if self.settings.model_type == "gaussian" else (width, width)
            shapes = {"dense_documents": (), "dense_first": (width,), "dense_second": second}
            rows = len(names)
        else:
            shapes = {"dense_coef": (width,), "dense_intercept": ()}
            rows = 1 if len(names) == 2 else len(names)
        kind = "i" if self._sums else "f"
        fit = all(
            name in arrays and arrays[name].shape == (rows, *rest) and arrays[name].dtype.kind == kind
            for name, rest in shapes.items()
        )
        if not fit or not (self._sums or arrays.get("dense_seen", np.zeros(0)).shape == (1,)):
            raise Damaged("dense_classes in table meta and the dense arrays do not belong together")
        return names, arrays

    def _estimator(self, sums: Moments, names: Sequence[str]) -> Any:
        estimator = self._new()
        return estimator.fit_sums(sums.scatter(estimator.scatter_kind), names)  # errors name the class

    def _logistic(self, arrays: Mapping[str, np.ndarray], names: Sequence[str]) -> Any:
        seen = int(arrays["dense_seen"][0])
        classes = np.arange(len(names))  # ascending, as the estimator wants them; names are in their own order
        return self._new().set_weights(classes, arrays["dense_coef"], arrays["dense_intercept"], seen)


def _scores(estimator: Any, X: np.ndarray) -> np.ndarray:
    if not len(X):
        return np.zeros((0, len(estimator.classes_)))
    with _advice_where_singular():
        return estimator.class_scores(X)


@contextmanager
def _advice_where_singular() -> Iterator[None]:
    """The error of a singular covariance becomes advice on the number of messages, which a person can act on."""
    try:
        with np.errstate(invalid="ignore"):
            yield
    except ValueError as error:
        what, _, _ = str(error).partition(":")  # the rest is for programmers
        raise SpamnbError(f"too few messages: {what}; give more, or embed in fewer dimensions: lsa:10") from None


def _arrays(sums: Moments) -> dict[str, np.ndarray]:
    return {f"dense_{name}": values for name, values in sums._asdict().items()}


def _parameters(fitted: LogisticRegression) -> dict[str, np.ndarray]:
    seen = np.array([fitted.n_seen_])
    return {"dense_coef": fitted.coef_, "dense_intercept": fitted.intercept_, "dense_seen": seen}


def _moments(arrays: Mapping[str, np.ndarray]) -> Moments:
    return Moments(arrays["dense_documents"], arrays["dense_first"], arrays["dense_second"])


def _width(arrays: Mapping[str, np.ndarray]) -> int:
    """The dimensions of the embedding."""
    return (arrays.get("dense_first", arrays.get("dense_coef", np.zeros((1, 1)))).shape or (0,))[-1]


def _with_vectors(store: ModelFile, tokens: Sequence[str], rows: CsrRows) -> tuple[Sequence[str], CsrRows, np.ndarray]:
    """Those k tokens that have a vector, ascending, the messages as rows over them, and the vectors (k, d)."""
    found = store.look_up_vectors(tokens)
    # In one order, whatever the message's: rounding depends on it, and exact forgetting on rounding.
    order = sorted((i for i, token in enumerate(tokens) if token in found), key=tokens.__getitem__)
    positions = np.array(order, np.intp)
    known_tokens, known = take_tokens(tokens, positions), rows.select(positions, len(tokens)).sorted()
    width = _width(store.arrays())
    if any(len(vector) != width for vector in found.values()):
        raise Damaged(f"vectors in table vectors that have not {width} numbers")
    return known_tokens, known, np.array([found[token] for token in known_tokens]).reshape(-1, width)


def _embedded(rows: CsrRows, vectors: np.ndarray) -> np.ndarray:
    """(n, d) of n messages, of the tokens that have a vector."""
    has = np.any(vectors, axis=1)[rows.ids]
    ends = np.concatenate([[0], np.cumsum(has)])[rows.indptr]
    return embed_rows(vectors, rows.ids[has], rows.counts[has], ends)


def _matrix(training_set: TrainingSet) -> Any:
    from scipy.sparse import csr_array, vstack

    matrices = [csr_array((0, len(training_set.tokens)), dtype=np.int64)]
    matrices += [batch.rows.matrix(len(training_set.tokens)) for batch in training_set.batches(1 << 14)]
    return vstack(matrices, format="csr")
