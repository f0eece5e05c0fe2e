"""Concept learning against the published number game, and against its definition by enumeration."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.estimators.concept import ConceptLearner, Hypothesis, number_game

# Murphy, section 3.2, to every printed digit.
POSTERIOR = {
    (16,): {
        "powers of 4": ".355836", "powers of 2": ".177918", "squares": ".106751", "even": ".106751",
        "ends in 6": ".106751", "multiples of 8": ".088959", "multiples of 4": ".042700", "all": ".010675",
        "powers of 2 minus 32": ".002135", "powers of 2 plus 37": ".001525",
    },
    (16, 8, 2, 64): {
        "powers of 4": ".000000", "powers of 2": ".973536", "even": ".001009", "multiples of 8": ".000000",
        "multiples of 4": ".000000", "all": ".000013", "powers of 2 minus 32": ".020187",
        "powers of 2 plus 37": ".005255",
    },
}  # fmt: skip
PREDICTIVE = {
    (16,): {4: ".8043", 64: ".8932", 32: ".4285", 37: ".0122", 1: ".1174", 87: ".0107"},
    (16, 8, 2, 64): {4: "1.0", 32: ".9798", 37: ".00527"},
}


def printed(value: float, as_in: str) -> str:
    return f"{value:.{len(as_in.split('.')[1])}f}".removeprefix("0")


@pytest.mark.parametrize("data", POSTERIOR)
def test_number_game_posterior(data: tuple[int, ...]) -> None:
    game = number_game().learn(data)
    posterior = dict(zip((h.name for h in game.hypotheses), game.posterior()))
    expected = POSTERIOR[data]
    assert {name: printed(posterior[name], digits) for name, digits in expected.items()} == expected
    others = set(posterior) - set(expected)
    assert len(posterior) == 32
    assert max(posterior[name] for name in others) == 0


@pytest.mark.parametrize("data", PREDICTIVE)
def test_number_game_predictive(data: tuple[int, ...]) -> None:
    game = number_game().learn(data)
    expected = PREDICTIVE[data]
    ours = dict(zip(expected, game.predictive(expected)))
    assert {number: printed(ours[number], digits) for number, digits in expected.items()} == expected


def test_map_plug_in_is_narrow_and_widens() -> None:
    game = number_game().learn([16])
    assert game.most_probable().name == "powers of 4" == game.most_likely().name
    assert game.plug_in([4, 32]).tolist() == [1, 0]
    assert game.predictive([32])[0] > 0.4
    game.learn([8, 2, 64])
    assert game.most_probable().name == "powers of 2"
    assert game.most_likely().name == "powers of 2 minus 32"  # the likelihood alone prefers the suspicious coincidence
    assert game.plug_in().sum() == 6


def test_data_overwhelm_the_prior() -> None:
    game = number_game().learn([2, 4, 8, 16, 64] * 8)  # 40 powers of two and never 32
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


def test_forgetting_subtracts_exactly() -> None:
    game = number_game().learn([16])
    before = game.posterior()
    game.learn([8, 2, 64]).forget([64, 8, 2])
    np.testing.assert_array_equal(game.posterior(), before)
    with pytest.raises(ValueError, match="not learned"):
        game.forget([16, 16])
    with pytest.raises(ValueError, match="not learned"):
        game.forget([17])
    np.testing.assert_array_equal(game.posterior(), before)


def test_refusals_name_the_cause() -> None:
    with pytest.raises(ValueError, match="'none'"):
        ConceptLearner(range(3), [Hypothesis("none", frozenset())])
    with pytest.raises(ValueError, match="'far'"):
        ConceptLearner(range(3), [Hypothesis("far", frozenset({7}))])
    with pytest.raises(ValueError, match="weights"):
        ConceptLearner(range(3), [Hypothesis("a", frozenset({1}), -1.0)])
    with pytest.raises(ValueError, match="101 is not in the domain"):
        number_game().learn([101])
