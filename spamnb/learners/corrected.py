"""The default model: naive Bayes, and a correction of its scores that is fitted to its errors.

formulas/correction.py defines the correction. Like the counts of naive Bayes, it is a sum over messages: the model file
stores the contribution of each message beside its digest, so that it can be subtracted.

Training fits all messages. Learning one message fits this message, and then one hard example again; forgetting the
message subtracts both changes. If a hard message of the training is forgotten, all hard examples are fitted again,
because their contributions depend on it. ``Problem.ascend`` solves all of these problems.
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

if TYPE_CHECKING:  # importing it would slow down the classification of one message
    from spamnb.counts.training_set import TrainingSet

# (passes over all messages, folds, passes over the other messages of a fold). 30 passes are no more accurate than 10. A
# fold needs few passes because it starts from the solution of all messages (docs/experiments.md#correction).
PASSES = 10, 10, 3
# The same for more than two classes: on 20 Newsgroups 89.4 % are right with 2 passes, and 89.1 % with 5.
MANY_PASSES = 2, 2, 1
MAX_COPIED = 1 << 27  # bytes: folds are solved at the same time only while their copies of the weights fit in this
MAX_TRAINED = 100  # hard examples of a training: with 300 the model is no more accurate
PASSES_OF_OLDER = 3  # passes over the older messages: their model only scores the newest ones, and is not stored
# Nats of log-odds for each nat of pooled score, if there are many classes. Two classes state the same evidence twice
# and need half of it: the slopes that the calibration fits are 2.6 to 3.5.
OFFSET = 6.0
# Share of the offset that the correction of more than two classes is fitted to, because left-out scores are surer than
# scores of future mail.
FITTED_SHARE = 0.7
MIN_TRUSTED = 0.25  # share of each class: if fewer labels are trusted, the scores cannot tell which labels are wrong


class Corrected(Learner):
    """Boolean naive Bayes with a correction of its scores."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.naive_bayes = NaiveBayes(replace(settings, model_type="boolean"))

    # -- training --------------------------------------------------------------------------------------------

    def fit(self, training_set: TrainingSet) -> Fit:
        """Fit the model to the messages whose labels are trusted.

        Trust is computed from left-out scores of naive Bayes, twice. The second scores are by the messages that were
        trusted at first, because wrong labels make the first scores less certain.
        """
        scores = self.naive_bayes.leave_one_out_scores(training_set)
        if not len(scores):  # one class alone
            return Fit(training_set, scores)
        labels, classes = training_set.included_labels(), scores.shape[1]
        trusts, noise = label_trust(offset_scale(classes) * scores, labels)
        trusted, doubtful = _split_doubtful(training_set, trusts < DOUBTFUL)
        if doubtful is not None:
            is_trusted = trusted.messages.included[training_set.messages.included]
            scores = np.empty_like(scores)
            scores[is_trusted] = self.naive_bayes.leave_one_out_scores(trusted)
            scores[~is_trusted] = self.naive_bayes.scores_by_others(trusted, doubtful)
            trusts, noise = label_trust(offset_scale(classes) * scores, labels)
            trusted, doubtful = _split_doubtful(training_set, trusts < DOUBTFUL)
            scores = self.naive_bayes.leave_one_out_scores(trusted)
        passes, folds, fold_passes = PASSES if classes == 2 else MANY_PASSES
        solution = _solve(trusted, scores, noise, passes)
        left_out = (offset_scale(classes) - offset_scale(classes, fitted=True)) * scores
        left_out += _score_folds(solution, trusted, folds, fold_passes)
        doubtful_scores = None if doubtful is None else self._corrected_scores(solution, trusted, doubtful)
        correction = CorrectionFit(solution.contributions, solution.weights, _hardest_examples(solution, trusted))
        return Fit(trusted, left_out, folds, noise, doubtful, doubtful_scores, correction=correction)

    def scores_by_others(self, others: TrainingSet, messages: TrainingSet) -> np.ndarray | None:
        scores = self.naive_bayes.leave_one_out_scores(others)
        if not len(scores):
            return self.naive_bayes.scores_by_others(others, messages)
        passes = min(PASSES_OF_OLDER, (PASSES if scores.shape[1] == 2 else MANY_PASSES)[0])
        _, noise = label_trust(offset_scale(scores.shape[1]) * scores, others.included_labels())
        return self._corrected_scores(_solve(others, scores, noise, passes), others, messages)

    def _corrected_scores(self, solution: _Solution, others: TrainingSet, messages: TrainingSet) -> np.ndarray:
        """Return scores (m, C) of ``messages`` by a model of ``others``, whose correction is ``solution``."""
        scores = self.naive_bayes.scores_by_others(others, messages)
        problem = _make_problem(messages, offset_scale(scores.shape[1]) * scores)
        return problem.scores(np.arange(len(scores)), solution.weights)

    # -- on the store ----------------------------------------------------------------------------------------

    def score(self, store: Store, tokens: Sequence[str], rows: CsrRows) -> BatchScores:
        counts = store.look_up(tokens)
        plain = self.naive_bayes.score_counts(store, tokens, rows, counts)
        # A row has length 1 over all tokens of the message, including tokens that are not in the model.
        values = UNIT / np.sqrt(np.maximum(np.diff(rows.indptr), 1))
        weights = np.take(counts.weights, plain.rows.ids, axis=1) * np.repeat(values, np.diff(plain.rows.indptr))
        offset = offset_scale(len(weights))
        scores = offset * plain.scores + row_sums(weights, plain.rows.indptr).T
        return plain._replace(scores=scores, weights=offset * plain.weights + weights, correction=weights)

    def learn(self, store: Store, messages: Sequence[NewMessage], noise: float) -> list[LearnedMessage]:
        """Fit the messages in turn, and then a hard example for each again.

        A message whose label is not trusted changes no weight.
        """
        records = super().learn(store, messages, noise)
        fitted = _choose_fitted(store, messages)
        examples = _make_examples(store, [messages[i] for i in fitted])
        fits = self._fit(store, examples, noise, LEARNING_PENALTY)
        for i, example, (units, _) in zip(fitted, examples, fits):
            store.add_weights(example.hashes, units)
            records[i] = records[i]._replace(contribution=units)
        picks = hard_examples.pick_examples(store, [example.digest for example in examples])
        refits = {each.number: (i, each) for i, each in zip(fitted, picks)}
        changes = self._refit(store, [each for _, each in refits.values()], noise)
        for number, units in changes.items():
            i = refits[number][0]
            records[i] = records[i]._replace(changes={**records[i].changes, number: units})
        for example, (_, size) in zip(examples, fits):
            if size >= HARD:
                hard_examples.add_example(store, example)
        return records

    def forget(self, store: Store, learned: LearnedMessage, counted: CountedTokens, digest: bytes) -> None:
        store.add_weights(TokenArray.of(counted.tokens).hashes, _negate(learned.contribution))
        for number, units in learned.changes.items():
            if example := hard_examples.read_example(store, number):
                _add_units(store, example, _negate(units))
        hard_examples.delete_example(store, digest)
        size = max(map(abs, learned.contribution.values()), default=0) * UNIT * np.sqrt(max(len(counted.tokens), 1))
        if learned.bins is None and size >= HARD:
            self._refit(store, hard_examples.read_examples(store), store.calibration().noise)

    def _refit(self, store: Store, examples: Sequence[HardExample], noise: float) -> dict[int, dict[str, int]]:
        """Fit hard examples again; return the change of each contribution in units, by the example's number."""
        classes = {*store.totals().classes}
        examples = [each for each in examples if {*each.offsets} == classes]
        changes = {}
        for example, (units, size) in zip(examples, self._fit(store, examples, noise, PENALTY)):
            if size >= TOLERANCE:
                changes[example.number] = units
                _add_units(store, example, units)
        return changes

    def _fit(
        self, store: Store, examples: Sequence[HardExample], noise: float, penalty: float
    ) -> list[tuple[dict[str, int], float]]:
        """Fit these messages, which have scores of the same classes, while the contributions of all others stay.

        Return for each message the change of its contribution in units, by class, and the change of its largest
        coefficient in nats.
        """
        if not examples:
            return []
        classes = sorted(examples[0].offsets)
        tokens, columns = np.unique(np.concatenate([each.hashes for each in examples]), return_inverse=True)
        ends = np.cumsum([len(each.hashes) for each in examples])
        problem = Problem.of(
            np.append(0, ends[:-1]), ends, columns.astype(np.int32), len(tokens),
            np.array([[each.offsets[name] for name in classes] for each in examples]),
            np.array([classes.index(each.label) for each in examples]),
        )  # fmt: skip
        learned = [learned_message(store, each.digest) for each in examples]
        before = np.array([[each.contribution.get(name, 0) if each else 0 for name in classes[1:]] for each in learned])
        contributions, weights = before.copy(), np.ascontiguousarray(store.weights(tokens, classes)[1:].T)
        visits = np.arange(len(examples))
        problem.ascend(visits, noise, 1, contributions, weights, penalty=penalty, least=NEGLIGIBLE)
        changes = contributions - before
        units = (dict(zip(classes, each)) for each in with_first(changes).tolist())
        return list(zip(units, problem.sizes(changes).tolist()))


def _choose_fitted(store: Store, messages: Sequence[NewMessage]) -> list[int]:
    """Return the numbers of the messages to fit the correction to: their labels are trusted.

    None if most messages of a class have no score. A message that was learned while its class was the only one has no
    score, and no contribution. If 300 good messages are learned before 300 spams, all contributions are the spams': 6 %
    of good mail was lost.
    """
    state = store.combined
    scored = state.histogram[state.present, 0].sum(axis=1)
    if (scored < state.totals.documents / 2).any():
        return []
    return [i for i, each in enumerate(messages) if each.label in each.scores and each.trust >= DOUBTFUL]


def _make_examples(store: Store, messages: Sequence[NewMessage]) -> list[HardExample]:
    """Return messages as examples: their scores without the correction, and the hashes of their tokens."""
    examples = []
    for digest, label, counted, scores, _ in messages:
        hashes, classes = TokenArray.of(counted.tokens).hashes, sorted(scores)
        correction = store.weights(hashes, classes).sum(axis=1) * (UNIT / np.sqrt(max(len(hashes), 1)))
        offsets = {name: scores[name] - nats for name, nats in zip(classes, correction.tolist())}
        examples.append(HardExample(digest, label, offsets, hashes))
    return examples


def _add_units(store: Store, example: HardExample, units: Mapping[str, int]) -> None:
    """Add units, by class, to the contribution of a hard example."""
    store.add_weights(example.hashes, units)
    if learned := learned_message(store, example.digest):
        contribution = {name: learned.contribution.get(name, 0) + n for name, n in units.items()}
        put_learned(store, [(example.digest, learned._replace(contribution={**learned.contribution, **contribution}))])


def _negate(units: Mapping[str, int]) -> dict[str, int]:
    return {name: -n for name, n in units.items()}


def _split_doubtful(training_set: TrainingSet, is_doubtful: np.ndarray) -> tuple[TrainingSet, TrainingSet | None]:
    """Return the trusted and the doubtful messages, where ``is_doubtful`` (n,) is a mask.

    All messages count as trusted if there would be too few of a class (``MIN_TRUSTED``).
    """
    labels = training_set.included_labels()
    trusted = np.bincount(labels[~is_doubtful], minlength=len(training_set.counts.classes))
    if not is_doubtful.any() or (trusted < MIN_TRUSTED * training_set.counts.documents).any():
        return training_set, None
    return training_set.split(is_doubtful)


def _hardest_examples(solution: _Solution, training_set: TrainingSet) -> list[HardExample]:
    """Return the messages with the largest coefficients, ascending."""
    problem, classes = solution.problem, training_set.counts.classes
    sizes = problem.sizes(solution.contributions)
    messages, largest = training_set.messages, np.argsort(sizes, kind="stable")[-MAX_TRAINED:]
    numbers, examples = np.flatnonzero(messages.included), []
    for i in largest[sizes[largest] >= HARD].tolist():
        hashes = training_set.tokens.hashes[messages.rows(numbers[i : i + 1]).ids]
        offsets = dict(zip(classes, problem.offsets[i].tolist()))
        digest = messages.digests[numbers[i]].tobytes()
        examples.append(HardExample(digest, classes[problem.labels[i]], offsets, hashes))
    return examples


class _Solution(NamedTuple):
    """The solution of a problem over all columns of a training set."""

    problem: Problem
    contributions: np.ndarray  # (n, C - 1) in units, of all classes but the first
    weights: np.ndarray  # (V, C - 1) in units
    noise: float  # share of wrong labels
    parameters: Mapping[str, float]  # penalty, and the least coefficient


def _solve(training_set: TrainingSet, scores: np.ndarray, noise: float, passes: int) -> _Solution:
    """Fit the correction to left-out ``scores`` (n, C) of naive Bayes, if a share ``noise`` of the labels is wrong."""
    n, classes = scores.shape
    problem = _make_problem(training_set, offset_scale(classes, fitted=True) * scores)
    contributions = np.zeros((n, classes - 1), np.int64)
    weights = np.zeros((len(training_set.tokens), classes - 1), np.int64)
    parameters = {"penalty": PENALTY, "least": NEGLIGIBLE if classes > 2 else 0.0}
    problem.ascend(np.arange(n), noise, passes, contributions, weights, **parameters)
    return _Solution(problem, contributions, weights, noise, parameters)


def _make_problem(training_set: TrainingSet, offsets: np.ndarray) -> Problem:
    """Make the problem of the included messages, whose scores by naive Bayes are ``offsets`` (n, C)."""
    messages, included = training_set.messages, np.flatnonzero(training_set.messages.included)
    begins, ends = messages.indptr[included], messages.indptr[included + 1]
    return Problem.of(begins, ends, messages.ids, len(training_set.tokens), offsets, training_set.included_labels())


def _score_folds(solution: _Solution, training_set: TrainingSet, folds: int, passes: int) -> np.ndarray:
    """Return scores (n, C) of each message, with a correction that is fitted without the messages of its fold."""
    from concurrent.futures import ThreadPoolExecutor  # not needed to classify a message

    problem = solution.problem
    fold = training_set.stratified_folds(folds)
    # The coefficients of most messages are nearly 0, and stay so without the fold. If these messages are not visited,
    # scores of eight corpora change by .01 to .07 nats (docs/experiments.md#correction).
    is_active = problem.sizes(solution.contributions) >= TOLERANCE
    scores = problem.offsets.copy()
    class_sizes = np.bincount(problem.labels, minlength=scores.shape[1])

    def leave_out(f: int) -> None:
        inside = np.flatnonzero(fold == f)
        has_whole_class = np.bincount(problem.labels[inside], minlength=len(class_sizes)) == class_sizes
        if not len(inside) or (has_whole_class & (class_sizes > 0)).any():  # the others would only say "not this class"
            return
        contributions, weights = solution.contributions.copy(), solution.weights.copy()
        problem.take_out(inside, contributions, weights)
        visits = np.flatnonzero(is_active & (fold != f))
        problem.ascend(visits, solution.noise, passes, contributions, weights, **solution.parameters)
        scores[inside] = problem.scores(inside, weights)

    at_once = min(os.cpu_count() or 1, folds, MAX_COPIED // max(solution.weights.nbytes, 1))
    with ThreadPoolExecutor(max(at_once, 1)) as executor:  # the loops in C run without Python's lock
        list(executor.map(leave_out, range(folds)))
    return scores


def offset_scale(classes: int, fitted: bool = False) -> float:
    """Return the log-odds in nats that one nat of naive Bayes' pooled scores means.

    With ``fitted``, return the smaller scale with which the correction is fitted.

    >>> offset_scale(2), offset_scale(2, fitted=True), round(offset_scale(3, fitted=True), 9)
    (3.0, 3.0, 2.8)
    """
    return OFFSET * (1 - 1 / max(classes, 1)) * (FITTED_SHARE if fitted and classes > 2 else 1.0)
