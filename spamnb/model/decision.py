"""The verdict from probabilities and a loss: the action of least expected loss.

The actions are the classes, and ``unsure``. A right verdict costs 0, a wrong one 1, except that the verdict spam for
good mail costs λ: 99, 9 or 1 by ``strictness``. ``unsure`` costs u = ``unsure_cost`` for every class. With two classes
the verdict is spam if p(spam) > max(λ/(1+λ), 1 − u/λ). Without a class of spam all wrong verdicts cost 1.

P(c|x) is calibrated on mail like the mail learned. Good mail of a kind that was never learned has none of the evidence
of good mail, so it falls between the two classes, where P(spam) may be anything. A message is therefore called spam
only if it is also typical of the spam that the model knows. How typical message x is of class c is the mean over its
tokens of what each of them says alone:

    t(x) = Σ_j w_j P(c | j) / (Σ_j w_j + wu),   P(c | j) = p(j|c) / Σ_k p(j|k)

A token that good mail has, too, counts against spam however much the others say for it, so t tells lost good mail from
spam where the score, a weighted sum, does not. The weight w_j is 1 for words and w = STRUCTURE_WEIGHT for structure:
hosts of links, tags and parts. Header fields do not count, because they say only how a message was sent. u is the
number of unknown tokens of structure, or that of known ones if it is less: in each message words are new, but hosts
that no spam has are a sign of a new kind of mail; and a sender can add any number of them. t is 0 if the model knows no
word of the message, as of a photo. Known doubtful tokens count if they make it more typical of spam. The share of
known spam, each message left out of the model, that is no more typical is the p-value of conformal prediction (Vovk,
Gammerman and Shafer, "Algorithmic Learning in a Random World", 2005):

    p(x) = #{i of the m known spams: t(x_i) ≤ t(x)} / (m + 1)

A verdict of spam needs p(x) ≥ q, so about a share q of spam becomes unsure. Good mail of a kind never seen has p-values
of any magnitude, with the density 1/p. The kinds among n messages grow as √n in a Pitman-Yor process with discount ½
(Pitman and Yor, "The two-parameter Poisson-Dirichlet distribution", Annals of Probability 25, 1997), so the next good
message is of a new kind with a probability that falls as 1/√n. λ times the good mail that q saves less the spam that it
costs is greatest at a q in proportion to λ/√n. With N = NEW_KINDS, and n good messages seen,

    q = λN / (λN + √n)

A lesson counts ARRIVED times in n, if its label is trusted: it is drawn from the mail to come, and the messages of a
folder of training were chosen by somebody.
Figures: docs/experiments.md#mail-of-a-kind-never-learned
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from spamnb.core.score import Scores
from spamnb.model.pooling import evidence_shares, towards_prior
from spamnb.settings import STRICTNESS, Settings

if TYPE_CHECKING:  # model.py imports this module
    from spamnb.model.model import Model

UNSURE = "unsure"
# A larger N saves more good mail of kinds never learned, and lets more spam through:
# docs/experiments.md#mail-of-a-kind-never-learned
NEW_KINDS = 0.15
ARRIVED = 3  # times that a lesson counts
STRUCTURE_WEIGHT = 0.5  # of a token of structure in t
TYPICALITY_BINS = 256  # of the histogram of known mail


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

    @property
    def log_odds(self) -> float:
        """Return the threshold as log-odds of spam, in nats."""
        return math.log(self.threshold / (1 - self.threshold))

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

    def verdicts(self, classes: Sequence[str], probabilities: np.ndarray, spam: str) -> list[str]:
        """Return the action of least expected loss for each message: a class or "unsure". Spam never wins a tie.

        ``probabilities`` are P(c|x), (n, C). With a single class all messages are unsure.

        >>> Loss("normal", None).verdicts(["ham", "spam"], np.array([[0.3, 0.7]]), "spam")
        ['ham']
        """
        if len(classes) < 2:
            return [UNSURE] * len(np.atleast_2d(probabilities))
        loss, names = self.matrix(classes, spam), [*classes, UNSURE]
        if spam in classes:
            loss[names.index(spam)] += 1e-12  # so that spam loses a tie
        actions = least_loss(np.atleast_2d(probabilities), loss)
        return [names[action] for action in actions]


class Decisions(NamedTuple):
    """What is decided on n messages."""

    probabilities: np.ndarray  # (n, C)
    verdicts: list[str]
    doubts: list[str]  # why the verdict is unsure although the probabilities are clear; empty without a doubt


def decide(settings: Settings, model: Model, scores: Scores, is_whole: np.ndarray) -> Decisions:
    """Decide on messages by their scores. ``is_whole`` (n,) are those that were read to their end.

    The verdict of least expected loss becomes unsure if the model knows too little of the message. Spam must be
    typical of spam, and all other mail whole, because the part that was not read may be spam.
    """
    loss, totals, shares = Loss.of(settings), model.totals, evidence_shares(scores.votes)
    probabilities = towards_prior(model.calibration.probabilities(scores.scores), totals.documents, shares)
    verdicts, doubts = loss.verdicts(totals.classes, probabilities, settings.spam), [""] * len(shares)
    typicality, is_typical_spam = np.zeros(len(shares)), np.ones(len(shares), bool)
    if (column := settings.spam_column(totals.classes)) is not None:
        typicality = scores.typicality[:, column]
        is_typical_spam = is_typical(typicality, model.known_typicality, column, loss.cost)
    for i, verdict in enumerate(verdicts):
        is_spam = verdict == settings.spam
        if verdict != UNSURE and not (is_typical_spam[i] if is_spam else is_whole[i]):
            verdicts[i], doubts[i] = UNSURE, describe_doubt(typicality[i], shares[i], is_whole=is_spam)
    return Decisions(probabilities, verdicts, doubts)


def typicality_bins(typicality: ArrayLike) -> np.ndarray:
    """Return the bins of typicalities, which are 0 to 1.

    >>> typicality_bins([0.0, 0.5, 1.0]).tolist()
    [0, 128, 255]
    """
    return np.minimum(np.asarray(typicality) * TYPICALITY_BINS, TYPICALITY_BINS - 1).astype(np.intp)


def sum_typicality(typicality: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the known mail (C, 1 + TYPICALITY_BINS) of training mail.

    A row of known mail is a sum over the messages of a class: how many count as seen, and then the histogram of how
    typical each is of the class. ``typicality`` is (n, C), and ``labels`` (n,) are class numbers.
    """
    out = np.zeros((typicality.shape[1], 1 + TYPICALITY_BINS), np.int64)
    own = typicality[np.arange(len(labels)), labels]
    np.add.at(out, (labels, 1 + typicality_bins(own)), 1)
    out[:, 0] = np.bincount(labels, minlength=len(out))
    return out


def least_share(n_good: float, cost: float) -> float:
    """Return q, the share of known spam that may be less typical than a message that is called spam.

    ``n_good`` is n, and ``cost`` is λ.

    >>> [round(least_share(n, 9.0), 3) for n in (0, 50, 100, 1000, 10000)]
    [1.0, 0.16, 0.119, 0.041, 0.013]
    """
    return cost * NEW_KINDS / (cost * NEW_KINDS + math.sqrt(n_good))


def is_typical(typicality: np.ndarray, known: np.ndarray, spam: int, cost: float) -> np.ndarray:
    """Return whether messages are typical enough of the spam that the model knows to be called spam, (n,).

    ``typicality`` (n,) is that of spam, ``known`` (C, 1 + TYPICALITY_BINS) are the sums of known mail, ``spam`` is the
    number of the class of spam, and ``cost`` is λ.

    >>> known = sum_typicality(np.array([[0.9, 0.1]] * 400 + [[0.3, 0.7], [0.2, 0.8]] * 200), np.repeat([0, 1], 400))
    >>> is_typical(np.array([0.5, 0.7, 0.9]), known, 1, 9.0)
    array([False,  True,  True])
    """
    n_good = max(int(known[:, 0].sum() - known[spam, 0]), 0)
    histogram = np.maximum(known[spam, 1:], 0)  # a message of training may be subtracted from another bin
    shares = np.cumsum(histogram) / (histogram.sum() + 1)
    return shares[typicality_bins(typicality)] >= least_share(float(n_good), cost)


def describe_doubt(typicality: float, kept_share: float, is_whole: bool = True) -> str:
    """Return why a message is unsure: it is likely spam, but not typical enough of it, or not all of it was read.

    >>> describe_doubt(0.4, 1.0), describe_doubt(0.0, 1.0)
    ('as much like good mail as like spam', 'the model knows no word of it')
    """
    if not is_whole:
        return "some of its parts were not read, because there are too many"
    if kept_share < 0.5:
        return "the model knows next to nothing of it"
    if typicality == 0:
        return "the model knows no word of it"
    return "as much like good mail as like spam" if typicality <= 0.5 else "unlike the spam that this model knows"
