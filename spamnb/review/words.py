"""A model's words: those that begin as a person typed, how many messages of each class hold them, and their weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spamnb.classifier import Classifier

MOST = 50  # words that are listed
MAX_TYPED = 80  # characters of a beginning


class KnownWord(NamedTuple):
    """A word of the model.

    - ``held``: by class, how many messages hold it
    - ``weight``: what it says for spam, in nats; negative for good mail
    """

    token: str
    held: dict[str, int]
    weight: float


def words_beginning(classifier: Classifier, begin: str) -> list[KnownWord]:
    """The words of a model that begin so: the very word first, then those that most messages hold.

    The weight is ln θ_spam − ln θ_rest, where θ = (messages that hold the word + 1)/(messages + 2), as in the words
    report: naive Bayes' own, before what the rest of a message says. ``rest`` is all other classes together.
    """
    store, prefix = classifier.store, begin.encode("utf-8", "replace")
    with store.reading():
        totals = store.totals()
        if not prefix or not totals.classes:
            return []
        beginning = "substr(CAST(token AS BLOB), 1, ?) = ?"  # of bytes: all of a text stands before its first NUL
        rows = store.execute(f"SELECT token FROM tokens WHERE {beginning}", (len(prefix), prefix))  # noqa: S608
        tokens = [token for (token,) in rows]
        found = store.look_up(tokens)
    known = [tokens[place] for place in found.positions.tolist()]
    of_class = found.document_counts
    of_spam = np.array([name == classifier.settings.spam for name in totals.classes])
    theta = [
        (of_class[side].sum(axis=0) + 1) / (totals.documents[side].sum() + 2) for side in (of_spam, ~of_spam)
    ]
    weights = np.log(theta[0]) - np.log(theta[1])
    common = of_class.sum(axis=0).tolist()
    best = sorted(range(len(known)), key=lambda place: (known[place] != begin, -common[place], known[place]))[:MOST]
    return [KnownWord(known[k], dict(zip(totals.classes, of_class[:, k].tolist())), float(weights[k])) for k in best]
