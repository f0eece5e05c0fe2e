"""The verdict from probabilities and a loss: the action of least expected loss.

The actions are the classes, and ``unsure``. A right verdict costs 0, a wrong one 1, except that the verdict spam for
good mail costs λ: 99, 9 or 1 by ``strictness``. ``unsure`` costs u = ``unsure_cost`` for every class. With two classes
the verdict is spam if p(spam) > max(λ/(1+λ), 1 − u/λ). Without a class of spam all wrong verdicts cost 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spamnb.settings import STRICTNESS, Settings

UNSURE = "unsure"


def least_loss(probabilities: np.ndarray, loss: np.ndarray) -> np.ndarray:
    """Return the action of least expected loss Σ_c P(c|x) L_ac of each row, (n,). The first one wins a tie.

    ``probabilities`` (n, C) contains P(c|x), and ``loss`` (A, C) the cost of action a for class c.

    >>> least_loss(np.array([[0.3, 0.7], [0.1, 0.9]]), np.array([[0, 1], [9, 0], [0.8, 0.8]]))
    array([0, 2])
    """
    # Rounded, so that equal probabilities are ties in any order of summation.
    return np.round(probabilities @ loss.T, 12).argmin(axis=1)


class Loss(NamedTuple):
    """The costs of errors, in units of one spam let through: the settings of these names.

    >>> loss = Loss("normal", unsure_cost=0.3)
    >>> loss.verdicts(["ham", "spam"], np.array([[0.01, 0.99], [0.1, 0.9], [0.8, 0.2]]), spam="spam")
    ['spam', 'unsure', 'ham']
    >>> round(loss.threshold, 4)
    0.9667
    """

    strictness: str
    unsure_cost: float | None

    @classmethod
    def of(cls, settings: Settings) -> Loss:
        """Return the costs of errors in a model's settings."""
        return cls(settings.strictness, settings.unsure_cost)

    @property
    def cost(self) -> float:
        """Return the cost of losing a good message, in units of one spam let through."""
        return STRICTNESS[self.strictness]

    @property
    def threshold(self) -> float:
        """Return the probability of spam above which the verdict is spam, with two classes."""
        threshold = self.cost / (1 + self.cost)
        return threshold if self.unsure_cost is None else max(threshold, 1 - self.unsure_cost / self.cost)

    def matrix(self, classes: Sequence[str], spam: str) -> np.ndarray:
        """Return the loss of each action under each true class, (A, C); the actions are the classes, and unsure.

        Unsure is an action only if it has a cost.

        >>> Loss("normal", None).matrix(["ham", "spam"], "spam")
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
        """Return the action of least expected loss for each of n messages: a class or "unsure". Spam never wins a tie.

        ``probabilities`` (n, C) are those of the classes. ``enough``, a bool or (n,), is whether there is
        enough evidence for the verdict spam; if not, a message that would be spam is unsure. With a single class all
        are unsure.

        >>> Loss("normal", None).verdicts(["ham", "spam"], np.array([[0.3, 0.7]]), "spam")
        ['ham']
        """
        if len(classes) < 2:
            return [UNSURE] * len(np.atleast_2d(probabilities))
        loss, names = self.matrix(classes, spam), [*classes, UNSURE]
        if spam in classes:
            loss[names.index(spam)] += 1e-12  # so that spam loses a tie
        actions = least_loss(np.atleast_2d(probabilities), loss)
        is_sufficient = np.broadcast_to(enough, actions.shape)
        verdicts = [names[action] for action in actions]
        return [UNSURE if name == spam and not ok else name for name, ok in zip(verdicts, is_sufficient.tolist())]
