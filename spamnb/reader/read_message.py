"""A message that was read once, and is handed on with what was found in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spamnb.reader.message import Reader, cuts_in_words, fields_of, identity
from spamnb.reader.rows import CsrRows
from spamnb.reader.vocabulary import TokenIds, Vocabulary


@dataclass(frozen=True)
class ReadMessage:
    """A raw message and its tokens. Its headers are read again when they are first asked for.

    reader: what read it; whoever has another one reads ``raw`` again
    vocabulary: what numbers the tokens
    row: the message as one row of the vocabulary's ids, in the order in which the tokens were met. Of two with one
        hash, which a sender may search for, the first alone: a model could not tell the other's counts from its own
    digest: 16 bytes, the same however the message is stored
    cuts: what was left out because a bound was reached, in words

    >>> message = ReadMessage.read(b"Subject: tea\\n\\nFour, four", Reader(), Vocabulary())
    >>> message.header("subject"), message.counts["four"], message.empty
    ('tea', 2, False)
    """

    raw: bytes
    reader: Reader | None
    vocabulary: Vocabulary
    row: CsrRows
    digest: bytes
    cuts: tuple[str, ...]

    @classmethod
    def read(cls, raw: bytes, reader: Reader, vocabulary: Vocabulary) -> ReadMessage:
        """The message as this reader reads it, with the numbers of this vocabulary."""
        found = reader.read([raw], vocabulary)
        row, hashes = found.rows, vocabulary.named(found.rows.ids).hashes
        if len(np.unique(hashes)) < len(hashes):
            first = np.sort(np.unique(hashes, return_index=True)[1])
            row = CsrRows(np.array([0, len(first)]), row.ids[first], row.counts[first])
        return cls(raw, reader, vocabulary, row, found.digests, cuts_in_words(int(found.cuts[0])))

    @property
    def empty(self) -> bool:
        """Whether it holds nothing but whitespace."""
        return is_empty(self.raw)

    @cached_property
    def tokens(self) -> TokenIds:
        """The tokens, which are distinct, in the order of ``row``."""
        return self.vocabulary.named(self.row.ids)

    @cached_property
    def counts(self) -> dict[str, int]:
        """The tokens with their occurrences."""
        return dict(zip(self.tokens, self.row.counts.tolist()))

    @property
    def identity(self) -> bytes:
        """16 bytes, the same for the message on its way and in any mailbox."""
        return identity(self.raw)

    @cached_property
    def _first_fields(self) -> dict[str, str]:
        return {name.lower(): value for name, value in reversed(fields_of(self.raw))}

    def header(self, name: str) -> str:
        """The decoded value of the first header field called ``name`` (lower case); empty when there is none."""
        return self._first_fields.get(name, "")


@dataclass(frozen=True)
class RecalledMessage(ReadMessage):
    """A message of which the tokens were kept and the bytes were not: it can be judged, learned and forgotten.

    >>> message = RecalledMessage.of({"four": 2, "tea": 1}, bytes(16), bytes(16))
    >>> message.counts, message.raw
    ({'four': 2, 'tea': 1}, b'')
    """

    kept_identity: bytes = b""

    @classmethod
    def of(cls, counts: Mapping[str, int], digest: bytes, identity: bytes) -> RecalledMessage:
        """The message of these tokens with their occurrences, whose digest and identity were these."""
        vocabulary = Vocabulary()
        ids = vocabulary.ids(counts)
        row = CsrRows(np.array([0, len(ids)]), ids, np.fromiter(counts.values(), np.int64, len(ids)))
        return cls(b"", None, vocabulary, row, digest, (), identity)

    @property
    def identity(self) -> bytes:
        return self.kept_identity

    @property
    def empty(self) -> bool:
        return False


def is_empty(raw: bytes) -> bool:
    """Whether a message holds nothing but whitespace: nothing is known of it."""
    return not raw or raw.isspace()
