"""Message → tokens: the evidence, as text that a person can read.

Words of the text are bare and neighbours at its beginning are joined (``click here``); every other token says where it
was found: ``subject:offer``, ``from:example.org``, ``received:mail.example.org``, ``url:example.org``,
``header:x-mailer``, ``html:tag:font``, ``p:!!``, ``caps:4``.

The figures in the comments are 1-ROCA% of the default filter as scripts/experiment_evidence.py prints it, means over
halvings of a corpus by md5(file name). Those beside .031 for SpamAssassin, .089 for enron1 or .295 for SMS are of one
group for all tokens (evidence.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from spamnb.tokens.header_rules import FIELD_ROOM, Fields
from spamnb.tokens.hosts import fold_host, id_shape, url_tokens
from spamnb.tokens.words import Folded, fold, punctuation, raw_words

if TYPE_CHECKING:
    from spamnb.message.parse import Message, Part

TOKENS_VERSION = 5  # rises whenever the same message would give other tokens: a model says which it was trained with

# Neighbours are joined among the first words only: the beginning of a text says what it is, and pairs of all words
# would treble the vocabulary. SpamAssassin / enron1 / enron2 / enron3 / Ling-Spam, and how many different tokens
# SpamAssassin and 20news have: no pairs .030 / .132 / .042 / .014 / .032, 365,000; of the first 50 words .031 / .092 /
# .039 / .006 / .024, 761,000; 75 .031 / .086 / .029 / .005 / .023, 903,000; 100 .032 / .086 / .027 / .004 / .028,
# 1,022,000; 150 .030 / .078 / .025 / .004 / .024, 1,200,000.
PAIRED = 75
# Later words of a text are not read, or a novel pasted under a message would drown it: of 100 such spams 95 are
# missed when all words are read, 88 of 2,000, 76 of 1,000, 56 of 500. SpamAssassin / enron1 / enron3 / Ling-Spam, and
# 20news accuracy: all .031 / .083 / .013 / .021, 87.9; 2,000 .032 / .087 / .006 / .021, 88.4; 1,000 .031 / .089 /
# .006 / .022, 88.4; 500 .032 / .093 / .005 / .027, 88.4.
MAX_WORDS = 1000
TOKENIZERS = ("own", "tweet", "treebank")
MAX_VALUE = 2000  # characters of a header value that are read
MAX_URLS = 200  # of each kind
MAX_LAID_OUT = 20_000  # characters of text whose layout is looked at
# What begins with "://" is found in a quarter of the time that "https?://" in any case takes: 2 µs a mail instead of 8.
_URL = re.compile(r"://(?:(?<=[Hh][Tt][Tt][Pp]://)|(?<=[Hh][Tt][Tt][Pp][Ss]://))([^\s<>\"')]{1,200})")
_RUN = re.compile(r"\S{100}")
_PIECE = re.compile(r"(?s).{1,50000}(?:\s|\Z)")
_ZONE = re.compile(r"[+-]\d{4}\b")
_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_DATE_SHAPE = str.maketrans(
    "123456789 \t" + "bcdefghijklmnopqrstuvwxyz" + _CAPITALS.decode(), "0" * 9 + "__" + "a" * 25 + "a" * 26
)


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """How messages become tokens; stored in the model, so that training and classifying cannot disagree.

    ``tokenizer`` is "own", "tweet" or "treebank" (nltk) for the text, ``stem`` a language of nltk's Snowball stemmers,
    ``ngrams`` the longest run of a text's first words that is one token (1: none), ``body_only`` reads the text of the
    body alone, ``ignore_headers`` names headers to leave out, which give away the answer. ValueError for values that do
    not exist.
    """

    tokenizer: str = "own"
    stem: str | None = None
    ngrams: int = 2
    body_only: bool = False
    ignore_headers: tuple[str, ...] = ("newsgroups", "xref", "path")

    def __post_init__(self) -> None:
        if self.tokenizer not in TOKENIZERS:
            raise ValueError(f"tokenizer {self.tokenizer!r} is not one of {', '.join(TOKENIZERS)}")
        if self.ngrams < 1:
            raise ValueError(f"ngrams is {self.ngrams}: at least 1 is needed")
        object.__setattr__(self, "ignore_headers", tuple(name.lower() for name in self.ignore_headers))


def _splitter(tokenizer: str) -> Callable[[str], list[str]]:
    if tokenizer == "own":
        return raw_words
    from nltk.tokenize import TreebankWordTokenizer, TweetTokenizer

    split = TweetTokenizer().tokenize if tokenizer == "tweet" else TreebankWordTokenizer().tokenize
    # Tweet takes quadratic time in what no space divides, 1.5 s for 25,000 digits, and raises TimeoutError after 5 s.
    return lambda text: [word for piece in _PIECE.findall(_RUN.sub(r"\g<0> ", text)) for word in split(piece)]


def _folding(stem: str | None) -> Callable[[str], tuple[str, ...]]:
    """What makes tokens of one raw word of text: ``words.fold``, with letters stemmed where that is asked for."""
    if stem is None:
        return fold
    from nltk.stem.snowball import SnowballStemmer

    if stem not in SnowballStemmer.languages:
        raise ValueError(f"stem {stem!r} is not one of {', '.join(SnowballStemmer.languages)}")
    stemmer = SnowballStemmer(stem)
    return lambda raw: tuple([stemmer.stem(word) if word.isalpha() else word for word in fold(raw)])


class Found:
    """Where a tokenizer puts what it finds: here a list of tokens in their order. The kernel has another."""

    def __init__(self) -> None:
        self.tokens: list[str] = []

    def add(self, tokens: Iterable[str]) -> None:
        """Tokens as they are."""
        self.tokens += tokens

    def headers(self, fields: Fields, headers: Iterable[tuple[str, str]]) -> None:
        """What the header fields (name, value) say."""
        for name, value in headers:
            field = fields[name]
            if field is None:
                continue
            self.tokens.append(field.presence)
            value = value[:MAX_VALUE]
            if field.shorten is not None:
                value = field.shorten(value)
            if field.folded is not None:
                self.words(field.folded, value)
            if field.more is not None:
                field.more(value, self)

    def words(self, folded: Folded, value: str) -> None:
        """The words of a header or of what is hidden."""
        self.tokens += chain.from_iterable(map(folded.__getitem__, raw_words(value)))

    def text(
        self, folded: Folded, texts: Iterable[str], split: Callable[[str], list[str]], ngrams: int, place: str = ""
    ) -> None:
        """The first MAX_WORDS words of the texts, the first neighbours of up to ``ngrams`` words as one token, and,
        under the name of the ``place``, the runs of punctuation, how many words there are, and how many of those that
        are read are in capitals.
        """
        first: list[str] = []
        signs: set[str] = set()
        count = capitals = 0
        for text in texts:
            new = [sign for sign in dict.fromkeys(punctuation(text)) if sign not in signs]
            signs.update(new)
            self.tokens += [f"{place}p:{sign}" for sign in new]
            found = split(text)
            raw = found[: max(MAX_WORDS - count, 0)]
            count += len(found)
            capitals += in_capitals(raw)
            self.tokens += chain.from_iterable(map(folded.__getitem__, raw))
            if len(first) < PAIRED:
                opening = chain.from_iterable(map(folded.__getitem__, raw[: PAIRED - len(first)]))
                first += [word for word in opening if word[:1] != "#"]
        for n in range(2, ngrams + 1):
            self.tokens += map(" ".join, zip(*(first[i:] for i in range(n))))
        # Capitals are counted, not kept as words: one fact, where FREE beside free would tell it once a word
        # (SpamAssassin .0373 and .0362, SMS .448 and .470). The length: SMS .253 with, .293 without, others the same.
        self.add((f"{place}length:{count.bit_length()}", f"{place}caps:{capitals.bit_length()}"))

    def layout(self, texts: Iterable[str]) -> None:
        """How long the lines are that are not empty, and how many of 64 ASCII characters are capitals, as bit lengths.

        Line ends behind the last line are not looked at: a mailbox adds one, a reader takes some away, and the message
        is the same by its digest. With them 157 of 1,750 messages had other tokens, and could not be forgotten.
        SMS .253, without the lines .343, without the capitals .254; SpamAssassin .0307, .0310 and .0312.

        >>> found = Found()
        >>> found.layout(["Buy NOW\\n\\nand here"])
        >>> found.tokens
        ['line:3', 'capitals:4']
        """
        text = "\n".join(texts).rstrip("\n")[:MAX_LAID_OUT]
        ends, empty = text.count("\n"), text.count("\n\n")
        octets = text.encode("ascii", "ignore")
        share = 64 * (len(octets) - len(octets.translate(None, _CAPITALS))) // max(len(octets), 1)
        line = (len(text) - ends) // (ends + 1 - empty)
        self.add((f"line:{line.bit_length()}", f"capitals:{share.bit_length()}"))


def in_capitals(raw: Iterable[str]) -> int:
    """How many of these words of more than one character are in capitals."""
    return sum([len(word) > 1 for word in filter(str.isupper, raw)])


class Tokenizer:
    """``Tokenizer(options)(message)`` → tokens with repeats; ValueError for a stemmer that does not exist.

    >>> from spamnb.message.parse import parse
    >>> Tokenizer(TokenOptions(body_only=True))(parse(b"Subject: offer\\n\\nBuy NOW: $5!"))
    ['p::', 'p:$', 'p:!', 'buy', 'now', '$5!', '#$0!', 'buy now', 'now $5!',
     'length:2', 'caps:1', 'line:4', 'capitals:5']
    """

    def __init__(self, options: TokenOptions | None = None) -> None:
        self.options = options or TokenOptions()
        self._split = _splitter(self.options.tokenizer)
        text = _folding(self.options.stem)
        self._words = Folded(text)
        self._hidden = Folded(text, "hidden:", FIELD_ROOM)
        more = {"subject": self._subject, "from": _sender, "date": _date, "message-id": _message_id}
        self._fields = Fields(text, self.options.ignore_headers, more)

    def __call__(self, message: Message) -> list[str]:
        """All tokens of ``message``."""
        found = Found()
        self.read(message, found)
        return found.tokens

    def read(self, message: Message, found: Found) -> None:
        """``found`` is told all tokens of ``message``."""
        found.text(self._words, message.texts, self._split, self.options.ngrams)
        found.layout(message.texts)
        if not self.options.body_only:
            found.headers(self._fields, message.headers)
            self._structure(message, found)

    def read_letter(self, raw: bytes, kernel: Any, identify: bool) -> bytes | None:
        """Tell the kernel all tokens of a plain letter (one text of ASCII); returns the message's digest (empty without
        ``identify``), or None for a message that is no plain letter."""
        options = self.options
        return kernel.read_letter(raw, self._words, self._fields, options.ngrams, options.body_only, identify)

    def _subject(self, value: str, found: Found) -> None:
        """Read once more, as text: its words and pairs become the same tokens as those of the body, so that each place
        learns from the other and what both say counts for more (without and with: enron1 .115 and .089, enron2 .042 and
        .034, enron3 .016 and .006, Ling-Spam .026 and .022, 20news accuracy 87.5 and 88.4, SpamAssassin .0306 and
        .0309). What it looks like is evidence too (without its length enron1 .097, without its punctuation .091, enron2
        .036).
        """
        found.text(self._words, (value,), self._split, self.options.ngrams, "subject:")

    def _structure(self, message: Message, found: Found) -> None:
        urls = [*message.links[:MAX_URLS], *message.images[:MAX_URLS], *message.forms[:MAX_URLS]]
        urls += chain.from_iterable(map(shown_urls, message.texts))
        if urls:
            found.add(url_tokens(urls))
        if message.html:
            found.add(["html:" + fact for fact in message.html])
        if message.hidden:
            found.words(self._hidden, message.hidden)
        for part in message.parts:
            found.add(part_tokens(part))


def shown_urls(text: str) -> list[str]:
    """The first URLs that stand in a text."""
    return ["http://" + url for url in _URL.findall(text)[:MAX_URLS]] if "://" in text else []


def part_tokens(part: Part) -> list[str]:
    """What the message says that one of its parts is."""
    said = ["part:" + part.content_type[:40], "charset:" + part.charset[:20], "encoding:" + part.encoding[:20]]
    return [*said, "attachment:" + part.filename.rpartition(".")[2].lower()[:12]] if part.filename else said


def _sender(value: str, found: Found) -> None:
    """Which kind of address it is, by its shape; with this and the shape of dates .0309, without either .0311."""
    found.add(("from:#" + id_shape(value.rpartition("<")[2].partition("@")[0][:30]),))


def _date(value: str, found: Found) -> None:
    zone = _ZONE.search(value)
    shape = "#" + value[:60].translate(_DATE_SHAPE)
    found.add(("date:" + (zone.group() if zone else "no-zone"), "date:" + shape))


def _message_id(value: str, found: Found) -> None:
    left, _, host = value.strip("<> ").rpartition("@")
    found.add(["message-id:" + token for token in (*fold_host(host), "#" + id_shape(left))])
