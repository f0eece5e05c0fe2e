"""Losses: what each action costs under each true class. A matrix has a row per action and a column per class."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spamnb.model.decision import UNSURE
from spamnb.shown_text import align_columns


def read_loss(
    loss: Any, classes: Sequence[Any], actions: Sequence[Any] | None, class_counts: np.ndarray
) -> tuple[list[Any], np.ndarray]:
    """Return the names of the actions, and the loss as an array (n_actions, n_classes). Raise ValueError for others.

    "balanced" costs an error on class c 1/N_c, times N/C. A mapping {action: {class: cost}} says which of two names is
    the action; an action that is a class costs 0 for this class unless the mapping says otherwise. For an array
    ``actions`` None means the classes, and "unsure" for a further row. A square array that is not symmetric, and so has
    another meaning if it is transposed, needs ``actions``.

    >>> read_loss({"spam": {"ham": 9}, "ham": {"spam": 1}}, ["ham", "spam"], None, np.array([1, 1]))
    (['ham', 'spam'], array([[0., 1.],
           [9., 0.]]))
    """
    n = len(classes)
    if isinstance(loss, str):
        if loss != "balanced":
            raise ValueError(f"loss is {loss!r:.60}: give 'balanced', a matrix, or costs by action and class")
        with np.errstate(divide="ignore"):
            weight = np.where(class_counts > 0, class_counts.sum() / (n * class_counts), 0.0)
        return [*classes], (1 - np.eye(n)) * weight
    if isinstance(loss, Mapping):
        return _read_mapping(loss, classes)
    table = np.asarray(loss, dtype=float)
    names = [*classes, UNSURE] if actions is None else [*actions]
    row_counts = [len(names)] if actions is not None else [n, n + 1]
    if table.ndim != 2 or table.shape[0] not in row_counts or table.shape[1] != n:
        hint = ""
        if table.ndim == 2 and table.shape[0] == n and table.shape[1] in row_counts:
            hint = "; a row is an action, and a column is a true class: is this the transpose?"
        rows = " or ".join(map(str, row_counts))
        raise ValueError(f"loss has the shape {table.shape}: give {rows} rows of {n} columns{hint}")
    if not np.isfinite(table).all():
        raise ValueError("loss must hold finite numbers")
    if actions is None and len(table) == n and not np.array_equal(table, table.T):
        a, c = np.argwhere(table != table.T)[0].tolist()
        pair = f"of the action {classes[a]!r} for {classes[c]!r}, or the other way round?"
        raise ValueError(
            f"loss[{a}][{c}] is {table[a, c]:g}: {pair} Name the actions, which are the rows, with actions=, or give "
            "{action: {class: cost}}"
        )
    return names[: len(table)], table


def _read_mapping(loss: Mapping[Any, Mapping[Any, float]], classes: Sequence[Any]) -> tuple[list[Any], np.ndarray]:
    names = [name for name in classes if name in loss] + [name for name in loss if name not in classes]
    table = np.zeros((len(names), len(classes)))
    for a, action in enumerate(names):
        costs = loss[action]
        if not isinstance(costs, Mapping) or not set(costs) <= set(classes):
            raise ValueError(f"loss[{action!r}] is {costs!r:.60}: give a cost for each class of {[*classes]!r:.100}")
        for c, name in enumerate(classes):
            if name not in costs and name != action:
                raise ValueError(f"loss[{action!r}] has no cost for the class {name!r}")
            table[a, c] = costs.get(name, 0.0)
    if not len(names) or not np.isfinite(table).all():
        raise ValueError("loss must hold finite numbers for at least one action")
    return names, table


def format_loss(actions: Sequence[Any], classes: Sequence[Any], table: np.ndarray) -> str:
    """Return a loss as lines of text: which action costs how much if the class is which.

    >>> print(format_loss(["ham", "spam"], ["ham", "spam"], np.array([[0, 1], [9, 0]])))
    action  if it is ham  if it is spam
    ham                0              1
    spam               9              0
    """
    head = ["action", *(f"if it is {name}" for name in classes)]
    rows = [[str(action), *(f"{cost:.4g}" for cost in row)] for action, row in zip(actions, table)]
    return "\n".join(align_columns([head, *rows], range(1, len(head))))
