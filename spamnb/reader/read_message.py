"""A message with its tokens. It is read once, and then classified, learned or forgotten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spamnb.reader.message import Reader, describe_truncations, read_fields
from spamnb.reader.tokens import TokenArray, Vocabulary


@dataclass(frozen=True)
class ReadMessage:
    r"""A raw message and its tokens. Its header fields are decoded at the first call of ``header``.

    raw: empty if only the message's tokens are stored
    reader: the reader that made the tokens; None for stored tokens. A model with another reader reads ``raw`` again
    tokens: distinct, in the order of their first occurrence. If several have the same hash, as a sender can achieve,
        only the first is here, because a model has one count for all of them
    occurrences: (k,) how often each token occurs
    digest: 16 bytes that identify the message, however it is stored
    truncations: the parts that were not read because a bound was reached, in words

    >>> message = ReadMessage.read(b"Subject: tea\n\nFour, four", Reader(), Vocabulary())
    >>> message.header("subject"), message.counts["four"]
    ('tea', 2)
    """

    raw: bytes
    reader: Reader | None
    tokens: TokenArray
    occurrences: np.ndarray
    digest: bytes
    truncations: tuple[str, ...]

    @classmethod
    def read(cls, raw: bytes, reader: Reader, vocabulary: Vocabulary) -> ReadMessage:
        """Read a message; its tokens get their ids in this vocabulary."""
        return cls.read_all([raw], reader, vocabulary)[0]

    @classmethod
    def read_all(cls, raws: Sequence[bytes], reader: Reader, vocabulary: Vocabulary) -> list[ReadMessage]:
        """Read messages; their tokens get their ids in this vocabulary."""
        rows, digests, _, truncations = reader.read(raws, vocabulary)
        messages = []
        for i, (raw, bits) in enumerate(zip(raws, truncations.tolist())):
            cells, digest = slice(*rows.indptr[i : i + 2].tolist()), digests[16 * i : 16 * i + 16]
            tokens, counts = vocabulary.take(rows.ids[cells]), rows.counts[cells]
            first = np.unique(tokens.hashes, return_index=True)[1]  # without return_index numpy imports numpy.ma: 5 ms
            if len(first) < len(tokens):
                first.sort()
                tokens, counts = tokens.take(first), counts[first]
            messages.append(cls(raw, reader, tokens, counts, digest, describe_truncations(bits)))
        return messages

    @classmethod
    def of_counts(cls, counts: Mapping[str, int], digest: bytes) -> ReadMessage:
        """Return a message without raw bytes, from its tokens with their occurrences, and its digest.

        >>> ReadMessage.of_counts({"four": 2, "tea": 1}, bytes(16)).counts
        {'four': 2, 'tea': 1}
        """
        occurrences = np.fromiter(counts.values(), np.int64, len(counts))
        return cls(b"", None, TokenArray.of(counts), occurrences, digest, ())

    @cached_property
    def counts(self) -> dict[str, int]:
        """The tokens with their occurrences."""
        return dict(zip(self.tokens, self.occurrences.tolist()))

    @cached_property
    def _first_fields(self) -> dict[str, str]:
        return {name.lower(): value for name, value in reversed(read_fields(self.raw))}

    def header(self, name: str) -> str:
        """Return the decoded value of the first header field called ``name`` (lower case); empty if there is none."""
        return self._first_fields.get(name, "")
