"""``spamnb.explain``: the tokens that decided one message."""

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


SHOWN_CLASSES = 5


@dataclass(frozen=True, repr=False)
class Explanation(Report):
    """What decided one message: ``print`` shows what the command line does.

    - ``classification``: the verdict, its probabilities by class, and all the evidence
    - ``top``: how many of the tokens are shown, heaviest first
    - ``settings``, ``totals``, ``counts``: of the model, what the table beside the tokens is made of:
      messages by class, (C,), and of those that hold each of the ``top`` tokens, (C, top)

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
        """Return what JSON can hold: verdict, probabilities {class: p}, log_odds, enough, truncations, and evidence
        [{token, weight, messages: {class: n}}], with the part of each weight that corrects naive Bayes.

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> list(spamnb.explain(b"Subject: offer", "model.spamnb").to_dict())
        ['verdict', 'probabilities', 'log_odds', 'enough', 'truncations', 'evidence']
        """
        told = self.classification
        classes = self.totals.classes
        evidence: list[dict[str, Any]] = []
        for k, (token, weight) in enumerate(told.evidence[: self.top]):
            held = dict(zip(classes, self.counts.document_counts[:, k].tolist()))
            evidence.append({"token": token, "weight": weight, "messages": held})
            if told.corrections:
                evidence[-1]["correction"] = told.corrections[k]
        return {
            "verdict": told.verdict,
            "probabilities": told.probabilities,
            "log_odds": told.log_odds,
            "enough": told.enough,
            "truncations": list(told.truncations),
            "evidence": evidence,
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, verbose: bool = False) -> str:
        """What ``print`` shows: the verdict, and for each token what it means and what share of each class's messages
        has it. ``verbose`` adds weights in nats, the part of each that corrects naive Bayes, the tokens as they are
        stored, and the probabilities before calibration.

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> print(spamnb.explain(b"Subject: offer", "model.spamnb").text(verbose=True))
        verdict: ...
          ...: probability ... %, before calibration 0... (textbook naive Bayes)
        ...
        """
        told = self.classification
        lines = [f"verdict: {told.verdict}", *([f"  {told.sender.token}"] if told.sender else [])]
        if len(self.totals.classes) > 1:  # a single class has probability 1 whatever the message holds
            lines += self._probabilities(verbose)
        why = reason_for_unsure(self.totals.classes, told.enough)
        lines += [f"  {why}"] if why else []
        lines += [f"  not read: {what}" for what in told.truncations]
        if len(self.totals.classes) < 2:
            return "\n".join(lines)
        if not told.evidence:
            return "\n".join([*lines, "no token of this message is evidence"])
        return "\n".join([*lines, "", *self._tokens(verbose)])

    def _ranked(self) -> list[str]:
        """The classes, the likeliest first."""
        return sorted(self.classification.probabilities, key=lambda name: -self.classification.probabilities[name])

    def _probabilities(self, verbose: bool) -> list[str]:
        told = self.classification
        own = "textbook naive Bayes" if self.settings.model_type in BAYES_MODELS else "the model's own"
        return [
            f"  {name}: probability {format_probability(told.probabilities[name])}"
            + (f", before calibration {told.posterior[name]:.4g} ({own})" if verbose else "")
            for name in self._ranked()[:SHOWN_CLASSES]
        ] + [
            f"  mail is called {name} above {format_probability(self.settings.loss.threshold)}"
            for name in told.probabilities
            if name == self.settings.spam and len(told.probabilities) == 2
        ]

    def _tokens(self, verbose: bool) -> list[str]:
        """A line for each of the ``top`` tokens, one for those of all messages together."""
        told, totals = self.classification, self.totals
        best, second = self._ranked()[:2]
        names = totals.classes if len(totals.classes) <= 4 else (best, second)
        rows = [totals.classes.index(name) for name in names]
        counts = self.counts.document_counts
        everywhere = (counts == totals.documents[:, None]).all(axis=0)
        shares = 100 * counts[rows] / totals.documents[rows, None]
        shown, corrections = told.evidence[: self.top], told.corrections
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
            total, corrected = sum(weight for _, weight in told.evidence), sum(corrections)
            lines.insert(0, f"naive Bayes gives {total - corrected:+.3f} nats, its correction {corrected:+.3f}")
        for group in self._groups(np.flatnonzero(~everywhere).tolist(), verbose):
            token = shown[group[0]].token
            meant = escape(meaning(token))
            as_stored = f"{escape(token)}{meant and f'  ({meant})'}"
            lines.append(about(group, as_stored if verbose else meant or escape(token)))
        if everywhere.any():
            lines.append(about(np.flatnonzero(everywhere).tolist(), "base rate: what every message has"))
        if len(told.evidence) > self.top:
            lines.append(f"… and {pluralize(len(told.evidence) - self.top, 'lighter one')}")
        return [each.rstrip() for each in lines]

    def _groups(self, places: Sequence[int], verbose: bool) -> list[list[int]]:
        """The shown tokens by place, an address with the wider ones that it lies in, told as the narrowest; each token
        alone where ``verbose``."""
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
    """Why a model of these classes cannot tell spam yet; "" where it can.

    >>> reason_for_unsure(["ham"], False)
    "the model has learned class 'ham' alone, and nothing to tell it from; 'spamnb learn' adds another class"
    """
    if not classes:
        return "the model has learned nothing yet; 'spamnb learn' adds messages"
    if len(classes) == 1:
        alone = f"the model has learned class {classes[0]!r} alone"
        return f"{alone}, and nothing to tell it from; 'spamnb learn' adds another class"
    return "" if enough else "the model has seen too few messages for these probabilities to mean much"


def why_unsure(classifier: Classifier) -> str:
    """The same of a model that is open."""
    return reason_for_unsure(classifier.store.totals().classes, classifier.classify(b"").enough)


def explain(
    message: bytes | FilePath, model: FilePath, top: int = 20, *, people: People | None = None, tell: Tell = warn
) -> Explanation:
    """What decided one message: its verdict, and the ``top`` tokens that gave most to it.

    ``message`` is the raw message as bytes, or the path of a file that holds one. A token's weight is what it gave, in
    nats, to the log-odds of the likeliest class against the next. ``people`` say whose mail is never spam. ``tell`` is
    given a line for a file that cannot be read; by default this is a warning.

    Raises SpamnbError where there is no such model or message, or more than one message in the file.

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
    """What decided one message, of a model that is open."""
    with classifier.store.reading():
        classification = classifier.classify(raw)
        if people is not None:
            classification = people.decide(classification, raw)
        return Explanation(
            classification,
            top,
            classifier.settings,
            classifier.store.totals(),
            classifier.store.look_up([evidence.token for evidence in classification.evidence[:top]]),
        )


def _only(source: str, tell: Tell) -> bytes:
    """The one message of a file."""
    from spamnb.sources.spec import find_entries

    left_out = SkippedMessages(tell)
    found = list(islice(find_entries([source], left_out), 2))
    if len(found) != 1:
        many = "more than one message; 'spamnb classify --explain 20' takes them all"
        raise SpamnbError(f"{source}: {many if found else 'no message'}")
    try:
        return found[0].read()
    except OSError as error:
        raise SpamnbError(f"{found[0].name}: {error.strerror}") from None
