"""What a model knows besides its tokens and messages: settings, and the sums of its classes. It is small.

A model is immutable: each change makes a new one. The store reads and writes it (store/classes.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.core.curve import BINS
from spamnb.errors import Damaged
from spamnb.model.calibration import Calibration, fit_curves
from spamnb.model.class_counts import ClassTotals
from spamnb.model.decision import ARRIVED, TYPICALITY_BINS
from spamnb.model.embeddings import MAX_DIMENSIONS
from spamnb.settings import BAYES_MODELS

if TYPE_CHECKING:
    from spamnb.model.delta import MessageRecord

SIZE = "vocabulary_size"  # in table meta, the number of tokens
NOISE = "label_noise"  # in table meta, the share of wrong labels
SHARED = "shared_model"  # in table meta of a user's file, the path of the model that the file adds to
DENSE_CLASSES = "dense_classes"  # in table meta of a model of vectors, the classes of its moments
FIRST_MOMENTS = "dense_first"  # the array of the sums of vectors by class, in a model of vectors
HISTOGRAM = np.dtype("<i8")  # of the calibration's bins in table classes
NO_CURVE = 0.0, 0.0, 1.0  # slope, intercept and knee of a class without messages
STARTER = "is_starter"  # in table meta of a starter
# A shared model weighs as much as 60 / (1 + n/50) lessons, where n are those besides the largest class, because lessons
# of one class alone must not outweigh it: docs/experiments.md#lessons-of-a-user
SHARED_LESSONS, SHARE_HALVED = 60, 50
MIN_OWN = 5  # lessons of a second class, before headers and structure count that the shared model does not have
MAX_LESSONS = 10_000  # from here on the share of the shared model does not fall, so that no sum is too large
NO_TYPICALITY = np.zeros(1 + TYPICALITY_BINS, HISTOGRAM)  # of a class


@dataclass(frozen=True)
class Model:
    """The settings and sums of a model; classes are in the order of their numbers."""

    meta: dict[str, Any]
    class_ids: dict[str, int]
    sums: np.ndarray  # (C, 3) messages, and sums over all tokens of document counts and of occurrences
    histogram: np.ndarray  # (C, 2, BINS) of the calibration: the messages of each class, and all others
    unscored: np.ndarray  # (C,) messages that the histogram lacks: those learned while there was one class
    typicality: np.ndarray  # (C, 1 + TYPICALITY_BINS) known mail (model/decision.py)
    curves: np.ndarray | None  # (C, 3) slope, intercept and knee as written; None after a change
    lesson_weight: int = 1  # messages as which each lesson counts; more in a user's file with a shared model
    arrays: Mapping[str, np.ndarray] = field(default_factory=dict)  # parameters that are not sums of tokens, by name

    @cached_property
    def nonempty_classes(self) -> np.ndarray:
        """The numbers of the classes with messages, in the order of the class names."""
        names = sorted(name for name, number in self.class_ids.items() if self.sums[number, 0])
        return np.array([self.class_ids[name] for name in names], np.intp)

    @property
    def known_typicality(self) -> np.ndarray:
        """The known mail (model/decision.py) of the classes with messages, in the order of their names."""
        return self.typicality[self.nonempty_classes]

    @property
    def has_vectors(self) -> bool:
        """Whether the tokens have vectors, and the classes moments."""
        return self.meta.get("model_type") not in BAYES_MODELS

    @property
    def dimensions(self) -> int:
        """The number of dimensions of the tokens' vectors; 0 in a model without vectors."""
        first = self.arrays.get(FIRST_MOMENTS, np.zeros(0))
        if first.ndim == 2 and first.shape[1] > MAX_DIMENSIONS:
            raise Damaged(f"array {FIRST_MOMENTS} in table meta has more than {MAX_DIMENSIONS:,} dimensions")
        return first.shape[1] if first.ndim == 2 else 0

    @cached_property
    def totals(self) -> ClassTotals:
        """The sums over all tokens of the classes with messages."""
        names = list(self.class_ids)
        return self.totals_of(tuple(names[number] for number in self.nonempty_classes.tolist()))

    def totals_of(self, classes: tuple[str, ...]) -> ClassTotals:
        """Return the sums over all tokens of these classes; 0 of a class that the model lacks."""
        none = np.zeros(3, np.int64)
        sums = [self.sums[self.class_ids[name]] if name in self.class_ids else none for name in classes]
        return ClassTotals(classes, np.array(sums, np.int64).reshape(-1, 3), self.meta[SIZE])

    @cached_property
    def calibration(self) -> Calibration:
        """The calibration of the classes with messages: as it was written, or fitted now if the sums changed since."""
        if self.curves is None:
            return self._fit_curves()
        slope, intercept, knee = self.curves[self.nonempty_classes].T
        return Calibration(slope, intercept, knee, self.meta[NOISE])

    def _fit_curves(self) -> Calibration:
        """Fit the curves to the histograms."""
        return fit_curves(self.histogram[self.nonempty_classes], self.unscored[self.nonempty_classes])

    def check_calibration(self) -> None:
        """Raise Damaged if the curves differ from a fit to the histograms."""
        pairs = zip(self.calibration, self._fit_curves())
        if not all(np.allclose(np.asarray(a), np.asarray(b), rtol=1e-3, atol=1e-3) for a, b in pairs):
            raise Damaged("curves in table classes that do not fit its histograms")

    def with_class(self, name: str) -> Model:
        """Return the model with one more class, which is empty."""
        return replace(
            self,
            class_ids={**self.class_ids, name: len(self.class_ids)},
            sums=np.concatenate([self.sums, np.zeros((1, 3), np.int64)]),
            histogram=np.concatenate([self.histogram, np.zeros((1, 2, BINS), HISTOGRAM)]),
            unscored=np.append(self.unscored, 0),
            typicality=np.concatenate([self.typicality, NO_TYPICALITY[None]]),
            curves=None,
        )

    def with_sums(self, changes: np.ndarray, new_tokens: int) -> Model:
        """Return the model after ``changes`` (C, 3) of the classes' sums, and of the number of tokens."""
        meta = {**self.meta, SIZE: self.meta[SIZE] + new_tokens} if new_tokens else self.meta
        return replace(self, meta=meta, sums=self.sums + changes, curves=None)

    def with_scores(self, scored: Sequence[MessageRecord], sign: int) -> Model:
        """Return the model with messages added to the sums of scored messages, or subtracted.

        ``bins`` and ``typicality`` are empty for a message without a score. A lesson that has a typicality counts as
        ARRIVED messages that were seen. A message of training may be subtracted with another score than it was added
        with, so a bin can be below 0.
        """
        histogram, unscored, sums = self.histogram.copy(), self.unscored.copy(), self.typicality.copy()
        for each in scored:
            label = self.class_ids[each.label]
            for name, bin_ in each.bins.items():
                histogram[self.class_ids[name], int(name != each.label), bin_] += sign
            unscored[label] += 0 if each.bins else sign
            sums[label, 0] += sign * (ARRIVED if each.is_lesson and each.typicality else 1)
            for name, bin_ in each.typicality.items():
                sums[self.class_ids[name], 1 + bin_] += sign
        return replace(self, histogram=histogram, unscored=unscored, typicality=sums, curves=None)

    @property
    def n_messages(self) -> int:
        """The number of messages of all classes."""
        return int(self.sums[:, 0].sum())

    @property
    def is_starter(self) -> bool:
        """Whether this is a starter, a model of public mail."""
        return bool(self.meta.get(STARTER))

    def weigh_lessons(self, own: Model) -> int:
        """Return the weight, in messages, of each lesson of the file ``own`` that adds to this one."""
        growth = 1 + min(own.n_contrasts, MAX_LESSONS) / SHARE_HALVED
        return max(1, int(self.n_messages * growth) // SHARED_LESSONS)

    @property
    def n_contrasts(self) -> int:
        """The number of messages besides those of the largest class: what this file says about differences."""
        documents = self.sums[:, 0]
        return int(documents.sum() - documents.max(initial=0))

    @property
    def is_one_sided(self) -> bool:
        """Whether this file has fewer than MIN_OWN messages of a second class.

        Headers and structure that only this file has then say whose mailbox it is, and not what spam is.
        """
        return self.n_contrasts < MIN_OWN

    def with_classes_of(self, other: Model) -> Model:
        """Return the model with the other's classes that it lacks, which are empty."""
        extended = self
        for name in sorted(other.class_ids.keys() - self.class_ids.keys()):
            extended = extended.with_class(name)
        return extended

    def add(self, other: Model, weight: int = 1) -> Model:
        """Return this model with the sums of another one, of which each message counts ``weight`` times.

        Settings are this model's. A token in both models counts twice in the number of tokens, because an exact number
        needs a look-up of all tokens.
        """
        extended = self.with_classes_of(other)
        numbers = [extended.class_ids[name] for name in other.class_ids]
        sums, histogram, unscored, typicality = (
            each.copy() for each in (extended.sums, extended.histogram, extended.unscored, extended.typicality)
        )
        sums[numbers] += weight * other.sums
        histogram[numbers] += weight * other.histogram
        unscored[numbers] += weight * other.unscored
        factors = np.append(1, np.full(TYPICALITY_BINS, weight))  # the weight makes no more messages seen
        typicality[numbers] += factors * other.typicality
        meta = {**self.meta, SIZE: self.meta[SIZE] + other.meta[SIZE]}
        return replace(
            extended, meta=meta, sums=sums, histogram=histogram, unscored=unscored, typicality=typicality, curves=None
        )

    def plus(self, shared: Model) -> Model:
        """Return the sum of this model and the shared model's. Settings that this file lacks are the shared model's.

        The curves are fitted to the scores of both, of which each counts once: the scores of early lessons are by a
        model that knows little, so they must not count ``weight`` times.
        """
        weight, extended = shared.weigh_lessons(self), shared.with_classes_of(self)
        combined = extended.add(self, weight)
        meta = {**shared.meta, **self.meta, SIZE: combined.meta[SIZE], NOISE: shared.calibration.noise}
        combined = replace(combined, meta=meta, lesson_weight=weight)
        if combined.totals.classes != shared.totals.classes:
            return combined
        n_good = sum(int(self.sums[number, 0]) for name, number in self.class_ids.items() if name != meta.get("spam"))
        scored = extended.add(self) if n_good >= MIN_OWN else extended  # scores of spam alone would call good mail spam
        return replace(combined, curves=scored.fitted_curves)

    @property
    def fitted_curves(self) -> np.ndarray:
        """The curves of the calibration by class number, (C, 3)."""
        curves = np.tile(NO_CURVE, (len(self.class_ids), 1))
        curves[self.nonempty_classes] = np.stack(self.calibration[:3], axis=1)
        return curves
