"""Several models added up to one: a model is a sum, and so is a sum of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from spamnb.counts.class_counts import ClassCounts
from spamnb.errors import SpamnbError
from spamnb.reader.token_array import merge_vocabularies
from spamnb.settings import ORIGIN
from spamnb.store.lessons import KeptLesson
from spamnb.store.records import LearnedMessage
from spamnb.store.snapshot import CorrectionSums, Snapshot

_OF_ONE_FILE = {"vocabulary_size", "keep_lessons", "pruned", *ORIGIN}  # models may differ in them and still add up
_NO_SUM = "a model of chosen words or of vectors cannot be merged; train on both sources"


def merge_models(models: list[Snapshot], names: list[str]) -> tuple[Snapshot, int]:
    """The sum of models made with the same settings, and how many messages more than one of them learned.

    Such messages count as often as they were learned: a model does not hold the mail, so they cannot be told apart.
    Raises SpamnbError where settings differ, and for models with steps, chosen words or vectors, which do not add up.
    """
    _check_alike(models, names)
    messages = {digest: learned for snapshot in models for digest, learned in snapshot.messages}
    repeated = sum(len(snapshot.messages) for snapshot in models) - len(messages)
    return _sum(models, messages, bool(repeated)), repeated


def _check_alike(models: Sequence[Snapshot], names: Sequence[str]) -> None:
    """SpamnbError where models were made with other settings than the first, or are no sums."""
    first = models[0].meta
    for snapshot, name in zip(models, names):
        meta = snapshot.meta
        for key in sorted((first.keys() | meta.keys()) - _OF_ONE_FILE):
            if meta.get(key) != first.get(key):
                raise SpamnbError(f"{name}: its {key} differs from that of {names[0]}; only models of one kind add up")
        if meta.get("model_type") == "logistic":
            raise SpamnbError(f"{name}: a logistic model cannot be merged: its steps are no sums; train on both")
        if snapshot.arrays or meta.get("top_words") is not None:
            raise SpamnbError(f"{name}: {_NO_SUM}")


def _sum(models: list[Snapshot], messages: Mapping[bytes, LearnedMessage], repeated: bool) -> Snapshot:
    """The sum of ``models``; it holds ``messages``."""
    classes = tuple(sorted({c for snapshot in models for c in snapshot.counts.classes}))
    tokens, places = merge_vocabularies([snapshot.tokens for snapshot in models])
    counts = ClassCounts.sum(
        [snapshot.counts.reindex(at, len(tokens), classes) for snapshot, at in zip(models, places)]
    )
    cells = Counter[tuple[str, int, int]]()
    for snapshot in models:
        for name, own, bin_, scored in snapshot.calibration:
            cells[name, own, bin_] += scored
    meta = {key: value for key, value in models[0].meta.items() if key not in ORIGIN}
    for snapshot in models:  # what one of them no longer holds, the sum does not hold
        if "pruned" in snapshot.meta:
            meta["pruned"] = snapshot.meta["pruned"]
    kept = {lesson.digest: lesson for snapshot in models for lesson in snapshot.kept if lesson.digest in messages}
    lessons = {lesson[1]: lesson for snapshot in models for lesson in snapshot.lessons if lesson[1] in messages}
    parts = [snapshot.correction for snapshot in models if snapshot.correction is not None]
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
        CorrectionSums.sum(parts) if parts else None,
    )


def _taught_at(lesson: KeptLesson) -> int:
    return lesson.taught_at
