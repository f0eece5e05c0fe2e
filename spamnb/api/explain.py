"""``spamnb.explain``: show the tokens that decided one message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.api.arguments import FilePath, Tell, check_least, file_path, warn
from spamnb.api.report import Report
from spamnb.classification import Classification
from spamnb.errors import SpamnbError, reason
from spamnb.people import People
from spamnb.reader.meaning import is_narrower, meaning
from spamnb.settings import BAYES_MODELS, Settings
from spamnb.shown_text import escape, format_probability, pluralize
from spamnb.sources.entries import SkippedMessages, attempt

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.counts.class_counts import ClassTotals, TokenCounts


SHOWN_CLASSES = 5  # the likeliest classes: a model of newsgroups has twenty


@dataclass(frozen=True, repr=False)
class Explanation(Report):
    """The explanation of one message's classification; ``print`` shows what the command line does.

    Parameters
    ----------
    classification : Classification
        Verdict, probabilities and all the evidence.
    top : int
        The number of tokens that are shown, heaviest first.
    settings : Settings
        The settings of the model.
    totals : ClassTotals
        The messages of each class of the model.
    counts : TokenCounts
        The messages of each class that contain each of the ``top`` tokens.

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
    totals: ClassTotals
    counts: TokenCounts

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as values of JSON.

        Returns
        -------
        dict
            The keys are verdict, probabilities {class: p}, log_odds, enough, truncations, and evidence [{token, weight,
            messages: {class: n}}], with the part of each weight that corrects naive Bayes.

        Examples
        --------
        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> list(spamnb.explain(b"Subject: offer", "model.spamnb").to_dict())
        ['verdict', 'probabilities', 'log_odds', 'enough', 'truncations', 'evidence']
        """
        result = self.classification
        classes = self.totals.classes
        evidence: list[dict[str, Any]] = []
        for k, (token, weight) in enumerate(result.evidence[: self.top]):
            messages = dict(zip(classes, self.counts.document_counts[:, k].tolist()))
            evidence.append({"token": token, "weight": weight, "messages": messages})
            if result.corrections:
                evidence[-1]["correction"] = result.corrections[k]
        return {
            "verdict": result.verdict,
            "probabilities": result.probabilities,
            "log_odds": result.log_odds,
            "enough": result.enough,
            "truncations": list(result.truncations),
            "evidence": evidence,
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, verbose: bool = False) -> str:
        """Return the printed text: the verdict, and for each token its meaning and the messages that have it.

        Parameters
        ----------
        verbose : bool
            Whether to add weights in nats, the part of each that corrects naive Bayes, the tokens as they are stored,
            and the probabilities before calibration.

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
        if len(self.totals.classes) > 1:  # a single class has probability 1 whatever the message holds
            lines += self._probabilities(verbose)
        why = reason_for_unsure(self.totals.classes, result.enough)
        lines += [f"  {why}"] if why else []
        lines += [f"  not read: {truncation}" for truncation in result.truncations]
        if len(self.totals.classes) < 2:
            return "\n".join(lines)
        if not result.evidence:
            return "\n".join([*lines, "no token of this message is evidence"])
        return "\n".join([*lines, "", *self._tokens(verbose)])

    def _ranked(self) -> list[str]:
        """Return the classes, the likeliest first."""
        return sorted(self.classification.probabilities, key=lambda name: -self.classification.probabilities[name])

    def _probabilities(self, verbose: bool) -> list[str]:
        result = self.classification
        before = "textbook naive Bayes" if self.settings.model_type in BAYES_MODELS else "the model's own"
        return [
            f"  {name}: probability {format_probability(result.probabilities[name])}"
            + (f", before calibration {result.posterior[name]:.4g} ({before})" if verbose else "")
            for name in self._ranked()[:SHOWN_CLASSES]
        ] + [
            f"  mail is called {name} above {format_probability(self.settings.loss.threshold)}"
            for name in result.probabilities
            if name == self.settings.spam and len(result.probabilities) == 2
        ]

    def _tokens(self, verbose: bool) -> list[str]:
        """Return a line for each of the ``top`` tokens, and one for the tokens that all messages have."""
        result, totals = self.classification, self.totals
        best, second = self._ranked()[:2]
        names = totals.classes if len(totals.classes) <= 4 else (best, second)
        rows = [totals.classes.index(name) for name in names]
        counts = self.counts.document_counts
        everywhere = (counts == totals.documents[:, None]).all(axis=0)
        shares = 100 * counts[rows] / totals.documents[rows, None]
        shown, corrections = result.evidence[: self.top], result.corrections
        widths = [max(7, len(name)) for name in names]
        side = max(len(best), len(second), len("for"))

        def line(side_of: str, weights: Sequence[str], cells: Sequence[str], token: str) -> str:
            columns = [f"{side_of:<{side}}", *(f"{weight:>10}" for weight in weights if verbose)]
            return "  ".join([*columns, *(f"{cell:>{width}}" for cell, width in zip(cells, widths)), token])

        def about(tokens: Sequence[int], what: str) -> str:
            weight = sum(shown[k].weight for k in tokens)
            parts = [f"{sum(corrections[k] for k in tokens):+.3f}"] if corrections else []
            cells = [f"{share:.3g} %" for share in shares[:, tokens[0]]]
            return line(best if weight > 0 else second, [f"{weight:+.3f}", *parts], cells, what)

        heads = ["nats", *(["correction"] if corrections else [])]
        lines = [
            "what speaks for which class, and the share of each class's messages that has it:",
            line("for", heads, names, "token" if verbose else ""),
        ]
        if verbose and corrections:
            total, corrected = sum(weight for _, weight in result.evidence), sum(corrections)
            lines.insert(0, f"naive Bayes gives {total - corrected:+.3f} nats, its correction {corrected:+.3f}")
        for group in self._groups(np.flatnonzero(~everywhere).tolist(), verbose):
            token = shown[group[0]].token
            description = escape(meaning(token))
            as_stored = f"{escape(token)}{description and f'  ({description})'}"
            lines.append(about(group, as_stored if verbose else description or escape(token)))
        if everywhere.any():
            lines.append(about(np.flatnonzero(everywhere).tolist(), "base rate: what every message has"))
        if len(result.evidence) > self.top:
            lines.append(f"… and {pluralize(len(result.evidence) - self.top, 'lighter one')}")
        return [each.rstrip() for each in lines]

    def _groups(self, places: Sequence[int], verbose: bool) -> list[list[int]]:
        """Group the positions of shown tokens: an address with the networks or domains around it, narrowest first.

        If ``verbose``, each token is a group.
        """
        tokens = [evidence.token for evidence in self.classification.evidence]
        groups: list[list[int]] = []
        for place in places:
            for group in groups if not verbose else []:
                if is_narrower(tokens[place], tokens[group[0]]):
                    group.insert(0, place)
                    break
                if is_narrower(tokens[group[0]], tokens[place]):
                    group.append(place)
                    break
            else:
                groups.append([place])
        return groups


def reason_for_unsure(classes: Sequence[str], enough: bool) -> str:
    """Return the reason why a model of some classes cannot recognise spam yet; "" if it can.

     reason_for_unsure(["ham"], False)
    "the model has learned class 'ham' alone, and nothing to tell it from; 'spamnb learn' adds another class"
    """
    if not classes:
        return "the model has learned nothing yet; 'spamnb learn' adds messages"
    if len(classes) == 1:
        alone = f"the model has learned class {classes[0]!r} alone"
        return f"{alone}, and nothing to tell it from; 'spamnb learn' adds another class"
    return "" if enough else "the model has seen too few messages for these probabilities to mean much"


def why_unsure(classifier: Classifier) -> str:
    """Return the reason why an open model cannot recognise spam yet; "" if it can."""
    return reason_for_unsure(classifier.store.totals().classes, classifier.classify(b"").enough)


def explain(
    message: bytes | FilePath, model: FilePath, top: int = 20, *, people: People | None = None, tell: Tell = warn
) -> Explanation:
    """Explain the classification of one message by the tokens with the largest weights.

    Parameters
    ----------
    message : bytes, str or Path
        The raw message, or the path of a file with one message.
    model : str or Path
        The model file.
    top : int
        The number of tokens. The weight of a token is in nats of the log-odds of the likeliest class against the next.
    people : People or None
        The people whose mail is never spam, and the people whose mail is always spam.
    tell : callable
        Gets a line for a file that cannot be read. By default this is a warning.

    Returns
    -------
    Explanation
        The verdict and its tokens.

    Raises
    ------
    SpamnbError
        If there is no such model or message, or the file has several messages.

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
    from spamnb.classifier import Classifier

    check_least(1, top=top)
    raw = message if isinstance(message, bytes) else _only(str(file_path(message, "message")), tell)
    with Classifier.open(file_path(model)) as classifier:
        explanation = attempt(lambda: explanation_of(raw, classifier, top, people))
    if isinstance(explanation, OSError):
        raise SpamnbError(f"{'the message' if isinstance(message, bytes) else message}: {reason(explanation)}")
    return explanation


def explanation_of(raw: bytes, classifier: Classifier, top: int, people: People | None = None) -> Explanation:
    """Explain the classification of one message by an open model."""
    with classifier.store.reading():
        classification = classifier.classify(raw)
        if people is not None:
            classification = people.override(classification, raw)
        return Explanation(
            classification,
            top,
            classifier.settings,
            classifier.store.totals(),
            classifier.store.look_up([evidence.token for evidence in classification.evidence[:top]]),
        )


def _only(source: str, tell: Tell) -> bytes:
    """Return the one message of a file."""
    from spamnb.sources.spec import find_entries

    entries = list(islice(find_entries([source], SkippedMessages(tell)), 2))
    if len(entries) != 1:
        several = "more than one message; 'spamnb classify --explain 20' takes them all"
        raise SpamnbError(f"{source}: {several if entries else 'no message'}")
    try:
        return entries[0].read()
    except OSError as error:
        raise SpamnbError(f"{entries[0].name}: {error.strerror}") from None
