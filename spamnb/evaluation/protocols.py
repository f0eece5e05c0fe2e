"""Who is asked by whom: a split, K folds, leave-one-out, all on mail that was read and counted once.

A model of some of the messages is all sums less the others'. Asking it about a message is one look at the counts of the
message's own tokens, so nothing is read twice, however many folds there are.

Copies of a message (equal digests) never stand on both sides: a filter that is asked about what it has learned
remembers, it does not judge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.classifier import Classifier
from spamnb.counts.messages import UNDATED
from spamnb.counts.newest import newest
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import ArgumentError, SpamnbError
from spamnb.evaluation.result import EVIDENCE, Answer, Result, result_of
from spamnb.settings import Settings
from spamnb.training import leave_one_out_estimate as estimate
from spamnb.training import model_of, prepare

BATCH = 512  # messages scored at once


class Mail(NamedTuple):
    """Labelled messages, counted. Arrays are by message in the given order; those that could not be read are absent."""

    training_set: TrainingSet
    names: list[str]  # of every place in the given order, unreadable ones included
    positions: NDArray[np.int64]  # (n,) places of the messages that are there, rising
    labels: NDArray[np.intp]  # (n,) index into the training set's classes
    digests: NDArray[np.void]  # (n,) 16 bytes: equal for copies of a message
    dates: NDArray[np.int64]  # (n,) when each was received, in seconds since 1970; UNDATED where it does not say

    @property
    def classes(self) -> tuple[str, ...]:
        return self.training_set.counts.classes

    def truth(self) -> dict[int, str]:
        """The class of each message, by its place."""
        return dict(zip(self.positions.tolist(), map(self.classes.__getitem__, self.labels.tolist())))

    def places(self, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """A mask over messages (n,) as one over places."""
        places = np.zeros(len(self.names), bool)
        places[self.positions[which]] = True
        return places


def mail_of(training_set: TrainingSet, names: list[str]) -> Mail:
    """A training set and the names of its messages, by place."""
    messages = training_set.messages
    order = np.argsort(messages.positions)
    keys = messages.digests[order].view("V16").ravel()
    return Mail(training_set, names, messages.positions[order], messages.labels[order], keys, messages.dates[order])


def judge(mail: Mail, settings: Settings, trained: TrainingSet, places: NDArray[np.bool_]) -> dict[int, Answer]:
    """The answers of a model of ``trained`` to the messages at ``places``, by place; with evidence where one is wrong,
    since that takes four times as long as the rest."""
    truth = mail.truth()

    def asked(places: NDArray[np.bool_], tokens: int) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        for batch in mail.training_set.select(places).batches(BATCH):
            classifications = classifier.classify_rows(mail.training_set.tokens, batch.rows, tokens)
            for place, classification in zip(batch.positions.tolist(), classifications):
                answers[place] = Answer.of(mail.names[place], truth[place], classification)
        return answers

    with Classifier(model_of(trained, settings)) as classifier:
        answers = asked(places, 0)
        wrong = np.zeros(len(mail.names), bool)
        wrong[[place for place, answer in answers.items() if answer.verdict != answer.truth]] = True
        return answers | asked(wrong, EVIDENCE)


def groups(digests: NDArray[np.void], labels: NDArray[np.intp], seed: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Copies, of equal ``digests`` (n,), bound together and dealt out: (n,) group of each message, and the groups class
    by class, shuffled.

    Dealing the second in turn gives parts of equal size and equal mixture of classes.
    """
    _, first, group = np.unique(digests, return_index=True, return_inverse=True)
    chance = np.random.default_rng(seed).random(len(first))
    return group.astype(np.intp), np.lexsort((chance, labels[first]))


def folds_of(digests: NDArray[np.void], labels: NDArray[np.intp], k: int, seed: int = 0) -> NDArray[np.intp]:
    """The fold of each of n messages, (n,), stratified by their class numbers ``labels`` (n,)."""
    group, order = groups(digests, labels, seed)
    if not 2 <= k <= len(order):
        raise ArgumentError(
            "{k} folds of {n} different messages cannot be made: {option.folds} takes 2 up to the number of messages;"
            " {option.leave_one_out} is for few",
            k=k,
            n=len(order),
        )
    fold = np.empty(len(order), np.intp)
    fold[order] = np.arange(len(order)) % k
    return fold[group]


def halves(mail: Mail, fraction: float, seed: int) -> NDArray[np.intp]:
    """The part of each message (n,): −1 for ``fraction`` of each class, by chance, which is learned; 0 for the rest."""
    _check_fraction(fraction)
    group, order = groups(mail.digests, mail.labels, seed)
    # Along the shuffled classes the running count crosses a whole number for every group that is to be learned.
    crossed = np.floor(np.arange(1, len(order) + 1) * fraction) > np.floor(np.arange(len(order)) * fraction)
    part = np.zeros(len(order), np.intp)
    part[order[crossed]] = -1
    return part[group]


def oldest(mail: Mail, fraction: float) -> NDArray[np.intp]:
    """The part of each message (n,): −1 for all but the newest of those that say when they were received; ``fraction``
    of these is learned. Copies stand where the newest of them does."""
    _check_fraction(fraction)
    if (mail.dates == UNDATED).all():
        raise ArgumentError("{option.by_date}: no message says when it was received")
    _, first, group = np.unique(mail.digests, return_index=True, return_inverse=True)
    latest = np.full(len(first), UNDATED)
    np.maximum.at(latest, group, mail.dates)
    return np.where(newest(latest, first, 1 - fraction), 0, -1)[group]


def _check_fraction(fraction: float) -> None:
    if not 0 < fraction < 1:
        raise SpamnbError(f"a split of {fraction:g} leaves nothing on one side: give a fraction between 0 and 1")


def evaluate_parts(mail: Mail, settings: Settings, part: NDArray[np.intp], protocol: str) -> Result:
    """Each message judged by a model of all that are not in its part, (n,); what is in part −1 is learned only."""
    if len(np.unique(part)) < 2:
        raise SpamnbError("the split leaves no message on one side: give more messages or another fraction")
    total = mail.training_set.deduplicate()
    answers: dict[int, Answer] = {}
    for number in range(part.max() + 1):
        places = mail.places(part == number)
        answers |= judge(mail, settings, total.minus(places), places)
    return result_of([answers[place] for place in sorted(answers)], protocol, settings.spam)


def evaluate_leave_one_out(mail: Mail, settings: Settings) -> Result:
    """Every message judged by the total minus itself, copies of it counted once; by the total minus its part where the
    model is more than sums, or its words are chosen. There is no evidence: each message has a model of its own."""
    left_out = estimate(prepare(mail.training_set), settings)
    if not len(left_out.labels):
        raise SpamnbError("leave-one-out needs messages of two classes at least")
    classes, truth = left_out.classes, mail.truth()
    answers: dict[int, Answer] = {}
    scores, probabilities = left_out.scores.tolist(), left_out.probabilities.tolist()
    for place, verdict, of_class, p in zip(left_out.positions.tolist(), left_out.verdicts, scores, probabilities):
        said = verdict, dict(zip(classes, of_class)), dict(zip(classes, p))
        answers[place] = Answer(mail.names[place], truth[place], *said)
    parts = left_out.n_folds
    protocol = f"Left out in {parts} parts" if parts else "Leave-one-out"
    return result_of([answers[place] for place in sorted(answers)], protocol, settings.spam)
