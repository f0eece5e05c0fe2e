"""``spamnb.explain``: the evidence that decided the classification of one message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.api.arguments import FilePath, Tell, check_least, file_path, warn
from spamnb.api.report import Report
from spamnb.errors import SpamnbError, reason
from spamnb.model.classification import Classification
from spamnb.model.decision import Loss
from spamnb.model.mutual_information import strongest_class
from spamnb.people import People
from spamnb.reader.meaning import describe, is_narrower, meaning
from spamnb.settings import BAYES_MODELS, Settings
from spamnb.shown_text import (
    align_columns,
    escape,
    format_probability,
    format_share,
    format_share_heads,
    pluralize,
)
from spamnb.sources.entries import SkippedMessages, attempt

if TYPE_CHECKING:
    from spamnb.filter import Classifier
    from spamnb.model.delta import Sums


MAX_CLASS_COLUMNS = 4  # the shares of more classes take more than half of a line of 80 characters
SHOWN_CLASSES = 5  # the likeliest classes are shown, because a model can have many: a model of newsgroups has twenty


@dataclass(frozen=True, repr=False)
class Explanation(Report):
    """The explanation of one message's classification. ``print`` shows the text of 'spamnb explain'.

    Parameters
    ----------
    classification : Classification
        Verdict, probabilities and all evidence.
    top : int
        Number of tokens that are shown, the heaviest first.
    settings : Settings
        Settings of the model.
    counts : Sums
        Number of messages of each class, in ``totals``, and of those that have each of the ``top`` tokens.

    Examples
    --------
    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> spamnb.explain("corpora/mail/spam/0001.eml", "model.spamnb", top=3)
    <Explanation: verdict: spam>
    """

    classification: Classification
    top: int
    settings: Settings
    counts: Sums

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as values of JSON.

        Returns
        -------
        dict
            The keys are verdict, probabilities {class: p}, log_odds, doubt, truncations, is_decided_by_doubtful_text,
            and evidence [{token, weight, messages: {class: n}, correction}]. The correction is the part of the weight
            that corrects naive Bayes.

        Examples
        --------
        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> list(spamnb.explain(b"Subject: offer", "model.spamnb").to_dict())
        ['verdict', 'probabilities', 'log_odds', 'doubt', 'truncations', 'is_decided_by_doubtful_text',
         'evidence']
        """
        result = self.classification
        classes = self.counts.totals.classes
        evidence: list[dict[str, Any]] = []
        for k, (token, weight) in enumerate(result.evidence[: self.top]):
            messages = dict(zip(classes, self.counts.document_counts[k].tolist()))
            evidence.append({"token": token, "weight": weight, "messages": messages})
            if result.corrections:
                evidence[-1]["correction"] = result.corrections[k]
        return {
            "verdict": result.verdict,
            "probabilities": result.probabilities,
            "log_odds": result.log_odds,
            "doubt": result.doubt,
            "truncations": list(result.truncations),
            "is_decided_by_doubtful_text": result.is_decided_by_doubtful_text,
            "evidence": evidence,
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, verbose: bool = False) -> str:
        """Return the text that ``print`` shows: the verdict, and each token with its meaning and its messages.

        Parameters
        ----------
        verbose : bool
            Whether to add the weights in nats, the tokens as they are stored, and the probabilities before calibration.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> print(spamnb.explain(b"Subject: offer", "model.spamnb").text(verbose=True))
        verdict: ...
          ...: probability ... %, before calibration 0... (textbook naive Bayes)
        ...
        """
        result = self.classification
        lines = [f"verdict: {result.verdict}", *([f"  {result.sender.token}"] if result.sender else [])]
        if len(self.counts.totals.classes) > 1:  # a single class has the probability 1 for every message
            lines += self._format_probabilities(verbose)
        cause = reason_for_unsure(self.counts.totals.classes) or result.doubt
        lines += [f"  {cause}"] if cause else []
        lines += [f"  not read: {truncation}" for truncation in result.truncations]
        if result.is_decided_by_doubtful_text:
            lines.append("  hidden or doubtful text: without its words the verdict would be another")
        if len(self.counts.totals.classes) < 2:
            return "\n".join(lines)
        if not result.evidence:
            return "\n".join([*lines, "no token of this message is evidence"])
        return "\n".join([*lines, "", *self._format_tokens(verbose)])

    @property
    def ranked_classes(self) -> list[str]:
        """The classes, the likeliest first: list of str."""
        return sorted(self.classification.probabilities, key=lambda name: -self.classification.probabilities[name])

    @property
    def is_common(self) -> np.ndarray:
        """Whether all training messages have a token: array of shape (top,)."""
        return (self.counts.document_counts == self.counts.totals.documents).all(axis=1)

    def _format_probabilities(self, verbose: bool) -> list[str]:
        """Return lines with the probabilities of the likeliest classes, and the threshold of spam."""
        result = self.classification
        model = "textbook naive Bayes" if self.settings.model_type in BAYES_MODELS else "Gaussian model"
        threshold = format_probability(Loss.of(self.settings).threshold)
        return [
            f"  {name}: probability {format_probability(result.probabilities[name])}"
            + (f", before calibration {result.uncalibrated[name]:.4g} ({model})" if verbose else "")
            for name in self.ranked_classes[:SHOWN_CLASSES]
        ] + [
            f"  mail is called {name} if its probability of {name} is above {threshold}"
            for name in result.probabilities
            if name == self.settings.spam and len(result.probabilities) == 2
        ]

    def _format_tokens(self, verbose: bool) -> list[str]:
        """Return headings, a line per group of the ``top`` tokens, and one for tokens that all messages have."""
        result, totals = self.classification, self.counts.totals
        best, second = self.ranked_classes[:2]
        names = totals.classes if len(totals.classes) <= MAX_CLASS_COLUMNS else (best, second)
        numbers = [totals.classes.index(name) for name in names]
        counts, is_common = self.counts.document_counts, self.is_common
        shares = counts[:, numbers] / totals.documents[numbers]
        evidence, corrections = result.evidence[: self.top], result.corrections
        if len(totals.classes) > 2:  # a weight compares two classes only; in both of them the token may be rare
            theta = (counts + 0.5) / (totals.documents + 1)
            strongest, is_for = strongest_class(theta.T, totals.documents / totals.documents.sum())
            named = [f"{'' if sign else 'not '}{totals.classes[k]}" for k, sign in zip(strongest, is_for)]
        else:
            named = [best if weight > 0 else second for _, weight in evidence]
        # In nats, and shown if ``verbose``: the weight of each token, and the part of it that is the correction.
        weights = {"      nats": [weight for _, weight in evidence], "correction": corrections} if verbose else {}
        weights = {head: values for head, values in weights.items() if values}

        def make_row(positions: Sequence[int], description: str) -> list[str]:
            sums = [f"{sum(values[k] for k in positions):+.3f}" for values in weights.values()]
            return [named[positions[0]], *sums, *map(format_share, shares[positions[0]].tolist()), description]

        rows = [["for", *weights, *format_share_heads(names), "token" if verbose else ""]]
        for group in self._group_tokens(np.flatnonzero(~is_common).tolist(), verbose):
            token = evidence[group[0]].token
            rows.append(make_row(group, describe(token) if verbose else escape(meaning(token))))
        if is_common.any():
            rows.append(make_row(np.flatnonzero(is_common).tolist(), "base rate: evidence in every message"))
        lines = ["evidence for each class, and the share of each class's messages that have it:"]
        if verbose and corrections:
            total, correction = sum(weight for _, weight in result.evidence), sum(corrections)
            lines.insert(0, f"naive Bayes gives {total - correction:+.3f} nats, its correction {correction:+.3f}")
        lines += align_columns(rows, range(1, len(rows[0]) - 1))
        if len(result.evidence) > self.top:
            lines.append(f"… and {pluralize(len(result.evidence) - self.top, 'lighter token')}")
        return lines

    def _group_tokens(self, positions: Sequence[int], verbose: bool) -> list[list[int]]:
        """Group the positions of tokens: an address and the networks or domains that contain it, the narrowest first.

        If ``verbose``, each token is a group.
        """
        tokens = [evidence.token for evidence in self.classification.evidence]
        groups: list[list[int]] = []
        for position in positions:
            for group in groups if not verbose else []:
                if is_narrower(tokens[position], tokens[group[0]]):
                    group.insert(0, position)
                    break
                if is_narrower(tokens[group[0]], tokens[position]):
                    group.append(position)
                    break
            else:
                groups.append([position])
        return groups


def reason_for_unsure(classes: Sequence[str]) -> str:
    """Return the reason why a model of these classes cannot tell them apart, or "" if it can.

    >>> reason_for_unsure(["ham"])
    "the model has learned only class 'ham'; 'spamnb learn' adds messages of another class"
    """
    if not classes:
        return "the model has learned nothing yet; 'spamnb learn' adds messages"
    if len(classes) == 1:
        return f"the model has learned only class {classes[0]!r}; 'spamnb learn' adds messages of another class"
    return ""


def explain(
    message: bytes | FilePath, model: FilePath, top: int = 20, *, people: People | None = None, tell: Tell = warn
) -> Explanation:
    """Explain the classification of one message by the tokens with the largest weights.

    Parameters
    ----------
    message : bytes, str or path
        The raw message, or a file with one message.
    model : str or path
        Model file.
    top : int, default=20
        Number of tokens. The weight of a token is its part of the log-odds between the two likeliest classes, in nats.
    people : People, default=None
        People whose mail is never spam, and people whose mail is always spam.
    tell : callable, default=warnings.warn
        Called with a line if the file cannot be read.

    Returns
    -------
    Explanation
        Verdict, probabilities, and the tokens with the largest weights.

    Raises
    ------
    SpamnbError
        If there is no such model or message, or if the file has several messages.

    Examples
    --------
    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> print(spamnb.explain(b"Subject: minutes\\n\\nthe agenda of the meeting\\n", "model.spamnb", top=2))
    verdict: ham
      ham: probability 9... %
      spam: probability ... %
    ...
    """
    from spamnb.filter import Classifier

    check_least(1, top=top)
    raw = message if isinstance(message, bytes) else _read_single(str(file_path(message, "message")), tell)
    with Classifier.open(file_path(model)) as classifier:
        explanation = attempt(lambda: explain_message(raw, classifier, top, people))
    if isinstance(explanation, OSError):
        raise SpamnbError(f"{'the message' if isinstance(message, bytes) else message}: {reason(explanation)}")
    return explanation


def explain_message(raw: bytes, classifier: Classifier, top: int, people: People | None = None) -> Explanation:
    """Explain the classification of one message by an open model."""
    with classifier.store.reading():
        classification = classifier.classify(raw)
        if people is not None:
            classification = people.override(classification, raw)
        return Explanation(
            classification,
            top,
            classifier.settings,
            classifier.store.look_up([evidence.token for evidence in classification.evidence[:top]]),
        )


def _read_single(source: str, tell: Tell) -> bytes:
    """Return the message in a file. Raise SpamnbError if the file has several messages, or none."""
    from spamnb.sources.spec import find_entries

    entries = list(islice(find_entries([source], SkippedMessages(tell)), 2))
    if len(entries) != 1:
        several = "more than one message; 'spamnb classify --explain 20' explains all"
        raise SpamnbError(f"{source}: {several if entries else 'no message'}")
    try:
        return entries[0].read()
    except OSError as error:
        raise SpamnbError(f"{entries[0].name}: {error.strerror}") from None
