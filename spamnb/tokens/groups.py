# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""Groups: which part of a message a token is from, read off the token itself.

The tokens of one group repeat one another, so formulas/pooling.py pools each group by itself: neither ten headers of a
mailing list nor a thousand words outvote what the rest of the message says (docs/experiments.md#groups-of-tokens).
"""

from __future__ import annotations

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


MAX_PREFIX = 12  # letters of a prefix, of five bits each
GROUP = [PREFIX_GROUPS[_prefix] for _prefix in PREFIX_GROUPS]
N_PREFIXES = len(PREFIX_GROUPS)


def _packed(prefix: str) -> int:
    """Up to MAX_PREFIX small letters as a number."""
    packed = 0
    for letter in prefix.encode():
        packed = packed << 5 | letter - 96
    return packed


PREFIX = [_packed(_prefix) for _prefix in PREFIX_GROUPS]


def token_groups(text: np.ndarray, offsets: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The group of each of k tokens, (k,) int8: of ``lengths`` (k,) bytes of ``text`` from ``offsets`` (k,) on.

    >>> text = np.frombuffer(b"offerclick heresubject:offerfrom:example.orghtml:tag:font", np.uint8)
    >>> lengths = np.array([5, 10, 13, 16, 13])
    >>> [GROUPS[group] for group in token_groups(text, np.cumsum(lengths) - lengths, lengths)]
    ['text', 'pairs', 'subject', 'headers', 'structure']
    """
    # As memoryviews: their numbers are Python's own where this is not compiled.
    data = np.ascontiguousarray(text).data
    begins = np.ascontiguousarray(offsets, np.int64).data
    sizes = np.ascontiguousarray(lengths, np.int64).data
    found = np.full(len(begins), TEXT, np.int8)
    group = found.data
    pairs, headers = PAIRS, HEADERS
    for i in range(len(found)):
        begin = begins[i]
        end = begin + sizes[i]
        j = begin
        packed = 0
        while j < end and data[j] != 32 and data[j] != 58:  # " " and ":"
            if j - begin < MAX_PREFIX and 97 <= data[j] <= 122:
                packed = packed << 5 | data[j] - 96
            else:
                packed = 0
                break
            j += 1
        while j < end and data[j] != 32 and data[j] != 58:
            j += 1
        colon = j
        while j < end and data[j] != 32:
            j += 1
        if j < end:
            group[i] = pairs
        elif begin < colon < end and 97 <= data[begin] | 32 <= 122:
            group[i] = headers
            if packed:
                for known in range(N_PREFIXES):
                    if PREFIX[known] == packed:
                        group[i] = GROUP[known]
    return found
