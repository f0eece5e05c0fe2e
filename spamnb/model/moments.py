"""Moments of vectors in fixed point: per class n, Σx and Σxxᵀ.

Whole numbers can be subtracted exactly, so that forgetting a message restores the moments; sums of floats cannot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.model import DENSE_CLASSES, FIRST_MOMENTS
from spamnb.model.sums import Scatter

# The unit of the fixed point. Vectors have length √d, so that components are about 1 and are rounded by 7.6e-6 at most.
# The sums of products of a 1000-dimensional embedding stay below 2⁶³ for two million messages.
UNIT = 2.0**-16


class Moments(NamedTuple):
    """Moments per class in fixed point; Gaussian naive Bayes has only the diagonals of the second moments."""

    documents: np.ndarray  # (C,) number of messages
    first: np.ndarray  # (C, d) Σx in UNIT
    second: np.ndarray  # (C, d, d) Σxxᵀ or (C, d) Σx², in UNIT²

    @classmethod
    def of(cls, x: np.ndarray, labels: np.ndarray, classes: int, diagonal: bool) -> Moments:
        """Add up rows ``x`` (n, d) with class numbers ``labels`` (n,)."""
        units = np.rint(x / UNIT).astype(np.int64)
        parts = [units[labels == c] for c in range(classes)]
        # Products of floats would be faster, but not exact.
        second = [np.einsum("ij,ij->j", p, p) if diagonal else p.T @ p for p in parts]
        return cls(np.array([len(p) for p in parts]), np.stack([p.sum(axis=0) for p in parts]), np.stack(second))

    def plus(self, other: Moments, sign: int = 1) -> Moments:
        return Moments(*(a + sign * b for a, b in zip(self, other)))

    def scatter(self) -> Scatter:
        """Return means and centred scatter for the estimators."""
        n = np.maximum(self.documents, 1).astype(float)[:, None]
        mean = self.first * UNIT / n
        mean_square = mean * mean if self.second.ndim == 2 else mean[:, :, None] * mean[:, None, :]
        n = n.reshape(-1, *[1] * (self.second.ndim - 1))
        return Scatter(self.documents.astype(float), mean, self.second * UNIT**2 - n * mean_square)


def read_moments(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray]) -> tuple[list[str], Moments]:
    """Return the names of the classes, and their moments, from the settings and arrays of a model."""
    names: Any = meta.get(DENSE_CLASSES)
    if not _is_list_of_names(names):
        raise Damaged(f"{DENSE_CLASSES} in table meta are not a list of names")
    width = (arrays.get(FIRST_MOMENTS, np.zeros(1)).shape or (0,))[-1]  # number of dimensions of the embedding
    second = (width,) if meta.get("model_type") == "gaussian" else (width, width)
    shapes = {"dense_documents": (), FIRST_MOMENTS: (width,), "dense_second": second}
    for name, dimensions in shapes.items():
        array = arrays.get(name, np.zeros(0))
        if array.shape != (len(names), *dimensions) or array.dtype.kind != "i":
            raise Damaged(f"{DENSE_CLASSES} in table meta and the dense arrays do not belong together")
    return names, Moments(*(arrays[f"dense_{name}"] for name in Moments._fields))


def name_arrays(sums: Moments) -> dict[str, np.ndarray]:
    """Return the moments by the names of their arrays."""
    return {f"dense_{name}": values for name, values in sums._asdict().items()}


def _is_list_of_names(value: Sequence[str] | object) -> bool:
    """Return whether a value of the model file is a list of different strings."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)
