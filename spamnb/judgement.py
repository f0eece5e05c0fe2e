"""What is said of a message: the verdict, how sure it is, and the tokens that decided."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

SHOWN = 3  # classes at a prompt


class Evidence(NamedTuple):
    """A token and what it gave, in nats, to the log-odds of the likeliest class against the next."""

    token: str
    weight: float


class Judgement(NamedTuple):
    """What a message is, how sure that is, and why.

    - ``verdict``: a class, or "unsure"
    - ``probabilities``: by class, calibrated: of messages given .9 for a class, nine in ten are of it
    - ``posterior``: by class, the model's own (naive Bayes: the textbook's, as if tokens were independent); empty if
      unwanted
    - ``score``: calibrated log-odds, in nats, of spam (or, without such a class, of the likeliest class)
    - ``evidence``: tokens and their weights, heaviest first
    - ``scores``: (C,) before calibration, the classes sorted by name, in nats
    - ``enough``: had the model seen enough of every class for the probabilities to mean much?
    - ``truncations``: what of the message was too large to be read, described in words
    - ``corrections``: of each piece of evidence the part, in nats, that corrects naive Bayes; empty in other models

    >>> import spamnb
    >>> with spamnb.Classifier.create(":memory:") as classifier:
    ...     classifier.learn("ham", b"Subject: minutes"), classifier.learn("spam", b"Subject: offer")
    ...     classifier.classify(b"Subject: offer")
    (True, True)
    Judgement(verdict ham, P(spam) 0.7785, P(ham) 0.2215, 2 pieces of evidence)
    """

    verdict: str
    probabilities: dict[str, float]
    posterior: dict[str, float]
    score: float
    evidence: list[Evidence]
    scores: np.ndarray
    enough: bool
    truncations: tuple[str, ...]
    corrections: tuple[float, ...] = ()

    def how_sure(self, spam: str) -> str:
        """One probability, named: that of ``spam``, whatever the verdict; of the likeliest class where none is spam.

        >>> import spamnb
        >>> spamnb.Classifier.create(":memory:").classify(b"Subject: offer").how_sure("spam")
        'probability unknown'
        """
        if len(self.probabilities) < 2:  # a single class has probability 1 whatever the message holds
            return "probability unknown"
        name = spam if spam in self.probabilities else max(self.probabilities, key=self.probabilities.__getitem__)
        return f"P({name}) {self.probabilities[name]:.4f}"

    def __repr__(self) -> str:
        likeliest = sorted(self.probabilities.items(), key=lambda of_class: -of_class[1])[:SHOWN]
        told = [f"verdict {self.verdict}", *(f"P({name}) {p:.4f}" for name, p in likeliest)]
        return f"Judgement({', '.join(told)}, {len(self.evidence)} pieces of evidence)"
