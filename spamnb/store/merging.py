"""Several models added up to one: a model is a sum, and so is a sum of models."""

from __future__ import annotations

from collections import Counter

from spamnb.counts.class_counts import ClassCounts
from spamnb.errors import SpamnbError
from spamnb.settings import ORIGIN
from spamnb.store.correction_sums import CorrectionSums
from spamnb.store.learned import LearnedMessage
from spamnb.store.lessons import KeptLesson
from spamnb.store.snapshot import Snapshot
from spamnb.tokens.token_array import merge_vocabularies

_OF_ONE_FILE = {"vocabulary_size", "keep_lessons", "pruned", *ORIGIN}  # models may differ in them and still add up


def merge_models(models: list[Snapshot], names: list[str]) -> tuple[Snapshot, int]:
    """The sum of models made with the same settings, and how many messages more than one of them learned.

    Such messages count as often as they were learned: a model does not hold the mail, so they cannot be told apart.
    Raises SpamnbError where settings differ, and for models with steps, chosen words or vectors, which do not add up.
    """
    for snapshot, name in zip(models, names):
        for key in sorted((models[0].meta.keys() | snapshot.meta.keys()) - _OF_ONE_FILE):
            if snapshot.meta.get(key) != models[0].meta.get(key):
                raise SpamnbError(f"{name}: its {key} differs from that of {names[0]}; only models of one kind add up")
        if snapshot.meta.get("model_type") in ("logistic", "hybrid"):
            kind = snapshot.meta["model_type"]
            raise SpamnbError(f"{name}: a {kind} model cannot be merged: its steps are no sums; train on both sources")
        if snapshot.arrays or snapshot.meta.get("top_words") is not None:
            raise SpamnbError(f"{name}: a model of chosen words or of vectors cannot be merged; train on both sources")
    classes = tuple(sorted({c for snapshot in models for c in snapshot.counts.classes}))
    tokens, places = merge_vocabularies([snapshot.tokens for snapshot in models])
    aligned = [snapshot.counts.reindex(at, len(tokens), classes) for snapshot, at in zip(models, places)]
    messages: dict[bytes, LearnedMessage] = {}
    cells = Counter[tuple[str, int, int]]()
    for snapshot in models:
        messages.update(snapshot.messages)
        for name, own, bin_, scored in snapshot.calibration:
            cells[name, own, bin_] += scored
    repeated = sum(len(snapshot.messages) for snapshot in models) - len(messages)
    calibration = [(*cell, scored) for cell, scored in sorted(cells.items())]
    meta = {key: value for key, value in models[0].meta.items() if key not in ORIGIN}
    for snapshot in models:  # what one of them no longer holds, the sum does not hold
        if "pruned" in snapshot.meta:
            meta["pruned"] = snapshot.meta["pruned"]
    kept = sorted({lesson.digest: lesson for snapshot in models for lesson in snapshot.kept}.values(), key=_taught_at)
    learned = list(messages.items())
    lessons = [lesson for snapshot in models for lesson in snapshot.lessons] if not repeated else []
    parts = [snapshot.correction for snapshot in models if snapshot.correction is not None]
    correction = CorrectionSums.sum(parts) if parts else None
    counts = ClassCounts.sum(aligned)
    merged = Snapshot(meta, tokens, counts, learned, calibration, {}, None, lessons, kept, correction)
    return merged, repeated


def _taught_at(lesson: KeptLesson) -> int:
    return lesson.taught_at
