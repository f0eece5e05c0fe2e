"""The meaning of tokens, in words for a person: the glossary of ``explain`` and of the review page."""

from __future__ import annotations

import re

from spamnb.reader.evidence import TRUNCATIONS
from spamnb.shown_text import escape

# The meaning of a token by its prefix; {} is the text after the prefix. Other prefixes are names of header fields.
_PHRASES = {
    "attachment": "an attachment of type {}",
    "charset": "text in the charset {}",
    "encoding": "a part with the transfer encoding {}",
    "from": "From: {}",
    "header": "a header field {}",
    "p": "the sign {}",
    "part": "a part of type {}",
    "received": "Received: {}",
    "sender": "Sender or Return-Path: {}",
    "subject": "Subject: {}",
    "to": "To or Cc: {}",
    "url": "a link to {}",
}
_FACTS = {  # the meaning of whole tokens
    "charset:": "text without a charset",
    "encoding:": "a part without a transfer encoding",
    "html:hidden": "HTML with text that may be hidden",
}
_ADDRESS = re.compile(r"\d{1,3}(\.\d{1,3}){1,3}")


def meaning(token: str) -> str:
    """Return the meaning of a token in words. A word of the text is its own meaning.

    >>> meaning("received:213.105.180"), meaning("subject:caps:0"), meaning("p:¶"), meaning("url:example.org")
    ('passed through 213.105.180.*', 'Subject: no words in capitals', 'the sign ¶', 'a link to example.org')
    >>> meaning("line:6"), meaning("x-mailer:#0.00"), meaning("free pills")
    ('lines of 32 to 63 bytes', 'X-Mailer: a word like 0.00', 'free pills')
    >>> meaning("truncated:links")
    'not read: some of the links, because there are too many'
    """
    if token in _FACTS:
        return _FACTS[token]
    prefix, colon, rest = token.partition(":")
    if not colon:
        return f"a word like {token[1:]}" if token.startswith("#") else token
    if prefix in ("length", "caps", "line", "capitals") and rest.isdecimal():
        return _describe_amounts(prefix, int(rest))
    if prefix == "truncated" and rest in TRUNCATIONS:
        return f"not read: {TRUNCATIONS[rest]}"
    if prefix == "html":
        return f"HTML with <{rest.removeprefix('tag:')}>" if rest.startswith("tag:") else f"HTML: {rest}"
    if prefix in ("received", "url") and _ADDRESS.fullmatch(rest):
        rest += ".*" * (rest.count(".") < 3)
    if prefix == "received" and "." in rest:
        return f"passed through {rest}"
    if prefix in ("url", "p"):
        return _PHRASES[prefix].format(rest)
    phrase = _PHRASES.get(prefix, f"{prefix.title()}: {{}}".replace("Id:", "ID:"))
    return phrase.format(meaning(rest))


def describe(token: str) -> str:
    """Return a token, and its meaning in brackets if that is another text, in printable characters.

    >>> describe("url:example.org"), describe("free")
    ('url:example.org  (a link to example.org)', 'free')
    """
    words = meaning(token)
    return escape(token if words == token else f"{token}  ({words})")


def _describe_amounts(kind: str, n_bits: int) -> str:
    """Describe the amounts that have ``n_bits`` binary digits: they share one token."""
    low, high = 1 << n_bits >> 1, (1 << n_bits) - 1
    if kind == "line":
        return f"lines of {low} to {high} bytes"
    if kind == "capitals":  # in 64ths of the text
        return f"{100 * low // 64} to {100 * (high + 1) // 64} % capital letters"
    words = "words" if kind == "length" else "words in capitals"
    if high <= 1:
        return f"{'one' if high else 'no'} {words.replace('words', 'word') if high else words}"
    return f"{low} to {high} {words}"


def is_narrower(token: str, other: str) -> bool:
    """Return whether ``token`` is an address or host within the network or domain of ``other``.

    >>> is_narrower("received:213.105.180", "received:213.105"), is_narrower("url:a.b.org", "url:b.org")
    (True, True)
    >>> is_narrower("url:bb.org", "url:b.org"), is_narrower("from:b.org", "url:b.org")
    (False, False)
    """
    prefix, colon, name = token.partition(":")
    other_prefix, _, other_name = other.partition(":")
    if not colon or prefix != other_prefix:
        return False
    if _ADDRESS.fullmatch(name):
        return name.startswith(f"{other_name}.")
    return "." in other_name and name.endswith(f".{other_name}")
