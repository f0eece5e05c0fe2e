"""The verdict from probabilities and a loss: the action of least expected loss.

The actions are the classes, and ``unsure``. A right verdict costs 0, a wrong one 1, except that the verdict spam for
good mail costs λ: 99, 9 or 1 by ``strictness``. ``unsure`` costs u = ``unsure_cost`` for every class. With two classes
the verdict is spam if p(spam) > max(λ/(1+λ), 1 − u/λ). Without a class of spam all wrong verdicts cost 1.

P(c|x) is calibrated on mail like the mail learned. Good mail of a kind that was never learned has none of the evidence
of good mail, so it falls between the two classes, where P(spam) may be anything. A message is therefore called spam
only if it is also typical of the spam that the model knows (Dubuisson and Masson, "A statistical decision rule with
incomplete knowledge about classes", Pattern Recognition 26, 1993: a reject of what is far from all classes beside the
reject of what is between them). The typicality of message x for spam is

    t(x) = Σ_j v_j [log p(j | spam) − log mean_c p(j | c)]  nats        v_j: the weight of word j (pooling.py)

a log-likelihood ratio against a universal background, mail of any class (Reynolds, Quatieri and Dunn, "Speaker
verification using adapted Gaussian mixture models", Digital Signal Processing 10, 2000). A token that good mail lacks
adds at most log 2, because no evidence for good mail is not evidence for spam; a token of good mail subtracts without
bound. Only words count, because headers and structure say how a message was sent, and words what it is. Means over
left-out messages, S of spam and G of good mail, place a message: a(x) = (t(x) − G) / (S − G).

Beside the known classes there is good mail of kinds never seen, a share ε of good mail. Nothing is known of it, so its
places are spread evenly from G to S, with density 1. Spam has Laplace's distribution around S, with density
exp(−|1 − a|/κ) / 2κ. Calling a message spam costs less than letting it through if the density of spam is above λε:

    a(x) ≥ 1 − κ max(0, log 1/(2κλε))        κ = SPREAD

The number of kinds among n messages grows as √n in a Pitman-Yor process with discount ½ (Pitman and Yor, "The
two-parameter Poisson-Dirichlet distribution", Annals of Probability 25, 1997), so the next message is of a new kind
with a probability that falls as 1/√n: ε = 1/√n. Good messages count in n that were judged before they were learned, and
at most m = TRAINING_MESSAGES of training, because a folder of training has mail that somebody chose. Of a message of
which the model knows only the share s, ε is 1 − s (1 − ε). Figures: docs/experiments.md#mail-of-a-kind-never-learned
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spamnb.settings import STRICTNESS, Settings

UNSURE = "unsure"
SPREAD = 0.1  # κ: 9 to 16 % of known spam has a place below .85, 3 to 8 % below .7
TRAINING_MESSAGES = 250  # m: after a training, one good message in sixteen may be of a new kind
UNIT = 2.0**-16  # nats: the unit of sums of typicality, because a sum of whole numbers does not depend on their order


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
        self,
        classes: Sequence[str],
        probabilities: np.ndarray,
        spam: str,
        is_typical: ArrayLike = True,
        is_whole: ArrayLike = True,
    ) -> list[str]:
        """Return the action of least expected loss for each message: a class or "unsure". Spam never wins a tie.

        ``probabilities`` are P(c|x), (n, C). A message that would be spam is unsure unless ``is_typical`` (n,) of spam.
        One that would be anything else is unsure unless it ``is_whole`` (n,): the part that was not read may be spam.
        With a single class all messages are unsure.

        >>> Loss("normal", None).verdicts(["ham", "spam"], np.array([[0.3, 0.7]]), "spam")
        ['ham']
        """
        if len(classes) < 2:
            return [UNSURE] * len(np.atleast_2d(probabilities))
        loss, names = self.matrix(classes, spam), [*classes, UNSURE]
        if spam in classes:
            loss[names.index(spam)] += 1e-12  # so that spam loses a tie
        actions = least_loss(np.atleast_2d(probabilities), loss)
        verdicts = [names[action] for action in actions]
        is_spam = np.array([name == spam for name in verdicts])
        is_known = np.where(is_spam, is_typical, is_whole).tolist()
        return [name if known else UNSURE for name, known in zip(verdicts, is_known)]


class KnownMail(NamedTuple):
    """Sums over the messages whose typicality of one class was computed by a model without them.

    Sums are of all messages on one side: the messages of the class, or all others. They add and subtract exactly.
    """

    messages: int
    typicality: int  # in UNIT
    judged: int  # messages that arrived one by one: each was classified, and then learned


def in_units(typicality: Mapping[str, float]) -> dict[str, int]:
    """Return typicalities by class in UNIT.

    >>> in_units({"spam": 0.5})
    {'spam': 32768}
    """
    return {name: round(nats / UNIT) for name, nats in typicality.items()}


def sum_typicality(typicality: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the sums of KnownMail (C, 2, 3) of training mail: for each class its messages, and all others.

    ``typicality`` (n, C) is in nats, and ``labels`` (n,) are class numbers.

    >>> sum_typicality(np.array([[1.0, -2.0], [-1.0, 0.5]]), np.array([0, 1])).tolist()
    [[[1, 65536, 0], [1, -65536, 0]], [[1, 32768, 0], [1, -131072, 0]]]
    """
    out = np.zeros((typicality.shape[1], 2, len(KnownMail._fields)), np.int64)
    units = np.rint(typicality / UNIT).astype(np.int64)
    for c in range(len(out)):
        for side, mask in enumerate((labels == c, labels != c)):
            out[c, side, :2] = mask.sum(), units[mask, c].sum()
    return out


def log_ratios(scores: np.ndarray) -> np.ndarray:
    """Return the typicality (n, C) of messages whose ``scores`` (n, C) are the log-likelihoods of whole messages.

    >>> log_ratios(np.array([[0.0, -800.0]])).round(3).tolist()
    [[0.693, -799.307]]
    """
    background = np.logaddexp.reduce(scores, axis=1) - np.log(scores.shape[1])
    return scores - background[:, None]


def least_place(cost: float, novelty: np.ndarray) -> np.ndarray:
    """Return how far from good mail towards spam a message must be to be called spam: 0 to 1.

    ``cost`` is λ, and ``novelty`` (n,) is ε, the probability that a good message is of a kind never seen.

    >>> least_place(9.0, np.array([0.2, 0.01, 1.0])).round(2)
    array([0.9, 0.6, 1. ])
    """
    return 1 - SPREAD * np.maximum(0, -np.log(2 * SPREAD * cost * novelty))


def is_typical(typicality: np.ndarray, known: np.ndarray, kept_shares: np.ndarray, cost: float) -> np.ndarray:
    """Return whether messages are typical enough of the spam that the model knows to be called spam, (n,).

    ``typicality`` (n,) is that of spam, ``known`` (2, 3) are the sums of KnownMail for spam and for all other mail,
    ``kept_shares`` (n,) say how much the model knows of each message (model/pooling.py), and ``cost`` is λ.

    >>> known = np.array([[400, 400 * 65536, 0], [400, -400 * 9 * 65536, 0]])  # spam at 1 nat, good mail at -9
    >>> is_typical(np.array([0.1, -1.5, 0.5, 1.0]), known, np.array([1, 1, 0.4, 0]), 9.0)
    array([ True, False, False,  True])
    """
    spam, good = (KnownMail(*side) for side in known.tolist())
    if not (spam.messages > 0 and good.messages > 0):
        return np.zeros(len(typicality), bool)
    of_spam, of_good = UNIT * spam.typicality / spam.messages, UNIT * good.typicality / good.messages
    n_good = min(good.messages, TRAINING_MESSAGES + max(good.judged, 0))
    novelty = 1 - kept_shares * (1 - 1 / np.sqrt(n_good))
    least = of_good + least_place(cost, novelty) * (of_spam - of_good)
    return (typicality >= least) & (of_spam > of_good)


def describe_doubt(typicality: float, kept_share: float, is_whole: bool = True) -> str:
    """Return why a message is unsure: it is likely spam, but not typical enough of it, or not all of it was read.

    >>> describe_doubt(-0.4, 1.0)
    'as much like good mail as like spam'
    """
    if not is_whole:
        return "some of its parts were not read, because there are too many"
    if kept_share < 0.5:
        return "the model knows next to nothing of it"
    return "as much like good mail as like spam" if typicality <= 0 else "unlike the spam that this model knows"
