"""A judgement in the terms of mail software: points, a threshold of 5.0, names of what was hit.

Delivery rules compare a score with 5.0 and know no probabilities, so calibrated log-odds of spam are scaled:

    score = 5 + 5 (log-odds − threshold) / max(threshold, 1)        both in nats

which is 5 where the verdict becomes spam, 0 at even odds (for thresholds of a nat or more), and
rises with the log-odds whatever the threshold is.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spamnb import __version__
from spamnb.errors import SpamnbError
from spamnb.formulas.decision import UNSURE
from spamnb.judgement import Evidence
from spamnb.people import BLOCKED, CERTAINTY, KNOWN, own_people

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.judgement import Judgement
    from spamnb.reader.read_message import ReadMessage

THRESHOLD = 5.0
_STEP = 0.1  # one decimal: what Exim and spamass-milter keep of a score
_MAX_POINTS = 99.9
_MAX_STARS = 50  # stars in X-Spam-Level, so that a header line stays a line
_MAX_NAMES = 12  # tokens named in X-Spam-Status and SYMBOLS
_MAX_REPORT_ROWS = 40  # tokens listed in a report: well under the 32,600 bytes that Exim reads
_MAX_NAME_LENGTH = 48


@dataclass(frozen=True, slots=True)
class Score:
    """One message's points and what they are based on."""

    verdict: str  # "spam", "ham" or "unsure"
    points: float
    log_odds: float
    evidence: tuple[tuple[str, float], ...]  # strongest first; nats, positive towards spam

    @classmethod
    def of(cls, verdict: str, log_odds: float, threshold: float, evidence: tuple[tuple[str, float], ...] = ()) -> Score:
        """The score of a verdict; above *threshold* (nats of calibrated log-odds) it is spam."""
        points = points_of(log_odds, threshold)
        # Clients compare the rounded figure themselves; it must agree with the verdict.
        points = max(points, THRESHOLD) if verdict == "spam" else min(points, THRESHOLD - _STEP)
        return cls(verdict, points, log_odds, evidence)

    @property
    def spam(self) -> bool:
        return self.verdict == "spam"

    @property
    def text(self) -> str:
        return f"{self.points:.1f}"

    @property
    def names(self) -> str:
        """The strongest tokens, comma-separated, as printable ASCII without blanks."""
        return ",".join(name_of(token) for token, _ in self.evidence[:_MAX_NAMES])

    def report(self) -> bytes:
        """The tokens that decided, as a short table."""
        odds = f"log-odds of spam {self.log_odds:+.2f} nats"
        lines = [f"spamnb: {self.verdict}, {self.text} points of {THRESHOLD}, {odds}", "", "   nats  token"]
        lines += [f"{weight:+7.3f}  {name_of(token)}" for token, weight in self.evidence]
        return ("\n".join(lines) + "\n").encode("ascii")

    def fields(self) -> list[tuple[str, str]]:
        """The X-Spam-* header fields of this verdict."""
        status = (
            f"{'Yes' if self.spam else 'No'}, score={self.text} required={THRESHOLD} verdict={self.verdict} "
            f"tests={self.names.replace(',', ', ') or 'none'} version={__version__}"
        )
        flag = [("X-Spam-Flag", "YES")] if self.spam else []
        level = [("X-Spam-Level", "*" * min(int(self.points), _MAX_STARS))] if self.points >= 1 else []
        checker = [("X-Spam-Checker-Version", f"spamnb {__version__}")]
        return [*flag, *level, ("X-Spam-Status", status), *checker]


def score_message(model: Classifier, raw: bytes | ReadMessage) -> Score:
    """The score of one message by *model*; any class that is not its class of spam counts as ham. What the file of
    people says of its sender goes before, and is its first evidence.

    SpamnbError where no class is spam.
    """
    judgement = model.classify(raw, tokens=_MAX_REPORT_ROWS, of_spam=True, posterior=False)
    return _score_of(model, judgement, raw if isinstance(raw, bytes) else raw.raw)


def score_messages(model: Classifier, raws: Iterable[bytes]) -> list[Score]:
    """``score_message`` for many raw messages at once."""
    messages = list(raws)
    judgements = model.classify_all(messages, tokens=_MAX_REPORT_ROWS, of_spam=True, posterior=False)
    return [_score_of(model, judgement, raw) for judgement, raw in zip(judgements, messages)]


def _score_of(model: Classifier, judgement: Judgement, raw: bytes) -> Score:
    spam = model.settings.spam
    if spam not in judgement.probabilities:
        model.check_spam()
    verdict = {spam: "spam", UNSURE: UNSURE}.get(judgement.verdict, "ham")
    p = model.settings.loss.threshold
    said, log_odds = own_people().say(raw), judgement.score
    if said in (KNOWN, BLOCKED):
        verdict = "spam" if said == BLOCKED else "ham"
        log_odds = max(log_odds, CERTAINTY) if said == BLOCKED else min(log_odds, -CERTAINTY)
    first = [Evidence(said, log_odds - judgement.score)] if said else []
    evidence = tuple([*first, *judgement.evidence][:_MAX_REPORT_ROWS])
    return Score.of(verdict, log_odds, math.log(p / (1 - p)), evidence)


def class_of_label(model: Classifier, label: str) -> str:
    """The class of *model* that mail software calls "spam" or "ham".

    SpamnbError where the model has several classes of good mail and none is called ham: no class is made
    beside those that a model has.
    """
    spam = model.settings.spam
    if label == "spam":
        return spam
    others = [name for name in model.store.totals().classes if name != spam]
    if len(others) > 1 and "ham" not in others:
        raise SpamnbError(
            f"{model.store.path}: 'ham' is none of its classes {', '.join(others)}; 'spamnb learn' names one"
        )
    return others[0] if len(others) == 1 else "ham"


def points_of(log_odds: float, threshold: float) -> float:
    """Points of calibrated *log_odds*, to one decimal; both in nats.

    >>> points_of(2.3, 2.3), points_of(0.0, 2.3), points_of(0.0, 0.0)
    (5.0, 0.0, 5.0)
    """
    points = THRESHOLD + THRESHOLD * (log_odds - threshold) / max(threshold, 1.0)
    return round(min(max(points, -_MAX_POINTS), _MAX_POINTS), 1) + 0.0  # + 0.0: never "-0.0"


def name_of(token: str) -> str:
    """A token as one printable ASCII word without comma: it stands in header lines and comma-separated lists.

    >>> name_of("subject:win, now"), name_of("выигрыш")
    ('subject:win;_now', '\\\\u0432\\\\u044b\\\\u0438\\\\u0433\\\\u0440\\\\u044b\\\\u0448')
    """
    word = "_".join(token[:_MAX_NAME_LENGTH].replace(",", ";").split())
    word = word.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(c if "!" <= c <= "~" else "?" for c in word) or "?"
