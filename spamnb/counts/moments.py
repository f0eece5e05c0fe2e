"""Sums of vectors, per class n, Σx and Σxxᵀ, in fixed point.

Whole numbers add and subtract exactly, so forgetting after learning restores them to the last digit, which sums of
floats do not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.formulas.sums import Scatter

# One unit of the fixed point. Vectors have length √d, so components of about 1 are kept to 1.5e-5, and the sums of
# products of a 1000-dimensional embedding stay below 2⁶³ for two million messages.
UNIT = 2.0**-16


class Moments(NamedTuple):
    """Per class, in fixed point, Σ 1, Σ x and Σ xxᵀ (of Gaussian naive Bayes Σ x² alone)."""

    documents: np.ndarray  # (C,)
    first: np.ndarray  # (C, d) in UNIT
    second: np.ndarray  # (C, d, d) or (C, d), in UNIT²

    @classmethod
    def of(cls, x: np.ndarray, labels: np.ndarray, classes: int, diagonal: bool) -> Moments:
        """Add up rows ``x`` (n, d) with class numbers ``labels`` (n,)."""
        q = np.rint(x / UNIT).astype(np.int64)
        parts = [q[labels == c] for c in range(classes)]
        # Products through floats would be faster and no longer whole.
        second = [np.einsum("ij,ij->j", p, p) if diagonal else p.T @ p for p in parts]
        return cls(np.array([len(p) for p in parts]), np.stack([p.sum(axis=0) for p in parts]), np.stack(second))

    def plus(self, other: Moments, sign: int = 1) -> Moments:
        return Moments(*(a + sign * b for a, b in zip(self, other)))

    def scatter(self) -> Scatter:
        """Return means and centred scatter, which the estimators take."""
        n = np.maximum(self.documents, 1).astype(float)[:, None]
        mean = self.first * UNIT / n
        about_zero = mean * mean if self.second.ndim == 2 else mean[:, :, None] * mean[:, None, :]
        n = n.reshape(-1, *[1] * (self.second.ndim - 1))
        return Scatter(self.documents.astype(float), mean, self.second * UNIT**2 - n * about_zero)
