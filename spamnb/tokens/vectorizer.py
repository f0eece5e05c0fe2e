"""Messages → rows of token ids: what a Tokenizer finds, counted. A message is read once, and handed on.

Where the rules of tokens are compiled (when spamnb is installed with a C compiler at hand) most words never become
Python objects. A plain message (one text of ASCII) is read in its bytes. ``kernel_status`` says whether they are
compiled.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.message.headers import HeaderSection, as_read, normalise, read_section
from spamnb.message.parse import Message, identity, parse
from spamnb.reader.rows import CsrRows
from spamnb.sources.entries import raw_message
from spamnb.tokens.plain_message import PlainMessage
from spamnb.tokens.token_counter import TokenCounter
from spamnb.tokens.token_sink import TokenSink
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vocabulary import Vocabulary

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# What runs compiled, each from the one source of its name; tests compare them with those that pyproject.toml names.
COMPILED = {
    "formulas": ["correction"],
    "message": """boxes colors css elements field_scanner html inheritance rule_index scanner selectors sheets
        stack style tags""".split(),
    "tokens": (
        "ascii_words character_map groups header_rules plain_message token_counter token_sink vocabulary word_scanner"
    ).split(),
}
CLOCK_SKEW = 10  # seconds: an installer writes the files of a package in any order


def kernel_status() -> str:
    """Whether messages are read by compiled modules: "compiled", or "not compiled: …" or "stale: …" with what to do."""
    package = Path(__file__).parents[1]
    for room, names in COMPILED.items():
        for name in names:
            found = find_spec(f"spamnb.{room}.{name}")
            built = Path(found.origin) if found and found.origin else package
            if not built.name.endswith(tuple(EXTENSION_SUFFIXES)):
                return f"not compiled: spamnb.{room}.{name}; reinstall with a C compiler at hand"
            for source in (package / room).glob(f"{name}.p*"):
                if source.stat().st_mtime > built.stat().st_mtime + CLOCK_SKEW:
                    return f"stale: {source.name} of spamnb/{room} is newer than what was compiled of it; reinstall"
    return "compiled"


class RowInfo(NamedTuple):
    """What is known of a message that became a row."""

    length: int  # number of different tokens
    digest: bytes  # of the message
    truncations: tuple[str, ...]  # what was left out of it: see Message
    empty: bool = False  # whether it holds nothing but whitespace


class Vectorizer:
    """Numbers tokens in the order in which they are met, and keeps messages as rows of these numbers.

    >>> from spamnb.message.parse import parse
    >>> from spamnb.reader.options import TokenOptions
    >>> vectorizer = Vectorizer(Tokenizer(TokenOptions(body_only=True, ngrams=1)))
    >>> vectorizer.add(parse(b"\\nlunch, lunch")), vectorizer.add(parse(b"\\nno lunch"))
    (6, 6)
    >>> rows = vectorizer.take_rows()
    >>> list(zip(vectorizer.vocabulary.take(rows.ids[:4]), rows.counts.tolist()))
    [('p:,', 1), ('lunch', 2), ('length:2', 1), ('caps:0', 1)]
    """

    def __init__(self, tokenizer: Tokenizer, vocabulary: Vocabulary | None = None) -> None:
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self._tokenizer = tokenizer
        self._counter = TokenCounter(self.vocabulary)
        self._sink = TokenSink(self._counter)
        self._plain_message = PlainMessage()
        self._lengths = array("q")

    def __len__(self) -> int:
        return len(self.vocabulary)

    def read(self, raw: bytes, identify: bool = True) -> RowInfo:
        """One more row, of any bytes: ``parse`` and ``add`` in one, 28 µs for a plain message where the two take 40.

        Without ``identify`` the digest may be empty, which saves an eighth of that.
        """
        raw = normalise(raw)  # here, since both that may read it do
        empty = not raw or raw.isspace()
        digest = self._plain_message.read(raw, identify) if self._tokenizer.reads_plain_messages else None
        if digest is None:
            message = parse(raw, identify)
            return RowInfo(self.add(message), message.digest, message.truncations, empty)
        self._counter.begin()
        self._tokenizer.read_plain_message(self._plain_message, self._sink)
        return RowInfo(self._end_row(), digest, (), empty)

    def add(self, message: Message) -> int:
        """One more row; returns how many different tokens it has."""
        self._counter.begin()
        self._tokenizer.read(message, self._sink)
        return self._end_row()

    def _end_row(self) -> int:
        length = self._counter.end()
        self._lengths.append(length)
        return length

    def take_rows(self) -> CsrRows:
        """The rows added since the last call, with the vocabulary's ids; the tokens of each as they were first met."""
        indptr = np.concatenate([[0], np.cumsum(self._lengths, dtype=np.int64)])
        ids, counts = self._counter.take_cells().T
        self._lengths = array("q")
        return CsrRows(indptr, ids, counts)


@dataclass(frozen=True)
class ReadMessage:
    """A raw message and what a tokenizer found in it. Its headers are scanned when they are first asked for.

    tokenizer: what read it; whoever has another one reads ``raw`` again
    vocabulary: what numbers the tokens
    row: the message as one row of the vocabulary's ids, in the order in which the tokens were met
    digest: 16 bytes, the same however the message is stored
    truncations: what was left out because a bound was reached, described in words
    empty: whether it holds nothing but whitespace
    """

    raw: bytes
    tokenizer: Tokenizer
    vocabulary: Vocabulary
    row: CsrRows
    digest: bytes
    truncations: tuple[str, ...]
    empty: bool = False

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

    @cached_property
    def _fields(self) -> dict[str, str]:
        """The first field of each name."""
        return {name.lower(): value for name, value in reversed(self._section.fields([]))}

    def header(self, name: str) -> str:
        """The decoded value of the first header field called ``name`` (lower case); empty when there is none."""
        return as_read(self._fields.get(name, ""))


@dataclass(frozen=True)
class RecalledMessage(ReadMessage):
    """A message of which the tokens were kept and the bytes were not: it can be judged, learned and forgotten.

    >>> message = RecalledMessage.of({"four": 2, "tea": 1}, bytes(16), bytes(16))
    >>> message.counts, message.raw
    ({'four': 2, 'tea': 1}, b'')
    """

    own_identity: bytes = b""

    @classmethod
    def of(cls, counts: Mapping[str, int], digest: bytes, identity: bytes) -> RecalledMessage:
        """The message of these tokens with their occurrences, whose digest and identity were these."""
        vocabulary = Vocabulary()
        ids = vocabulary.ids(counts)
        row = CsrRows(np.array([0, len(ids)]), ids, np.fromiter(counts.values(), np.int64, len(ids)))
        return cls(b"", Tokenizer(), vocabulary, row, digest, (), own_identity=identity)

    @property
    def identity(self) -> bytes:
        return self.own_identity


class MessageReader:
    """Reads messages with one tokenizer, into rows of ids of whichever vocabulary is given.

    >>> from spamnb.reader.options import TokenOptions
    >>> reader = MessageReader(Tokenizer(TokenOptions(body_only=True, ngrams=1)))
    >>> message = reader.read(b"Subject: tea\\n\\nFour, four", Vocabulary())
    >>> message.header("subject"), message.counts["four"], reader.read(message, Vocabulary()) is message
    ('tea', 2, True)
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._vectorizer: Vectorizer | None = None

    def read(self, message: bytes | str | ReadMessage, vocabulary: Vocabulary) -> ReadMessage:
        """The message; one that this tokenizer read already is returned as it is, and one that has no bytes; a str is a
        text without headers."""
        if isinstance(message, ReadMessage):
            if message.tokenizer is self._tokenizer or isinstance(message, RecalledMessage):
                return message
            message = message.raw
        elif not isinstance(message, bytes):
            message = raw_message(message)
        (found,), row = self.rows([message], vocabulary, identify=True)
        return ReadMessage(message, self._tokenizer, vocabulary, row, found.digest, found.truncations, found.empty)

    def rows(
        self, raws: Iterable[bytes | str], vocabulary: Vocabulary, identify: bool
    ) -> tuple[list[RowInfo], CsrRows]:
        """What is known of each message, and the messages as rows of the vocabulary's ids; without ``identify`` the
        digests may be empty, which is quicker. A str is a text without headers."""
        if self._vectorizer is None or self._vectorizer.vocabulary is not vocabulary:
            self._vectorizer = Vectorizer(self._tokenizer, vocabulary=vocabulary)
        try:
            every = (raw if isinstance(raw, bytes) else raw_message(raw) for raw in raws)
            return [self._vectorizer.read(raw, identify) for raw in every], self._vectorizer.take_rows()
        except BaseException:  # what was read until then must not become the next message's
            self._vectorizer = None
            raise


def document_term_matrix(documents: Iterable[Iterable[str]], vocabulary: Vocabulary, grow: bool = True) -> csr_array:
    """Occurrences of tokens as a CSR array, documents × columns, int32, rows sorted and without duplicates.

    A token's column is its id in ``vocabulary``. Unseen tokens get new columns at the end, or are left out where
    ``grow`` is False.

    >>> vocabulary = Vocabulary()
    >>> document_term_matrix([["cheap", "pills", "cheap"], ["lunch", "pills"]], vocabulary).toarray()
    array([[2, 1, 0],
           [0, 1, 1]], dtype=int32)
    >>> list(vocabulary.tokens())
    ['cheap', 'pills', 'lunch']
    """
    from scipy.sparse import csr_array

    ids, ends, known = array("i"), array("q", [0]), set(vocabulary.tokens()) if not grow else ()
    for document in documents:
        tokens = document if grow else [token for token in document if token in known]
        ids.extend(vocabulary.ids(tokens).tolist())
        ends.append(len(ids))
    indices = np.array(ids, np.int32)
    X = csr_array((np.ones(len(indices), np.int32), indices, np.array(ends)), shape=(len(ends) - 1, len(vocabulary)))
    X.sum_duplicates()
    return X
