"""The classification of one message: verdict, probabilities and evidence; and its points, for mail software.

Delivery rules compare points with 5.0 and know no probabilities, so calibrated log-odds of spam are scaled:

    points = 5 + 5 (log-odds − threshold) / max(threshold, 1)        both in nats

which is 5 where the verdict becomes spam, 0 at even odds (for thresholds of a nat or more), and rises with the log-odds
whatever the threshold is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from spamnb.formulas.decision import UNSURE
from spamnb.shown_text import format_probability

SPAM_POINTS = 5.0
_STEP = 0.1  # points have one decimal, as Exim and spamass-milter keep them
_MAX_POINTS = 99.9
_REPR_CLASSES = 3  # the likeliest classes, at a prompt


class Evidence(NamedTuple):
    """A token and its weight, in nats, in the log-odds of one class against the likeliest other."""

    token: str
    weight: float


class Classification(NamedTuple):
    """What a message is, how probable that is, and why.

    Parameters
    ----------
    verdict : str
        A class, or "unsure".
    probabilities : dict of {str: float}
        Calibrated probability of each class: of messages with .9 for a class, nine in ten are of it.
    posterior : dict of {str: float}
        The model's own probabilities, before calibration (naive Bayes: the textbook's, as if tokens were independent).
        Empty where they were not asked for.
    log_odds : float
        Calibrated log-odds of spam in nats, or of the likeliest class where no class is spam.
    evidence : list of Evidence
        Tokens and their weights in nats, heaviest first.
    scores : array of shape (n_classes,)
        Scores before calibration, in nats, the classes sorted by name.
    enough : bool
        Whether the model has seen enough of every class for the probabilities to mean much.
    truncations : tuple of str
        What of the message was too large to be read, in words.
    corrections : tuple of float
        The part of each weight of ``evidence`` that corrects naive Bayes, in nats. Empty in other models.
    spam : str
        The name of the class of spam.
    threshold : float
        The log-odds of spam above which the verdict is spam, in nats.
    sender : Evidence or None
        What the file of people says of the sender, and its weight in nats. None for anybody else.

    Examples
    --------
    >>> import spamnb
    >>> with spamnb.Classifier.create(":memory:") as classifier:
    ...     classifier.learn("ham", b"Subject: minutes"), classifier.learn("spam", b"Subject: offer")
    ...     classifier.classify(b"Subject: offer")
    (True, True)
    Classification(verdict ham, P(spam) 0.5846, P(ham) 0.4154, 2 pieces of evidence)
    """

    verdict: str
    probabilities: dict[str, float]
    posterior: dict[str, float]
    log_odds: float
    evidence: list[Evidence]
    scores: np.ndarray
    enough: bool
    truncations: tuple[str, ...]
    corrections: tuple[float, ...] = ()
    spam: str = "spam"
    threshold: float = 0.0
    sender: Evidence | None = None

    @property
    def is_spam(self) -> bool:
        """Whether the verdict is the class of spam."""
        return self.verdict == self.spam

    @property
    def mail_verdict(self) -> str:
        """The verdict as mail software knows it: "spam", "unsure", or "ham" for every other class."""
        return "spam" if self.is_spam else UNSURE if self.verdict == UNSURE else "ham"

    @property
    def points(self) -> float:
        """The log-odds of spam in points, to one decimal; 5 or more for spam alone, as clients compare them again.

        >>> result = Classification("ham", {"ham": 0.5, "spam": 0.5}, {}, 0.0, [], np.zeros(2), True, (), threshold=2.3)
        >>> result.points, result._replace(log_odds=2.3, verdict="spam").points, result._replace(log_odds=2.3).points
        (0.0, 5.0, 4.9)
        """
        points = SPAM_POINTS + SPAM_POINTS * (self.log_odds - self.threshold) / max(self.threshold, 1.0)
        points = round(min(max(points, -_MAX_POINTS), _MAX_POINTS), 1) + 0.0  # + 0.0: never "-0.0"
        return max(points, SPAM_POINTS) if self.is_spam else min(points, SPAM_POINTS - _STEP)

    @property
    def reasons(self) -> list[Evidence]:
        """The evidence, what is known of the sender first."""
        return [*([self.sender] if self.sender else []), *self.evidence]

    def describe_probability(self) -> str:
        """Return one probability in percent, with its name: of spam, or of the likeliest class where none is spam.

        The word of the file of people counts in it.

        Returns
        -------
        str
            The name and the probability, or "probability unknown" where there are fewer than two classes.

        Examples
        --------
        >>> import spamnb
        >>> spamnb.Classifier.create(":memory:").classify(b"Subject: offer").describe_probability()
        'probability unknown'
        """
        if len(self.probabilities) < 2:  # a single class has probability 1 whatever the message holds
            return "probability unknown"
        name = self.spam
        if name not in self.probabilities:
            name = max(self.probabilities, key=self.probabilities.__getitem__)
        return f"P({name}) {format_probability(1 / (1 + math.exp(-self.log_odds)))}"

    def __repr__(self) -> str:
        likeliest = sorted(self.probabilities.items(), key=lambda item: -item[1])[:_REPR_CLASSES]
        parts = [f"verdict {self.verdict}", *(f"P({name}) {p:.4f}" for name, p in likeliest)]
        return f"Classification({', '.join(parts)}, {len(self.evidence)} pieces of evidence)"
