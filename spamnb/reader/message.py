"""Messages → rows of token ids; and one message for people: what it says, shows, hides and leads to."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from spamnb.message.mime import Part
from spamnb.reader import _core
from spamnb.reader.attachments import Program
from spamnb.reader.evidence import header_rules
from spamnb.reader.tables import hand_over
from spamnb.tokens.tokenizer import TokenOptions

hand_over()

DIGEST = 16  # bytes
_KEY = os.urandom(16)  # of all vocabularies of this process: a sender cannot choose the slots of his tokens
_RUN = re.compile(r"\S{100}")
_PIECE = re.compile(r"(?s).{1,50000}(?:\s|\Z)")
# What was left out because a bound was reached, by the names of core/evidence.c.
CUTS = ("headers", "html", "links", "parts", "pdf", "smime", "text", "tnef")


def _splitter(tokenizer: str) -> Callable[[str], list[str]] | None:
    if tokenizer == "own":
        return None
    from nltk.tokenize import TreebankWordTokenizer, TweetTokenizer

    split = TweetTokenizer().tokenize if tokenizer == "tweet" else TreebankWordTokenizer().tokenize
    # Tweet takes quadratic time in what no space divides, 1.5 s for 25,000 digits, and raises TimeoutError after 5 s.
    return lambda text: [word for piece in _PIECE.findall(_RUN.sub(r"\g<0> ", text)) for word in split(piece)]


def _stemmer(language: str | None) -> Callable[[str], str] | None:
    if language is None:
        return None
    from nltk.stem.snowball import SnowballStemmer

    if language not in SnowballStemmer.languages:
        raise ValueError(f"stem {language!r} is not one of {', '.join(SnowballStemmer.languages)}")
    stem: Callable[[str], str] = SnowballStemmer(language).stem
    return stem


class Vocabulary:
    """Tokens and their ids, both ways; a token that has no id gets the next one. For one thread at a time.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["a", "b", "a"]), vocabulary.ids(["c"]), vocabulary.take(np.array([2, 0]))
    (array([0, 1, 0], dtype=uint32), array([2], dtype=uint32), ['c', 'a'])
    """

    def __init__(self) -> None:
        self.core = _core.Vocabulary(_KEY)

    def __len__(self) -> int:
        return len(self.core)

    def ids(self, tokens: Sequence[str]) -> np.ndarray:
        """The id of each of the k ``tokens``, (k,) uint32."""
        return np.frombuffer(self.core.ids([token.encode() for token in tokens]), np.uint32)

    def take(self, ids: np.ndarray) -> list[str]:
        """The tokens with these ids."""
        return list(self.core.texts(np.ascontiguousarray(ids, np.uint32)))

    def hashes(self, ids: np.ndarray) -> np.ndarray:
        """The hash of each token with these ids that a model file keeps, (k,) int64."""
        return np.frombuffer(self.core.hashes(np.ascontiguousarray(ids, np.uint32)), np.int64)

    def groups(self, ids: np.ndarray) -> np.ndarray:
        """The group of each token with these ids, (k,) int8: its place in ``evidence.GROUPS``."""
        return np.frombuffer(self.core.groups(np.ascontiguousarray(ids, np.uint32)), np.int8)

    def tokens(self) -> tuple[np.ndarray, np.ndarray]:
        """The text of all tokens in UTF-8, (bytes,) uint8, and where each ends in it, (k,) int64."""
        text, ends = self.core.tokens()
        return np.frombuffer(text, np.uint8), np.frombuffer(ends, np.int64)

    def add(self, other: Vocabulary) -> np.ndarray:
        """Adds the tokens of another vocabulary, as each thread has one; the id here of each of them, (k,) uint32."""
        return np.frombuffer(self.core.add(other.core), np.uint32)


@dataclass(frozen=True)
class Rows:
    """n messages; message i has the tokens ``ids[indptr[i]:indptr[i + 1]]``, each as often as ``counts`` says.

    digests: (n,) of 16 bytes each, the same however a message is stored
    cuts: (n,) what was left out, as bits in the order of ``CUTS``
    errors: (number of the message, errno) of files that could not be read; their rows are empty
    """

    indptr: np.ndarray
    ids: np.ndarray
    counts: np.ndarray
    digests: bytes
    cuts: np.ndarray
    errors: list[tuple[int, int]]


class Message(NamedTuple):
    """A decoded message: every text is without NUL, has LF line ends, and stands in reading order.

    headers: (name as written, decoded value) in order
    texts: visible text, one per text part: what a reader shows first, then attachments, then text in documents
    links, images, forms: URLs of the HTML parts, and of PDF documents
    hidden: text of the HTML parts that their reader does not see
    html: structural facts: ``tag:font``, ``tag:unknown``, ``comment-split``, ``hidden``, ``css:tiny`` …
    parts: every leaf of the MIME tree
    cuts: what was left out because a bound was reached: of ``CUTS``
    digest: 16 bytes, the same however the message is stored
    """

    headers: tuple[tuple[str, str], ...]
    texts: tuple[str, ...]
    links: tuple[str, ...]
    images: tuple[str, ...]
    forms: tuple[str, ...]
    hidden: str
    html: tuple[str, ...]
    parts: tuple[Part, ...]
    cuts: tuple[str, ...]
    digest: bytes

    def header(self, name: str) -> str:
        """The first value of a header field, whatever the case of its name; empty when there is none."""
        name = name.lower()
        return next((value for key, value in self.headers if key.lower() == name), "")

    def header_all(self, name: str) -> list[str]:
        """All values of a header field, in order."""
        name = name.lower()
        return [value for key, value in self.headers if key.lower() == name]


class Reader:
    """Reads messages with one set of options, for one thread at a time; other threads may run meanwhile.

    ValueError for a stemmer that does not exist.

    >>> from spamnb.tokens.tokenizer import TokenOptions
    >>> reader = Reader(TokenOptions(body_only=True))
    >>> reader.tokens(b"Subject: offer\\n\\nBuy NOW: $5!")
    {'p::': 1, 'p:$': 1, 'p:!': 1, 'buy': 1, 'now': 1, '$5!': 1, '#$0!': 1, 'buy now': 1, 'now $5!': 1,
     'length:2': 1, 'caps:1': 1, 'line:4': 1, 'capitals:5': 1}
    """

    def __init__(self, options: TokenOptions | None = None) -> None:
        self.options = options or TokenOptions()
        split, stem = _splitter(self.options.tokenizer), _stemmer(self.options.stem)
        self._core = _core.Reader(
            header_rules(self.options.ignore_headers), Program(split, stem), self.options.ngrams,
            self.options.body_only, stem is not None, split is not None,
        )  # fmt: skip

    def read(
        self, messages: Sequence[bytes | str | os.PathLike[str]], vocabulary: Vocabulary, identify: bool = True
    ) -> Rows:
        """Messages, bytes or paths of files, as rows of the vocabulary's ids. Without ``identify`` digests are 0."""
        lengths, cells, digests, cuts, errors = self._core.read(list(messages), vocabulary.core, identify)
        indptr = np.zeros(len(messages) + 1, np.int64)
        np.cumsum(np.frombuffer(lengths, np.uint32), out=indptr[1:])
        ids, counts = np.frombuffer(cells or b"", np.uint32).reshape(-1, 2).T
        return Rows(indptr, ids, counts, digests, np.frombuffer(cuts, np.uint32), errors)

    def tokens(self, raw: bytes) -> dict[str, int]:
        """The tokens of one message with their occurrences, in the order in which they were met."""
        vocabulary = Vocabulary()
        rows = self.read([raw], vocabulary)
        return dict(zip(vocabulary.take(rows.ids), rows.counts.tolist()))

    def parse(self, raw: bytes) -> Message:
        """One message, for people."""
        headers, texts, links, images, forms, hidden, facts, parts, cuts, digest = self._core.parse(raw)
        return Message(
            tuple(headers), tuple(texts), tuple(links), tuple(images), tuple(forms), "\n".join(hidden), tuple(facts),
            tuple([Part(*part) for part in parts]), tuple(cuts), digest,
        )  # fmt: skip


def parse(raw: bytes) -> Message:
    """``raw`` decoded; any bytes are a message.

    >>> message = parse(b"Subject: =?utf-8?q?caf=C3=A9?=\\r\\n\\r\\nHello\\r\\n")
    >>> message.header("subject"), message.texts
    ('café', ('Hello\\n',))
    """
    return Reader().parse(raw)
