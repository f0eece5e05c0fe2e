"""The classification of one message: verdict, probabilities and evidence.

Mail software compares a score in points with 5.0. The points are a linear function of the calibrated log-odds of spam:

    points = 5 + 5 (log-odds − threshold) / max(threshold, 1)        log-odds and threshold in nats

The points are 5 at the threshold of the verdict spam, and 0 at even odds if the threshold is at least 1 nat.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spamnb.model.decision import UNSURE
from spamnb.shown_text import format_probability

SPAM_POINTS = 5.0
_POINT_STEP = 0.1  # points; Exim and spamass-milter use one decimal
_MAX_POINTS = 99.9  # points; messages of the SpamAssassin corpus have −19 to 22
_MAX_REPR_CLASSES = 3  # __repr__ shows only the likeliest classes, so that its text fits into a line


def probability_of(log_odds: float) -> float:
    """Return the probability with these log-odds, which are in nats.

    >>> probability_of(0.0), probability_of(-1000.0) > 0
    (0.5, True)
    """
    return 1 / (1 + math.exp(min(-log_odds, 700.0)))  # math.exp overflows above 709


class Evidence(NamedTuple):
    """A token, or what the user said of the sender, and its weight.

    The weight is in the log-odds of a class against the likeliest other class, in nats.
    """

    token: str
    weight: float


class Classification(NamedTuple):
    """The verdict on one message, the probabilities of its classes, and the evidence.

    Parameters
    ----------
    verdict : str
        A class, or "unsure".
    probabilities : dict of {str: float}
        Calibrated probability of each class: nine of ten messages with probability .9 for a class are of this class.
    uncalibrated : dict of {str: float}
        Probability of each class before calibration. In naive Bayes it assumes that tokens are independent. Empty
        with ``uncalibrated=False``.
    log_odds : float
        Calibrated log-odds of spam in nats, or of the likeliest class if no class is spam.
    evidence : list of Evidence
        Tokens and their weights, the largest absolute weight first.
    scores : array of shape (n_classes,)
        Scores before calibration, in nats. The classes are sorted by name.
    doubt : str
        Why a message is unsure: what the model does not know of it. Empty if there is no doubt.
    truncations : tuple of str
        Descriptions of the parts of the message that were too large to be read.
    corrections : tuple of float
        The part of each weight of ``evidence`` that corrects naive Bayes, in nats. Empty for other models.
    spam : str
        The name of the class of spam.
    threshold : float
        The log-odds of spam above which the verdict is spam, in nats.
    typicality : tuple of float
        How typical the message is of each class, 0 to 1: the mean of P(class | word) over its words.
    sender : Evidence or None
        What the user said of the sender, and its weight. None if the user said nothing.
    is_decided_by_doubtful_text : bool
        Whether the message would have another verdict without words that may be hidden. False with ``n_evidence=0``.
    beside_starter : int or None
        The number of messages of a model that adds to the starter; None for any other model.

    Examples
    --------
    >>> import spamnb
    >>> with spamnb.Classifier.create(":memory:") as classifier:
    ...     classifier.learn("ham", b"Subject: minutes"), classifier.learn("spam", b"Subject: offer")
    ...     classifier.classify(b"Subject: offer")
    (True, True)
    Classification(verdict ham, P(spam) 0.5802, P(ham) 0.4198, 2 pieces of evidence)
    """

    verdict: str
    probabilities: dict[str, float]
    uncalibrated: dict[str, float]
    log_odds: float
    evidence: list[Evidence]
    scores: np.ndarray
    doubt: str
    truncations: tuple[str, ...]
    corrections: tuple[float, ...] = ()
    spam: str = "spam"
    threshold: float = 0.0
    typicality: tuple[float, ...] = ()
    sender: Evidence | None = None
    is_decided_by_doubtful_text: bool = False
    beside_starter: int | None = None

    @property
    def is_spam(self) -> bool:
        """Whether the verdict is the class of spam."""
        return self.verdict == self.spam

    @property
    def mail_verdict(self) -> str:
        """The verdict for mail software: "spam", "unsure", or "ham" for every other class."""
        return "spam" if self.is_spam else UNSURE if self.verdict == UNSURE else "ham"

    @property
    def points(self) -> float:
        """The log-odds of spam in points, with one decimal. Only spam has 5 points or more.

        >>> result = Classification("ham", {"ham": 0.5, "spam": 0.5}, {}, 0.0, [], np.zeros(2), "", (), threshold=2.3)
        >>> result.points, result._replace(log_odds=2.3, verdict="spam").points, result._replace(log_odds=2.3).points
        (0.0, 5.0, 4.9)
        """
        points = SPAM_POINTS + SPAM_POINTS * (self.log_odds - self.threshold) / max(self.threshold, 1.0)
        points = round(min(max(points, -_MAX_POINTS), _MAX_POINTS), 1) + 0.0  # + 0.0: never "-0.0"
        return max(points, SPAM_POINTS) if self.is_spam else min(points, SPAM_POINTS - _POINT_STEP)

    @property
    def reasons(self) -> list[Evidence]:
        """The evidence, after what the user said of the sender."""
        return [*([self.sender] if self.sender else []), *self.evidence]

    def describe_probability(self) -> str:
        """Return the probability of spam in percent, or of the likeliest class if no class is spam.

        What the user said of the sender changes this probability, but not ``probabilities``.

        Returns
        -------
        str
            The class and its probability, or "probability unknown" if there are fewer than two classes.

        Examples
        --------
        >>> import spamnb
        >>> spamnb.Classifier.create(":memory:").classify(b"Subject: offer").describe_probability()
        'probability unknown'
        """
        if len(self.probabilities) < 2:  # a single class has probability 1 for any message
            return "probability unknown"
        name = self.spam
        if name not in self.probabilities:
            name = max(self.probabilities, key=self.probabilities.__getitem__)
        return f"P({name}) {format_probability(probability_of(self.log_odds))}"

    def __eq__(self, other: object) -> bool:
        """Return whether all fields are equal. A tuple's comparison fails for the array ``scores``."""
        if not isinstance(other, Classification):
            return False  # NotImplemented would compare the fields of the tuple
        fields, others = ({**each._asdict(), "scores": each.scores.tolist()} for each in (self, other))
        return fields == others

    def __ne__(self, other: object) -> bool:  # otherwise it would be the tuple's
        return not self == other

    def __hash__(self) -> int:
        return hash((self.verdict, self.log_odds, tuple(self.evidence)))

    def __repr__(self) -> str:
        likeliest = sorted(self.probabilities.items(), key=lambda item: -item[1])[:_MAX_REPR_CLASSES]
        parts = [f"verdict {self.verdict}", *(f"P({name}) {p:.4f}" for name, p in likeliest)]
        return f"Classification({', '.join(parts)}, {len(self.evidence)} pieces of evidence)"
