"""What a lesson adds to a model.

A model is a sum over its messages. Learning applies a delta, forgetting applies its negative, and moving a message to
another class applies both. A delta is data: who makes one reads no file, and who applies one computes no score.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.curve import BINS
from spamnb.core.library import lib
from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES, WEIGHT, ClassTotals
from spamnb.model.decision import TYPICALITY_BINS
from spamnb.reader.rows import Rows

MAX_UNITS: int = lib.MAX_UNITS  # of a weight, and of a contribution

Units = Mapping[str, int]  # whole multiples of correction.UNIT by class, which sum to 0


class MessageRecord(NamedTuple):
    """How a message was learned: what it adds besides the counts of its tokens."""

    label: str  # "" in NOT_LEARNED
    is_lesson: bool  # whether a person taught it; False for a message of training
    bins: Mapping[str, int] = MappingProxyType({})  # by class, its bin in the calibration's histogram
    typicality: Mapping[str, int] = MappingProxyType({})  # the bin of its class, if the label is trusted
    contribution: Units = MappingProxyType({})  # which is added to the weights of its tokens
    # What learning the message added to the contributions of examples, by the number of the example.
    changes: Mapping[int, Units] = MappingProxyType({})

    def facts(self) -> dict[str, Any]:
        """Return all fields but the class, for a row or a line of an export. Of training no scores are stored."""
        contribution = {name: n for name, n in self.contribution.items() if n}
        facts = {
            "bins": dict(self.bins) if self.is_lesson else None,
            "typicality": (dict(self.typicality) or None) if self.is_lesson else None,
            "contribution": contribution or None,
            "changes": dict(self.changes) or None,
        }
        return {name: fact for name, fact in facts.items() if fact is not None}

    @classmethod
    def of_facts(cls, label: str, facts: Any, classes: Collection[str]) -> MessageRecord:
        """Make a record from the result of ``facts``; raise ValueError if it does not fit these classes."""
        if type(facts) is not dict:
            raise ValueError("facts that are not an object")
        bins, contribution, changes = facts.get("bins", {}), facts.get("contribution", {}), facts.get("changes", {})
        if type(bins) is not dict or not all(_is_whole(value, 0, BINS - 1) for value in bins.values()):
            raise ValueError("bins that the calibration does not have")
        typicality = facts.get("typicality", {})
        if (
            type(typicality) is not dict
            or not {*typicality} <= {*bins} & {label}
            or not all(_is_whole(value, 0, TYPICALITY_BINS - 1) for value in typicality.values())
        ):
            raise ValueError("a typicality that does not fit the bins")
        if type(changes) is not dict or not all(number.isdecimal() and len(number) < 19 for number in changes):
            raise ValueError("changes that do not name examples")
        for units in (contribution, *changes.values()):
            check_correction(units, classes)
        numbered = {int(number): units for number, units in changes.items()}
        return cls(label, "bins" in facts, bins, typicality, contribution, numbered)


NOT_LEARNED = MessageRecord("", True)  # the record of a message that no class has learned


def _is_whole(value: Any, least: int, most: int) -> bool:
    return type(value) is int and least <= value <= most


def check_correction(value: Any, classes: Collection[str]) -> None:
    """Raise ValueError unless the value is {class: units} that a correction can add to the weight of a token."""
    is_valid = type(value) is dict and {*value} <= {*classes}
    if not is_valid or not all(_is_whole(n, -MAX_UNITS, MAX_UNITS) for n in value.values()) or sum(value.values()):
        raise ValueError("units of a correction that are not whole numbers, are too large or do not sum to 0")


def units_by_class(units: Sequence[Units], class_ids: Mapping[str, int]) -> np.ndarray:
    """Return units of n messages by class number, (n, C)."""
    out = np.zeros((len(units), len(class_ids)), np.int64)
    for row, of_message in zip(out, units):
        for name, n in of_message.items():
            row[class_ids[name]] = n
    return out


class Example(NamedTuple):
    """A message that is fitted again when others are learned (store/examples.py)."""

    digest: bytes
    label: str
    hashes: np.ndarray  # (k,) hashes of the tokens, which are all in the model
    groups: np.ndarray  # (k,) int8, groups of the tokens
    contribution: Units = MappingProxyType({})
    pending: Units = MappingProxyType({})  # the part of the contribution that is not in the buckets (store/pending.py)
    number: int = 0  # of its row; 0 before it is stored


class Examples(NamedTuple):
    """The messages that are fitted again, the oldest first, with an index of their tokens."""

    messages: Sequence[Example]
    hashes: np.ndarray  # (k,) the distinct hashes of all tokens, ascending
    columns: np.ndarray  # (n,) int32 the index in ``hashes`` of each token, one message after the other

    @classmethod
    def of(cls, messages: Sequence[Example]) -> Examples:
        """Make the index of these messages."""
        hashes = np.concatenate([np.zeros(0, np.int64), *(each.hashes for each in messages)])
        distinct, columns = np.unique(hashes, return_inverse=True)
        return cls(messages, distinct, columns.astype(np.int32))

    @property
    def lengths(self) -> np.ndarray:
        """The number of tokens of each message."""
        return np.array([len(each.hashes) for each in self.messages], np.intp)

    def of_classes(self, classes: Collection[str]) -> Examples:
        """Return the messages of these classes, over the same list of hashes."""
        is_chosen = np.array([each.label in classes for each in self.messages], bool)
        if is_chosen.all():
            return self
        messages = [each for each in self.messages if each.label in classes]
        return self._replace(messages=messages, columns=self.columns[np.repeat(is_chosen, self.lengths)])


class Sums(NamedTuple):
    """The figures of k tokens in the C classes of a model, and the sums over all tokens."""

    totals: ClassTotals
    hashes: np.ndarray  # (k,) in the order in which the tokens were asked for
    figures: np.ndarray  # (k, C, 3) messages with the token, occurrences, and weight in units; 0 for an unknown token
    vectors: np.ndarray = np.zeros((0, 0))  # (k, d); (0, 0) in models without vectors
    # By class {n: number of the model's tokens that exactly n messages have}; () except in Bernoulli models.
    frequencies: Sequence[Mapping[int, int]] = ()
    reference: Sums | None = None  # the sums of the shared model alone, by which typicality is computed

    @property
    def classes(self) -> tuple[str, ...]:
        """The sorted names of the C classes."""
        return self.totals.classes

    @property
    def document_counts(self) -> np.ndarray:
        """N_jc, (k, C)."""
        return self.figures[:, :, DOCUMENTS]

    @property
    def occurrences(self) -> np.ndarray:
        """T_jc, (k, C)."""
        return self.figures[:, :, OCCURRENCES]

    @property
    def weights(self) -> np.ndarray:
        """The weights of the correction in units (model/correction.py), (k, C); 0 in other models."""
        return self.figures[:, :, WEIGHT]


class Delta(NamedTuple):
    """What messages add to a model, or what forgetting them takes away (``sign`` −1)."""

    messages: Sequence[Rows] = ()  # n messages, of training or lessons, each alone and without doubtful tokens
    records: Sequence[MessageRecord] = ()  # of the n messages
    vectors: Sequence[np.ndarray] = ()  # (n, d) of the messages; () in models without vectors
    scored: Sequence[MessageRecord] = ()  # calibration and typicality
    changes: Mapping[int, Units] = MappingProxyType({})  # of the contributions of examples, by their numbers
    cause: bytes = b""  # digest of the message with whose record the changes are stored
    examples: Sequence[Example] = ()  # messages that are fitted again from now on
    sign: int = 1

    @classmethod
    def of(cls, message: Rows, record: MessageRecord, vectors: Sequence[np.ndarray]) -> Delta:
        """Return what one message added when it was learned, without the score of a message of training.

        A lesson's record has its score, and that of a message of training has none.
        """
        return cls([message], [record], vectors, [record] if record.is_lesson else [], record.changes)

    @property
    def changes_weights(self) -> bool:
        """Whether a message has a contribution."""
        return any(any(each.contribution.values()) for each in self.records)

    def negative(self) -> Delta:
        """Return the delta that takes this one away."""
        return self._replace(sign=-self.sign)
