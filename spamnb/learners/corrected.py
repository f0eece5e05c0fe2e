"""Naive Bayes, corrected where it errs: its scores, plus a penalised softmax fitted to what they leave unexplained.

formulas/correction.py says what the correction is. It is a sum over messages, like all that naive Bayes keeps: the
contribution of each is kept beside its digest and can be subtracted again.

Training fits all messages. A message that is learned by itself is fitted, and one hard example again; forgetting it
subtracts both changes. If a hard message of training is forgotten, all hard examples are fitted again, because they
were fitted to make way for it. All of that is one problem, solved by the same code (``Problem.ascend``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.counts.class_counts import CountedTokens
from spamnb.formulas.calibration import label_trust
from spamnb.formulas.correction import (
    HARD,
    LEARNING_PENALTY,
    NEGLIGIBLE,
    PENALTY,
    TOLERANCE,
    UNIT,
    Problem,
    with_first,
)
from spamnb.formulas.pooling import row_sums
from spamnb.formulas.trust import DOUBTFUL
from spamnb.learners.learner import BatchScores, CorrectionFit, Fit, Learner, NewMessage
from spamnb.learners.naive_bayes import NaiveBayes
from spamnb.reader.rows import CsrRows
from spamnb.reader.tokens import TokenArray
from spamnb.settings import Settings
from spamnb.store import hard_examples
from spamnb.store.hard_examples import HardExample
from spamnb.store.records import LearnedMessage, learned_message, put_learned
from spamnb.store.store import Store

if TYPE_CHECKING:  # classifying a message does not need it
    from spamnb.counts.training_set import TrainingSet

# docs/experiments.md#correction: 30 passes do as well as 10, and folds that start from the whole solution need few. Of
# many classes each pass takes as many times as long.
PASSES = 10, 10, 3  # over all messages; folds, and passes over the others of a fold
MANY_PASSES = 2, 2, 1  # where there are more than two classes: 20 Newsgroups 89.4 % with 2 passes, 89.1 with 5
MAX_COPIED = 1 << 27  # bytes of weights that folds which are solved at the same time may copy
MAX_TRAINED = 100  # hard examples of a training: 300 do no better
PASSES_OF_OLDER = 3  # over the older mail, whose model judges the newest and is not kept
OFFSET = 6.0  # of many classes; of two, which state the same evidence twice, half: calibration says 2.6 to 3.5
FITTED_SHARE = 0.7  # of many classes' offset: left-out scores are surer than those of mail to come; of two, all of it
MIN_TRUSTED = 0.25  # of the messages of each class: where fewer are trusted, this cannot tell which labels are wrong


class Corrected(Learner):
    """Boolean naive Bayes with a correction that is kept as a sum."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.naive_bayes = NaiveBayes(replace(settings, model_type="boolean"))

    # -- training --------------------------------------------------------------------------------------------

    def fit(self, training_set: TrainingSet) -> Fit:
        """Fit to the messages whose labels are trusted.

        Naive Bayes scores each message by all others, and these scores say which labels to trust. Then all messages are
        scored once more by those that are trusted, and the second answer counts: wrong labels no longer blur it.
        """
        scores = self.naive_bayes.leave_one_out_scores(training_set)
        if not len(scores):  # one class alone
            return Fit(training_set, scores)
        labels, classes = training_set.included_labels(), scores.shape[1]
        trusts, noise = label_trust(offset_of(classes) * scores, labels)
        learned, doubtful = _parted(training_set, trusts < DOUBTFUL)
        if doubtful is not None:
            is_learned = learned.messages.included[training_set.messages.included]
            scores = np.empty_like(scores)
            scores[is_learned] = self.naive_bayes.leave_one_out_scores(learned)
            scores[~is_learned] = self.naive_bayes.scores_by_others(learned, doubtful)
            trusts, noise = label_trust(offset_of(classes) * scores, labels)
            learned, doubtful = _parted(training_set, trusts < DOUBTFUL)
            scores = self.naive_bayes.leave_one_out_scores(learned)
        passes, folds, fold_passes = PASSES if classes == 2 else MANY_PASSES
        solution = _solve(learned, scores, noise, passes)
        left_out = (offset_of(classes) - fitted_offset_of(classes)) * scores
        left_out += _left_out(solution, learned, folds, fold_passes)
        doubtful_scores = None if doubtful is None else self._scores_by(solution, learned, doubtful)
        correction = CorrectionFit(solution.contributions, solution.weights, _hardest(solution, learned))
        return Fit(learned, left_out, folds, noise, doubtful, doubtful_scores, correction=correction)

    def scores_by_others(self, others: TrainingSet, messages: TrainingSet) -> np.ndarray | None:
        scores = self.naive_bayes.leave_one_out_scores(others)
        if not len(scores):
            return self.naive_bayes.scores_by_others(others, messages)
        passes = min(PASSES_OF_OLDER, (PASSES if scores.shape[1] == 2 else MANY_PASSES)[0])
        _, noise = label_trust(offset_of(scores.shape[1]) * scores, others.included_labels())
        return self._scores_by(_solve(others, scores, noise, passes), others, messages)

    def _scores_by(self, solution: _Solution, others: TrainingSet, messages: TrainingSet) -> np.ndarray:
        """Return scores (m, C) of ``messages`` by all of ``others``, whose solution this is."""
        scores = self.naive_bayes.scores_by_others(others, messages)
        problem = _problem(messages, offset_of(scores.shape[1]) * scores)
        return problem.scores(np.arange(len(scores)), solution.weights)

    # -- on the store ----------------------------------------------------------------------------------------

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        counts = store.look_up(tokens)
        plain = self.naive_bayes.score_counts(store, tokens, rows, counts)
        # A row has length 1 with all of the message's tokens, those that the model does not know among them.
        values = UNIT / np.sqrt(np.maximum(np.diff(rows.indptr), 1))
        weights = np.take(counts.weights, plain.rows.ids, axis=1) * np.repeat(values, np.diff(plain.rows.indptr))
        offset = offset_of(len(weights))
        scores = offset * plain.scores + row_sums(weights, plain.rows.indptr).T
        return plain._replace(scores=scores, weights=offset * plain.weights + weights, correction=weights)

    def learn(self, store: Store, message: NewMessage) -> LearnedMessage:
        """Fit the message, and then one hard example again. A message whose label is not trusted changes no weight."""
        learned = super().learn(store, message)
        if not self._is_fitted(store, message):
            return learned
        example = _example(store, message)
        units, size = self._fit(store, [example], message.noise, LEARNING_PENALTY)[0]
        store.add_weights(example.hashes, units)
        put_learned(store, [(message.digest, learned)])
        changes = self._fit_again(store, hard_examples.pick(store, message.digest), message.noise)
        if size >= HARD:
            hard_examples.put(store, example)
        return learned._replace(contribution=units, changes=changes)

    def _is_fitted(self, store: Store, message: NewMessage) -> bool:
        if message.label not in message.scores or message.trust < DOUBTFUL:
            return False
        # Of 300 good messages and then 300 spams, learned one by one, only the spams would move weights: 6 % of good
        # mail was lost. A message has no score where it was learned before the other classes.
        state = store.combined
        scored = state.histogram[state.present, 0].sum(axis=1)
        return not (scored < state.totals.documents / 2).any()

    def forget(self, store: Store, learned: LearnedMessage, counted: CountedTokens, digest: bytes) -> None:
        store.add_weights(TokenArray.of(counted.tokens).hashes, _minus(learned.contribution))
        for number, units in learned.changes.items():
            if example := hard_examples.get(store, number):
                _change(store, example, _minus(units))
        hard_examples.drop(store, digest)
        size = max(map(abs, learned.contribution.values()), default=0) * UNIT * np.sqrt(max(len(counted.tokens), 1))
        if learned.bins is None and size >= HARD:
            self._fit_again(store, hard_examples.every(store), store.calibration().noise)

    def _fit_again(self, store: Store, examples: Sequence[HardExample], noise: float) -> dict[int, dict[str, int]]:
        """Fit hard examples again; return the units that each of them changed by, by its number."""
        classes = {*store.totals().classes}
        examples = [each for each in examples if {*each.offsets} == classes]
        changes = {}
        for example, (units, size) in zip(examples, self._fit(store, examples, noise, PENALTY)):
            if size >= TOLERANCE:
                changes[example.number] = units
                _change(store, example, units)
        return changes

    def _fit(
        self, store: Store, examples: Sequence[HardExample], noise: float, penalty: float
    ) -> list[tuple[dict[str, int], float]]:
        """Fit these messages, which have the same classes, while all others stay.

        Return of each by how many units it changes the weight of each of its tokens, by class, and by how many nats its
        largest coefficient.
        """
        if not examples:
            return []
        classes = sorted(examples[0].offsets)
        columns, places = np.unique(np.concatenate([each.hashes for each in examples]), return_inverse=True)
        ends = np.cumsum([len(each.hashes) for each in examples])
        problem = Problem.of(
            np.append(0, ends[:-1]), ends, places.astype(np.int32), len(columns),
            np.array([[each.offsets[name] for name in classes] for each in examples]),
            np.array([classes.index(each.label) for each in examples]),
        )  # fmt: skip
        learned = [learned_message(store, each.digest) for each in examples]
        before = np.array([[each.contribution.get(name, 0) if each else 0 for name in classes[1:]] for each in learned])
        contributions, weights = before.copy(), np.ascontiguousarray(store.weights(columns, classes)[1:].T)
        visits = np.arange(len(examples))
        problem.ascend(visits, noise, 1, contributions, weights, penalty=penalty, least=NEGLIGIBLE)
        changes = contributions - before
        units = (dict(zip(classes, each)) for each in with_first(changes).tolist())
        return list(zip(units, problem.sizes(changes).tolist()))


def _example(store: Store, message: NewMessage) -> HardExample:
    """Return a message with naive Bayes' part of its scores."""
    hashes, classes = TokenArray.of(message.counted.tokens).hashes, sorted(message.scores)
    part = store.weights(hashes, classes).sum(axis=1) * (UNIT / np.sqrt(max(len(hashes), 1)))
    offsets = {name: message.scores[name] - nats for name, nats in zip(classes, part.tolist())}
    return HardExample(message.digest, message.label, offsets, hashes)


def _change(store: Store, example: HardExample, units: Mapping[str, int]) -> None:
    """Add units, by class, to the contribution of a hard example."""
    store.add_weights(example.hashes, units)
    if learned := learned_message(store, example.digest):
        contribution = {name: learned.contribution.get(name, 0) + n for name, n in units.items()}
        put_learned(store, [(example.digest, learned._replace(contribution={**learned.contribution, **contribution}))])


def _minus(units: Mapping[str, int]) -> dict[str, int]:
    return {name: -n for name, n in units.items()}


def _parted(training_set: TrainingSet, is_doubtful: np.ndarray) -> tuple[TrainingSet, TrainingSet | None]:
    """Return the training set without the messages that are doubtful (n,), and these; all messages where too few of a
    class would stay."""
    labels = training_set.included_labels()
    trusted = np.bincount(labels[~is_doubtful], minlength=len(training_set.counts.classes))
    if not is_doubtful.any() or (trusted < MIN_TRUSTED * training_set.counts.documents).any():
        return training_set, None
    return training_set.split(is_doubtful)


def _hardest(solution: _Solution, training_set: TrainingSet) -> list[HardExample]:
    """Return the messages with the largest coefficients, the hardest last."""
    problem, classes = solution.problem, training_set.counts.classes
    sizes = problem.sizes(solution.contributions)
    messages, chosen = training_set.messages, np.argsort(sizes, kind="stable")[-MAX_TRAINED:]
    numbers, hard = np.flatnonzero(messages.included), []
    for i in chosen[sizes[chosen] >= HARD].tolist():
        hashes = training_set.tokens.hashes[messages.rows(numbers[i : i + 1]).ids]
        offsets = dict(zip(classes, problem.offsets[i].tolist()))
        hard.append(HardExample(messages.digests[numbers[i]].tobytes(), classes[problem.labels[i]], offsets, hashes))
    return hard


class _Solution(NamedTuple):
    """A solved problem, over all columns of a training set."""

    problem: Problem
    contributions: np.ndarray  # (n, C - 1) in units, of all classes but the first
    weights: np.ndarray  # (V, C - 1) in units
    noise: float  # share of wrong labels
    how: Mapping[str, float]  # penalty, and the least coefficient


def _solve(training_set: TrainingSet, scores: np.ndarray, noise: float, passes: int) -> _Solution:
    """Solve for the correction of left-out ``scores`` (n, C), where a share ``noise`` of labels is wrong."""
    n, classes = scores.shape
    problem = _problem(training_set, fitted_offset_of(classes) * scores)
    contributions = np.zeros((n, classes - 1), np.int64)
    weights = np.zeros((len(training_set.tokens), classes - 1), np.int64)
    how = {"penalty": PENALTY, "least": NEGLIGIBLE if classes > 2 else 0.0}
    problem.ascend(np.arange(n), noise, passes, contributions, weights, **how)
    return _Solution(problem, contributions, weights, noise, how)


def _problem(training_set: TrainingSet, offsets: np.ndarray) -> Problem:
    """Return the problem of the included messages."""
    messages, included = training_set.messages, np.flatnonzero(training_set.messages.included)
    begins, ends = messages.indptr[included], messages.indptr[included + 1]
    return Problem.of(begins, ends, messages.ids, len(training_set.tokens), offsets, training_set.included_labels())


def _left_out(solution: _Solution, training_set: TrainingSet, folds: int, passes: int) -> np.ndarray:
    """Return scores (n, C) of each message by a correction without the messages of its fold."""
    from concurrent.futures import ThreadPoolExecutor  # classifying a message does not need it

    problem = solution.problem
    fold = training_set.stratified_folds(folds)
    # Of most messages the coefficient is nearly 0, and stays so without the fold: without a visit to them the scores of
    # eight collections differ by .01 to .07 nats (docs/experiments.md#correction).
    is_active = problem.sizes(solution.contributions) >= TOLERANCE
    scores = problem.offsets.copy()
    of_class = np.bincount(problem.labels, minlength=scores.shape[1])

    def leave_out(f: int) -> None:
        inside = np.flatnonzero(fold == f)
        alone = np.bincount(problem.labels[inside], minlength=len(of_class)) == of_class
        if not len(inside) or (alone & (of_class > 0)).any():  # all that the others say is "not this class"
            return
        of_rest, rest = solution.contributions.copy(), solution.weights.copy()
        problem.take_out(inside, of_rest, rest)
        problem.ascend(np.flatnonzero(is_active & (fold != f)), solution.noise, passes, of_rest, rest, **solution.how)
        scores[inside] = problem.scores(inside, rest)

    at_once = min(os.cpu_count() or 1, folds, MAX_COPIED // max(solution.weights.nbytes, 1))
    with ThreadPoolExecutor(max(at_once, 1)) as executor:  # what is compiled lets go of Python's lock
        list(executor.map(leave_out, range(folds)))
    return scores


def offset_of(classes: int) -> float:
    """Return how many nats of log-odds a nat of naive Bayes' pooled scores stands for.

    >>> offset_of(2)
    3.0
    """
    return OFFSET * (1 - 1 / max(classes, 1))


def fitted_offset_of(classes: int) -> float:
    """Return the part of the offset that the correction is fitted to; scores of a message have all of it.

    >>> fitted_offset_of(2), round(fitted_offset_of(3), 9)
    (3.0, 2.8)
    """
    return offset_of(classes) * (FITTED_SHARE if classes > 2 else 1.0)
