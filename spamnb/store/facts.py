"""What a model file says of itself to a person who asks: how it was made, and what was taught."""

from __future__ import annotations

from typing import Any

from spamnb.settings import ORIGIN
from spamnb.store.database import checked_rows, int_between, is_class_name
from spamnb.store.rows import MAX_COUNT
from spamnb.store.store import Store


def origin(store: Store) -> dict[str, Any]:
    """When, from what and with which command the model was trained, as far as the file says it."""
    meta = store.meta()
    return {key: meta[key] for key in ORIGIN if key in meta}


def lessons(store: Store) -> dict[str, int]:
    """Messages that were learned one by one, by class; before the last training too, where the file keeps them.

    >>> from spamnb.classifier import Classifier
    >>> classifier = Classifier.create(":memory:")
    >>> classifier.learn("ham", b"Subject: lunch")
    True
    >>> lessons(classifier.store)
    {'ham': 1}
    """
    with store.reading():
        rows = store.execute(
            "SELECT name, count(*) FROM messages LEFT JOIN classes ON classes.id = class"
            " WHERE json_type(facts, '$.bins') NOT NULL OR digest IN (SELECT digest FROM kept_lessons)"
            " GROUP BY class, name ORDER BY name"
        )
        return dict(checked_rows("messages", rows, **{"class": is_class_name}, messages=int_between(MAX_COUNT)))
