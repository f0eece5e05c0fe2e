"""Who is asked by whom: a split, K folds, leave-one-out, all on mail that was read and counted once.

A model of some of the messages is the sum of their rows, or all sums less the others'. Asking it about a message is one
look at the counts of the message's own tokens, so nothing is read twice, however many folds there are.

Copies of a message (equal digests) never stand on both sides: a filter that is asked about what it has learned
remembers, it does not judge. Only the split by file name, which exists to meet published figures, leaves copies
where they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spamnb.classifier import Classifier
from spamnb.counts.messages import UNDATED
from spamnb.counts.newest import newest
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import ArgumentError, SpamnbError
from spamnb.evaluation.result import EVIDENCE, NO_HEAD, Answer, Head, Recorder, Result
from spamnb.settings import Settings
from spamnb.training import leave_one_out_estimate as estimate
from spamnb.training import model_of, prepare

Heads = Callable[[set[int]], Mapping[int, Head]]  # sender and subject of messages by place, as far as they are wanted
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
    return Mail(
        training_set, names, messages.positions[order], messages.labels[order], keys, messages.dates[order]
    )


def judge(mail: Mail, settings: Settings, trained: TrainingSet, places: NDArray[np.bool_]) -> dict[int, Answer]:
    """The answers of a model of ``trained`` to the messages at ``places``, by place; with evidence where one is wrong,
    since that takes four times as long as the rest."""

    def asked(places: NDArray[np.bool_], tokens: int) -> dict[int, Answer]:
        answers: dict[int, Answer] = {}
        for batch in mail.training_set.select(places).batches(BATCH):
            judgements = classifier.classify_rows(mail.training_set.tokens, batch.rows, tokens)
            answers |= zip(batch.positions.tolist(), map(Answer.of, judgements))
        return answers

    with Classifier(model_of(trained, settings)) as classifier:
        answers, truth = asked(places, 0), mail.truth()
        wrong = np.zeros(len(mail.names), bool)
        wrong[[place for place, answer in answers.items() if answer.verdict != truth[place]]] = True
        return answers | asked(wrong, EVIDENCE)


def result_of(
    mail: Mail, settings: Settings, answers: Mapping[int, Answer], protocol: str, heads: Heads
) -> Result:
    """The answers by place as a result, in the given order; ``heads`` finds those of the wrong ones."""
    truth = mail.truth()
    found = heads({place for place, answer in answers.items() if answer.verdict != truth[place]})
    recorder = Recorder()
    for place, answer in sorted(answers.items()):
        recorder.add(mail.names[place], truth[place], answer, found.get(place, NO_HEAD))
    return recorder.result(protocol, settings.spam)


def no_heads(places: set[int]) -> dict[int, Head]:
    """None, where errors are not shown."""
    return {}


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


def halves(mail: Mail, fraction: float, seed: int) -> NDArray[np.bool_]:
    """Which messages (n,) to learn: ``fraction`` of each class, by chance."""
    _check_fraction(fraction)
    group, order = groups(mail.digests, mail.labels, seed)
    # Along the shuffled classes the running count crosses a whole number for every group that is to be learned.
    crossed = np.floor(np.arange(1, len(order) + 1) * fraction) > np.floor(np.arange(len(order)) * fraction)
    learned = np.zeros(len(order), bool)
    learned[order] = crossed
    return learned[group]


def oldest(mail: Mail, fraction: float) -> NDArray[np.bool_]:
    """Which messages (n,) to learn: all but the newest of those that say when they were received; ``fraction`` of these
    is learned. Copies stand where the newest of them does."""
    _check_fraction(fraction)
    if (mail.dates == UNDATED).all():
        raise ArgumentError("{option.by_date}: no message says when it was received")
    _, first, group = np.unique(mail.digests, return_index=True, return_inverse=True)
    latest = np.full(len(first), UNDATED)
    np.maximum.at(latest, group, mail.dates)
    return ~newest(latest, first, 1 - fraction)[group]


def _check_fraction(fraction: float) -> None:
    if not 0 < fraction < 1:
        raise SpamnbError(f"a split of {fraction:g} leaves nothing on one side: give a fraction between 0 and 1")


def even_names(names: list[str]) -> NDArray[np.bool_]:
    """True where the md5 of the file's name (without folders) is even: a split anybody can repeat.

    >>> even_names(["spam/00001.7848dde101aa985090474a91ec93fcf0", "spam/00002.d94f1b97e48ed3b553b3508d116e6a09"])
    array([ True, False])
    """
    own = (name.rsplit("/", 1)[-1].encode("utf-8", "surrogateescape") for name in names)
    return np.array([hashlib.md5(name).digest()[-1] % 2 == 0 for name in own], dtype=bool)


def evaluate_split(
    mail: Mail, settings: Settings, learned: NDArray[np.bool_], protocol: str, heads: Heads = no_heads
) -> Result:
    """Train on the messages where ``learned`` (n,), judge the others."""
    if learned.all() or not learned.any():
        raise SpamnbError("the split leaves no message on one side: give more messages or another fraction")
    answers = judge(mail, settings, mail.training_set.subset(mail.places(learned)), mail.places(~learned))
    return result_of(mail, settings, answers, protocol, heads)


def evaluate_folds(mail: Mail, settings: Settings, k: int, seed: int = 0, heads: Heads = no_heads) -> Result:
    """K-fold cross-validation, stratified: each fold judged by the total minus the fold."""
    fold = folds_of(mail.digests, mail.labels, k, seed)
    total = mail.training_set.deduplicate()
    answers: dict[int, Answer] = {}
    for number in range(k):
        places = mail.places(fold == number)
        answers |= judge(mail, settings, total.minus(places), places)
    return result_of(mail, settings, answers, f"{k} folds", heads)


def evaluate_leave_one_out(mail: Mail, settings: Settings, heads: Heads = no_heads) -> Result:
    """Every message judged by the total minus itself, copies of it counted once; by the total minus its part where the
    model is more than sums, or its words are chosen. There is no evidence: each message has a model of its own."""
    left_out = estimate(prepare(mail.training_set), settings)
    if not len(left_out.labels):
        raise SpamnbError("leave-one-out needs messages of two classes at least")
    classes, answers = left_out.classes, {}
    scores, probabilities = left_out.scores.tolist(), left_out.probabilities.tolist()
    for place, verdict, of_class, p in zip(left_out.positions.tolist(), left_out.verdicts, scores, probabilities):
        answers[place] = Answer(verdict, dict(zip(classes, of_class)), dict(zip(classes, p)))
    parts = left_out.n_folds
    return result_of(mail, settings, answers, f"Left out in {parts} parts" if parts else "Leave-one-out", heads)
