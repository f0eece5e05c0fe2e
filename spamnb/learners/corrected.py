"""Naive Bayes, corrected where it errs: its scores, plus a penalised softmax fitted to what they leave unexplained.

formulas/correction.py says what the correction is. It is a sum over messages, like all that naive Bayes keeps: each
brings so many units to the weight of each of its tokens, which are kept beside its digest and can be taken out again.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import CountedTokens
from spamnb.formulas.calibration import MIN_GAIN, Calibration
from spamnb.formulas.correction import (
    HARD,
    LEARNING_PENALTY,
    LEAST,
    PENALTY,
    TOLERANCE,
    UNIT,
    Problem,
    coefficients,
    units_of,
    value_of,
    with_first,
)
from spamnb.formulas.pooling import row_sums
from spamnb.learners.learner import BatchScores, Correction, FitResult, Learner, Lesson, Screened
from spamnb.learners.naive_bayes import NaiveBayes
from spamnb.reader.binding import FitRows
from spamnb.reader.evidence import HEADERS
from spamnb.reader.rows import CsrRows, take_tokens
from spamnb.reader.tokens import TokenArray
from spamnb.settings import Settings
from spamnb.store import hard_messages
from spamnb.store.hard_messages import HardMessage
from spamnb.store.store import Store

if TYPE_CHECKING:  # classifying a message does not need it
    from spamnb.counts.training_set import TrainingSet

# docs/experiments.md#correction: 30 passes do as well as 10, and folds that start from the whole solution need few. Of
# many classes each pass takes as many times as long.
PASSES = 10, 10, 3  # over all messages; folds, and passes over the others of a fold
MANY_PASSES = 2, 2, 1  # where there are more than two classes: 20 Newsgroups 89.4 % with 2 passes, 89.1 with 5
MAX_COPIED = 1 << 27  # bytes of weights that folds which are solved at the same time may copy
MAX_TRAINED = 100  # messages of training that are kept to be solved again: 300 do no better
PASSES_OF_OLDER = 3  # over the older mail, whose model judges the newest and is not kept
OFFSET = 6.0  # of many classes; of two, which state the same evidence twice, half: calibration says 2.6 to 3.5
FITTED_SHARE = 0.7  # of many classes' offset: left-out scores are surer than those of mail to come; of two, all of it

# People file mail wrongly. A model that learns such a message gives its words to the wrong class, and a correction that
# is fitted to it undoes what the right ones taught. Where labels are clean the share of wrong ones is 0, and every
# message is learned (docs/experiments.md#wrong-labels).
MAX_DOUBT = 0.5  # P(its label is wrong) above which a message is not learned
MIN_TRUSTED = 0.25  # of the messages of each class: where fewer seem right, this cannot tell which are wrong

RARE = 0.005  # of all messages: at most so many hold a token by which a message and its like are known
MIN_RARE = 5  # messages that may hold it, however few there are
APART = 5.0  # nats by which a message that all others contradict is judged as taught


class Corrected(Learner):
    """Boolean naive Bayes with a correction that is kept as a sum."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.naive_bayes = NaiveBayes(replace(settings, model_type="boolean"))

    # -- training --------------------------------------------------------------------------------------------

    def screen(self, training_set: TrainingSet) -> Screened:
        """Leave out messages whose labels are more likely wrong than right.

        Naive Bayes judges each message by all others; from these scores the calibration estimates how many labels are
        wrong, and how likely each of them is. Then all messages are judged once more by those that stay, and the second
        estimate counts: wrong labels no longer blur it.
        """
        labels, scores = training_set.included_labels(), self.naive_bayes.leave_one_out_scores(training_set)
        everything = Screened(training_set, scores=scores)
        if not len(scores):
            return everything
        noise, wrong = _wrong_labels(scores, labels, MIN_GAIN)
        parts = _parted(training_set, wrong)
        if parts.doubted is None:
            return everything._replace(noise=noise if not wrong.any() else 0.0)
        learned = parts.training_set.messages.included[training_set.messages.included]
        by_trusted = np.empty_like(scores)
        by_trusted[learned] = self.naive_bayes.leave_one_out_scores(parts.training_set)
        by_trusted[~learned] = self.naive_bayes.scores_by_others(parts.training_set, parts.doubted)
        second_noise, wrong = _wrong_labels(by_trusted, labels, 0.0)  # that some are wrong is known by now
        if second_noise < noise / 2:  # clear verdicts alone, which a curve without wrong labels describes as well
            return parts._replace(noise=noise)
        return _parted(training_set, wrong)._replace(noise=second_noise)

    def train(self, screened: Screened) -> FitResult:
        training_set, scores = screened.training_set, screened.scores
        if scores is None:
            scores = self.naive_bayes.train(screened).scores
        labels, classes = training_set.included_labels(), len(training_set.counts.classes)
        if not len(scores):  # one class alone
            return FitResult(labels[:0], scores)
        passes, folds, fold_passes = PASSES if classes == 2 else MANY_PASSES
        solved = _solve(training_set, scores, screened.noise, passes)
        left_out = (offset_of(classes) - fitted_offset_of(classes)) * scores
        left_out += _left_out(solved, training_set, folds, fold_passes)
        correction = Correction(solved.brought, solved.weights, _hardest(solved, training_set))
        result = FitResult(labels, left_out, folds, correction=correction)
        if screened.doubted is not None:
            result = result._replace(doubted_scores=self._scores_by(solved, training_set, screened.doubted))
        return result

    def scores_by_others(self, others: TrainingSet, asked: TrainingSet) -> np.ndarray | None:
        scores = self.naive_bayes.train(Screened(others)).scores
        if not len(scores):
            return self.naive_bayes.scores_by_others(others, asked)
        classes = len(others.counts.classes)
        passes = min(PASSES_OF_OLDER, (PASSES if classes == 2 else MANY_PASSES)[0])
        return self._scores_by(_solve(others, scores, 0.0, passes), others, asked)

    def _scores_by(self, solved: _Solved, others: TrainingSet, asked: TrainingSet) -> np.ndarray:
        """Scores (m, C) of the messages of ``asked`` by all of ``others``, for whom the problem was solved."""
        found = self.naive_bayes.scores_by_others(others, asked)
        classes = len(others.counts.classes)
        problem = _problem(asked, offset_of(classes) * found)
        return problem.scores(np.arange(len(found)), solved.weights)

    # -- on the store ----------------------------------------------------------------------------------------

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        counts = store.look_up(tokens)
        found = self.naive_bayes.score_found(store, tokens, rows, counts)
        # A row has length 1 with all of the message's tokens, those that the model does not know among them.
        of_rows = found.rows if self.settings.top_words is not None else rows
        values = UNIT / np.sqrt(np.maximum(np.diff(of_rows.indptr), 1))
        weights = np.take(counts.weights, found.rows.ids, axis=1) * np.repeat(values, np.diff(found.rows.indptr))
        offset = offset_of(len(weights))
        scores = offset * found.scores + row_sums(weights, found.rows.indptr).T
        return found._replace(scores=scores, weights=offset * found.weights + weights, correction=weights)

    def learn(self, store: Store, lesson: Lesson) -> Mapping[str, Any]:
        if lesson.contradicted:
            return self._move_apart(store, lesson)
        digest, label, classes, scores = lesson.digest, lesson.label, list(lesson.scores), list(lesson.scores.values())
        if label not in classes or len(classes) < 2:  # nothing to tell apart yet
            return {}
        # Of 300 good messages and then 300 spams, learned one by one, only the spams would move weights: 6 % of good
        # mail was lost. A message has no score where it was learned before the other classes.
        scored = store.view.histogram[store.present(), 0].sum(axis=1)
        if (scored < store.totals().documents / 2).any():
            return {}
        tokens = store.in_vocabulary(lesson.message.tokens)
        y, value = classes.index(label), value_of(len(tokens))
        found = coefficients(scores, y, LEARNING_PENALTY)
        is_hard = found[y] >= HARD
        offsets = np.array(scores) - _part(store, tokens, classes) if is_hard else np.zeros(0)
        learned: dict[str, Any] = {}
        if found[y] >= LEAST:
            brought = dict(zip(classes, units_of(found, y, value).tolist()))
            store.add_weights(tokens, brought)
            learned["brought"] = brought
        if hard := hard_messages.pick(store, digest):
            learned["changed"] = self._solve_again(store, hard)
        if is_hard:
            of_class = dict(zip(classes, offsets.tolist()))
            hard_messages.put(store, HardMessage(digest, label, of_class, TokenArray.of(tokens).hashes))
        return learned

    def _move_apart(self, store: Store, lesson: Lesson) -> Mapping[str, Any]:
        """Judge a message that all others contradict as it was taught, and with it those of its sender.

        Only its rare tokens move, those of its header where it has such: what it shares with a class stays.
        """
        totals, tokens = store.totals(), store.in_vocabulary(lesson.message.tokens)
        found = store.look_up(tokens)
        rare = found.document_counts.sum(axis=0) <= max(RARE * totals.documents.sum(), MIN_RARE)
        of_header = rare & (found.groups == HEADERS)
        chosen = take_tokens(tokens, found.positions[of_header if of_header.any() else rare])
        scores = self.score(store, lesson.message.tokens, lesson.message.row).scores[0]
        classes = list(totals.classes)
        y = classes.index(lesson.label)
        lacking = APART - (scores[y] - np.delete(scores, y).max())
        if lacking <= 0 or not len(chosen):
            return {}
        shift = np.full(len(classes), -lacking / len(classes) / len(chosen))  # of a token, where its value is 1
        shift[y] += lacking / len(chosen)
        units = dict(zip(classes, units_of(shift.tolist(), y, 1 / value_of(len(tokens))).tolist()))
        store.add_weights(chosen, units)
        moved = {name: n for name, n in units.items() if n}
        return {"changed": {"tokens": TokenArray.of(chosen).hashes.tolist(), "units": moved}}

    def _solve_again(self, store: Store, hard: HardMessage) -> dict[str, Any] | None:
        """Fit a hard message to all that was learned since; what that changed, if anything."""
        known = store.learned(hard.digest)
        if known is None:
            return None
        classes, value = list(hard.offsets), value_of(len(hard.hashes))
        y, units = classes.index(hard.label), np.array([known.brought.get(name, 0) for name in hard.offsets], np.int64)
        own = units * (len(hard.hashes) * value * UNIT)
        scores = np.array(list(hard.offsets.values())) + _part(store, hard.hashes, classes) - own
        change = units_of(coefficients(scores.tolist(), y, PENALTY), y, value) - units
        if np.abs(change).max() * UNIT < TOLERANCE * value:
            return None
        changed = {name: n for name, n in zip(classes, change.tolist()) if n}
        store.add_weights(hard.hashes, changed)
        store.put_messages([(hard.digest, known._replace(brought=_sum(known.brought, changed)))])
        return {"hard": hard.number, "units": changed}

    def forget(self, store: Store, label: str, message: CountedTokens, digest: bytes) -> None:
        tokens, known = store.in_vocabulary(message.tokens), store.learned(digest)
        if known is None:
            return
        if known.changed:
            back = _minus(known.changed["units"])
            if "hard" not in known.changed:  # some of its own tokens
                moved = np.isin(TokenArray.of(tokens).hashes, np.array(known.changed["tokens"], np.int64))
                store.add_weights(take_tokens(tokens, np.flatnonzero(moved)), back)
            elif hard := hard_messages.get(store, known.changed["hard"]):
                store.add_weights(hard.hashes, back)
                if solved := store.learned(hard.digest):
                    store.put_messages([(hard.digest, solved._replace(brought=_sum(solved.brought, back)))])
        hard_messages.drop(store, digest)
        largest = max(map(abs, known.brought.values()), default=0) * UNIT / value_of(len(tokens))
        last: Sequence[str] = []
        if "pruned" in store.meta():
            tokens, last = _there(store, label, tokens)
        store.add_weights(tokens, _minus(known.brought))
        if len(last):
            # A token that no message holds any more has no weight: one that was pruned and came back had not all of it.
            classes = [*store.class_ids()]
            hard_messages.drop_holding(store, TokenArray.of(last).hashes)
            store.add_weights(last, dict(zip(classes, -store.weights(last, classes))))
        # All others were fitted to make way for a hard message of training. Of a model of 512 messages, taking the
        # second hardest out let 156 of 300 later spams through instead of 70, and 63 where the others are solved again.
        if known.bins is None and largest >= HARD:
            for hard in hard_messages.every(store):
                self._solve_again(store, hard)


def _wrong_labels(scores: np.ndarray, labels: np.ndarray, min_gain: float) -> tuple[float, np.ndarray]:
    """The share of labels that are wrong, and which (n,) are more likely wrong than right."""
    calibration = Calibration(scores.shape[1], min_gain=min_gain)
    calibration.add(scores, labels)
    doubts = calibration.doubts(scores, labels)
    return float(doubts.mean()), doubts > MAX_DOUBT


def _parted(training_set: TrainingSet, wrong: np.ndarray) -> Screened:
    """The training set without the messages that are ``wrong`` (n,), and these."""
    labels = training_set.included_labels()
    trusted = np.bincount(labels[~wrong], minlength=len(training_set.counts.classes))
    if not wrong.any() or (trusted < MIN_TRUSTED * training_set.counts.documents).any():
        return Screened(training_set)
    learned, doubted = training_set.split(wrong)
    return Screened(learned, doubted=doubted)


def _there(store: Store, label: str, tokens: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Those of a message's ``tokens`` from whose counts forgetting it takes one, and those whose last count that is."""
    found = store.look_up(tokens)
    own = found.document_counts[store.totals().classes.index(label)] > 0
    last = own & (found.document_counts.sum(axis=0) == 1)
    return take_tokens(tokens, found.positions[own]), take_tokens(tokens, found.positions[last])


def _part(store: Store, tokens: Sequence[str] | np.ndarray, classes: list[str]) -> np.ndarray:
    """The part (C,) in nats that the correction has in the scores of a message with these tokens, or their hashes."""
    return store.weights(tokens, classes).sum(axis=1) * (UNIT * value_of(len(tokens)))


def _sum(brought: Mapping[str, int], added: Mapping[str, int]) -> dict[str, int]:
    return {name: brought.get(name, 0) + added.get(name, 0) for name in brought.keys() | added}


def _minus(units: Mapping[str, int]) -> dict[str, int]:
    return {name: -n for name, n in units.items()}


def _hardest(solved: _Solved, training_set: TrainingSet) -> list[HardMessage]:
    """The messages with the largest coefficients, the hardest last."""
    problem, classes = solved.problem, training_set.counts.classes
    largest = np.abs(with_first(solved.brought)).max(axis=1) * UNIT / problem.values
    messages, chosen = training_set.messages, np.argsort(largest, kind="stable")[-MAX_TRAINED:]
    numbers, hard = np.flatnonzero(messages.included), []
    for i in chosen[largest[chosen] >= HARD].tolist():
        hashes = training_set.tokens.hashes[messages.rows(numbers[i : i + 1]).ids]
        offsets = dict(zip(classes, problem.offsets[i].tolist()))
        hard.append(HardMessage(messages.digests[numbers[i]].tobytes(), classes[problem.labels[i]], offsets, hashes))
    return hard


class _Solved(NamedTuple):
    """A solved problem, over all columns of a training set."""

    problem: Problem
    brought: np.ndarray  # (n, C - 1) in units, of all classes but the first
    weights: np.ndarray  # (V, C - 1) in units
    noise: float  # share of wrong labels


def _solve(training_set: TrainingSet, scores: np.ndarray, noise: float, passes: int) -> _Solved:
    """The correction of naive Bayes' left-out ``scores`` (n, C), where a share ``noise`` of labels is wrong."""
    n, classes = scores.shape
    problem = _problem(training_set, fitted_offset_of(classes) * scores)
    brought = np.zeros((n, classes - 1), np.int64)
    weights = np.zeros((len(training_set.tokens), classes - 1), np.int64)
    problem.ascend(np.arange(n), PENALTY, noise, passes, brought, weights)
    return _Solved(problem, brought, weights, noise)


def _problem(training_set: TrainingSet, offsets: np.ndarray) -> Problem:
    """The problem of the included messages."""
    messages, included = training_set.messages, np.flatnonzero(training_set.messages.included)
    begins, ends = messages.indptr[included], messages.indptr[included + 1]
    values = 1 / np.sqrt(np.maximum(ends - begins, 1))
    rows = FitRows(begins, ends, messages.ids, len(training_set.tokens))
    return Problem(rows, values, np.ascontiguousarray(offsets), training_set.included_labels())


def _left_out(solved: _Solved, training_set: TrainingSet, folds: int, passes: int) -> np.ndarray:
    """Scores (n, C) of each message, in the problem's order, by a correction to which its fold brought nothing."""
    from concurrent.futures import ThreadPoolExecutor  # classifying a message does not need it

    problem = solved.problem
    fold = training_set.stratified_folds(folds)
    scores = problem.offsets.copy()
    of_class = np.bincount(problem.labels, minlength=scores.shape[1])

    def leave_out(f: int) -> None:
        inside = np.flatnonzero(fold == f)
        alone = np.bincount(problem.labels[inside], minlength=len(of_class)) == of_class
        if not len(inside) or (alone & (of_class > 0)).any():  # all that the others say is "not this class"
            return
        of_rest, rest = solved.brought.copy(), solved.weights.copy()
        problem.take_out(inside, of_rest, rest)
        problem.ascend(np.flatnonzero(fold != f), PENALTY, solved.noise, passes, of_rest, rest)
        scores[inside] = problem.scores(inside, rest)

    at_once = min(os.cpu_count() or 1, folds, MAX_COPIED // max(solved.weights.nbytes, 1))
    with ThreadPoolExecutor(max(at_once, 1)) as executor:  # what is compiled lets go of Python's lock
        list(executor.map(leave_out, range(folds)))
    return scores


def offset_of(classes: int) -> float:
    """How many nats of log-odds a nat of naive Bayes' pooled scores stands for.

    >>> offset_of(2)
    3.0
    """
    return OFFSET * (1 - 1 / max(classes, 1))


def fitted_offset_of(classes: int) -> float:
    """The part of it to which the correction is fitted; judged is by all of it.

    >>> fitted_offset_of(2), round(fitted_offset_of(3), 9)
    (3.0, 2.8)
    """
    return offset_of(classes) * (FITTED_SHARE if classes > 2 else 1.0)
