"""A message with its tokens. It is read once, and then classified, learned or forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from spamnb.reader.message import Reader, first_fields
from spamnb.reader.rows import Rows
from spamnb.reader.tokens import Vocabulary

_BEGIN = np.zeros(1, np.int64)  # of the cells of a message


@dataclass(frozen=True)
class ReadMessage:
    r"""A raw message and its tokens. Its header fields are decoded at the first call of ``header``.

    raw: empty if only the message's tokens are stored
    reader: the reader that made the tokens; None for stored tokens. A model with another reader reads ``raw`` again
    row: this message alone, with its doubtful tokens, which are classified and never learned. ``row.counts`` belong to
        ``row.tokens``, in the order of their first occurrence. If several
        tokens have the same hash, as a sender can achieve, only the first is here, because a model has one count for
        all of them

    >>> (message,) = ReadMessage.read_all([b"Subject: tea\n\nFour, four"], Reader(), Vocabulary())
    >>> message.header("subject"), message.counts["four"]
    ('tea', 2)
    """

    raw: bytes
    reader: Reader | None
    row: Rows

    @classmethod
    def read_all(cls, raws: Sequence[bytes], reader: Reader, vocabulary: Vocabulary) -> list[ReadMessage]:
        """Read messages; their tokens get their ids in this vocabulary."""
        rows, messages = reader.read(raws, vocabulary, doubtful=True), []
        tokens = vocabulary.take(rows.ids)
        for i, raw in enumerate(raws):
            begin, end, n_plain = int(rows.begins[i]), int(rows.ends[i]), int(rows.plain_ends[i] - rows.begins[i])
            own, counts = tokens[begin:end], rows.counts[begin:end]
            first = np.unique(own.hashes, return_index=True)[1]  # without return_index numpy imports numpy.ma: 5 ms
            if len(first) < len(own):
                first.sort()
                own, counts, n_plain = own.take(first), counts[first], int(np.searchsorted(first, n_plain))
            row = rows.take(slice(i, i + 1))
            row = replace(row, begins=_BEGIN, ends=_BEGIN + len(own), plain_ends=_BEGIN + n_plain)
            row = replace(row, tokens=own, ids=np.arange(len(own), dtype=np.int32), counts=counts)
            messages.append(cls(raw, reader, row))
        return messages

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], digest: bytes) -> ReadMessage:
        """Return a message without raw bytes, from its tokens with their occurrences, and its digest.

        >>> ReadMessage.of_counts({"four": 2, "tea": 1}, bytes(16)).counts
        {'four': 2, 'tea': 1}
        """
        return cls(b"", None, Rows.of([counts], digests=np.frombuffer(digest, np.uint8)[None]))

    def plain(self) -> ReadMessage:
        """Return the message without its doubtful tokens."""
        return replace(self, row=self.row.plain().compact()) if self.row.has_doubt else self

    @cached_property
    def digest(self) -> bytes:
        """The 16 bytes that identify the message, however it is stored."""
        return self.row.digest

    @cached_property
    def counts(self) -> dict[str, int]:
        """The tokens with their occurrences."""
        return dict(zip(self.row.tokens, self.row.counts.tolist()))

    @cached_property
    def _first_fields(self) -> dict[str, str]:
        return first_fields(self.raw)

    def header(self, name: str) -> str:
        """Return the decoded value of the first header field called ``name`` (lower case); empty if there is none."""
        return self._first_fields.get(name, "")
