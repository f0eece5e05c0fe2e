"""A message that was read once, and is handed on to whatever asks about it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from spamnb.message.headers import HeaderSection, read_section
from spamnb.message.parse import identity
from spamnb.tokens.csr_rows import CsrRows
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vectorizer import RowInfo, Vectorizer
from spamnb.tokens.vocabulary import Vocabulary


@dataclass(frozen=True)
class ReadMessage:
    """A raw message and what a tokenizer found in it. Its headers are scanned when they are first asked for.

    tokenizer: what read it; whoever has another one reads ``raw`` again
    vocabulary: what numbers the tokens
    row: the message as one row of the vocabulary's ids, in the order in which the tokens were met
    digest: 16 bytes, the same however the message is stored
    truncations: what was left out because a bound was reached, described in words
    """

    raw: bytes
    tokenizer: Tokenizer
    vocabulary: Vocabulary
    row: CsrRows
    digest: bytes
    truncations: tuple[str, ...]

    @cached_property
    def counts(self) -> dict[str, int]:
        """The tokens with their occurrences."""
        return dict(zip(self.vocabulary.take(self.row.ids), self.row.counts.tolist()))

    @cached_property
    def _section(self) -> HeaderSection:
        return read_section(self.raw, [])

    @property
    def identity(self) -> bytes:
        """16 bytes, the same for the message on its way and in any mailbox."""
        return identity(self._section)

    def header(self, name: str) -> str:
        """The decoded value of the first header field called ``name`` (lower case); empty when there is none."""
        return self._section.value(name)


class MessageReader:
    """Reads messages with one tokenizer, into rows of ids of whichever vocabulary is given.

    >>> from spamnb.tokens.tokenizer import TokenOptions
    >>> reader = MessageReader(Tokenizer(TokenOptions(body_only=True, ngrams=1)))
    >>> message = reader.read(b"Subject: tea\\n\\nFour, four", Vocabulary())
    >>> message.header("subject"), message.counts["four"], reader.read(message, Vocabulary()) is message
    ('tea', 2, True)
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._vectorizer: Vectorizer | None = None

    def read(self, message: bytes | ReadMessage, vocabulary: Vocabulary) -> ReadMessage:
        """The message; one that this tokenizer read already is returned as it is."""
        if isinstance(message, ReadMessage):
            if message.tokenizer is self._tokenizer:
                return message
            message = message.raw
        (found,), row = self.rows([message], vocabulary, identify=True)
        return ReadMessage(message, self._tokenizer, vocabulary, row, found.digest, found.truncations)

    def rows(self, raws: Iterable[bytes], vocabulary: Vocabulary, identify: bool) -> tuple[list[RowInfo], CsrRows]:
        """What is known of each message, and the messages as rows of the vocabulary's ids; without ``identify`` the
        digests may be empty, which is quicker."""
        if self._vectorizer is None or self._vectorizer.vocabulary is not vocabulary:
            self._vectorizer = Vectorizer(self._tokenizer, vocabulary=vocabulary)
        try:
            return [self._vectorizer.read(raw, identify) for raw in raws], self._vectorizer.take_rows()
        except BaseException:  # what was read until then must not become the next message's
            self._vectorizer = None
            raise
