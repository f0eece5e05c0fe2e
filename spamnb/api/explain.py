"""``spamnb.explain``: the tokens that decided one message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.api.arguments import FilePath, Tell, check_least, model_path, warn
from spamnb.api.report import Report
from spamnb.errors import SpamnbError
from spamnb.judgement import Judgement
from spamnb.naming import escape, pluralize
from spamnb.settings import BAYES_MODELS, COUNT_MODELS, Settings
from spamnb.sources.entries import LeftOut

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.counts.class_counts import ClassTotals, TokenCounts


SHOWN = 3  # tokens at a prompt
SHOWN_CLASSES = 5


@dataclass(frozen=True)
class Explanation(Report):
    """What decided one message: ``print`` shows what the command line does.

    - ``judgement``: the verdict, its probabilities by class, and all the evidence
    - ``top``: how many of the tokens are shown
    - ``settings``, ``totals``, ``counts``: of the model, what the table beside the tokens is made of:
      messages by class, (C,), and of those that hold each of the ``top`` tokens, (C, top)

    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> spamnb.explain("corpora/mail/spam/0001.eml", "model.spamnb", top=3)
    Explanation(spam, probability 0.9...: ... +..., ... +..., ... +..., ...)
    """

    judgement: Judgement
    top: int
    settings: Settings
    totals: ClassTotals
    counts: TokenCounts

    def __repr__(self) -> str:
        told = self.judgement
        probability = max(told.probabilities.values(), default=0.0)
        heaviest = [f"{escape(token)} {weight:+.2f}" for token, weight in told.evidence[: min(self.top, SHOWN)]]
        more = ["..."] if len(told.evidence) > len(heaviest) else []
        return f"Explanation({told.verdict}, probability {probability:.4f}: {', '.join([*heaviest, *more])})"

    def to_dict(self) -> dict[str, Any]:
        """As what json can hold: verdict, probabilities {class: p}, score, enough, truncations, and evidence [{token,
        weight, messages: {class: n}}], with the part of each weight that corrects naive Bayes in a corrected model.

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> list(spamnb.explain(b"Subject: offer", "model.spamnb").to_dict())
        ['verdict', 'probabilities', 'score', 'enough', 'truncations', 'evidence']
        """
        told = self.judgement
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
            "score": told.score,
            "enough": told.enough,
            "truncations": list(told.truncations),
            "evidence": evidence,
        }

    def __str__(self) -> str:
        return self.text()

    def text(self, verbose: bool = False) -> str:
        """What ``print`` shows; where ``verbose``, also the probabilities before calibration, and which part of each
        weight corrects naive Bayes.

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> print(spamnb.explain(b"Subject: offer", "model.spamnb").text(verbose=True))
        verdict: ...
          ...: probability 0..., before calibration 0... (textbook naive Bayes)
        ...
        """
        told, classes = self.judgement, self.totals.classes
        not_read = [f"  not read: {what}" for what in told.truncations]
        if len(classes) < 2:  # a single class has probability 1 whatever the message holds, which says nothing
            known = "nothing yet; 'spamnb learn' adds messages"
            for name in classes:
                known = f"class {name!r} alone, and nothing to tell it from; 'spamnb learn' adds another class"
            return "\n".join([f"verdict: {told.verdict}", f"  the model has learned {known}", *not_read])
        lines = [f"verdict: {told.verdict}", *self._probabilities(verbose), *not_read]
        if not told.evidence:
            return "\n".join([*lines, "no token of this message is evidence"])
        return "\n".join([*lines, *self._tokens(verbose)])

    def _ranked(self) -> list[str]:
        """The classes, the likeliest first."""
        return sorted(self.judgement.probabilities, key=lambda name: -self.judgement.probabilities[name])

    def _probabilities(self, verbose: bool) -> list[str]:
        told = self.judgement
        own = "textbook naive Bayes" if self.settings.model_type in BAYES_MODELS else "the model's own"
        lines = [
            f"  {name}: probability {told.probabilities[name]:.4f}"
            + (f", before calibration {told.posterior[name]:.4g} ({own})" if verbose else "")
            for name in self._ranked()[:SHOWN_CLASSES]
        ]
        if not told.enough:
            lines.append("  the model has seen too few messages for these probabilities to mean much")
        return lines

    def _tokens(self, verbose: bool) -> list[str]:
        """A line for each token: its weight, and the messages that hold it. Tokens of all messages are one line."""
        told, totals = self.judgement, self.totals
        best, second = self._ranked()[:2]
        corrections = told.corrections if verbose else ()
        lines, whereof = [""], ""
        if self.settings.model_type in COUNT_MODELS and self.settings.pooling == "mean":
            whereof = " (its share of the message's weighted mean)"
        elif self.settings.model_type == "corrected" and verbose:
            whereof = " (naive Bayes and its correction, then the latter alone)"
            corrected = sum(told.corrections)
            uncorrected = sum(weight for _, weight in told.evidence) - corrected
            lines += [f"naive Bayes gives {uncorrected:+.3f} nats, its correction {corrected:+.3f}", ""]
        of = f"weight in nats for {best} (+) against {second} (−){whereof}"
        lines.append(f"{of}; messages that hold the token, of all:")
        names = totals.classes if len(totals.classes) <= 4 else (best, second)
        rows = [totals.classes.index(name) for name in names]
        heads = [f"{name} /{totals.documents[row]}" for name, row in zip(names, rows)]
        widths = [max(12, len(head)) for head in heads]

        def line(weight: str, part: str, cells: Sequence[object], token: str) -> str:
            columns = [f"{weight:>8}", *([f"{part:>10}"] if corrections else [])]
            return "  ".join([*columns, *(f"{cell:>{width}}" for cell, width in zip(cells, widths)), token])

        lines.append(line("nats", "correction", heads, "token"))
        counts = self.counts.document_counts[:, : self.top]
        everywhere = (counts == totals.documents[:, None]).all(axis=0)
        shown = told.evidence[: self.top]
        for k, (token, weight) in enumerate(shown):
            if not everywhere[k]:
                part = f"{corrections[k]:+.3f}" if corrections else ""
                lines.append(line(f"{weight:+.3f}", part, counts[rows, k].tolist(), escape(token)))
        common = np.flatnonzero(everywhere).tolist()
        if common:
            part = f"{sum(corrections[k] for k in common):+.3f}" if corrections else ""
            tokens = ", ".join(escape(shown[k].token) for k in common)
            documents = totals.documents[rows].tolist()
            total = f"{sum(shown[k].weight for k in common):+.3f}"
            lines.append(line(total, part, documents, f"in every message: {tokens}"))
        if len(told.evidence) > self.top:
            lines.append(f"… and {pluralize(len(told.evidence) - self.top, 'lighter one')}")
        return lines


def explain(message: bytes | FilePath, model: FilePath, top: int = 20, *, tell: Tell = warn) -> Explanation:
    """What decided one message: its verdict, and the ``top`` tokens that gave most to it.

    ``message`` is the raw message as bytes, or the path of a file that holds one. A token's weight is what it gave, in
    nats, to the log-odds of the likeliest class against the next. ``tell`` is given a line for a file that cannot be
    read; by default this is a warning.

    Raises SpamnbError where there is no such model or message, or more than one message in the file.

    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> print(spamnb.explain(b"Subject: minutes\\n\\nthe agenda of the meeting\\n", "model.spamnb", top=2))
    verdict: ham
      ham: probability 0.9...
      spam: probability 0.0...
    ...
    """
    from spamnb.classifier import Classifier

    check_least(1, top=top)
    raw = message if isinstance(message, bytes) else _only(str(message), tell)
    with Classifier.open(model_path(model)) as classifier:
        return explanation_of(raw, classifier, top)


def explanation_of(raw: bytes, classifier: Classifier, top: int) -> Explanation:
    """What decided one message, of a model that is open."""
    with classifier.store.reading():
        judgement = classifier.classify(raw)
        return Explanation(
            judgement,
            top,
            classifier.settings,
            classifier.store.totals(),
            classifier.store.look_up([evidence.token for evidence in judgement.evidence[:top]]),
        )


def _only(source: str, tell: Tell) -> bytes:
    """The one message of a file."""
    from spamnb.sources.spec import unlabelled

    left_out = LeftOut(tell)
    found = list(islice(unlabelled([source], left_out), 2))
    if len(found) != 1:
        raise SpamnbError(f"{source}: {'more than one message' if found else 'no message'}; give one as bytes")
    try:
        return found[0].read()
    except OSError as error:
        raise SpamnbError(f"{found[0].name}: {error.strerror}") from None
