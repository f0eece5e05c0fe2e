"""Groups: which part of a message a token is from, read off the token itself.

The tokens of one group repeat one another, so formulas/pooling.py pools each group by itself: neither ten headers of a
mailing list nor a thousand words outvote what the rest of the message says (docs/experiments.md#groups-of-tokens).
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np

GROUPS = ("text", "pairs", "subject", "headers", "structure")
TEXT, PAIRS, SUBJECT, HEADERS, STRUCTURE = range(len(GROUPS))
# The group of a token by the prefix before its first colon. Every other prefix is the name of a header field.
PREFIX_GROUPS = {
    "subject": SUBJECT,
    "long": TEXT,  # stands for a long word
    **dict.fromkeys(("part", "charset", "encoding", "attachment", "html", "hidden", "url", "cut"), STRUCTURE),
    **dict.fromkeys(("p", "length", "caps", "line", "capitals"), STRUCTURE),
}


def token_group(token: str) -> int:
    """The group of a token, as an index of GROUPS.

    >>> tokens = "offer", "click here", "subject:offer", "from:example.org", "html:tag:font"
    >>> [GROUPS[token_group(token)] for token in tokens]
    ['text', 'pairs', 'subject', 'headers', 'structure']
    """
    if " " in token:
        return PAIRS
    prefix, colon, _ = token.partition(":")
    if colon and "A" <= prefix[:1] <= "z" and prefix[:1].isalpha():
        return PREFIX_GROUPS.get(prefix, HEADERS)
    return TEXT


def groups_of(tokens: Collection[str]) -> np.ndarray:
    """The group of each of the k tokens, (k,) int8."""
    return np.fromiter(map(token_group, tokens), np.int8, len(tokens))
