"""The loops of ``model/correction.py``: calls of ``fit.c``, which release the GIL."""

from __future__ import annotations

from typing import Any

import numpy as np

from spamnb.core.library import ffi, lib, numbers, pointer


class FitRows:
    """The columns of n messages. Message i has ``columns[begins[i]:ends[i]]``, each below ``n_columns``.

    The arguments of the methods are the arrays of the struct fit. All methods raise ValueError for arrays of wrong
    shapes.
    """

    def __init__(self, begins: np.ndarray, ends: np.ndarray, columns: np.ndarray, n_columns: int) -> None:
        self._columns = {
            "begins": pointer("int64_t", begins), "ends": pointer("int64_t", ends, len(begins)),
            "columns": numbers("int32_t", columns, n_columns),
        }  # fmt: skip
        if (begins > ends).any() or begins.min(initial=0) < 0 or ends.max(initial=0) > len(columns):
            raise ValueError("the columns of a message are outside of the array")
        self._n, self._n_columns = len(begins), n_columns

    def __len__(self) -> int:
        return self._n

    def _fields(
        self, values: np.ndarray, offsets: np.ndarray, labels: np.ndarray, visits: np.ndarray,
        contributions: np.ndarray | None, weights: np.ndarray, **parameters: float,
    ) -> dict[str, Any]:  # fmt: skip
        """Return the fields of the struct fit. The caller must keep them until the call ends."""
        n, classes = len(self), offsets.shape[-1]
        fields = {
            "values": pointer("double", values, n), "offsets": pointer("double", offsets, n, classes),
            "labels": numbers("int64_t", labels, classes, n), "visits": numbers("int64_t", visits, n),
            "weights": pointer("int64_t", weights, self._n_columns, classes - 1, writable=True),
            "n_visits": len(visits), "row_size": classes - 1,
        }  # fmt: skip
        if contributions is not None:
            fields["contributions"] = pointer("int64_t", contributions, n, classes - 1, writable=True)
        return {**self._columns, **fields, **parameters}

    def sweep(self, *arrays: Any, **parameters: Any) -> float:
        """Fit the contribution of each visited message. Return the largest change of a coefficient, in nats."""
        fields = self._fields(*arrays, **parameters)
        change = lib.fit_sweep(ffi.new("struct fit *", fields))
        if change < 0:
            raise MemoryError
        return change

    def take_out(self, *arrays: Any) -> None:
        """Subtract the contributions of the visited messages from the weights."""
        fields = self._fields(*arrays)
        lib.fit_take_out(ffi.new("struct fit *", fields))

    def scores(self, *arrays: Any, unit: float) -> np.ndarray:
        """Return the scores (m, C), in nats, of visited messages whose contributions are not in the weights."""
        values, offsets, labels, visits, weights = arrays
        scores = np.empty((len(visits), offsets.shape[-1]))
        fields = self._fields(values, offsets, labels, visits, None, weights, unit=unit)
        if not lib.fit_scores(ffi.new("struct fit *", fields), pointer("double", scores, *scores.shape)):
            raise MemoryError
        return scores
