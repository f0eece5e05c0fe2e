"""Message → tokens: the evidence, as text that a person can read.

Words of the text are bare and neighbours at its beginning are joined (``click here``); every other token says where it
was found: ``subject:offer``, ``from:example.org``, ``received:mail.example.org``, ``url:example.org``,
``header:x-mailer``, ``html:tag:font``, ``p:!!``, ``caps:4``.

The figures in the comments are 1-ROCA% of the default filter as scripts/experiment_evidence.py prints it, means over
halvings of a corpus by md5(file name).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from spamnb.message import is_volatile
from spamnb.words import Folded, fold, fold_whole, punctuation, raw_words

if TYPE_CHECKING:
    from spamnb.message import Message

TOKENS_VERSION = 3  # rises whenever the same message would give other tokens: a model says which it was trained with

# Neighbours are joined among the first words only: the beginning of a text says what it is, and pairs of all words
# would treble the vocabulary. SpamAssassin / enron1 / enron3 / Ling-Spam: no pairs .035 / .153 / .092 / .039, of the
# first 50 words .033 / .127 / .047 / .027, of 100 .033 / .124 / .036 / .032, of 150 .031 / .115 / .033 / .028.
PAIRED = 150
# Later words of a text are not read, or whoever pastes a novel under his message drowns it. SpamAssassin / enron1 /
# enron3 / Ling-Spam / 20news accuracy: all .032 / .117 / .035 / .027 / 86.8; 2000 .033 / .122 / .019 / .027 / 87.3;
# 1000 .033 / .125 / .018 / .027 / 87.3; 400 .037 / .130 / .017 / .033 / 87.2.
MAX_WORDS = 2000
TOKENIZERS = ("own", "tweet", "treebank")
TEXT_HEADERS = frozenset(("subject", "keywords", "comments", "summary", "thread-topic"))
# Of these only the presence counts. The words of ten List-* headers say one thing ten times: .0360 without them, .0414
# with. Those of References are ids of other messages: .0360 without and .0359 with.
PRESENCE = (
    "list-",
    "in-reply-to",
    "references",
    "x-original-date",
    "delivery-date",
    "x-originalarrivaltime",
    "content-id",
)

MAX_VALUE = 2000  # characters of a header value that are read
MAX_URLS = 200  # of each kind
MAX_HEADER_NAMES = 300  # whose folding is remembered
FIELD_ROOM = 20_000  # words of each

# What begins with "://" is found in a quarter of the time that "https?://" in any case takes: 2 µs a mail instead of 8.
_URL = re.compile(r"://(?:(?<=[Hh][Tt][Tt][Pp]://)|(?<=[Hh][Tt][Tt][Pp][Ss]://))([^\s<>\"')]{1,200})")
_HOST = re.compile(r"\s*+[a-z]{2,9}:/{1,3}(?:[^/?#@\s]{0,200}@)?([^/?#:\s\"<>]{1,200})", re.IGNORECASE)
_ZONE = re.compile(r"[+-]\d{4}\b")


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """How messages become tokens; stored in the model, so that training and classifying cannot disagree.

    ``tokenizer`` is "own", "tweet" or "treebank" (nltk) for the text, ``stem`` a language of nltk's Snowball stemmers,
    ``ngrams`` the longest run of words that is one token (1: single words only), ``body_only`` leaves out what is not
    text, ``ignore_headers`` names headers that give away the answer. ValueError for values that do not exist.
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
    if tokenizer == "tweet":
        from nltk.tokenize import TweetTokenizer

        return TweetTokenizer().tokenize
    if tokenizer == "treebank":
        from nltk.tokenize import TreebankWordTokenizer

        return TreebankWordTokenizer().tokenize
    return raw_words


def _folding(stem: str | None) -> Callable[[str], tuple[str, ...]]:
    """What makes tokens of one raw word of text: ``words.fold``, with letters stemmed where that is asked for."""
    if stem is None:
        return fold
    from nltk.stem.snowball import SnowballStemmer

    if stem not in SnowballStemmer.languages:
        raise ValueError(f"stem {stem!r} is not one of {', '.join(SnowballStemmer.languages)}")
    stemmer = SnowballStemmer(stem)
    return lambda raw: tuple([stemmer.stem(word) if word.isalpha() else word for word in fold(raw)])


def _fold_host(raw: str) -> tuple[str, ...]:
    """A host with the domains above it, an address with the networks it is in.

    >>> _fold_host("mail.example.org"), _fold_host("192.0.2.7"), _fold_host("localhost")
    (('mail.example.org', 'example.org'), ('192', '192.0', '192.0.2', '192.0.2.7'), ('localhost',))
    """
    word = raw.strip("-._,'!%$").lower()
    if not word or len(word) > 60:
        return ()
    parts = word.split(".")
    if len(parts) == 4 and parts[3].isdigit():
        return tuple([".".join(parts[:i]) for i in (1, 2, 3, 4)])
    return tuple([".".join(parts[i:]) for i in range(max(0, len(parts) - 4), max(1, len(parts) - 1))])


def _fold_received(raw: str) -> tuple[str, ...]:
    """Hosts and networks; of queue ids and versions the shape, which tells the program (.0307, with the ids .0314).

    >>> _fold_received("g7LBx45"), _fold_received("8.11.6")
    (('#g0lbx00',), ('8.11.6', '11.6', '#0.00.0'))
    """
    hosts = _fold_host(raw)
    if not hosts or not any(map(str.isdigit, raw)) or hosts[0].isdigit():
        return hosts
    shape = fold_whole(raw)[-1:]
    return (*hosts, *shape) if "." in hosts[0] else shape


class Found:
    """Where a tokenizer puts what it finds: here a list of tokens in their order. numbering.py has another."""

    def __init__(self) -> None:
        self.tokens: list[str] = []

    def add(self, tokens: Iterable[str]) -> None:
        """Tokens as they are."""
        self.tokens += tokens

    def words(self, folded: Folded, value: str) -> None:
        """The words of a header or of what is hidden."""
        self.tokens += chain.from_iterable(map(folded.__getitem__, raw_words(value)))

    def text(
        self, folded: Folded, texts: Iterable[str], split: Callable[[str], list[str]], ngrams: int
    ) -> tuple[int, int, Iterable[str]]:
        """The first MAX_WORDS words of the texts, and the first neighbours of up to ``ngrams`` words as one token.

        How many words there are, how many of those read are in capitals, and the runs of punctuation.
        """
        first: list[str] = []
        signs: set[str] = set()
        count = capitals = 0
        for text in texts:
            found = split(text)
            raw = found[: max(MAX_WORDS - count, 0)]
            count += len(found)
            capitals += in_capitals(raw)
            self.tokens += chain.from_iterable(map(folded.__getitem__, raw))
            if len(first) < PAIRED:
                opening = chain.from_iterable(map(folded.__getitem__, raw[: PAIRED - len(first)]))
                first += [word for word in opening if word[:1] != "#"]
            signs.update(punctuation(text))
        for n in range(2, ngrams + 1):
            self.tokens += map(" ".join, zip(*(first[i:] for i in range(n))))
        return count, capitals, signs


def in_capitals(raw: Iterable[str]) -> int:
    """How many of these words of more than one character are in capitals."""
    return sum([len(word) > 1 for word in filter(str.isupper, raw)])


class Tokenizer:
    """``Tokenizer(options)(message)`` → tokens with repeats; ValueError for a stemmer that does not exist.

    >>> from spamnb.message import parse
    >>> Tokenizer(TokenOptions(body_only=True))(parse(b"Subject: offer\\n\\nBuy NOW: $5!"))
    ['buy', 'now', '$5!', '#$0!', 'buy now', 'now $5!', 'p:!', 'p:$', 'p::', 'length:2', 'caps:1']
    """

    def __init__(self, options: TokenOptions | None = None) -> None:
        self.options = options or TokenOptions()
        self._split = _splitter(self.options.tokenizer)
        text = _folding(self.options.stem)
        self._text_fold = text
        self._words = Folded(text)
        self._hidden = Folded(text, "hidden:", FIELD_ROOM)
        self._received = Folded(_fold_received, "received:", FIELD_ROOM)
        self._ignored = frozenset(self.options.ignore_headers)
        self._fields: dict[str, tuple[str, Folded | None] | None] = {}

    def __call__(self, message: Message) -> list[str]:
        """All tokens of ``message``."""
        found = Found()
        self.read(message, found)
        return found.tokens

    def read(self, message: Message, found: Found) -> None:
        """``found`` is told all tokens of ``message``."""
        count, capitals, signs = found.text(self._words, message.texts, self._split, self.options.ngrams)
        found.add(["p:" + sign for sign in sorted(signs)])
        # Capitals are counted, not kept as words: one fact, where FREE beside free would tell it once a word
        # (SpamAssassin .0373 and .0362, SMS .448 and .470). The length: enron1 .109 with and .121 without, enron3 .050
        # and .059.
        found.add((f"length:{count.bit_length()}", f"caps:{capitals.bit_length()}"))
        if not self.options.body_only:
            self._headers(message, found)
            self._structure(message, found)

    def _field(self, name: str) -> tuple[str, Folded | None] | None:
        """How a header is read: the token of its presence and what folds its words; None where it is no evidence."""
        low = name.lower()
        if low in self._ignored or is_volatile(low):
            return None
        presence = "header:" + low[:40]
        if low == "received":
            return presence, self._received
        if low in ("date", "message-id") or low.startswith(PRESENCE):
            return presence, None
        fold = self._text_fold if low in TEXT_HEADERS else fold_whole
        return presence, Folded(fold, low[:40] + ":", FIELD_ROOM)

    def _headers(self, message: Message, found: Found) -> None:
        fields = self._fields
        for name, value in message.headers:
            if name not in fields:
                if len(fields) >= MAX_HEADER_NAMES:
                    fields.clear()
                fields[name] = self._field(name)
            field = fields[name]
            if field is None:
                continue
            presence, folded = field
            found.add((presence,))
            value = value[:MAX_VALUE]
            if folded is not None:
                if folded is self._received:
                    value = value.rpartition(";")[0] or value  # the date behind it tells when mail was collected
                found.words(folded, value)
                if presence == "header:subject":
                    found.add((f"subject:caps:{in_capitals(raw_words(value)).bit_length()}",))
            elif presence == "header:date":
                zone = _ZONE.search(value)
                found.add(("date:" + (zone.group() if zone else "no-zone"),))
            elif presence == "header:message-id":
                left, _, host = value.strip("<> ").rpartition("@")
                found.add(["message-id:" + token for token in (*_fold_host(host), "#" + _id_shape(left))])

    def _structure(self, message: Message, found: Found) -> None:
        urls = [*message.links[:MAX_URLS], *message.images[:MAX_URLS], *message.forms[:MAX_URLS]]
        for text in message.texts:
            if "://" in text:
                urls += ["http://" + url for url in _URL.findall(text)[:MAX_URLS]]
        found.add(_url_tokens(urls))
        found.add(["html:" + fact for fact in message.html])
        if message.hidden:
            found.words(self._hidden, message.hidden)
        for part in message.parts:
            found.add(
                (
                    "part:" + part.content_type[:40],
                    "charset:" + part.charset[:20],
                    "encoding:" + part.encoding[:20],
                )
            )
            if part.filename:
                found.add(("attachment:" + part.filename.rpartition(".")[2].lower()[:12],))


def _url_tokens(urls: Iterable[str]) -> list[str]:
    """The hosts that URLs lead to, or the scheme of those that lead to none.

    Not the words of their paths: newsletters have hundreds (SpamAssassin .0381 with them, .0360 without).
    """
    hosts = set()
    for url in urls:
        found = _HOST.match(url)
        hosts.add(found.group(1) if found else url[:12].partition(":")[0] + ":")
    return [
        "url:" + token for host in sorted(hosts) for token in (_fold_host(host) if host[-1] != ":" else (host.lower(),))
    ]


def _id_shape(text: str) -> str:
    """How a mail program makes its ids: runs of letters and of digits as one character each.

    >>> _id_shape("20020821.g7LBx45-Ab")
    '0.a0a0-a'
    """
    shape: list[str] = []
    for char in text[:60]:
        kind = "a" if char.isalpha() else "0" if char.isdigit() else char
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return "".join(shape)
