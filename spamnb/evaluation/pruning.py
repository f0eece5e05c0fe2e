"""What pruning costs: labelled messages judged by a model as it is and as it would be.

A message that the model has learned is taken out of the sums before it is judged, from both. And the rule is asked
again without it: a token that this message and one other hold would be pruned from a model without this message. Judged
by the pruned model itself, such messages would profit from words that no new message finds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from spamnb.classifier import Classifier
from spamnb.counts.class_counts import ClassTotals, TokenCounts
from spamnb.evaluation.mcnemar import McNemar, mcnemar
from spamnb.evaluation.roc import one_minus_roca
from spamnb.formulas.calibration import Calibration, margins
from spamnb.learners.learner import CorrectionFile, ModelFile
from spamnb.store.pruning import Survey
from spamnb.store.snapshot import read_snapshot, write_snapshot
from spamnb.store.store import Store, open_store
from spamnb.tokens.csr_rows import TokenIds, take_tokens
from spamnb.tokens.token_array import TokenArray


class PrunedView:
    """A model as a learner sees it once ``survey``'s tokens are gone."""

    def __init__(self, store: Store, survey: Survey) -> None:
        self.path = store.path
        self.meta, self.put_meta = store.meta, store.put_meta
        self.arrays, self.put_arrays = store.arrays, store.put_arrays
        self.look_up_vectors, self.put_vectors = store.look_up_vectors, store.put_vectors
        self.in_vocabulary = store.in_vocabulary
        self._store, self._survey = store, survey

    @property
    def corrections(self) -> CorrectionFile:
        return self._store.corrections

    def totals(self) -> ClassTotals:
        """The sums over all tokens that stay."""
        return self._survey.totals(self._store.totals(), self._store.class_ids())

    def look_up(self, tokens: Sequence[str]) -> TokenCounts:
        """The counts of those tokens that stay."""
        found = self._store.look_up(tokens)
        hashes, candidates = self._hashes(tokens, found.positions), self._survey.candidates
        rare = found.document_counts.sum(axis=0) <= self._survey.rule.messages
        stays = ~rare
        if len(candidates):
            place = np.searchsorted(candidates, hashes)
            place[place == len(candidates)] = 0
            stays |= candidates[place] != hashes
        return TokenCounts(
            found.positions[stays], found.document_counts[:, stays], found.occurrences[:, stays], found.groups[stays]
        )

    @staticmethod
    def _hashes(tokens: Sequence[str], positions: np.ndarray) -> np.ndarray:
        known = take_tokens(tokens, positions)
        return known.hashes if isinstance(known, TokenIds) else TokenArray.of(known).hashes

    def frequencies(self) -> list[dict[int, int]]:
        """Per class {n: number of tokens that stay and that exactly n of its messages hold}."""
        numbers = [self._store.class_ids()[name] for name in self._store.totals().classes]
        found = []
        for number, held in zip(numbers, self._store.frequencies()):
            gone = self._survey.frequencies[number]
            kept = {n: tokens - gone.get(n, 0) for n, tokens in held.items() if n}
            found.append({0: self.totals().vocabulary_size - sum(kept.values()), **kept})
        return found


@dataclass
class Cost:
    """What n labelled messages were judged as, by the model as it is (first) and pruned (second)."""

    spam: str
    unknown: int = 0  # of classes that the model does not have
    left_out: int = 0  # that the model has learned, and that were taken out for their judgement
    truth: list[str] = field(default_factory=list)
    verdicts: tuple[list[str], list[str]] = field(default_factory=lambda: ([], []))
    spam_scores: tuple[list[float], list[float]] = field(default_factory=lambda: ([], []))

    def errors(self, which: int) -> tuple[int, int]:
        """Wrong verdicts, and "unsure"."""
        said = self.verdicts[which]
        unsure = said.count("unsure")
        return sum(verdict != true for verdict, true in zip(said, self.truth)) - unsure, unsure

    def one_minus_roca(self, which: int) -> float:
        """(1−ROCA) % of spam against the rest; NaN where either is missing."""
        return one_minus_roca([true == self.spam for true in self.truth], self.spam_scores[which])

    def luck(self) -> McNemar:
        """How many messages only one of them judged rightly, and how likely so uneven a split is by luck."""
        first, second = ([verdict == true for verdict, true in zip(said, self.truth)] for said in self.verdicts)
        return mcnemar(first, second)


def _copy(store: Store) -> Store:
    """The model in memory."""
    if store.file is None:  # on a server
        copy = Store.create(":memory:", store.meta())
        write_snapshot(copy, read_snapshot(store))
    else:
        copy = Store.connect(":memory:", writable=True)
        store.copy_to(copy)
    return copy


def pruning_cost(path: str, survey: Survey, messages: Iterable[tuple[str, bytes]]) -> Cost:
    """Judge (class, raw message) by the model at ``path`` as it is and pruned; the file stays as it is."""
    with open_store(path) as store, store.reading():
        copy = _copy(store)
    with Classifier(copy) as classifier:
        cost = Cost(classifier.settings.spam)
        totals = copy.totals()
        classes = totals.classes
        calibration = Calibration.from_cells(classes, copy.calibration(), totals.documents)
        for label, raw in messages:
            if label not in classes:
                cost.unknown += 1
                continue
            _judge(classifier, survey, calibration, cost, label, raw)
        return cost


def _judge(
    classifier: Classifier, survey: Survey, calibration: Calibration, cost: Cost, label: str, raw: bytes
) -> None:
    store, settings = classifier.store, classifier.settings
    with store.writing():
        read = classifier.read(raw)
        counted: Mapping[str, int] = read.counts
        known = store.learned(read.digest)
        own: dict[str, int] = {}  # what it brought to the correction
        if known is not None and settings.model_type == "corrected":
            own = store.corrections.brought(read.digest)
        if known is not None:
            if store.totals().documents[store.totals().classes.index(known.label)] < 2:
                return  # without it the class would hold nothing
            cost.left_out += 1
            store.add(known.label, counted, -1)
        ids, rows = read.row.renumbered()
        tokens = TokenIds(read.vocabulary, ids)
        if own:
            store.corrections.add(tokens, {name: -n for name, n in own.items()})
        cost.truth.append(label)
        pruned = PrunedView(store, survey)
        models: list[tuple[ModelFile, ClassTotals]] = [(store, store.totals()), (pruned, pruned.totals())]
        for which, (model, totals) in enumerate(models):
            scores = classifier.learner.score(model, totals, tokens, rows).scores
            enough = calibration.enough(settings.spam_column(totals.classes))
            p = calibration.probabilities(scores)
            cost.verdicts[which].extend(settings.loss.verdicts(totals.classes, p, cost.spam, enough))
            of_spam = settings.spam_column(totals.classes) or 0
            cost.spam_scores[which].append(float(margins(scores)[0, of_spam]))
        if known is not None:
            store.add(known.label, counted)
        if own:
            store.corrections.add(tokens, own)
