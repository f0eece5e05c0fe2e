"""Training on few messages, or on one class: a model that adds to the starter learns them one after another."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from spamnb.filter import Classifier, mix_classes
from spamnb.model.training_set import TrainingSet
from spamnb.reader.read_message import ReadMessage
from spamnb.store.store import Store

MESSAGES_AT_ONCE = 1 << 8  # are classified or learned in one step, which bounds the memory


class StarterVerdicts(NamedTuple):
    """What the starter alone says of the training messages."""

    verdicts: dict[str, dict[str, int]]  # {class: {verdict: messages}}
    weight: int  # messages of one's own as which the starter counts after the training


def learn_beside_starter(store: Store, training_set: TrainingSet) -> StarterVerdicts:
    """Learn the messages in a new model that adds to the starter. They are classified by the starter alone before."""
    rows, names = training_set.rows, training_set.classes
    classifier = Classifier(store)
    assert store.shared is not None
    verdicts: dict[str, Counter[str]] = {name: Counter() for name in names}
    order = mix_classes(rows.labels)
    parts = [order[first : first + MESSAGES_AT_ONCE] for first in range(0, len(order), MESSAGES_AT_ONCE)]
    for part in parts:
        for label, result in zip(rows.labels[part].tolist(), classifier.classify_rows(rows.take(part), 0)):
            verdicts[names[label]][result.verdict] += 1
    for part in parts:
        messages = [ReadMessage(b"", None, rows.take(slice(i, i + 1)).compact()) for i in part.tolist()]
        classifier.learn_all([names[label] for label in rows.labels[part].tolist()], messages, is_lesson=False)
    with store.reading():
        weight = round(store.shared.own.n_messages / store.shared.own.weigh_lessons(store.own))
    return StarterVerdicts({name: dict(counts) for name, counts in verdicts.items()}, weight)
