"""How each header field is read: which part of it is evidence and under which name, or whether only its presence is.

The figures are those of tokens.py.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from spamnb.message.parse import is_volatile
from spamnb.tokens.hosts import fold_received
from spamnb.tokens.words import Folded, fold_whole

TEXT_HEADERS = frozenset(("subject", "keywords", "comments", "summary", "thread-topic"))
# Of these only the presence is evidence. The words of ten List-* headers say one thing ten times: .0309 without them,
# .0357 with. Those of References are ids of other messages: .0309 without and with.
PRESENCE = (
    "list-",
    "in-reply-to",
    "references",
    "x-original-date",
    "delivery-date",
    "x-originalarrivaltime",
    "content-id",
    # Opaque: each message brings dozens of words that never come back.
    "x-gm-",
    "x-google-smtp-source",
    "x-microsoft-antispam-message-info",
    "x-ms-exchange-antispam-messagedata",
    "x-ms-exchange-crosstenant-",
    "x-sg-",
)
# Of these who signs what and with which key is evidence; each signature of 2,048 bits is 18 words that never come back.
SIGNED = frozenset(
    ("dkim-signature", "x-google-dkim-signature", "domainkey-signature", "arc-message-signature", "arc-seal")
)
# Fields that name the same people share one name: .0309, with a name each .0318; trained on the first of SpamAssassin's
# collections and judged on the second (easy_ham_2, spam_2), or the other way round, .55 and .82.
SAME_PLACE = {
    "return-path": "sender",
    "errors-to": "sender",
    "x-sender": "sender",
    "cc": "to",
    "delivered-to": "to",
    "x-beenthere": "to",
    "arc-authentication-results": "authentication-results",
}

MAX_HEADER_NAMES = 300  # names whose folding is remembered
MAX_HEADER_NAME = 100  # characters of such a name
FIELD_ROOM = 20_000  # words remembered of each

_SIGNATURE = re.compile(r"\b(?:bh?|t|x)\s*=[^;]*")


def _without_date(value: str) -> str:
    """A Received field without the date behind it, which tells when mail was collected."""
    return value.rpartition(";")[0] or value


def _without_signature(value: str) -> str:
    """A signature field without what differs in every message: the signature, the body's hash and the times.

    >>> _without_signature("v=1; d=example.org; s=mail; t=1700000000; bh=47DEQpj8HBSa+/TI=; h=To; b=dzdVyOf AKCdL/")
    'v=1; d=example.org; s=mail; ; ; h=To; '
    """
    return _SIGNATURE.sub("", value)


class Field(NamedTuple):
    """How a field is read."""

    presence: str  # token that it is there
    shorten: Callable[[str], str] | None  # leaves out a part of its value
    folded: Folded | None  # makes tokens of its words; None where they are no evidence
    more: Callable[[str, Any], None] | None  # tells a tokens.Found what else the value says


class Fields(dict[str, "Field | None"]):
    """``fields[name]`` says how a field is read, None where it is no evidence at all; remembers the names it met.

    ``text_fold`` folds the words of fields that are text, ``ignored`` are names in lower case, ``more`` is by name what
    reads a value once more.

    >>> from spamnb.tokens.words import fold
    >>> fields = Fields(fold, ["path"], {})
    >>> fields["Subject"].folded["Now"], fields["Subject"].presence, fields["Path"]
    (('subject:now',), 'header:subject', None)
    """

    def __init__(
        self,
        text_fold: Callable[[str], tuple[str, ...]],
        ignored: Iterable[str],
        more: Mapping[str, Callable[[str, Any], None]],
    ) -> None:
        self._text_fold = text_fold
        self._ignored = frozenset(ignored)
        self._more = more
        self._received = Folded(fold_received, "received:", FIELD_ROOM)

    def __missing__(self, name: str) -> Field | None:
        field = self._made(name.lower())
        if len(self) >= MAX_HEADER_NAMES:
            self.clear()
        if len(name) <= MAX_HEADER_NAME:
            self[name] = field
        return field

    def _made(self, low: str) -> Field | None:
        if low in self._ignored or is_volatile(low):
            return None
        presence, more = "header:" + low[:40], self._more.get(low)
        if low == "received":
            return Field(presence, _without_date, self._received, more)
        if low in ("date", "message-id") or low.startswith(PRESENCE):
            return Field(presence, None, None, more)
        fold = self._text_fold if low in TEXT_HEADERS else fold_whole
        place = SAME_PLACE.get(low, low[:40]) + ":"
        return Field(presence, _without_signature if low in SIGNED else None, Folded(fold, place, FIELD_ROOM), more)
