"""Scores of messages, in C, against the textbook formulas and a model that is counted anew for each message."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import entropy

from spamnb.core.score import EVENT_MODELS, ScoreModel, Scores
from spamnb.model.decision import STRUCTURE_WEIGHT
from spamnb.model.naive_bayes import token_log_odds, token_log_probability
from spamnb.model.pooling import (
    GROUP_EXPONENT,
    INFORMATION_EXPONENT,
    PRIOR_WEIGHT,
    SUFFICIENT_VOTES,
    evidence_shares,
    pooling_parameters,
    sufficient,
)

TOKENS, N_GROUPS, N_WORD_GROUPS = 12, 4, 2
STRUCTURE = N_GROUPS - 1
ALPHA, SCALE, UNIT = 0.3, 2.5, 2.0**-10
GROUPS = np.arange(TOKENS) % N_GROUPS
NO_TOKENS = np.zeros(0, int)


class Message(NamedTuple):
    label: int
    ids: np.ndarray
    occurrences: np.ndarray


class Case(NamedTuple):
    """A model that has learned messages, and other messages."""

    event_model: str
    pooling: str
    classes: int
    learned: list[Message]
    new: list[Message]
    intercepts: np.ndarray  # a row for each class that a message is left out of, and a row for new messages
    corrections: np.ndarray | None


def make_case(seed: int, event_model: str, pooling: str, classes: int, is_corrected: bool) -> Case:
    rng = np.random.default_rng(seed)

    def make_message(label: int, tokens: int) -> Message:
        length = rng.integers(0, 7)
        return Message(label, rng.choice(tokens, length, replace=False), rng.integers(1, 5, length))

    learned = [make_message(n % classes, TOKENS - 3) for n in range(3 * classes)]
    intercepts = rng.normal(size=(classes + 1, classes))
    corrections = rng.integers(-500, 500, (TOKENS, classes)) if is_corrected else None
    new = [make_message(0, TOKENS) for _ in range(5)]
    return Case(event_model, pooling, classes, learned, new, intercepts, corrections)


CASES = st.builds(
    make_case, st.integers(0, 10**6), st.sampled_from([*EVENT_MODELS]), st.sampled_from(["mean", "sum"]),
    st.sampled_from([1, 2, 3, 8]), st.booleans(),
)  # fmt: skip


def count(case: Case, messages: Sequence[Message]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the counts (V, C) of tokens, the number of messages (V,) with each token, and the messages per class."""
    counts, frequency = np.zeros((TOKENS, case.classes), np.int64), np.zeros(TOKENS, int)
    for message in messages:
        counts[message.ids, message.label] += message.occurrences if case.event_model == "multinomial" else 1
        frequency[message.ids] += 1
    return counts, frequency, np.bincount([each.label for each in messages], minlength=case.classes)


class Expected(NamedTuple):
    scores: np.ndarray  # (C,)
    typicality: np.ndarray  # (C,)
    votes: float
    correction: np.ndarray  # (C,) the correction's part of the scores


def log_likelihoods_by_formula(case: Case, others: Sequence[Message]) -> tuple[np.ndarray, np.ndarray]:
    """Return the log-likelihoods (C, V) of a model of ``others``, and its messages with each token (V,)."""
    counts, frequency, documents = count(case, others)
    if case.event_model == "bernoulli":
        return token_log_odds(counts.T, documents, ALPHA), frequency
    smoothed = ALPHA * np.count_nonzero(frequency)
    return token_log_probability(counts.T, counts.sum(axis=0), smoothed, ALPHA), frequency


def typicality_by_formula(
    case: Case,
    others: Sequence[Message],
    plain: np.ndarray,
    doubtful: np.ndarray = NO_TOKENS,
    with_doubtful: bool = True,
) -> np.ndarray:
    """Return how typical (C,) a message is by a model of ``others``, with its known doubtful tokens or without."""
    log_p, frequency = log_likelihoods_by_formula(case, others)
    every = np.concatenate([plain, doubtful])
    known = every if with_doubtful else plain
    known = known[frequency[known] > 0]
    if not (GROUPS[known] == 0).any():
        return np.zeros(case.classes)
    n_known = np.count_nonzero(frequency[plain[GROUPS[plain] == STRUCTURE]])
    n_unknown = np.count_nonzero(frequency[every[GROUPS[every] == STRUCTURE]] == 0)
    weights = np.where(GROUPS[known] == STRUCTURE, STRUCTURE_WEIGHT, GROUPS[known] < N_WORD_GROUPS)
    posteriors = np.exp(log_p - logsumexp(log_p, axis=0))
    return posteriors[:, known] @ weights / (weights.sum() + STRUCTURE_WEIGHT * min(n_unknown, n_known))


def score_by_formula(case: Case, message: Message, others: Sequence[Message]) -> Expected:
    """Score a message by a model of ``others``."""
    log_p, frequency = log_likelihoods_by_formula(case, others)
    scores, correction = np.zeros(case.classes), np.zeros(case.classes)
    above, weights = np.zeros((N_GROUPS, case.classes)), np.zeros(N_GROUPS)
    for token, occurrences in zip(message.ids, message.occurrences):
        if not frequency[token]:
            continue
        repeats, log_likelihoods = occurrences if case.event_model == "multinomial" else 1, log_p[:, token]
        if case.corrections is not None:
            correction += case.corrections[token] * UNIT / np.sqrt(len(message.ids))
        if case.pooling == "sum":
            scores += repeats * log_likelihoods
            weights[GROUPS[token]] += repeats
        elif case.classes > 1:
            q = np.exp(log_likelihoods - log_likelihoods.max())
            information = 1 - entropy(q / q.sum()) / np.log(case.classes)
            weight = repeats * max(information, 0) ** INFORMATION_EXPONENT
            above[GROUPS[token]] += weight * (log_likelihoods - log_likelihoods.mean())
            weights[GROUPS[token]] += weight
    group_votes = weights**GROUP_EXPONENT
    if case.pooling == "mean":
        means = above / np.where(weights, weights, 1)[:, None]
        scores = group_votes @ means / (PRIOR_WEIGHT + group_votes.sum())
    return Expected(
        SCALE * scores + correction, typicality_by_formula(case, others, message.ids), group_votes.sum(), correction
    )


def score_in_c(
    case: Case,
    messages: Sequence[Message],
    are_learned: bool,
    spam: int | None = None,
    is_doubtful: np.ndarray | None = None,
) -> Scores:
    counts, frequency, documents = count(case, case.learned)
    bounds = np.cumsum([0, *(len(each.ids) for each in messages)])
    return ScoreModel(
        pooling_parameters(case.pooling), N_GROUPS, N_WORD_GROUPS, STRUCTURE_WEIGHT, case.event_model, ALPHA,
        int(np.count_nonzero(frequency)), counts.astype(np.uint32),
        np.where(frequency > are_learned, GROUPS, ~GROUPS).astype(np.int8), documents,
        counts.sum(axis=0), case.intercepts[:-1] if are_learned else case.intercepts[-1:],
        spam, case.corrections, SCALE, UNIT,
    ).score(
        bounds, np.concatenate([each.ids for each in messages]).astype(np.int32),
        np.concatenate([each.occurrences for each in messages]),
        is_doubtful, np.array([each.label for each in messages]) if are_learned else None, with_weights=True,
    )  # fmt: skip


@pytest.mark.parametrize("are_learned", [True, False])
@given(case=CASES)
def test_scores_are_their_formulas_by_a_model_of_the_other_messages(case: Case, are_learned: bool) -> None:
    messages = case.learned if are_learned else case.new
    scores, typicality, votes, weights, corrections = score_in_c(case, messages, are_learned)
    begin = 0
    for i, message in enumerate(messages):
        others = [each for each in case.learned if each is not message]
        expected, expected_typicality, expected_votes, correction = score_by_formula(case, message, others)
        intercepts = case.intercepts[message.label if are_learned else -1]
        np.testing.assert_allclose(scores[i], expected + intercepts, atol=1e-9)
        np.testing.assert_allclose(typicality[i], expected_typicality, atol=1e-9)
        assert votes[i] == pytest.approx(expected_votes, abs=1e-9)
        cells = slice(begin, begin := begin + len(message.ids))
        np.testing.assert_allclose(weights[cells].sum(axis=0), expected, atol=1e-9)
        if len(corrections):
            np.testing.assert_allclose(corrections[cells].sum(axis=0), correction, atol=1e-9)


def test_typicality_is_by_the_reference_and_0_of_a_class_without_messages() -> None:
    def model_of(counts: list[list[int]], documents: list[int], groups: list[int]) -> ScoreModel:
        table = np.array(counts, np.uint32)
        return ScoreModel(
            pooling_parameters("mean"), 2, 1, STRUCTURE_WEIGHT, "boolean", ALPHA, 3, table, np.array(groups, np.int8),
            np.array(documents), table.sum(axis=0, dtype=np.int64), np.zeros((1, 3)),
        )  # fmt: skip

    model = model_of([[3, 1, 2], [0, 4, 1], [2, 2, 5]], [4, 5, 6], [0, 0, 0])
    reference = model_of([[9, 1, 0], [2, 7, 0], [0, 0, 0]], [9, 8, 0], [0, 0, -1])
    cells = np.array([0, 3]), np.arange(3, dtype=np.int32), np.ones(3, np.int64)
    scores = model.score(*cells, reference=reference)
    np.testing.assert_array_equal(scores.scores, model.score(*cells).scores)
    p = (np.array([[9, 1], [2, 7]]) + ALPHA) / (np.array([11, 8]) + 3 * ALPHA)
    expected = (p / p.sum(axis=1, keepdims=True)).mean(axis=0)
    np.testing.assert_allclose(scores.typicality, [[*expected, 0]], rtol=1e-12)


def accusation_by_formula(case: Case, message: Message, is_doubtful: np.ndarray, spam: int, votes: float) -> float:
    """Return what the doubtful tokens of a message add to the score of spam, in nats."""
    counts, frequency, documents = count(case, case.learned)
    if case.pooling == "sum" or case.classes < 2:
        return 0.0
    totals, vocabulary_size = counts.sum(axis=0), np.count_nonzero(frequency)
    accusing = []
    for token, repeats, doubtful in zip(message.ids, message.occurrences, is_doubtful):
        if not doubtful or not frequency[token]:
            continue
        if case.event_model == "bernoulli":
            log_likelihoods = np.log(counts[token] + ALPHA) - np.log(documents - counts[token] + ALPHA)
        else:
            log_likelihoods = np.log((counts[token] + ALPHA) / (totals + ALPHA * vocabulary_size))
        gain = log_likelihoods[spam] - np.delete(log_likelihoods, spam).max()
        assume(abs(gain) > 1e-9)  # of a tie, rounding decides whether the token accuses
        q = np.exp(log_likelihoods - log_likelihoods.max())
        information = max(1 - entropy(q / q.sum()) / np.log(case.classes), 0)
        if gain > 0:
            weight = (repeats if case.event_model == "multinomial" else 1) * information**INFORMATION_EXPONENT
            correction = 0.0 if case.corrections is None else UNIT * (
                case.corrections[token, spam] - np.delete(case.corrections[token], spam).max()
            )  # fmt: skip
            accusing.append((GROUPS[token], weight, gain, correction))
    sums = np.bincount([group for group, *_ in accusing], [weight for _, weight, *_ in accusing], N_GROUPS)
    below = PRIOR_WEIGHT + votes + (sums**GROUP_EXPONENT).sum()
    length = np.count_nonzero(~is_doubtful) + len(accusing)
    return sum(
        max(SCALE * weight * gain * sums[group] ** (GROUP_EXPONENT - 1) / below + correction / np.sqrt(length), 0)
        for group, weight, gain, correction in accusing
        if sums[group] > 0
    )


@given(case=CASES, data=st.data())
def test_doubtful_tokens_never_lower_the_margin_of_spam(case: Case, data: st.DataObject) -> None:
    """They are added by the formula, to the score of spam alone; other scores and the votes are as without them.

    The message is as typical of spam as without those that are known, or as with them, whichever is more.
    """
    spam = data.draw(st.integers(0, case.classes - 1))
    for message in case.new:
        n = len(message.ids)
        is_doubtful = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
        plain = Message(message.label, message.ids[~is_doubtful], message.occurrences[~is_doubtful])
        with_doubt = score_in_c(case, [message], False, spam, is_doubtful)
        without = score_in_c(case, [plain], False)
        others = np.arange(case.classes) != spam
        np.testing.assert_array_equal(with_doubt.scores[0, others], without.scores[0, others])
        np.testing.assert_array_equal(with_doubt.votes, without.votes)
        added = with_doubt.scores[0, spam] - without.scores[0, spam]
        expected = accusation_by_formula(case, message, is_doubtful, spam, without.votes[0])
        assert added >= 0 and added == pytest.approx(expected, abs=1e-9)
        np.testing.assert_allclose(with_doubt.weights[is_doubtful].sum(axis=0)[spam], added, atol=1e-9)
        if case.pooling == "mean" and case.classes > 1:
            tokens = message.ids[~is_doubtful], message.ids[is_doubtful]
            both = [typicality_by_formula(case, case.learned, *tokens, each)[spam] for each in (False, True)]
            assert with_doubt.typicality[0, spam] == pytest.approx(max(both), abs=1e-9)
        without_spam = score_in_c(case, [message], False, None, is_doubtful)
        np.testing.assert_array_equal(without_spam.scores, without.scores)


def test_a_share_of_the_log_odds_is_kept() -> None:
    votes = np.array([0, 1.5, 40])
    shares = evidence_shares(votes)
    np.testing.assert_allclose(shares, 1 - SUFFICIENT_VOTES**4 / (votes**4 + SUFFICIENT_VOTES**4))
    assert evidence_shares(sufficient(votes > 0)).tolist() == [0, 1, 1]


MODEL = {
    "counts": np.array([[2, 3], [1, 0], [0, 4]], np.uint32),
    "groups": np.array([0, -1, 0], np.int8),
    "documents": np.array([2, 4]),
    "totals": np.array([3, 7]),
    "intercepts": np.zeros((2, 2)),
    "corrections": np.zeros((3, 2), np.int64),
}
ROWS = {
    "bounds": np.array([0, 2, 2]),
    "ids": np.array([0, 1], np.int32),
    "occurrences": np.array([1, 1]),
    "is_doubtful": None,
    "labels": np.array([0, 1]),
}


def score_changed(**changes: Any) -> Scores:
    model = {name: changes.get(name, value) for name, value in MODEL.items()}
    rows = {name: changes.get(name, value) for name, value in ROWS.items()}
    return ScoreModel(pooling_parameters("mean"), 2, 1, STRUCTURE_WEIGHT, "boolean", 1.0, 3, **model).score(**rows)


@pytest.mark.parametrize(
    "changes",
    [
        {"is_doubtful": np.zeros(1, bool)},
        {"ids": np.array([0, 3], np.int32)},
        {"ids": np.array([0, -1], np.int32)},
        {"ids": np.array([0, 1])},
        {"bounds": np.array([0, 3, 2])},
        {"bounds": np.array([0, 2, 3])},
        {"bounds": np.array([1, 2, 2])},
        {"bounds": np.array([0, 2])},
        {"bounds": np.zeros(0, np.int64)},
        {"labels": np.array([0, 2])},
        {"labels": np.array([-1, 0])},
        {"occurrences": np.array([1])},
        {"groups": np.array([0, 2, 0], np.int8)},
        {"groups": np.array([0, -3, 0], np.int8)},
        {"groups": np.array([0, -1, 0])},
        {"counts": np.zeros((3, 3), np.uint32)},
        {"counts": np.zeros((1, 2), np.uint32)},
        {"documents": np.array([2])},
        {"totals": np.array([3, 1, 1])},
        {"corrections": np.zeros((3, 1), np.int64)},
        {"intercepts": np.zeros((2, 3))},
        {"intercepts": np.zeros((0, 2))},
        {"intercepts": np.zeros((1, 2))},  # there are labels
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes: dict[str, np.ndarray]) -> None:
    assert score_changed().scores[0].any()
    with pytest.raises(ValueError, match=r"library expects|out of bounds|outside of the array|each class"):
        score_changed(**changes)


def test_an_exponent_that_is_no_number_of_halves_is_refused() -> None:
    pooling = pooling_parameters("mean")._replace(information_exponent=1.2)
    with pytest.raises(ValueError, match="halves"):
        ScoreModel(pooling, 2, 1, STRUCTURE_WEIGHT, "boolean", 1.0, 3, **MODEL)
