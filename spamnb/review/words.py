"""A model's words: those that begin as a person typed, how many messages of each class hold them, and their weights."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from spamnb.classifier import Classifier
from spamnb.reader.token_array import TokenArray
from spamnb.store.snapshot import read_counts

MOST = 50  # words that are listed
MAX_TYPED = 80  # characters of a beginning
KEPT_SECONDS = 600.0  # of a model's list of tokens: it takes .7 s for a million of them, and 30 MB
MAX_LISTS = 4  # models whose lists are kept


class KnownWord(NamedTuple):
    """A word of the model.

    - ``held``: by class, how many messages hold it
    - ``weight``: what it says for spam, in nats; negative for good mail
    """

    token: str
    held: dict[str, int]
    weight: float


class WordLists:
    """The tokens of models, kept for a while."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, tuple[float, TokenArray, np.ndarray]] = OrderedDict()
        self._lock = threading.Lock()

    def beginning(self, classifier: Classifier, begin: str) -> list[str]:
        """The tokens of a model that begin so, those that most messages hold first."""
        path = str(classifier.store.path)
        with self._lock:
            kept = self._kept.get(path)
            if kept is None or time.monotonic() - kept[0] > KEPT_SECONDS:
                tokens, counts = read_counts(classifier.store)
                kept = time.monotonic(), tokens, counts.document_frequency()
                self._kept[path] = kept
                while len(self._kept) > MAX_LISTS:
                    self._kept.popitem(last=False)
        _, tokens, held = kept
        places = beginning_with(tokens, begin.encode("utf-8", "replace"))
        best = places[np.argsort(-held[places], kind="stable")[:MOST]]
        return [tokens[place] for place in best.tolist()]


def beginning_with(tokens: TokenArray, begin: bytes) -> np.ndarray:
    """Where the tokens stand that begin so.

    >>> beginning_with(TokenArray.of(["tea", "team", "at", "te"]), b"tea").tolist()
    [0, 1]
    """
    places = np.flatnonzero(tokens.lengths >= len(begin))
    for number, byte in enumerate(begin):
        places = places[tokens.text[tokens.offsets[places] + number] == byte]
    return places


def words_of_model(classifier: Classifier, tokens: Sequence[str]) -> list[KnownWord]:
    """What a model knows of tokens, in their order; those that it does not know are left out.

    The weight is ln θ_spam − ln θ_rest, where θ = (messages that hold the word + 1)/(messages + 2), as in the words
    report: naive Bayes' own, before what the rest of a message says. ``rest`` is all other classes together.
    """
    store, spam = classifier.store, classifier.settings.spam
    with store.reading():
        totals = store.totals()
        if not tokens or not totals.classes:
            return []
        found = store.look_up(tokens)
    known = [tokens[place] for place in found.positions.tolist()]
    of_spam = np.array([name == spam for name in totals.classes])
    theta = [
        (found.document_counts[side].sum(axis=0) + 1) / (totals.documents[side].sum() + 2)
        for side in (of_spam, ~of_spam)
    ]
    weights = np.log(theta[0]) - np.log(theta[1])
    return [
        KnownWord(token, dict(zip(totals.classes, held)), weight)
        for token, held, weight in zip(known, found.document_counts.T.tolist(), weights.tolist())
    ]
