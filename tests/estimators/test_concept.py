"""Concept learning against its definition by enumeration; tests/scripts holds it to the published number game."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.estimators.concept import ConceptLearner, Hypothesis, number_game


def test_the_most_probable_hypothesis_is_narrower_than_the_average() -> None:
    game = number_game().learn([16])
    assert game.most_probable().name == "powers of 4" == game.most_likely().name
    assert 4 in game.most_probable().extension and 32 not in game.most_probable().extension
    assert game.predictive([32])[0] > 0.4
    game.learn([8, 2, 64])
    assert game.most_probable().name == "powers of 2"
    assert game.most_likely().name == "powers of 2 minus 32"  # the likelihood alone prefers the suspicious coincidence
    learner = ConceptLearner(range(3), [Hypothesis("all", {0, 1, 2}, 0), Hypothesis("one", {1})]).learn([0])
    assert learner.most_likely().name == "all"  # its prior is 0, so no posterior exists
    game = number_game().learn([2, 4, 8, 16, 64] * 8)  # 40 powers of two and never 32: data overwhelm the prior
    assert game.most_probable().name == "powers of 2 minus 32"


subsets = st.frozensets(st.integers(0, 5), min_size=1)


@given(
    extensions=st.lists(subsets, min_size=1, max_size=5),
    weights=st.lists(st.integers(1, 9), min_size=5, max_size=5),
    data=st.lists(st.integers(0, 5), max_size=4),
)
def test_equals_enumeration_in_exact_fractions(extensions, weights, data) -> None:
    learner = ConceptLearner(range(6), [Hypothesis(str(s), s, w) for s, w in zip(extensions, weights)]).learn(data)
    joint = [
        Fraction(w, len(s) ** len(data)) if s.issuperset(data) else Fraction(0) for s, w in zip(extensions, weights)
    ]
    if not sum(joint):
        with pytest.raises(ValueError, match="no hypothesis"):
            learner.posterior()
        return
    exact = [share / sum(joint) for share in joint]
    np.testing.assert_allclose(learner.posterior(), [float(p) for p in exact], atol=1e-14)
    averaged = [float(sum(p for p, s in zip(exact, extensions) if x in s)) for x in range(6)]
    np.testing.assert_allclose(learner.predictive(), averaged, atol=1e-14)


def test_forgetting_subtracts_exactly_and_refusals_name_the_cause() -> None:
    game = number_game().learn([16])
    before = game.posterior()
    np.testing.assert_array_equal(game.learn([8, 2, 64]).forget([64, 8, 2]).posterior(), before)
    for call, message in (
        (lambda: game.forget([16, 16]), "not learned"),
        (lambda: game.forget([17]), "not learned"),
        (lambda: game.learn([101]), "101 is not in the domain"),
        (lambda: ConceptLearner(range(3), [Hypothesis("none", set())]), "'none'"),
        (lambda: ConceptLearner(range(3), [Hypothesis("far", {7})]), "'far'"),
        (lambda: ConceptLearner(range(3), [Hypothesis("a", {1}, -1.0)]), "weights"),
        (lambda: ConceptLearner(range(3), [Hypothesis("a", {1}, np.ones(2))]), "weights must be finite"),
        (lambda: ConceptLearner(range(3), []), "a positive prior weight"),
        (lambda: ConceptLearner(np.eye(3), [Hypothesis("a", {1})]), "^domain must be"),
        (lambda: ConceptLearner(range(3), np.eye(3)), "^hypotheses must be"),
        (lambda: ConceptLearner(range(3), [Hypothesis("a", np.eye(2))]), "extension of hypothesis 'a' must be"),
        (lambda: game.learn(np.array([[16]])), "^examples must be"),
        (lambda: game.forget(16), r"^examples is 16: give a list, \[16\]"),
        (lambda: game.predictive(np.array(16)), "^elements must be"),
    ):
        with pytest.raises(ValueError, match=message):
            call()
    np.testing.assert_array_equal(game.posterior(), before)


def test_neighbours_are_likelier_where_intervals_are_hypotheses() -> None:
    game = number_game(intervals=True)
    assert sum(w for h, w in zip(game.hypotheses, game.prior) if " to " in h.name) == pytest.approx(1 / 3)
    near = dict(zip(game.domain, game.learn([16, 23, 19, 20]).predictive()))
    assert near[17] == pytest.approx(1) and all(near[n] >= near[n + 1] for n in range(23, 60))
    assert near[23] > near[24] > near[30] > near[60] > 0
    primes = number_game(intervals=True).learn([2, 53, 89])
    assert primes.most_probable().name == "primes"
    assert primes.predictive([97, 51])[0] > primes.predictive([97, 51])[1]


def test_drawn_elements_are_those_of_the_posterior_and_the_size_principle() -> None:
    game = number_game().learn([16])
    drawn = game.sample(40_000, random_state=0)
    posterior = game.posterior()
    for element in (4, 16, 32, 37):
        share = sum(p / len(h.extension) for p, h in zip(posterior, game.hypotheses) if element in h.extension)
        assert drawn.count(element) / len(drawn) == pytest.approx(share, abs=0.01)


def test_the_version_space_holds_what_contains_all_examples() -> None:
    game = number_game(primes=True)
    assert len(game.version_space()) == len(game.hypotheses) == 33
    game.learn([2, 3])
    assert repr(game) == "<ConceptLearner: 33 hypotheses, examples [2, 3]>"
    expected = [h for h in game.hypotheses if {2, 3} <= set(h.extension)]
    assert list(game.version_space()) == expected
    assert game.most_probable().name == "primes"
    assert game.predictive([5, 9], plug_in=game.most_probable()).tolist() == [1.0, 0.0]
    assert game.predictive([5])[0] == pytest.approx(1.0) and 0 < game.predictive([9])[0] < 0.1
