"""A model file as if one of its messages had never been in it: to ask what the others say of that message."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from spamnb.counts.class_counts import ClassTotals, TokenCounts
from spamnb.learners.corrected import moved_elsewhere
from spamnb.learners.learner import ModelFile
from spamnb.reader.rows import take_tokens


class WithoutMessage:
    """What a learner asks of a model file, less the counts of one message; the file stays as it is.

    That holds for sums. What is no sum (vectors, weights of logistic regression) and ``frequencies``, which move the
    score of a message and not what its tokens give to it, are those of all messages.
    """

    def __init__(
        self, file: ModelFile, classes: Sequence[str], own: int, counted: Mapping[str, int], digest: bytes
    ) -> None:
        """The file without a message of class number ``own`` of the ``classes`` of its totals, which holds tokens as
        ``counted``."""
        self.path = file.path
        self._file, self._own, self._counted, self._digest = file, own, counted, digest
        self._classes = classes

    def totals(self, totals: ClassTotals) -> ClassTotals:
        """The file's ``totals`` without the message."""
        tokens = list(self._counted)
        held = self._file.look_up(tokens)
        stays = np.isin(held.positions, self.look_up(tokens).positions)
        occurring = np.fromiter(self._counted.values(), np.int64)[held.positions[stays]].sum()
        is_own = np.arange(len(totals.classes)) == self._own
        return totals._replace(
            documents=totals.documents - is_own,
            document_counts=totals.document_counts - is_own * stays.sum() - held.document_counts[:, ~stays].sum(axis=1),
            occurrences=totals.occurrences - is_own * occurring - held.occurrences[:, ~stays].sum(axis=1),
            vocabulary_size=totals.vocabulary_size - int((~stays).sum()),
        )

    def look_up(self, tokens: Sequence[str]) -> TokenCounts:
        """The counts of those of ``tokens`` that enough other messages hold, or that are the model's chosen words."""
        found = self._file.look_up(tokens)
        counts = np.array([self._counted.get(tokens[place], 0) for place in found.positions.tolist()], np.int64)
        documents, occurrences = found.document_counts.astype(np.int64), found.occurrences.astype(np.int64)
        documents[self._own] -= counts > 0
        occurrences[self._own] -= counts
        meta = self._file.meta()
        kept = (documents.sum(axis=0) >= meta.get("min_messages", 1)) | (meta.get("top_words") is not None)
        positions = found.positions[kept]
        weights = found.weights[:, kept] - self._brought(take_tokens(tokens, positions))
        return TokenCounts(positions, documents[:, kept], occurrences[:, kept], found.groups[kept], weights)

    def meta(self) -> dict[str, Any]:
        return self._file.meta()

    def frequencies(self) -> list[dict[int, int]]:
        return self._file.frequencies()

    def arrays(self) -> dict[str, np.ndarray]:
        return self._file.arrays()

    def look_up_vectors(self, tokens: Sequence[str]) -> dict[str, np.ndarray]:
        return self._file.look_up_vectors(tokens)

    def _brought(self, tokens: Sequence[str]) -> np.ndarray:
        """What the message added to the weights of these tokens, (C, k) in units."""
        known, classes = self._file.learned(self._digest), self._classes
        if known is None:
            return np.zeros((len(classes), len(tokens)), np.int64)
        moved, units = moved_elsewhere(self._file, self._digest, list(self._counted))
        return _units(known.brought, self._counted, tokens, classes) + _units(units, set(moved), tokens, classes)


def _units(
    units: Mapping[str, int], holds: Collection[str], tokens: Sequence[str], classes: Sequence[str]
) -> np.ndarray:
    """(C, k) what ``units`` by class make of ``tokens`` (k,), where a message ``holds`` them."""
    return np.outer([units.get(name, 0) for name in classes], np.array([token in holds for token in tokens], np.int64))
