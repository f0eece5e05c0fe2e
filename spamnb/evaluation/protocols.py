"""Protocols of evaluation: a split, K folds, and leave-one-out.

The mail is read and counted once. The sums of the messages to learn are the sums of all messages minus the sums of the
messages to classify.

All copies of a message (equal digests) are in the same part, because a filter recognises a message that it has learned.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.errors import ArgumentError, SpamnbError
from spamnb.evaluation.estimates import Estimates, estimate
from spamnb.evaluation.result import EVIDENCE, EvaluatedMessage, Result, make_result
from spamnb.filter import Classifier
from spamnb.model.new_senders import NO_NEW_SENDERS
from spamnb.model.newest import mark_newest
from spamnb.model.training_set import TrainingSet
from spamnb.reader.rows import UNDATED, Rows
from spamnb.settings import Settings
from spamnb.training import fit, model_of, prepare

# Messages classified together. 3,897 messages of SpamAssassin took 2.0 s in batches of 16 and 1.2 s in batches of 512.
# Batches of 4,096 took 1.2 s, too, and 40 MB more.
BATCH_MESSAGES = 512


class Mail(NamedTuple):
    """Labelled messages and their sums."""

    training_set: TrainingSet
    names: list[str]  # names of all messages, including unreadable messages, by position
    rows: Rows  # the n readable messages, in the order of the sources

    @property
    def classes(self) -> tuple[str, ...]:
        return self.training_set.classes

    @property
    def digests(self) -> NDArray[np.void]:
        """16 bytes for each message, (n,): equal for copies of a message."""
        return self.rows.digests.view("V16").ravel()


def make_mail(training_set: TrainingSet, names: list[str]) -> Mail:
    """Return the mail of a training set, whose messages have these names by position."""
    return Mail(training_set, names, training_set.rows.take(np.argsort(training_set.rows.positions)))


def group_copies(
    digests: NDArray[np.void], labels: NDArray[np.intp], seed: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the group of each message (n,), and the groups in the order of their classes.

    Messages with equal ``digests`` (n,) are a group. Within a class the order of the groups is random.
    """
    _, first, group = np.unique(digests, return_index=True, return_inverse=True)
    random_keys = np.random.default_rng(seed).random(len(first))
    return group.astype(np.intp), np.lexsort((random_keys, labels[first]))


def assign_folds(digests: NDArray[np.void], labels: NDArray[np.intp], k: int, seed: int = 0) -> NDArray[np.intp]:
    """Return the fold of each message, (n,), stratified by the class numbers ``labels`` (n,)."""
    group, order = group_copies(digests, labels, seed)
    if not 2 <= k <= len(order):
        raise ArgumentError(
            "{n} different messages cannot be split into {k} folds: give {option.folds} from 2 to {n};"
            " {option.leave_one_out} is for few messages",
            k=k,
            n=len(order),
        )
    fold = np.empty(len(order), np.intp)
    fold[order] = np.arange(len(order)) % k
    return fold[group]


def split_by_chance(mail: Mail, fraction: float, seed: int) -> NDArray[np.intp]:
    """Return −1 for the messages to learn, a random ``fraction`` of each class, and 0 for the others, (n,)."""
    _check_fraction(fraction)
    group, order = group_copies(mail.digests, mail.rows.labels, seed)
    # Of the first i groups i × fraction are learned, rounded down, so the classes have equal shares.
    is_learned = np.floor(np.arange(1, len(order) + 1) * fraction) > np.floor(np.arange(len(order)) * fraction)
    part = np.zeros(len(order), np.intp)
    part[order[is_learned]] = -1
    return part[group]


def split_by_date(mail: Mail, fraction: float) -> NDArray[np.intp]:
    """Return −1 for the messages to learn, and 0 for the newest messages, which are classified, (n,).

    ``fraction`` of the messages with a time of arrival is learned, and all messages without such a time. All copies of
    a message have the time of the newest copy.
    """
    _check_fraction(fraction)
    if (mail.rows.dates == UNDATED).all():
        raise ArgumentError("{option.by_date}: no message has a date")
    _, first, group = np.unique(mail.digests, return_index=True, return_inverse=True)
    group_dates = np.full(len(first), UNDATED)
    np.maximum.at(group_dates, group, mail.rows.dates)
    return np.where(mark_newest(group_dates, first, 1 - fraction), 0, -1)[group]


def _check_fraction(fraction: float) -> None:
    if not 0 < fraction < 1:
        raise SpamnbError(f"a split of {fraction:g} leaves one part empty: give a fraction between 0 and 1")


def evaluate_parts(mail: Mail, settings: Settings, part: NDArray[np.intp], protocol: str) -> Result:
    """Classify each message with a model of the other parts, and good mail with models without its sender.

    ``part`` (n,) is −1 for messages that are only learned.
    """
    result, estimates = classify_parts(mail, settings, part, protocol), _estimate(mail, settings)
    new_senders = NO_NEW_SENDERS if estimates is None else estimates.left_out.new_senders
    return replace(result, new_senders=new_senders)


def classify_parts(mail: Mail, settings: Settings, part: NDArray[np.intp], protocol: str) -> Result:
    """Classify each message with a model of the other parts. ``part`` (n,) is −1 for messages that are only learned.

    A class that a model does not have gets the score −∞ and probability 0. Only wrong verdicts have evidence, because
    evidence takes four times as long as scores.
    """
    if len(np.unique(part)) < 2:
        raise SpamnbError("the split leaves one part empty: give more messages or another fraction")
    total, tested, part = mail.training_set.deduplicate(), mail.rows.take(part >= 0), part[part >= 0]
    messages: dict[int, EvaluatedMessage] = {}  # by position
    for number in range(part.max() + 1):
        rows = tested.take(part == number)
        mask = np.zeros(len(mail.names), bool)
        mask[rows.positions] = True
        with Classifier(model_of(total.minus(mask), settings)) as classifier:
            for n_evidence in (0, EVIDENCE):
                for batch in rows.batches(BATCH_MESSAGES):
                    classifications = classifier.classify_rows(batch, n_evidence)
                    for position, label, each in zip(batch.positions.tolist(), batch.labels.tolist(), classifications):
                        messages[position] = EvaluatedMessage.of(mail.names[position], mail.classes[label], each)
                numbers = rows.positions.tolist()
                rows = rows.take(np.array([messages[i].verdict != messages[i].truth for i in numbers], bool))
    return make_result([messages[position] for position in sorted(messages)], protocol, settings.spam)


def _estimate(mail: Mail, settings: Settings) -> Estimates | None:
    return estimate(fit(prepare(mail.training_set), settings), settings)


def evaluate_leave_one_out(mail: Mail, settings: Settings) -> Result:
    """Classify every message with a model of the other messages that are not copies of the message.

    If the model is not a function of sums alone, the mail is split into parts, and each message is classified with a
    model of the other parts. No evidence is computed.
    """
    estimates = _estimate(mail, settings)
    if estimates is None:
        raise SpamnbError("leave-one-out needs messages of at least two classes")
    names = [mail.names[position] for position in estimates.positions.tolist()]
    result = replace(estimates.left_out, names=names)
    errors = {row: result.message(row) for row in np.flatnonzero(~result.is_right).tolist()}
    return replace(result, errors=errors)
