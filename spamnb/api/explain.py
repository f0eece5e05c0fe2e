"""``spamnb.explain``: the tokens that decided one message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from spamnb.api.notices import Tell, warn
from spamnb.api.options import FilePath, check_least, model_path
from spamnb.judgement import Judgement
from spamnb.naming import escape
from spamnb.sources.entries import LeftOut

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.counts.class_counts import ClassTotals, TokenCounts
    from spamnb.learners.learner import Direction
    from spamnb.settings import Settings


SHOWN = 3  # tokens at a prompt


@dataclass(frozen=True)
class Explanation:
    """What decided one message: ``print`` shows what the command line does, a notebook a bar for each token.

    - ``judgement``: the verdict, its probabilities by class, and all the evidence
    - ``top``: how many of the tokens are shown
    - ``settings``, ``totals``, ``counts``, ``directions``: of the model, what the table beside the tokens is made of:
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
    directions: Sequence[Direction] = ()

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

    def to_frame(self) -> Any:
        """A data frame of pandas, a row for each token, the heaviest first: token, weight (in nats, for the
        likeliest class against the next), of a corrected model the part of it that corrects naive Bayes, and
        ``messages:CLASS``, the messages of each class that hold the token. Raises SpamnbError without pandas.

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> spamnb.explain(b"Subject: offer", "model.spamnb").to_frame().columns.tolist()
        ['token', 'weight', 'correction', 'messages:ham', 'messages:spam']
        """
        from spamnb.report.frames import frame

        evidence = self.judgement.evidence[: self.top]
        columns: dict[str, Any] = {"token": [e.token for e in evidence], "weight": [e.weight for e in evidence]}
        if self.judgement.corrections:
            columns["correction"] = list(self.judgement.corrections[: self.top])
        for name, row in zip(self.totals.classes, self.counts.document_counts):
            columns[f"messages:{name}"] = row[: len(evidence)].tolist()
        return frame(columns)

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
        from spamnb.report.explanation import explanation

        return explanation(self.judgement, self.settings, self.totals, self.counts, self.directions, self.top, verbose)

    def _repr_html_(self) -> str:
        from spamnb.report.notebook import explanation_html

        return explanation_html(self.judgement, self.settings.spam, self.top)


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
        message = classifier.read(raw)
        judgement = classifier.classify(message)
        return Explanation(
            judgement,
            top,
            classifier.settings,
            classifier.store.totals(),
            classifier.store.look_up([evidence.token for evidence in judgement.evidence[:top]]),
            classifier.directions(message),
        )


def _only(source: str, tell: Tell) -> bytes:
    """The one message of a file."""
    from spamnb.errors import SpamnbError
    from spamnb.sources.one_class import unlabelled

    left_out = LeftOut(tell)
    found = list(islice(unlabelled([source], left_out), 2))
    if len(found) != 1:
        raise SpamnbError(f"{source}: {'more than one message' if found else 'no message'}; give one as bytes")
    try:
        return found[0].read()
    except OSError as error:
        raise SpamnbError(f"{found[0].name}: {error.strerror}") from None
