"""The default model: naive Bayes, and a correction of its scores that is fitted to its errors.

model/correction.py defines the correction. Like the counts of naive Bayes, it is a sum over messages: the model file
stores the contribution of each message beside its digest, so that it can be subtracted.

Training fits all messages. Learning one message fits this message, and then the stored examples that it made wrong
(examples.py). Otherwise a few wrong lessons would shift the scores of all mail, because nothing else holds
them. Forgetting the message subtracts all these changes. If a message that training found hard is forgotten, the
examples are fitted again, because their contributions depend on this message.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from spamnb.core.score import Scores
from spamnb.model.bayes_model import NaiveBayes
from spamnb.model.calibration import label_trust
from spamnb.model.class_counts import find_sorted
from spamnb.model.correction import (
    HARD,
    LEARNING_PENALTY,
    MAX_EXAMPLES,
    MOST_CHANGE,
    NEGLIGIBLE,
    PENALTY,
    TOLERANCE,
    UNIT,
    Problem,
    add_first_class,
)
from spamnb.model.delta import Delta, Example, Examples, MessageRecord, Sums
from spamnb.model.learner import CorrectionFit, Fit, Learner, NewMessage
from spamnb.model.model import Model
from spamnb.model.trust import MIN_TRUST
from spamnb.reader.rows import Rows
from spamnb.reader.tokens import TokenArray
from spamnb.settings import Settings

if TYPE_CHECKING:  # the import would slow down the classification of one message
    from spamnb.model.training_set import TrainingSet

# Passes over all messages, number of folds, and passes over the messages outside a fold. 30 passes are no more
# accurate than 10. A fold starts from the solution of all messages, so it needs few passes
# (docs/experiments.md#correction).
PASSES = 10, 10, 3
# The same for more than two classes: on 20 Newsgroups 89.4 % are right with 2 passes, and 89.1 % with 5.
MANY_PASSES = 2, 2, 1
MAX_COPIED_BYTES = 1 << 27  # bounds the folds that are solved at the same time, each with a copy of the weights
PASSES_OF_OLDER = 3  # passes over the older messages: their model only scores the newest ones, and is not stored
# Nats of log-odds for each nat of pooled score, if there are many classes. With two classes the scale is half as large,
# because the scores are s and −s, whose difference is 2s. On mail the best value for two classes is 2.6 to 3.5.
MANY_CLASS_SCALE = 6.0
# With more than two classes the correction is fitted to scores of naive Bayes times this factor, because left-out
# scores are more certain than scores of future mail (docs/experiments.md#many-classes).
FITTED_SHARE = 0.7
# If a smaller share of a class has trusted labels, all labels count as trusted, because a model of mostly wrong labels
# cannot show which labels are wrong.
MIN_TRUSTED_SHARE = 0.25


class Corrected(Learner):
    """Boolean naive Bayes with a correction of its scores."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        self.naive_bayes = NaiveBayes(replace(settings, model_type="boolean"))

    # -- training --------------------------------------------------------------------------------------------

    def fit(self, training_set: TrainingSet) -> Fit:
        """Fit the model to the messages whose labels are trusted.

        Trust is computed from left-out scores of naive Bayes, twice. Wrong labels make the first scores less certain,
        so the second scores are by a model of the messages that were trusted at first.
        """
        left_out = self.naive_bayes.leave_one_out(training_set)
        scores = left_out.scores
        if not len(scores):  # there is only one class
            return Fit.of(training_set, left_out, 0)
        labels, classes = training_set.rows.labels, scores.shape[1]
        trusts, noise = label_trust(offset_scale(classes) * scores, labels)
        trusted, mislabelled = _split_mislabelled(training_set, trusts < MIN_TRUST)
        if len(mislabelled):
            is_trusted = trusts >= MIN_TRUST
            left_out = self.naive_bayes.leave_one_out(trusted)
            all_scores = np.empty_like(scores)
            all_scores[is_trusted] = scores = left_out.scores
            all_scores[~is_trusted] = self.naive_bayes.scores_by_others(trusted, mislabelled).scores
            trusts, noise = label_trust(offset_scale(classes) * all_scores, labels)
            if not np.array_equal(trusts >= MIN_TRUST, is_trusted):
                trusted, mislabelled = _split_mislabelled(training_set, trusts < MIN_TRUST)
                left_out = self.naive_bayes.leave_one_out(trusted)
                scores = left_out.scores
        passes, folds, fold_passes = PASSES if classes == 2 else MANY_PASSES
        solution = _solve(trusted, scores, noise, passes)
        corrections = _correct_folds(solution, trusted.stratified_folds(folds), fold_passes)
        left_out = left_out._replace(scores=offset_scale(classes) * scores + corrections)
        mislabelled_scores = Scores.zeros(0, classes)
        if len(mislabelled):
            mislabelled_scores = self._corrected_scores(solution, trusted, mislabelled)
        correction = solution._replace(examples=_find_examples(solution, trusted))
        fitted = Fit.of(trusted, left_out, folds)
        return fitted._replace(correction=correction, mislabelled=mislabelled, mislabelled_scores=mislabelled_scores)

    def scores_by_others(self, others: TrainingSet, messages: Rows) -> Scores | None:
        scores = self.naive_bayes.leave_one_out(others).scores
        if not len(scores):
            return self.naive_bayes.scores_by_others(others, messages)
        passes = min(PASSES_OF_OLDER, (PASSES if scores.shape[1] == 2 else MANY_PASSES)[0])
        _, noise = label_trust(offset_scale(scores.shape[1]) * scores, others.rows.labels)
        return self._corrected_scores(_solve(others, scores, noise, passes), others, messages)

    def score_folds(self, fitted: Fit, fold: np.ndarray, is_scored: np.ndarray) -> Scores:
        left_out = self.naive_bayes.leave_folds_out(fitted.training_set, fold, is_scored)
        classes = left_out.scores.shape[1]
        corrections = _correct_folds(fitted.correction, fold, (PASSES if classes == 2 else MANY_PASSES)[2])
        return left_out._replace(scores=offset_scale(classes) * left_out.scores + corrections)

    def _corrected_scores(self, solution: CorrectionFit, others: TrainingSet, messages: Rows) -> Scores:
        """Score ``messages`` by a model of ``others``, whose correction is ``solution``."""
        left_out = self.naive_bayes.scores_by_others(others, messages)
        problem = _make_problem(messages, offset_scale(left_out.scores.shape[1]) * left_out.scores)
        return left_out._replace(scores=problem.scores(np.arange(len(messages)), solution.weights))

    # -- with the sums of a model ----------------------------------------------------------------------------

    def score(self, model: Model, sums: Sums, rows: Rows, *, with_weights: bool = True) -> Scores:
        scale = offset_scale(len(sums.classes))
        return self.naive_bayes.score(model, sums, rows, scale, with_weights=with_weights)

    def uncalibrated(self, model: Model, sums: Sums, rows: Rows) -> np.ndarray:
        return self.naive_bayes.uncalibrated(model, sums, rows)

    def delta(self, model: Model, sums: Sums, messages: Sequence[NewMessage]) -> Delta:
        """Fit the messages whose labels are trusted. Those with a large coefficient become examples."""
        delta, trusted = super().delta(model, sums, messages), _select_trusted(model, messages)
        records, chosen = [*delta.records], [messages[i] for i in trusted]
        new = [_make_example(each.rows.digest, each.label, each.rows.tokens) for each in chosen]
        hashes = np.concatenate([np.zeros(0, np.int64), *(each.hashes for each in new)])
        examples = Examples(new, sums.hashes, find_sorted(sums.hashes, hashes).astype(np.int32))
        offsets = _subtract_correction(chosen, examples, sums)
        fits = _fit(examples, offsets, sums, model.calibration.noise, LEARNING_PENALTY)
        for i, (units, _) in zip(trusted, fits):
            records[i] = records[i]._replace(contribution=units)
        hard = [each._replace(contribution=units) for each, (units, largest) in zip(new, fits) if largest >= HARD]
        return delta._replace(records=records, scored=records, examples=hard)

    def is_hard(self, message: Rows, record: MessageRecord) -> bool:
        largest = max(map(abs, record.contribution.values()), default=0)
        return bool(largest * UNIT * np.sqrt(max(len(message.tokens), 1)) >= HARD)

    def refit(self, model: Model, sums: Sums, examples: Examples) -> Delta:
        examples = examples.of_classes(sums.classes)
        offsets = offset_scale(len(sums.classes)) * self.naive_bayes.leave_examples_out(model, sums, examples)
        bounds = {"least_change": NEGLIGIBLE, "most_change": MOST_CHANGE}
        fits = _fit(examples, offsets, sums, model.calibration.noise, PENALTY, **bounds)
        return Delta(changes={each.number: units for each, (units, largest) in zip(examples.messages, fits) if largest})


def _make_example(digest: bytes, label: str, tokens: TokenArray) -> Example:
    order = np.argsort(tokens.hashes)  # ascending hashes are found in a third of the time
    return Example(digest, label, tokens.hashes[order], tokens.groups[order])


def _subtract_correction(messages: Sequence[NewMessage], examples: Examples, sums: Sums) -> np.ndarray:
    """Return the scores (n, C) of messages, which are the ``examples``, by naive Bayes alone, in nats."""
    lengths = examples.lengths
    ends, running = np.cumsum(lengths), np.zeros((len(examples.columns) + 1, len(sums.classes)), np.int64)
    np.cumsum(sums.weights[examples.columns], axis=0, out=running[1:])
    corrections = (running[ends] - running[ends - lengths]) * (UNIT / np.sqrt(np.maximum(lengths, 1)))[:, None]
    scores = [[*map(each.scores.__getitem__, sums.classes)] for each in messages]
    return np.array(scores).reshape(corrections.shape) - corrections


def _fit(
    examples: Examples, offsets: np.ndarray, sums: Sums, noise: float, penalty: float, **bounds: float
) -> list[tuple[dict[str, int], float]]:
    """Fit messages in one sweep, without changing the contributions of others.

    ``sums`` are those of ``examples.hashes``, and ``offsets`` (n, C) the scores by naive Bayes, in nats.
    Return for each message the change of its contribution in units, by class, and the largest change of its
    coefficients in nats.
    """
    messages, classes = examples.messages, sums.classes
    if not messages:
        return []
    ends, labels = np.cumsum(examples.lengths), np.array([classes.index(each.label) for each in messages])
    problem = Problem(np.append(0, ends[:-1]), ends, examples.columns, len(sums.hashes), offsets, labels)
    old = np.array([[each.contribution.get(name, 0) for name in classes[1:]] for each in messages], np.int64)
    contributions, weights = old.copy(), np.ascontiguousarray(sums.weights[:, 1:])
    visits = np.arange(len(messages))
    problem.ascend(visits, noise, 1, contributions, weights, penalty=penalty, least=NEGLIGIBLE, **bounds)
    changes = contributions - old
    units = (dict(zip(classes, each)) for each in add_first_class(changes).tolist())
    return list(zip(units, problem.largest_coefficients(changes).tolist()))


def _select_trusted(model: Model, messages: Sequence[NewMessage]) -> list[int]:
    """Return the indices of messages with trusted labels; [] if most messages of a class have no score.

    A message that was learned while its class was the only one has no score, so it has no contribution. In a test 300
    good messages were learned before 300 spams. If all spams had contributions, 6 % of good mail was lost.
    """
    n_scored = dict(zip(model.totals.classes, model.histogram[model.nonempty_classes, 0].sum(axis=1).tolist()))
    documents = Counter(model.totals.messages)
    documents.update({label: model.lesson_weight * n for label, n in Counter(each.label for each in messages).items()})
    if any(n_scored.get(name, 0) < n / 2 for name, n in documents.items()):
        return []
    classes = {*model.totals.classes}
    return [i for i, each in enumerate(messages) if {*each.scores} == classes and each.trust >= MIN_TRUST]


def _split_mislabelled(training_set: TrainingSet, is_mislabelled: np.ndarray) -> tuple[TrainingSet, Rows]:
    """Return the trusted and the mislabelled messages, where ``is_mislabelled`` (n,) is a mask.

    All messages count as trusted if too few messages of a class are trusted (``MIN_TRUSTED_SHARE``).
    """
    labels = training_set.rows.labels
    trusted = np.bincount(labels[~is_mislabelled], minlength=len(training_set.classes))
    if not is_mislabelled.any() or (trusted < MIN_TRUSTED_SHARE * training_set.documents).any():
        return training_set, training_set.rows.take(slice(0, 0))
    return training_set.split(is_mislabelled)


def _find_examples(solution: CorrectionFit, training_set: TrainingSet) -> list[Example]:
    """Return the messages with the largest coefficients, ascending."""
    problem, classes, rows = solution.problem, training_set.classes, training_set.rows
    coefficients = problem.largest_coefficients(solution.contributions)
    examples = []
    for i in np.argsort(coefficients, kind="stable")[-MAX_EXAMPLES:].tolist():
        tokens = training_set.tokens.take(rows.ids[rows.begins[i] : rows.ends[i]])
        example = _make_example(rows.digests[i].tobytes(), classes[problem.labels[i]], tokens)
        (units,) = add_first_class(solution.contributions[i : i + 1]).tolist()
        examples.append(example._replace(contribution=dict(zip(classes, units))))
    return examples


def _solve(training_set: TrainingSet, scores: np.ndarray, noise: float, passes: int) -> CorrectionFit:
    """Fit the correction to left-out ``scores`` (n, C) of naive Bayes. A share ``noise`` of the labels is wrong."""
    n, classes = scores.shape
    problem = _make_problem(training_set.rows, offset_scale(classes, fitted=True) * scores)
    contributions = np.zeros((n, classes - 1), np.int64)
    weights = np.zeros((len(training_set.tokens), classes - 1), np.int64)
    parameters = {"penalty": PENALTY, "least": NEGLIGIBLE if classes > 2 else 0.0}
    problem.ascend(np.arange(n), noise, passes, contributions, weights, **parameters)
    return CorrectionFit(problem, contributions, weights, noise, parameters)


def _make_problem(rows: Rows, offsets: np.ndarray) -> Problem:
    """Make the problem of labelled messages, whose scores by naive Bayes are ``offsets`` (n, C)."""
    return Problem(rows.begins, rows.ends, rows.ids, len(rows.tokens), offsets, rows.labels)


def _correct_folds(solution: CorrectionFit, fold: np.ndarray, passes: int) -> np.ndarray:
    """Return the corrections (n, C) of scores, each fitted without the messages of its ``fold`` (n,); 0 for fold −1."""
    from concurrent.futures import ThreadPoolExecutor  # only training needs this import

    problem = solution.problem
    # The coefficients of most messages are nearly 0, also without the messages of the fold. Visiting only the other
    # messages changes scores by .01 to .07 nats on eight corpora (docs/experiments.md#correction).
    is_active = problem.largest_coefficients(solution.contributions) >= TOLERANCE
    corrections = np.zeros_like(problem.offsets)
    class_sizes = np.bincount(problem.labels, minlength=corrections.shape[1])

    def leave_out(f: int) -> None:
        inside = np.flatnonzero(fold == f)
        has_whole_class = np.bincount(problem.labels[inside], minlength=len(class_sizes)) == class_sizes
        if not len(inside) or (has_whole_class & (class_sizes > 0)).any():  # the other folds lack a class
            return
        contributions, weights = solution.contributions.copy(), solution.weights.copy()
        problem.take_out(inside, contributions, weights)
        visits = np.flatnonzero(is_active & (fold != f))
        problem.ascend(visits, solution.noise, passes, contributions, weights, **solution.parameters)
        corrections[inside] = problem.scores(inside, weights) - problem.offsets[inside]

    folds = int(fold.max(initial=-1)) + 1
    n_threads = min(os.cpu_count() or 1, folds, MAX_COPIED_BYTES // max(solution.weights.nbytes, 1))
    with ThreadPoolExecutor(max(n_threads, 1)) as executor:  # the loops in C run without the GIL
        list(executor.map(leave_out, range(folds)))
    return corrections


def offset_scale(classes: int, fitted: bool = False) -> float:
    """Return the nats of offset for each nat of naive Bayes' pooled score.

    With ``fitted``, return the scale for fitting the correction, which is smaller with three or more classes.

    >>> offset_scale(2), offset_scale(2, fitted=True), round(offset_scale(3, fitted=True), 9)
    (3.0, 3.0, 2.8)
    """
    return MANY_CLASS_SCALE * (1 - 1 / max(classes, 1)) * (FITTED_SHARE if fitted and classes > 2 else 1.0)
