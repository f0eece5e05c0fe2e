"""Several models added up to one: a model is a sum, and so is a sum of models, less what they have in common."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from spamnb.counts.class_counts import ClassCounts
from spamnb.errors import SpamnbError
from spamnb.naming import pluralize
from spamnb.settings import ORIGIN
from spamnb.store.correction_sums import CorrectionSums
from spamnb.store.learned import LearnedMessage
from spamnb.store.lessons import KeptLesson
from spamnb.store.snapshot import Snapshot
from spamnb.tokens.token_array import merge_vocabularies

OF_ONE_FILE = {"vocabulary_size", "keep_lessons", "pruned", *ORIGIN}  # models may differ in them and still add up
_NO_SUM = "a model of chosen words or of vectors cannot be merged; train on both sources"


def merge_models(models: list[Snapshot], names: list[str]) -> tuple[Snapshot, int]:
    """The sum of models made with the same settings, and how many messages more than one of them learned.

    Such messages count as often as they were learned: a model does not hold the mail, so they cannot be told apart.
    Raises SpamnbError where settings differ, and for models with steps, chosen words or vectors, which do not add up.
    """
    check_alike(models, names)
    messages = {digest: learned for snapshot in models for digest, learned in snapshot.messages}
    repeated = sum(len(snapshot.messages) for snapshot in models) - len(messages)
    return _sum(models, [], messages, names, bool(repeated)), repeated


def merge_since(base: Snapshot, models: list[Snapshot], names: list[str]) -> tuple[Snapshot, int]:
    """``base`` and what each of ``models``, which grew from it, learned and forgot since: the sum of the models, less
    the base for each of them but one; and how many messages more than one of them learned since, counted for each.

    ``names`` are those of the base and of the models. Raises SpamnbError as ``merge_models`` does, where a model did
    not grow from the base, and where two of them forgot the same message: it can be taken away only once.
    """
    check_alike([base, *models], names)
    before = dict(base.messages)
    messages = dict(before)
    taken: Counter[bytes] = Counter()
    given: Counter[bytes] = Counter()
    for snapshot, name in zip(models, names[1:]):
        if snapshot.meta.get("pruned") != base.meta.get("pruned"):
            raise SpamnbError(f"{name}: pruned since {names[0]}: what it learned cannot be told from what it dropped")
        after = dict(snapshot.messages)
        gone = [digest for digest, known in before.items() if digest not in after or after[digest].label != known.label]
        new = {digest: known for digest, known in after.items() if known != before.get(digest)}
        taken.update(gone)
        given.update(digest for digest, known in new.items() if digest not in before or digest in gone)
        for digest in gone:
            messages.pop(digest, None)
        messages |= new
    if several := sum(n > 1 for n in taken.values()):
        raise SpamnbError(
            f"{pluralize(several, 'message')} of {names[0]} that several models forgot, or moved to another class: what"
            " was learned once cannot be taken away twice; leave one of these models out"
        )
    repeated = sum(n > 1 for n in given.values())
    return _sum(models, [base] * (len(models) - 1), messages, names, bool(repeated)), repeated


def check_alike(models: Sequence[Snapshot], names: Sequence[str]) -> None:
    """SpamnbError where models were made with other settings than the first, or are no sums."""
    check_settings([snapshot.meta for snapshot in models], names)
    for snapshot, name in zip(models, names):
        if snapshot.arrays:
            raise SpamnbError(f"{name}: {_NO_SUM}")


def check_settings(metas: Sequence[Mapping[str, Any]], names: Sequence[str]) -> None:
    """The same of what models say of themselves, the vectors that they hold left aside."""
    for meta, name in zip(metas, names):
        for key in sorted((metas[0].keys() | meta.keys()) - OF_ONE_FILE):
            if meta.get(key) != metas[0].get(key):
                raise SpamnbError(f"{name}: its {key} differs from that of {names[0]}; only models of one kind add up")
        if meta.get("model_type") == "logistic":
            raise SpamnbError(f"{name}: a logistic model cannot be merged: its steps are no sums; train on both")
        if meta.get("top_words") is not None:
            raise SpamnbError(f"{name}: {_NO_SUM}")


def _sum(
    models: list[Snapshot],
    less: list[Snapshot],
    messages: Mapping[bytes, LearnedMessage],
    names: Sequence[str],
    repeated: bool,
) -> Snapshot:
    """The sum of ``models`` less the sum of ``less``; it holds ``messages``."""
    every = [*models, *less]
    classes = tuple(sorted({c for snapshot in every for c in snapshot.counts.classes}))
    tokens, places = merge_vocabularies([snapshot.tokens for snapshot in every])
    aligned = [snapshot.counts.reindex(at, len(tokens), classes) for snapshot, at in zip(every, places)]
    counts = ClassCounts.sum([*aligned[: len(models)], *(-one for one in aligned[len(models) :])])
    cells = Counter[tuple[str, int, int]]()
    for n, snapshot in enumerate(every):
        for name, own, bin_, scored in snapshot.calibration:
            cells[name, own, bin_] += scored if n < len(models) else -scored
    if less:
        if counts.documents.min(initial=0) < 0 or any(row.document_counts.min(initial=0) < 0 for row in counts.rows):
            raise SpamnbError(f"{names[0]}: not what {', '.join(names[1:])} were learned from; merge without --base")
        held = np.flatnonzero(counts.document_frequency())
        place = np.full(len(tokens), -1, np.intp)
        place[held] = np.arange(len(held))
        tokens, counts = tokens.take(held), counts.reindex(place, len(held)).nonempty_classes()
    meta = {key: value for key, value in models[0].meta.items() if key not in ORIGIN}
    for snapshot in models:  # what one of them no longer holds, the sum does not hold
        if "pruned" in snapshot.meta:
            meta["pruned"] = snapshot.meta["pruned"]
    kept = {lesson.digest: lesson for snapshot in models for lesson in snapshot.kept if lesson.digest in messages}
    lessons = {lesson[1]: lesson for snapshot in models for lesson in snapshot.lessons if lesson[1] in messages}
    parts = [snapshot.correction for snapshot in models if snapshot.correction is not None]
    gone = [-snapshot.correction for snapshot in less if snapshot.correction is not None]
    return Snapshot(
        meta,
        tokens,
        counts,
        list(messages.items()),
        [(*cell, scored) for cell, scored in sorted(cells.items())],
        {},
        None,
        [] if repeated else list(lessons.values()),
        sorted(kept.values(), key=_taught_at),
        CorrectionSums.sum([*parts, *gone]) if parts else None,
    )


def _taught_at(lesson: KeptLesson) -> int:
    return lesson.taught_at
