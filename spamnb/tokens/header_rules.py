# cython: language_level=3, annotation_typing=False
"""How each header field is read: which part of it is evidence and under which name, or whether only its presence is.

Figures: docs/experiments.md#header-fields.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from spamnb.message.field_scanner import is_volatile
from spamnb.tokens.hosts import normalize_received
from spamnb.tokens.token_counter import Prefix
from spamnb.tokens.word_scanner import Normalization
from spamnb.tokens.words import normalize_whole_word

if TYPE_CHECKING:
    from spamnb.tokens.token_sink import TokenSink

TEXT_HEADERS = frozenset(("subject", "keywords", "comments", "summary", "thread-topic"))
# Of these only the presence is evidence: the words of ten List-* headers say one thing ten times, those of References
# are ids of other messages.
PRESENCE_ONLY = (
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
# Who signs what with which key is evidence. The signature itself is words that never come back, 18 for 2,048 bits.
SIGNATURE_HEADERS = frozenset(
    ("dkim-signature", "x-google-dkim-signature", "domainkey-signature", "arc-message-signature", "arc-seal")
)
# Fields that name the same people share one prefix. It helps most where training mail and new mail came by other ways.
SHARED_PREFIXES = {
    "return-path": "sender",
    "errors-to": "sender",
    "x-sender": "sender",
    "cc": "to",
    "delivered-to": "to",
    "x-beenthere": "to",
    "arc-authentication-results": "authentication-results",
}

MAX_HEADER_NAMES = 2000  # names whose rule is kept; 391 messages of today's phishing have 439 different ones
MAX_HEADER_NAME = 100  # characters of such a name

# \b(?:bh?|t|x)\s*=[^;]* so that the search looks for letters: half of the time.
_SIGNATURE = re.compile(r"[btx](?<=\b.)(?:(?<=b)h)?\s*=[^;]*")


def _without_date(value: str) -> str:
    """A Received field without the date behind it, which tells when mail was collected."""
    return value.rpartition(";")[0] or value


def _without_signature(value: str) -> str:
    """A signature field without what differs in every message: the signature, the body's hash and the times.

    >>> _without_signature("v=1; d=example.org; s=mail; t=1700000000; bh=47DEQpj8HBSa+/TI=; h=To; b=dzdVyOf AKCdL/")
    'v=1; d=example.org; s=mail; ; ; h=To; '
    """
    return _SIGNATURE.sub("", value)


class HeaderRule:
    """How one header field is read.

    said: the token that says that the field is there
    shorten: leaves out a part of the value
    normalization: makes tokens of its words; None where they are no evidence
    extra_tokens: puts into the sink what else the value says
    """

    def __init__(
        self,
        said: str,
        shorten: Callable[[str], str] | None,
        normalization: Normalization | None,
        extra_tokens: Callable[[str, TokenSink], None] | None,
    ) -> None:
        self.said = said
        self.presence = Prefix(said)
        self.shorten = shorten
        self.normalization = normalization
        self.extra_tokens = extra_tokens


class HeaderRules(dict[str, "HeaderRule | None"]):
    """``rules[name]`` is how the field is read, None where it is no evidence at all; made when first asked for.

    ``normalize_text`` makes tokens of a word in fields that are text, ``ignored`` are names in lower case,
    ``extra_tokens`` has by name in lower case what a HeaderRule has.

    >>> from spamnb.tokens.words import normalize_word
    >>> rules = HeaderRules(normalize_word, ["path"], {})
    >>> rules["Subject"].normalization.compute("Now"), rules["Subject"].said, rules["Path"]
    ((('subject:now',), False), 'header:subject', None)
    """

    def __init__(
        self,
        normalize_text: Callable[[str], tuple[str, ...]],
        ignored: Iterable[str],
        extra_tokens: Mapping[str, Callable[[str, TokenSink], None]],
    ) -> None:
        self._normalize_text = normalize_text
        self._ignored = frozenset(ignored)
        self._extra_tokens = extra_tokens
        self._received = Normalization(normalize_received, "received:")

    def __missing__(self, name: str) -> HeaderRule | None:
        rule = self._rule(name.lower())
        if len(self) >= MAX_HEADER_NAMES:
            self.clear()
        if len(name) <= MAX_HEADER_NAME:
            self[name] = rule
        return rule

    def _rule(self, name: str) -> HeaderRule | None:
        """The rule for a name in lower case."""
        if name in self._ignored or is_volatile(name):
            return None
        presence, extra_tokens = "header:" + name[:40], self._extra_tokens.get(name)
        if name == "received":
            return HeaderRule(presence, _without_date, self._received, extra_tokens)
        if name in ("date", "message-id") or name.startswith(PRESENCE_ONLY):
            return HeaderRule(presence, None, None, extra_tokens)
        normalize = self._normalize_text if name in TEXT_HEADERS else normalize_whole_word
        prefix = SHARED_PREFIXES.get(name, name[:40]) + ":"
        shorten = _without_signature if name in SIGNATURE_HEADERS else None
        return HeaderRule(presence, shorten, Normalization(normalize, prefix), extra_tokens)
