"""The sums behind every Gaussian model: per class the weight, the mean and the scatter about that mean.

    n = Σ_i w_i      μ = Σ_i w_i x_i / n      S = Σ_i w_i (x_i − μ)(x_i − μ)ᵀ

n, nμ and S + nμμᵀ are plain sums; kept centred they survive a mean far from zero. Two sets merge as Chan,
Golub and LeVeque (1979) do it, with δ = μ_b − μ_a:

    n = n_a + n_b    μ = μ_a + δ n_b/n    S = S_a + S_b + δδᵀ n_a n_b/n

and subtraction is the same equation solved for a. Means are kept as offsets from an origin near the data,
because a mean of 1e8 in double precision is itself only good to 1e-8: 20,000 standard normal numbers about
1e8, learned one by one, then have the exact variance to 1e-14 relative; with plain means it was 8e-9, and
from Σx² anything between −2 and 4.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Numbers whose squares overflow leave inf or NaN in the sums, which the models refuse with an error.
_overflow_shows = np.errstate(over="ignore", invalid="ignore")


@dataclass(frozen=True, slots=True)
class Scatter:
    """Weights (C,), means (C, d) and scatter of C classes in d dimensions, with +, − and scaling.

    ``kind`` says what of the scatter is kept: "full" a matrix per class (C, d, d), "pooled" their sum (d,
    d), which is all a shared covariance needs, "diagonal" one sum of squares per class and feature (C, d).

    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 5.0]])
    >>> sums = Scatter.from_rows(X, np.array([0, 0, 1]), 2, kind="full")
    >>> sums.documents, sums.mean.tolist(), sums.scatter[0].tolist()
    (array([2., 1.]), [[1.0, 0.0], [1.0, 5.0]], [[2.0, 0.0], [0.0, 0.0]])
    >>> last = Scatter.from_rows(X[1:], np.array([0, 1]), 2, kind="full")
    >>> (sums - last).mean[0].tolist(), (sums - last).documents
    ([0.0, 0.0], array([1., 0.]))
    """

    kind: str
    origin: np.ndarray  # (d,)
    documents: np.ndarray  # (C,)
    offset: np.ndarray  # (C, d): mean − origin
    scatter: np.ndarray

    @property
    def n_features(self) -> int:
        """d, the number of features."""
        return self.offset.shape[1]

    @property
    def mean(self) -> np.ndarray:
        """Mean of every class, shape (C, d); zero for a class without rows."""
        return np.where(self.documents[:, None] > 0, self.origin + self.offset, 0.0)

    @classmethod
    def zeros(cls, n_classes: int, n_features: int, kind: str = "full") -> Scatter:
        """Nothing learned yet."""
        shapes = {
            "full": (n_classes, n_features, n_features),
            "pooled": (n_features, n_features),
            "diagonal": (n_classes, n_features),
        }
        offset = np.zeros((n_classes, n_features))
        return cls(kind, np.zeros(n_features), np.zeros(n_classes), offset, np.zeros(shapes[kind]))

    @classmethod
    @_overflow_shows
    def from_rows(
        cls,
        X: np.ndarray,
        y: np.ndarray,
        n_classes: int,
        sample_weight: np.ndarray | None = None,
        kind: str = "full",
    ) -> Scatter:
        """The sums of rows X (n, d) whose classes are the integers y (n,), in two passes."""
        sums = cls.zeros(n_classes, X.shape[1], kind)
        origin_set = False
        for c in range(n_classes):
            chosen = y == c
            rows = X[chosen].astype(float, copy=False)
            weights = (
                np.ones(len(rows))
                if sample_weight is None
                else sample_weight[chosen].astype(float, copy=False)
            )
            total = weights.sum()
            if total == 0:
                continue
            mean = weights @ rows / total
            rows -= mean
            # The mean has a rounding error of its own: what it leaves in the centred rows corrects mean and
            # scatter.
            error = weights @ rows / total
            if not origin_set:
                sums.origin[:], origin_set = mean, True
            sums.documents[c], sums.offset[c] = total, (mean - sums.origin) + error
            if kind == "diagonal":
                squares = (
                    np.einsum("ij,ij->j", rows, rows) if sample_weight is None else weights @ (rows * rows)
                )
                sums.scatter[c] = squares - total * error * error
                continue
            weighted = rows if sample_weight is None else rows * weights[:, None]
            matrix = weighted.T @ rows - total * np.outer(error, error)
            if kind == "full":
                sums.scatter[c] = matrix
            else:
                sums.scatter[...] += matrix
        sums._no_negative_squares()
        return sums

    def _no_negative_squares(self) -> None:
        squares = self.scatter if self.kind == "diagonal" else np.einsum("...ii->...i", self.scatter)
        np.maximum(squares, 0.0, out=squares)  # rounding, where a feature is constant

    @_overflow_shows
    def __add__(self, other: Scatter) -> Scatter:
        """The sums of both sets of rows."""
        offset_a, offset_b, origin = self._aligned(other)
        documents = self.documents + other.documents
        share = np.divide(other.documents, documents, out=np.zeros_like(documents), where=documents != 0)
        shift = offset_b - offset_a
        offset = np.where(documents[:, None] > 0, offset_a + shift * share[:, None], 0.0)
        scatter = self.scatter + other.scatter + self._outer(shift, self.documents * share)
        return Scatter(self.kind, origin, documents, offset, scatter)

    @_overflow_shows
    def __sub__(self, other: Scatter) -> Scatter:
        """The sums without the rows of ``other``, which must be among them.

        Exact up to rounding, and exactly zero for a class that loses all its weight. Raises ValueError
        where ``other`` weighs more than what is there.
        """
        offset, offset_b, origin = self._aligned(other)
        documents = self.documents - other.documents
        # The same weights summed in another order leave a rounding error where zero is meant.
        documents[np.abs(documents) <= 1e-12 * self.documents] = 0.0
        if np.any(documents < 0):
            raise ValueError("cannot subtract more than was added: these rows were not all learned")
        left = documents > 0
        ratio = np.divide(other.documents, documents, out=np.zeros_like(documents), where=left)
        offset_a = np.where(left[:, None], offset + (offset - offset_b) * ratio[:, None], 0.0)
        part = np.divide(other.documents, self.documents, out=np.zeros_like(documents), where=left)
        scatter = self.scatter - other.scatter - self._outer(offset_b - offset_a, documents * part)
        if self.kind != "pooled":
            scatter[~left] = 0.0
        elif not left.any():
            scatter[...] = 0.0
        sums = Scatter(self.kind, origin, documents, offset_a, scatter)
        sums._no_negative_squares()
        return sums

    def __mul__(self, factor: float) -> Scatter:
        """Every row counted ``factor`` times: ageing, for a factor below one."""
        return Scatter(self.kind, self.origin, self.documents * factor, self.offset, self.scatter * factor)

    __rmul__ = __mul__

    def _aligned(self, other: Scatter) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Both sets of offsets about one origin, that of the set which already has rows."""
        if self.kind != other.kind or self.offset.shape != other.offset.shape:
            raise ValueError(
                f"sums of kind {self.kind}, shape {self.offset.shape}, "
                f"do not go with {other.kind}, {other.offset.shape}"
            )
        if not self.documents.any():
            return np.where(other.documents[:, None] > 0, other.offset, 0.0), other.offset, other.origin
        # Where one side has no rows of a class its offset must not move anything: it takes the other side's.
        offset_b = other.offset + (other.origin - self.origin)
        offset_a = np.where(self.documents[:, None] > 0, self.offset, offset_b)
        return offset_a, np.where(other.documents[:, None] > 0, offset_b, offset_a), self.origin

    def _outer(self, shift: np.ndarray, factor: np.ndarray) -> np.ndarray:
        """factor_c δ_c δ_cᵀ for every class, in the shape of the scatter."""
        scaled = shift * factor[:, None]
        if self.kind == "diagonal":
            return scaled * shift
        return scaled.T @ shift if self.kind == "pooled" else scaled[:, :, None] * shift[:, None, :]

    def reindex(self, positions: np.ndarray, n_classes: int) -> Scatter:
        """The same sums with class c at ``positions[c]`` among ``n_classes``; the others are empty."""
        moved = Scatter.zeros(n_classes, self.offset.shape[1], self.kind)
        moved.origin[:], moved.documents[positions], moved.offset[positions] = (
            self.origin,
            self.documents,
            self.offset,
        )
        moved.scatter[... if self.kind == "pooled" else positions] = self.scatter
        return moved

    def overall_offset(self) -> np.ndarray:
        """Mean of all rows, as an offset from the origin; shape (d,)."""
        return self.documents @ self.offset / (self.documents.sum() or 1.0)

    def variance(self) -> np.ndarray:
        """Variance of every feature over all rows, that between the classes included; shape (d,)."""
        squares = self.scatter if self.kind == "diagonal" else np.einsum("...ii->...i", self.scatter)
        within = squares if self.kind == "pooled" else squares.sum(axis=0)
        shift = self.offset - self.overall_offset()
        return (within + self.documents @ (shift * shift)) / (self.documents.sum() or 1.0)
