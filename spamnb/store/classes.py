"""Tables ``meta`` and ``classes``, as a ``Model``."""

from __future__ import annotations

from typing import Any

import numpy as np

from spamnb.core.curve import BINS
from spamnb.core.score import MAX_COUNT
from spamnb.errors import Damaged
from spamnb.model.model import HISTOGRAM, NO_TYPICALITY, NOISE, SIZE, Model
from spamnb.store.arrays import read_arrays
from spamnb.store.database import MAX_SUM, Database, checked_rows, int_up_to, is_class_name, parse_json

MAX_CLASSES = 900  # of a model, because each token in memory has three figures for each class
MAX_META = 1000  # settings and single figures
MAX_META_CHARACTERS = 1 << 22  # of one of them: training from a pattern of a shell has named thousands of sources
_MAX_PARAMETER = 1e9  # of a slope, an intercept or a knee: only a damaged file has larger ones


def read_model(database: Database) -> Model:
    """Read the tables meta and classes."""
    select = "SELECT key, CASE WHEN length(value) <= ? THEN value END FROM meta WHERE content IS NULL LIMIT ?"
    rows = checked_rows("meta", database.execute(select, (MAX_META_CHARACTERS, MAX_META + 1)), key=str)
    if too_long := [key for key, value in rows if value is None]:
        raise Damaged(f"{too_long[0]} in table meta is too long, or missing")
    if len(rows) > MAX_META:
        raise Damaged(f"table meta has more than {MAX_META} rows")
    meta = {key: parse_json("meta", key, value) for key, value in rows}
    columns = (
        "name, id, calibration, typicality, documents, document_counts, occurrences, slope, intercept, knee, unscored"
    )
    classes = checked_rows(
        "classes", database.execute(f"SELECT {columns} FROM classes ORDER BY id"), name=is_class_name,  # noqa: S608
        id=int_up_to(MAX_CLASSES - 1), calibration=bytes, typicality=bytes, documents=int, document_counts=int,
        occurrences=int, slope=_is_parameter, intercept=_is_parameter, knee=_is_knee, unscored=int,
    )  # fmt: skip
    if [row[1] for row in classes] != list(range(len(classes))):
        raise Damaged("numbers in table classes that are not in order")
    sums = np.array([row[4:7] for row in classes], np.int64).reshape(-1, 3)
    curves = np.array([row[7:10] for row in classes]).reshape(-1, 3)
    histogram = _parse_sums("calibration", [row[2] for row in classes], (2, BINS))
    typicality = _parse_sums("typicality", [row[3] for row in classes], NO_TYPICALITY.shape)
    unscored = np.array([row[10] for row in classes], np.int64)
    class_ids = {row[0]: row[1] for row in classes}
    model = Model(meta, class_ids, sums, histogram, unscored, typicality, curves, arrays=read_arrays(database))
    check_model(model)
    return model


def check_model(model: Model) -> None:
    """Raise Damaged if no messages have these figures."""
    size, noise = model.meta.get(SIZE, -1), model.meta.get(NOISE, -1)
    if not int_up_to(MAX_COUNT)(size):
        raise Damaged(f"{SIZE} in table meta: {size!r}")
    if not (type(noise) is float and 0 <= noise < 1):
        raise Damaged(f"{NOISE} in table meta: {noise!a:.40}")
    documents, document_counts, occurrences = model.sums.T
    if ((documents < 0) | (documents > MAX_COUNT) | (document_counts < 0) | (occurrences > MAX_SUM)).any():
        raise Damaged("figures in table classes that are below 0 or too large")
    if (document_counts > documents * float(size)).any() or (document_counts > occurrences).any():
        raise Damaged("figures in table classes that do not fit together")
    scored = {"calibration": model.histogram, "unscored": model.unscored, "typicality": model.typicality}
    for column, figures in scored.items():
        if ((figures > MAX_COUNT) | (figures < -MAX_COUNT)).any():
            raise Damaged(f"{column} in table classes with figures that are too large")


def update_model(database: Database, model: Model) -> None:
    """Write the classes' sums and curves, the number of tokens and the share of wrong labels over the old ones."""
    blobs = [[each.tobytes() for each in sums.astype(HISTOGRAM)] for sums in (model.histogram, model.typicality)]
    rows = zip(model.sums.tolist(), *blobs, model.unscored.tolist(), model.fitted_curves.tolist())
    database.executemany(
        "UPDATE classes SET documents = ?, document_counts = ?, occurrences = ?, calibration = ?, typicality = ?,"
        " unscored = ?, slope = ?, intercept = ?, knee = ? WHERE id = ?",
        [(*sums, *others, *curve, c) for c, (sums, *others, curve) in enumerate(rows)],
    )
    figures = ((repr(model.meta[SIZE]), SIZE), (repr(float(model.calibration.noise)), NOISE))
    database.executemany("UPDATE meta SET value = ? WHERE key = ?", figures)


def _is_parameter(value: Any) -> bool:
    """Return whether a value can be a slope or an intercept."""
    return type(value) is float and abs(value) < _MAX_PARAMETER


def _is_knee(value: Any) -> bool:
    """Return whether a value can be a knee. It is at least 1 nat, and 1 for infinitely many messages."""
    return _is_parameter(value) and value >= 1


def _parse_sums(column: str, blobs: list[bytes], shape: tuple[int, ...]) -> np.ndarray:
    """Return the sums of this shape of all classes, (C, *shape)."""
    if any(len(blob) != np.prod(shape) * HISTOGRAM.itemsize for blob in blobs):
        raise Damaged(f"truncated {column} in table classes")
    return np.frombuffer(b"".join(blobs), HISTOGRAM).reshape(-1, *shape).copy()
