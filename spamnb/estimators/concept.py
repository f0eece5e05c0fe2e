"""Bayesian concept learning: infer a set from positive examples.

A hypothesis says that the examples were drawn uniformly from a set, its extension (strong sampling). This gives the
size principle: of the sets that contain all examples the smallest has the largest likelihood.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from spamnb.estimators.validation import check_whole


class Hypothesis(NamedTuple):
    """A named set with its prior weight.

    Parameters
    ----------
    name : str
        Name of the hypothesis.
    extension : collection
        Elements of the set.
    weight : float, default=1.0
        Prior weight. The weights of all hypotheses need not sum to 1.

    Examples
    --------
    >>> Hypothesis("even", {2, 4, 6})
    Hypothesis(name='even', extension={2, 4, 6}, weight=1.0)
    """

    name: str
    extension: Collection[Hashable]
    weight: float = 1.0


class ConceptLearner:
    """Bayesian concept learning: the posterior and the predictions of hypotheses, from positive examples.

    Parameters
    ----------
    domain : iterable
        All elements, which must be hashable.
    hypotheses : sequence of Hypothesis
        Sets of elements of the domain.

    Attributes
    ----------
    prior : array of shape (n_hypotheses,)
        Prior probabilities.
    membership : array of shape (n_hypotheses, n_elements)
        Whether the extension of each hypothesis contains each element of the domain.
    sizes : array of shape (n_hypotheses,)
        Number of elements of each extension.

    Raises
    ------
    ValueError
        If an extension is empty or has an element outside the domain, if a weight is negative or not finite, or if all
        weights are 0.

    See Also
    --------
    number_game : The hypotheses of Tenenbaum's game.

    Notes
    -----
    For N examples D, if h contains all of them; otherwise p(D|h) is 0:

        p(D|h) = 1 / |h|^N

        p(h|D) ∝ p(D|h) p(h)

    Source: Tenenbaum 1999; Murphy, Machine Learning, section 3.2.

    Examples
    --------
    >>> numbers = ConceptLearner(range(1, 11), [
    ...     Hypothesis("even", {2, 4, 6, 8, 10}), Hypothesis("powers of 2", {2, 4, 8})])
    >>> numbers.learn([8]).posterior().round(3)             # 1/5 against 1/3
    array([0.375, 0.625])
    >>> numbers.learn([2, 4]).posterior().round(3)          # 1/125 against 1/27
    array([0.178, 0.822])
    >>> numbers.predictive([6, 8, 9]).round(3)
    array([0.178, 1.   , 0.   ])
    >>> numbers.log_likelihood().round(3), numbers.most_probable().name, numbers.most_likely().name
    (array([-4.828, -3.296]), 'powers of 2', 'powers of 2')
    >>> numbers.forget([2, 4]).posterior().round(3)
    array([0.375, 0.625])
    """

    def __init__(self, domain: Iterable[Hashable], hypotheses: Sequence[Hypothesis]) -> None:
        try:
            self.domain = tuple(domain)
            self._positions = {element: position for position, element in enumerate(self.domain)}
        except TypeError:
            raise ValueError("domain must be a list of hashable elements") from None
        if not isinstance(hypotheses, Sequence) or not all(isinstance(each, Hypothesis) for each in hypotheses):
            raise ValueError("hypotheses must be a list of Hypothesis objects")
        self.hypotheses = tuple(hypotheses)
        if not all(isinstance(each.weight, Real) and 0 <= each.weight < np.inf for each in self.hypotheses):
            raise ValueError("prior weights must be finite numbers and not negative")
        weights = np.array([hypothesis.weight for hypothesis in self.hypotheses], dtype=float)
        if not weights.any():
            raise ValueError("at least one hypothesis must have a positive prior weight")
        self.prior = weights / weights.sum()
        self.membership = np.zeros((len(self.hypotheses), len(self.domain)), dtype=bool)
        for row, hypothesis in zip(self.membership, self.hypotheses):
            row[self._columns(hypothesis.extension, f"the extension of hypothesis {hypothesis.name!r}")] = True
            if not row.any():
                raise ValueError(f"the extension of hypothesis {hypothesis.name!r} is empty")
        self.sizes = self.membership.sum(axis=1)
        self._example_counts: Counter[int] = Counter()  # by position in the domain

    def _columns(self, elements: Iterable[Hashable], argument: str) -> list[int]:
        """Return the positions of an argument's elements in the domain. Raise ValueError for other elements."""
        if not isinstance(elements, Iterable):
            raise ValueError(f"{argument} is {elements!r:.60}: give a list, [{elements!r:.60}]")
        try:
            return [self._positions[element] for element in elements]
        except KeyError as error:
            raise ValueError(f"{argument}: {error.args[0]!r} is not in the domain") from None
        except TypeError:
            raise ValueError(f"{argument} must be a list of elements of the domain") from None

    def __repr__(self) -> str:
        """Return the number of hypotheses, and the examples."""
        examples = [self.domain[n] for n in self._example_counts.elements()]
        return f"<ConceptLearner: {len(self.hypotheses)} hypotheses, examples {examples!r:.200}>"

    def learn(self, examples: Iterable[Hashable]) -> ConceptLearner:
        """Add positive examples.

        Parameters
        ----------
        examples : iterable
            Elements of the domain.

        Returns
        -------
        ConceptLearner
            The learner.

        Raises
        ------
        ValueError
            If an example is not in the domain.
        """
        self._example_counts.update(self._columns(examples, "examples"))
        return self

    def forget(self, examples: Iterable[Hashable]) -> ConceptLearner:
        """Forget examples that were learned before.

        Parameters
        ----------
        examples : iterable
            Examples that were learned.

        Returns
        -------
        ConceptLearner
            The learner.

        Raises
        ------
        ValueError
            If an example was not learned.
        """
        counts = Counter(self._columns(examples, "examples"))
        if not counts <= self._example_counts:
            raise ValueError("cannot forget examples that were not learned")
        self._example_counts -= counts
        return self

    def log_likelihood(self) -> np.ndarray:
        """Return log p(D|h) = −N log |h| of each hypothesis h, or −inf if h does not contain all examples.

        Returns
        -------
        array of shape (n_hypotheses,)
            Log-likelihoods in nats.
        """
        has_all = self.membership[:, list(self._example_counts)].all(axis=1)
        return np.where(has_all, -self._example_counts.total() * np.log(self.sizes), -np.inf)

    def posterior(self) -> np.ndarray:
        """Return p(h|D) of each hypothesis h.

        Returns
        -------
        array of shape (n_hypotheses,)
            Posterior probabilities.

        Raises
        ------
        ValueError
            If no hypothesis with a positive prior contains all examples.
        """
        with np.errstate(divide="ignore"):
            joint = self.log_likelihood() + np.log(self.prior)
        highest = joint.max()
        if highest == -np.inf:
            raise ValueError("no hypothesis with a positive prior contains all examples")
        weights = np.exp(joint - highest)
        return weights / weights.sum()

    def sample(self, n: int = 1, random_state: Any = None) -> list[Hashable]:
        """Draw elements from the predictive distribution.

        For each element a hypothesis is drawn from the posterior, and then an element of its extension.

        Parameters
        ----------
        n : int, default=1
            Number of elements.
        random_state : int or numpy.random.Generator, default=None
            Seed. None draws other elements in each call.

        Returns
        -------
        list
            Elements of the domain.

        Raises
        ------
        ValueError
            If ``n`` is not a whole number, or below 0.

        Examples
        --------
        >>> number_game().learn([16, 8, 2, 64]).sample(4, random_state=1)
        [16, 64, 2, 64]
        """
        check_whole("n", n, 0)
        probability = (self.posterior() / self.sizes) @ self.membership
        positions = np.random.default_rng(random_state).choice(len(self.domain), n, p=probability / probability.sum())
        return [self.domain[position] for position in positions.tolist()]

    def version_space(self) -> tuple[Hypothesis, ...]:
        """Return the hypotheses that contain all examples, of which more examples leave fewer.

        Returns
        -------
        tuple of Hypothesis
            Hypotheses, in their order.

        Examples
        --------
        >>> game = number_game()
        >>> [len(game.learn([x]).version_space()) for x in (16, 8, 2, 64)]
        [10, 7, 5, 5]
        >>> [hypothesis.name for hypothesis in game.version_space()]
        ['even', 'powers of 2', 'all', 'powers of 2 plus 37', 'powers of 2 minus 32']
        """
        has_all = self.log_likelihood() > -np.inf
        return tuple(hypothesis for hypothesis, ok in zip(self.hypotheses, has_all.tolist()) if ok)

    def predictive(
        self, elements: Iterable[Hashable] | None = None, *, plug_in: Hypothesis | None = None
    ) -> np.ndarray:
        """Return p(x in C|D) = Σ_h [x in h] p(h|D), the probability that an element x belongs to the concept C.

        Parameters
        ----------
        elements : iterable, default=None
            Elements of the domain. None means all.
        plug_in : Hypothesis, default=None
            A single hypothesis ĥ, such as ``most_probable()``, in place of the average over all: [x in ĥ]. It is sure
            of everything, and with few examples wrong about much.

        Returns
        -------
        array of shape (n_elements,)
            Probabilities.

        Examples
        --------
        >>> game = number_game().learn([16])
        >>> game.predictive([4, 32]).round(2).tolist()  # the average
        [0.8, 0.43]
        >>> game.predictive([4, 32], plug_in=game.most_probable()).tolist()
        [1.0, 0.0]
        """
        columns = slice(None) if elements is None else self._columns(elements, "elements")
        if plug_in is not None:
            return self.membership[self.hypotheses.index(plug_in), columns].astype(float)
        return self.posterior() @ self.membership[:, columns]

    def most_probable(self) -> Hypothesis:
        """Return the hypothesis with the highest posterior (MAP).

        Returns
        -------
        Hypothesis
            The hypothesis; the first of several with the same posterior.
        """
        return self.hypotheses[int(np.argmax(self.posterior()))]

    def most_likely(self) -> Hypothesis:
        """Return the maximum-likelihood hypothesis: the smallest that contains all examples, whatever its prior.

        Returns
        -------
        Hypothesis
            The hypothesis; the first of several with the same likelihood, such as all without examples.
        """
        if (likelihood := self.log_likelihood()).max() == -np.inf:
            raise ValueError("no hypothesis contains all examples")
        return self.hypotheses[int(np.argmax(likelihood))]


def number_game(intervals: bool = False, primes: bool = False) -> ConceptLearner:
    """Return a learner for the number game, with 32 arithmetical concepts over the numbers from 1 to 100.

    Parameters
    ----------
    intervals : bool, default=False
        Whether to add the primes and all intervals, such as 16 to 23, to the hypotheses. With intervals the numbers
        near the examples are likelier than others.
    primes : bool, default=False
        Whether to add the primes. The published figures are those without them.

    Returns
    -------
    ConceptLearner
        A learner without examples.

    Notes
    -----
    The prior of an interval h is proportional to |h| exp(−|h|/10), and all intervals together have the prior 1/3, as in
    Tenenbaum 1999.

    Examples
    --------
    >>> game = number_game().learn([16])
    >>> game.most_probable().name, game.predictive([4, 64, 32, 37]).round(4).tolist()
    ('powers of 4', [0.8043, 0.8932, 0.4285, 0.0122])
    >>> game.learn([8, 2, 64]).most_probable().name, float(game.posterior().max().round(6))
    ('powers of 2', 0.973536)
    >>> near = number_game(intervals=True).learn([16, 23, 19, 20])
    >>> near.most_probable().name, near.predictive([17, 24, 30, 87]).round(2).tolist()
    ('16 to 23', [1.0, 0.72, 0.14, 0.0])
    """
    domain = range(1, 101)

    def powers(base: int) -> list[int]:
        # The exponent 0 is left out, because in the published game 1 is not a power.
        return [base**exponent for exponent in range(1, 7) if base**exponent <= 100]

    hypotheses = [
        Hypothesis("even", range(2, 101, 2), 0.5),
        Hypothesis("odd", range(1, 101, 2), 0.5),
        Hypothesis("squares", [root * root for root in range(1, 11)], 0.1),
        *(Hypothesis(f"multiples of {k}", range(k, 101, k), 0.1) for k in range(3, 11)),
        *(Hypothesis(f"ends in {digit}", range(digit, 101, 10), 0.1) for digit in range(1, 10)),
        *(Hypothesis(f"powers of {base}", powers(base), 0.1) for base in range(2, 11)),
        Hypothesis("all", domain, 0.1),
        Hypothesis("powers of 2 plus 37", [*powers(2), 37], 0.001),
        Hypothesis("powers of 2 minus 32", [power for power in powers(2) if power != 32], 0.001),
    ]
    if primes or intervals:
        hypotheses.append(Hypothesis("primes", [n for n in domain if n > 1 and all(n % k for k in range(2, n))], 0.1))
    if intervals:
        ranges = [range(first, last + 1) for first in domain for last in range(first, 101)]
        weights = np.array([len(numbers) * np.exp(-len(numbers) / 10) for numbers in ranges])
        weights *= sum(each.weight for each in hypotheses) / 2 / weights.sum()
        hypotheses += [Hypothesis(f"{h[0]} to {h[-1]}", h, weight) for h, weight in zip(ranges, weights.tolist())]
    return ConceptLearner(domain, hypotheses)
