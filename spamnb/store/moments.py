"""The moments of the classes of a model of vectors (model/moments.py), as arrays in table ``meta``."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.model.moments import Moments
from spamnb.store.arrays import put_arrays, read_arrays
from spamnb.store.state import DENSE_CLASSES
from spamnb.store.store import Store


def read_moments(store: Store) -> tuple[list[str], Moments]:
    """Return the names of the classes, and their moments."""
    meta, arrays = store.meta(), read_arrays(store)
    names, model_type = meta.get(DENSE_CLASSES), meta.get("model_type")
    if names is None and not arrays:
        raise SpamnbError(f"{store.path}: a {model_type} model must be trained first")
    if names is None or not _is_list_of_names(names):
        raise Damaged(f"{DENSE_CLASSES} in table meta are not a list of names")
    width = (arrays.get("dense_first", np.zeros(1)).shape or (0,))[-1]  # number of dimensions of the embedding
    second = (width,) if model_type == "gaussian" else (width, width)
    shapes = {"dense_documents": (), "dense_first": (width,), "dense_second": second}
    for name, dimensions in shapes.items():
        array = arrays.get(name, np.zeros(0))
        if array.shape != (len(names), *dimensions) or array.dtype.kind != "i":
            raise Damaged(f"{DENSE_CLASSES} in table meta and the dense arrays do not belong together")
    return names, Moments(*(arrays[f"dense_{name}"] for name in Moments._fields))


def add_vector(store: Store, label: str, vector: np.ndarray, sign: int) -> None:
    """Add the vector of a message to the moments of its class, or subtract it.

    A new class is added, and goes again when its last message goes.
    """
    names, sums = read_moments(store)
    if label not in names:
        if sign < 0:
            raise Damaged(f"{DENSE_CLASSES} in table meta lack {label!r}")
        names = [*names, label]
        sums = Moments(*(np.concatenate([part, np.zeros((1, *part.shape[1:]), np.int64)]) for part in sums))
    if not len(vector):  # no token of the message has a vector
        vector = np.zeros(sums.first.shape[1])
    if vector.shape != sums.first.shape[1:]:
        raise Damaged(f"a vector in table tokens that does not have {sums.first.shape[1]} numbers")
    number, is_diagonal = np.array([names.index(label)]), sums.second.ndim == 2
    sums = sums.plus(Moments.of(vector[None], number, len(names), is_diagonal), sign)
    if label == names[-1] and not sums.documents[-1]:
        names, sums = names[:-1], Moments(*(part[:-1] for part in sums))
    put_arrays(store, name_arrays(sums))
    store.put_meta({DENSE_CLASSES: list(names)})


def name_arrays(sums: Moments) -> dict[str, np.ndarray]:
    """Return the moments by the names of their arrays."""
    return {f"dense_{name}": values for name, values in sums._asdict().items()}


def _is_list_of_names(value: Sequence[str] | object) -> bool:
    """Return whether a value of the model file is a list of different strings."""
    return isinstance(value, list) and all(isinstance(name, str) for name in value) and len(set(value)) == len(value)
