"""Classify mail by the model and the people in the configuration file, and format the result for mail software."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from spamnb import __version__
from spamnb.errors import SpamnbError
from spamnb.model.classification import SPAM_POINTS, Classification
from spamnb.people import load_people
from spamnb.shown_text import pluralize

if TYPE_CHECKING:
    from spamnb.filter import Classifier
    from spamnb.reader.read_message import ReadMessage

_MAX_STARS = 50  # stars in X-Spam-Level, as in SpamAssassin
_MAX_SYMBOLS = 12  # tokens in X-Spam-Status and SYMBOLS
_MAX_SYMBOLS_LENGTH = 850  # characters of these tokens with commas, because a line of mail has at most 998 characters
_MAX_SYMBOL_TOKEN = 48  # characters of a token, each of which has up to 10 characters in ASCII
_MAX_REPORT_ROWS = 40  # tokens in a report: their rows have at most 20,000 bytes, and Exim reads 32,600


def classify_mail(model: Classifier, raw: bytes | ReadMessage) -> Classification:
    """Classify one message, with the evidence for spam. What the user said of its sender overrides the model.

    Raise SpamnbError if the model has no class of spam.
    """
    return classify_mails(model, [raw])[0]


def classify_mails(
    model: Classifier, messages: Sequence[bytes | ReadMessage], users: Sequence[str] = ()
) -> list[Classification]:
    """Classify messages as `classify_mail` does; ``users`` are their recipients, who may know further people."""
    model.check_spam()
    people_of_each = [load_people(user) for user in users or [""] * len(messages)]
    classifications = model.classify_all(messages, n_evidence=_MAX_REPORT_ROWS, of_spam=True, uncalibrated=False)
    raws = [message if isinstance(message, bytes) else message.raw for message in messages]
    return [people.override(*pair) for people, pair in zip(people_of_each, zip(classifications, raws))]


def class_of_label(model: Classifier, label: str) -> str:
    """Return the class that mail software calls "spam" or "ham".

    Raise SpamnbError if the model has several classes of good mail and none is called ham.
    """
    spam = model.settings.spam
    if label == "spam":
        return spam
    others = [name for name in model.model.totals.classes if name != spam]
    if len(others) > 1 and "ham" not in others:
        raise SpamnbError(
            f"{model.store.path}: 'ham' is none of its classes {', '.join(others)}; use 'spamnb learn CLASS'"
        )
    return others[0] if len(others) == 1 else "ham"


def format_symbols(classification: Classification) -> str:
    """Return the tokens with the largest weights as printable ASCII without blanks, separated by commas."""
    symbols = [format_symbol(token) for token, _ in classification.reasons[:_MAX_SYMBOLS]]
    ends = accumulate(len(symbol) + len(", ") for symbol in symbols)
    return ",".join(symbol for symbol, end in zip(symbols, ends) if end <= _MAX_SYMBOLS_LENGTH)


def format_report(classification: Classification) -> bytes:
    """Return a short table of the tokens that decided."""
    odds = f"log-odds of spam {classification.log_odds:+.2f} nats"
    verdict = f"{classification.mail_verdict}, {classification.points:.1f} points of {SPAM_POINTS}, {odds}"
    rows = (f"{weight:+7.3f}  {format_symbol(token)}" for token, weight in classification.reasons[:_MAX_REPORT_ROWS])
    doubt = [f"unsure: {classification.doubt}"] if classification.doubt else []
    return ("\n".join([f"spamnb: {verdict}", *doubt, "", "   nats  token", *rows]) + "\n").encode("ascii")


def header_fields(classification: Classification) -> list[tuple[str, str]]:
    """Return the X-Spam-* header fields of a message."""
    points = classification.points
    status = (
        f"{'Yes' if classification.is_spam else 'No'}, score={points:.1f} required={SPAM_POINTS}"
        f" verdict={classification.mail_verdict}"
        f" tests={format_symbols(classification).replace(',', ', ') or 'none'} version={__version__}"
    )
    flag = [("X-Spam-Flag", "YES")] if classification.is_spam else []
    level = [("X-Spam-Level", "*" * min(int(points), _MAX_STARS))] if points >= 1 else []
    doubt = [("X-Spam-Doubt", classification.doubt)] if classification.doubt else []
    n = classification.beside_starter
    starter = [("X-Spam-Starter", f"public mail, and {pluralize(n, 'message')} of your own")] if n is not None else []
    version = ("X-Spam-Checker-Version", f"spamnb {__version__}")
    return [*flag, *level, ("X-Spam-Status", status), *doubt, *starter, version]


def format_symbol(token: str) -> str:
    """Return a token as printable ASCII without blanks and commas.

    >>> format_symbol("subject:win, now"), format_symbol("выигрыш")
    ('subject:win;_now', '\\\\u0432\\\\u044b\\\\u0438\\\\u0433\\\\u0440\\\\u044b\\\\u0448')
    """
    word = "_".join(token[:_MAX_SYMBOL_TOKEN].replace(",", ";").split())
    word = word.encode("ascii", "backslashreplace").decode("ascii")
    return "".join(c if "!" <= c <= "~" else "?" for c in word) or "?"
