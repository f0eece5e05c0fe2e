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
from spamnb.evaluation.result import EVIDENCE, EvaluatedMessage, Result, make_result
from spamnb.filter import Classifier
from spamnb.model.newest import mark_newest
from spamnb.model.training_set import TrainingSet
from spamnb.reader.rows import UNDATED
from spamnb.settings import Settings
from spamnb.training import LeaveOneOutResult, estimate, fit, model_of, prepare

# Messages classified together. 3,897 messages of SpamAssassin took 2.0 s in batches of 16 and 1.2 s in batches of 512.
# Batches of 4,096 took 1.2 s, too, and 40 MB more.
BATCH_MESSAGES = 512


class Mail(NamedTuple):
    """Labelled messages and their sums. The arrays contain the n readable messages in the order of the sources."""

    training_set: TrainingSet
    names: list[str]  # names of all messages, including unreadable messages
    positions: NDArray[np.int64]  # (n,) indices into names, increasing
    labels: NDArray[np.intp]  # (n,) indices into the training set's classes
    digests: NDArray[np.void]  # (n,) 16 bytes: equal for copies of a message
    dates: NDArray[np.int64]  # (n,) times of arrival in seconds since 1970, or UNDATED

    @property
    def classes(self) -> tuple[str, ...]:
        return self.training_set.classes

    def mask(self, messages: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Convert a mask over readable messages, (n,), to a mask over all messages."""
        mask = np.zeros(len(self.names), bool)
        mask[self.positions[messages]] = True
        return mask


def make_mail(training_set: TrainingSet, names: list[str]) -> Mail:
    """Return the mail of a training set, whose messages have these names by position."""
    rows = training_set.rows.take(np.argsort(training_set.rows.positions))
    return Mail(training_set, names, rows.positions, rows.labels, rows.digests.view("V16").ravel(), rows.dates)


def evaluate_positions(
    mail: Mail, settings: Settings, training_set: TrainingSet, mask: NDArray[np.bool_]
) -> dict[int, EvaluatedMessage]:
    """Classify the messages that ``mask``, over all messages, selects, with a model of ``training_set``.

    Return them by position. Only wrong verdicts have evidence, because evidence takes four times as long as scores.
    """

    def classify(mask: NDArray[np.bool_], n_evidence: int) -> dict[int, EvaluatedMessage]:
        rows: dict[int, EvaluatedMessage] = {}
        all_rows = mail.training_set.rows
        for batch in all_rows.take(mask[all_rows.positions]).batches(BATCH_MESSAGES):
            classifications = classifier.classify_rows(batch, n_evidence)
            for position, label, classification in zip(batch.positions.tolist(), batch.labels, classifications):
                rows[position] = EvaluatedMessage.of(mail.names[position], mail.classes[label], classification)
        return rows

    with Classifier(model_of(training_set, settings)) as classifier:
        rows = classify(mask, 0)
        is_wrong = np.zeros(len(mail.names), bool)
        is_wrong[[position for position, row in rows.items() if row.verdict != row.truth]] = True
        return rows | classify(is_wrong, EVIDENCE)


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
    group, order = group_copies(mail.digests, mail.labels, seed)
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
    if (mail.dates == UNDATED).all():
        raise ArgumentError("{option.by_date}: no message has a date")
    _, first, group = np.unique(mail.digests, return_index=True, return_inverse=True)
    group_dates = np.full(len(first), UNDATED)
    np.maximum.at(group_dates, group, mail.dates)
    return np.where(mark_newest(group_dates, first, 1 - fraction), 0, -1)[group]


def _check_fraction(fraction: float) -> None:
    if not 0 < fraction < 1:
        raise SpamnbError(f"a split of {fraction:g} leaves one part empty: give a fraction between 0 and 1")


def evaluate_parts(mail: Mail, settings: Settings, part: NDArray[np.intp], protocol: str) -> Result:
    """Classify each message with a model of the other parts. ``part`` (n,) is −1 for messages that are only learned."""
    if len(np.unique(part)) < 2:
        raise SpamnbError("the split leaves one part empty: give more messages or another fraction")
    total = mail.training_set.deduplicate()
    rows: dict[int, EvaluatedMessage] = {}
    for number in range(part.max() + 1):
        mask = mail.mask(part == number)
        rows |= evaluate_positions(mail, settings, total.minus(mask), mask)
    result = make_result([rows[position] for position in sorted(rows)], protocol, settings.spam)
    return replace(result, new_senders=_estimate(mail, settings).new_senders)


def _estimate(mail: Mail, settings: Settings) -> LeaveOneOutResult:
    return estimate(fit(prepare(mail.training_set), settings), settings)


def evaluate_leave_one_out(mail: Mail, settings: Settings) -> Result:
    """Classify every message with a model of the other messages that are not copies of the message.

    If the model is not a function of sums alone, the mail is split into parts, and each message is classified with a
    model of the other parts. No evidence is computed.
    """
    left_out = _estimate(mail, settings)
    if not len(left_out.labels):
        raise SpamnbError("leave-one-out needs messages of at least two classes")
    classes, rows = left_out.classes, []
    for i in np.argsort(left_out.positions).tolist():
        scores, probabilities = (dict(zip(classes, x[i].tolist())) for x in (left_out.scores, left_out.probabilities))
        name, truth = mail.names[left_out.positions[i]], classes[left_out.labels[i]]
        rows.append(EvaluatedMessage(name, truth, left_out.verdicts[i], scores, probabilities))
    in_parts = f"Each of {left_out.n_folds} parts classified by the others"
    protocol = in_parts if left_out.is_in_parts else "Leave-one-out"
    return replace(make_result(rows, protocol, settings.spam), new_senders=left_out.new_senders)
