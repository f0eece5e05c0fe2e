"""Posterior and loss → verdict: the action of least expected loss.

The actions are each class, and ``unsure``. A verdict that is right costs 0, a wrong one 1, but calling something spam
that is not costs λ: 99, 9 or 1 by ``strictness``. ``unsure`` costs u = ``unsure_cost`` whatever the truth. With two
classes the verdict is spam where p(spam) > max(λ/(1+λ), 1 − u/λ); without a class of spam the most probable class wins.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from spamnb.setting_fields import check_settings, setting

UNSURE = "unsure"
STRICTNESS = {"normal": 9.0, "cautious": 99.0, "strict": 1.0}  # how much worse losing a good message is: λ
MAX_SETTING = 1e9  # of a cost and of alpha: beyond it, rounding leaves nothing of what is derived


def least_loss(probabilities: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """The number of the action of least expected loss Σ_c P(c|x) L_ac of each row, (n,); of equal ones the first.

    ``probabilities`` (n, C) holds P(c|x), ``loss`` (A, C) what action a costs where the class is c.

    >>> least_loss(np.array([[0.3, 0.7], [0.1, 0.9]]), np.array([[0, 1], [9, 0], [0.8, 0.8]]))
    array([0, 2])
    """
    # Rounded, so that equal probabilities are ties whatever the order of adding.
    return np.round(probabilities @ loss.T, 12).argmin(axis=1)


@dataclass(frozen=True, slots=True)
class Loss:
    """What errors cost, in units of one spam let through; without ``unsure_cost`` unsure is not among the actions.

    >>> loss = Loss("normal", unsure_cost=0.3)
    >>> loss.verdicts(["ham", "spam"], np.array([[0.01, 0.99], [0.1, 0.9], [0.8, 0.2]]), spam="spam")
    ['spam', 'unsure', 'ham']
    >>> round(loss.threshold, 4)
    0.9667
    """

    strictness: str = setting(
        "normal",
        "What is called spam: with two classes mail whose probability of spam is above 90 % (`normal`), 99 %"
        " (`cautious`) or 50 % (`strict`).",
        choices=tuple(STRICTNESS),
    )
    unsure_cost: float | None = setting(
        None,
        "Cost of the verdict `unsure`, where a spam let through costs 1; with none no message is `unsure`.",
        above=0,
        most=MAX_SETTING,
    )

    def __post_init__(self) -> None:
        check_settings(self)

    @property
    def cost(self) -> float:
        """How much worse losing a good message is than letting a spam through."""
        return STRICTNESS[self.strictness]

    @property
    def threshold(self) -> float:
        """The probability of spam above which the verdict is spam, with two classes."""
        even = self.cost / (1 + self.cost)
        return even if self.unsure_cost is None else max(even, 1 - self.unsure_cost / self.cost)

    def matrix(self, classes: Sequence[str], spam: str) -> np.ndarray:
        """Loss of each action (each class, then unsure where it has a cost) under each true class, (A, C).

        >>> Loss().matrix(["ham", "spam"], "spam")
        array([[0., 1.],
               [9., 0.]])
        """
        loss = 1.0 - np.eye(len(classes))
        if spam in classes:
            loss[list(classes).index(spam)] *= self.cost
        if self.unsure_cost is not None:
            loss = np.vstack([loss, np.full(len(classes), self.unsure_cost)])
        return loss

    def verdicts(
        self, classes: Sequence[str], probabilities: np.ndarray, spam: str, enough: ArrayLike = True
    ) -> list[str]:
        """The action of least expected loss for each row of ``probabilities`` (n, C). Spam never wins a tie.

        With one class alone it is unsure, since nothing is known of what is not of that class. Without ``enough``
        evidence, one answer for all messages or one for each (n,), it is unsure in place of spam: to a model of a few
        good messages all others look new.

        >>> Loss().verdicts(["ham", "spam"], np.array([[0.3, 0.7]]), "spam")
        ['ham']
        """
        if len(classes) < 2:
            return [UNSURE] * len(np.atleast_2d(probabilities))
        # Rounded, so that equal probabilities are ties whatever the order of adding: the first class wins them.
        risk = np.round(np.atleast_2d(probabilities) @ self.matrix(classes, spam).T, 12)
        names = [*classes, UNSURE]
        if spam in classes:
            risk[:, list(classes).index(spam)] += 1e-12
        actions = risk.argmin(axis=1)
        sufficient = np.broadcast_to(enough, actions.shape)
        chosen = [names[action] for action in actions]
        return [UNSURE if name == spam and not ok else name for name, ok in zip(chosen, sufficient.tolist())]
