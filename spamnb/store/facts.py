"""What a model file says of itself to a person who asks: how it was made, and what was taught."""

from __future__ import annotations

from typing import Any, NamedTuple

from spamnb.settings import ORIGIN
from spamnb.store.database import checked_rows, int_between, is_class_name
from spamnb.store.rows import MAX_COUNT
from spamnb.store.store import Store


class OneByOne(NamedTuple):
    """Messages of one class that were learned one by one, and not by training."""

    taught: int  # by a person
    autolearned: int  # by the filter itself


def origin(store: Store) -> dict[str, Any]:
    """When, from what and with which command the model was trained, as far as the file says it."""
    meta = store.meta()
    return {key: meta[key] for key in ORIGIN if key in meta}


def lessons(store: Store) -> dict[str, OneByOne]:
    """What was learned one by one, by class; classes without any are left out.

    >>> from spamnb.classifier import Classifier
    >>> classifier = Classifier.create(":memory:")
    >>> classifier.learn("ham", b"Subject: lunch"), classifier.learn("ham", b"Subject: tea", taught=False)
    (True, True)
    >>> lessons(classifier.store)
    {'ham': OneByOne(taught=1, autolearned=1)}
    """
    with store.reading():
        rows = store.execute(
            "SELECT name, sum(taught), count(*) FROM messages LEFT JOIN classes ON classes.id = class"
            " WHERE json_type(facts, '$.bins') NOT NULL GROUP BY class, name ORDER BY name"
        )
        most = int_between(MAX_COUNT)
        found = checked_rows("messages", rows, **{"class": is_class_name}, taught=most, messages=most)
        return {name: OneByOne(taught, every - taught) for name, taught, every in found}
