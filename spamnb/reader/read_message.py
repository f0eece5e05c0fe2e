"""A message that was read once, and is handed on with what was found in it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spamnb.reader.message import Reader, cuts_in_words, fields_of
from spamnb.reader.tokens import TokenArray, Vocabulary

_FIELD = re.compile(rb"\s*(?:From |[!-9;-~]+[ \t]*:)")
_CONTROL = re.compile(rb"[\0-\x08\x0e-\x1a\x1c-\x1f]")  # what no text has
MOST_CONTROL = 0.05  # of a text's bytes: of random ones it is a tenth


@dataclass(frozen=True)
class ReadMessage:
    """A raw message and its tokens. Its headers are read again when they are first asked for.

    raw: empty where the tokens alone were kept: then it can be judged, learned and forgotten, too
    reader: what read it; whoever has another one reads ``raw`` again. None where the tokens alone were kept
    tokens: distinct, in the order in which they were met. Of two with one hash, which a sender may search for, the
        first alone: a model could not tell the other's counts from its own
    occurrences: (k,) how often each of them occurs
    digest: 16 bytes, the same however the message is stored
    cuts: what was left out because a bound was reached, in words

    >>> message = ReadMessage.read(b"Subject: tea\\n\\nFour, four", Reader(), Vocabulary())
    >>> message.header("subject"), message.counts["four"], message.empty
    ('tea', 2, False)
    """

    raw: bytes
    reader: Reader | None
    tokens: TokenArray
    occurrences: np.ndarray
    digest: bytes
    cuts: tuple[str, ...]

    @classmethod
    def read(cls, raw: bytes, reader: Reader, vocabulary: Vocabulary) -> ReadMessage:
        """The message as this reader reads it, with the numbers of this vocabulary."""
        found = reader.read([raw], vocabulary)
        tokens, counts = vocabulary.take(found.rows.ids), found.rows.counts
        if len(np.unique(tokens.hashes)) < len(tokens):
            first = np.sort(np.unique(tokens.hashes, return_index=True)[1])
            tokens, counts = tokens.take(first), counts[first]
        return cls(raw, reader, tokens, counts, found.digests, cuts_in_words(int(found.cuts[0])))

    @classmethod
    def recalled(cls, counts: Mapping[str, int], digest: bytes) -> ReadMessage:
        """A message of which these tokens with their occurrences were kept, whose digest was this.

        >>> ReadMessage.recalled({"four": 2, "tea": 1}, bytes(16)).counts
        {'four': 2, 'tea': 1}
        """
        occurrences = np.fromiter(counts.values(), np.int64, len(counts))
        return cls(b"", None, TokenArray.of(counts), occurrences, digest, ())

    @property
    def empty(self) -> bool:
        """Whether nothing is known of it."""
        return self.reader is not None and is_empty(self.raw)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The tokens with their occurrences."""
        return dict(zip(self.tokens, self.occurrences.tolist()))

    @cached_property
    def _first_fields(self) -> dict[str, str]:
        return {name.lower(): value for name, value in reversed(fields_of(self.raw))}

    def header(self, name: str) -> str:
        """The decoded value of the first header field called ``name`` (lower case); empty when there is none."""
        return self._first_fields.get(name, "")


def is_empty(raw: bytes) -> bool:
    """Whether nothing is known of a message: it is whitespace, or holds neither a header field nor text.

    >>> is_empty(b"\\n"), is_empty(bytes(range(256))), is_empty(b"Subject: x\\n\\n" + bytes(99))
    (True, True, False)
    """
    begin = raw[:4096]
    if _FIELD.match(begin):
        return False
    return not raw or raw.isspace() or len(_CONTROL.findall(begin)) > MOST_CONTROL * len(begin)
