"""Message → tokens: the evidence, as text that a person can read.

Words of the text are bare and neighbours at its beginning are joined (``click here``); every other token says where it
was found: ``subject:offer``, ``from:example.org``, ``received:mail.example.org``, ``url:example.org``,
``header:x-mailer``, ``html:tag:font``, ``p:!!``, ``caps:4``.

Why these tokens and no others, with figures: docs/experiments.md#tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from spamnb.errors import SpamnbError
from spamnb.message.truncations import what_was_cut
from spamnb.reader.options import TokenOptions
from spamnb.tokens.header_rules import HeaderRules
from spamnb.tokens.hosts import normalize_host, url_tokens
from spamnb.tokens.token_counter import TokenCounter
from spamnb.tokens.token_sink import TokenSink
from spamnb.tokens.vocabulary import Vocabulary
from spamnb.tokens.word_scanner import Normalization
from spamnb.tokens.words import normalize_word

if TYPE_CHECKING:
    from spamnb.message.parse import Message, Part
    from spamnb.tokens.plain_message import PlainMessage

MAX_URLS = 200  # of each kind
# What begins with "://" is found in a quarter of the time that "https?://" in any case takes: 2 µs a mail instead of 8.
_URL = re.compile(r"://(?:(?<=[Hh][Tt][Tt][Pp]://)|(?<=[Hh][Tt][Tt][Pp][Ss]://))([^\s<>\"')]{1,200})")
_BACKSLASHED_URL = re.compile(r":\\\\(?:(?<=[Hh][Tt][Tt][Pp]:\\\\)|(?<=[Hh][Tt][Tt][Pp][Ss]:\\\\))([^\s<>\"')]{1,200})")
# A name that begins with "www." and belongs to no other URL, address or path.
_WWW = re.compile(r"ww\.(?<=[Ww]ww\.)(?<![\w.@/\\=-]....)([\w-][^\s<>\"')]{1,200})")
_CAPITAL_WWW = re.compile(r"WW\.(?<=[Ww]WW\.)(?<![\w.@/\\=-]....)([\w-][^\s<>\"')]{1,200})")
_RUN = re.compile(r"\S{100}")
_PIECE = re.compile(r"(?s).{1,50000}(?:\s|\Z)")
_ZONE = re.compile(r"[+-]\d{4}\b")
_DATE_SHAPE = str.maketrans(
    "123456789 \tbcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", "0" * 9 + "__" + "a" * 51
)


def _splitter(tokenizer: str) -> Callable[[str], list[str]] | None:
    if tokenizer == "own":
        return None
    from nltk.tokenize import TreebankWordTokenizer, TweetTokenizer

    split = TweetTokenizer().tokenize if tokenizer == "tweet" else TreebankWordTokenizer().tokenize
    # Tweet takes quadratic time in what no space divides, 1.5 s for 25,000 digits, and raises TimeoutError after 5 s.
    return lambda text: [word for piece in _PIECE.findall(_RUN.sub(r"\g<0> ", text)) for word in split(piece)]


def _normalizer(stem: str | None) -> Callable[[str], tuple[str, ...]]:
    """``words.normalize_word``; with a ``stem`` it stems the words that are letters alone."""
    if stem is None:
        return normalize_word
    from nltk.stem.snowball import SnowballStemmer

    if stem not in SnowballStemmer.languages:
        raise SpamnbError(f"stem is {stem!r}: it must be one of {', '.join(SnowballStemmer.languages)}")
    stemmer = SnowballStemmer(stem)
    return lambda raw: tuple([stemmer.stem(word) if word.isalpha() else word for word in normalize_word(raw)])


class Tokenizer:
    """Finds the tokens of messages: ``Tokenizer(options)(message)`` is a list of them, in the order in which each first
    occurs, and as often as it does.

    SpamnbError for a stemmer that does not exist.

    >>> from spamnb.message.parse import parse
    >>> Tokenizer(TokenOptions(body_only=True))(parse(b"Subject: offer\\n\\nBuy NOW: $5!"))
    ['p::', 'p:$', 'p:!', 'buy', 'now', '$5!', '#$0!', 'buy now', 'now $5!',
     'length:2', 'caps:1', 'line:4', 'capitals:5']
    """

    def __init__(self, options: TokenOptions | None = None) -> None:
        self.options = options or TokenOptions()
        self._split = _splitter(self.options.tokenizer)
        self.reads_plain_messages = self._split is None
        normalize = _normalizer(self.options.stem)
        self._text = Normalization(normalize)
        self._hidden = Normalization(normalize, "hidden:")
        extra_tokens = {"subject": self._subject, "from": _sender, "date": _date, "message-id": _message_id}
        self._header_rules = HeaderRules(normalize, self.options.ignore_headers, extra_tokens)

    def __call__(self, message: Message) -> list[str]:
        """All tokens of ``message``."""
        counter = TokenCounter(Vocabulary())
        self.read(message, TokenSink(counter))
        counter.end()
        ids, counts = counter.take_cells().T
        return [token for token, n in zip(counter.vocabulary.take(ids), counts.tolist()) for _ in range(n)]

    def read(self, message: Message, sink: TokenSink) -> None:
        """Put all tokens of ``message`` into ``sink``."""
        sink.add_text(self._text, message.texts, self._split, self.options.ngrams)
        sink.add_layout(message.texts)
        if not self.options.body_only:
            sink.add_headers(self._header_rules, message.headers)
            self._structure(message, sink)

    def read_plain_message(self, message: PlainMessage, sink: TokenSink) -> None:
        """Put all tokens of a plain message (one text of ASCII) into ``sink``."""
        message.put(sink, self._text, self._header_rules, self.options.ngrams, self.options.body_only)

    def _subject(self, value: str, sink: TokenSink) -> None:
        """The subject once more, as text: its words and pairs become the same tokens as those of the body, so each
        place learns from the other (docs/experiments.md#the-subject-read-as-text).
        """
        sink.add_text(self._text, (value,), self._split, self.options.ngrams, "subject:")

    def _structure(self, message: Message, sink: TokenSink) -> None:
        sink.add(link_tokens([message.links, message.images, message.forms, *map(visible_urls, message.texts)]))
        if message.html:
            sink.add(["html:" + fact for fact in message.html])
        if message.hidden:
            sink.add_words(self._hidden, message.hidden)
        for part in message.parts:
            sink.add(part_tokens(part))
        if message.truncations:
            sink.add(dict.fromkeys(["cut:" + what_was_cut(words) for words in message.truncations]))


def link_tokens(kinds: Iterable[Sequence[str]]) -> list[str]:
    """The tokens of URLs of several kinds. Of a kind with more than MAX_URLS different ones the first and the last half
    are read: a thousand decoys do not hide the one behind them. That there are so many is a token, too.

    >>> link_tokens([[*(f"http://h{n}.example" for n in range(300)), "http://z.example"]])[-2:]
    ['url:z.example', 'cut:links']
    """
    read: list[str] = []
    cut = False
    for urls in kinds:
        if len(urls) > MAX_URLS:
            urls = list(dict.fromkeys(urls))
        if len(urls) > MAX_URLS:
            urls = [*urls[: MAX_URLS // 2], *urls[-MAX_URLS // 2 :]]
            cut = True
        read += urls
    tokens = url_tokens(read) if read else []
    return [*tokens, "cut:links"] if cut else tokens


def may_show_urls(text: bytes, start: int) -> bool:
    """Whether ``visible_urls`` may find any in ``text``, ASCII, from ``start`` on.

    >>> may_show_urls(b"www.a.example", 0), may_show_urls(b"www.a.example", 2)
    (True, False)
    """
    return (
        text.find(b"://", start) >= 0
        or text.find(b"ww.", start) >= 0
        or text.find(b"WW.", start) >= 0
        or text.find(b":\\\\", start) >= 0
    )


def visible_urls(text: str) -> list[str]:
    """The URLs that a reader sees in a text.

    >>> visible_urls("see HTTP://example.org/a, www.example.com or ftp://example.net")
    ['http://example.org/a,', 'http://www.example.com']
    """
    urls = ["http://" + url for url in _URL.findall(text)] if "://" in text else []
    if "ww." in text:
        urls += ["http://www." + url for url in _WWW.findall(text)]
    if "WW." in text:
        urls += ["http://www." + url for url in _CAPITAL_WWW.findall(text)]
    if ":\\\\" in text:
        urls += ["http://" + url for url in _BACKSLASHED_URL.findall(text)]
    return urls


def part_tokens(part: Part) -> list[str]:
    """What one part of a message is said to be: its type, charset, encoding and the extension of its file name."""
    said = ["part:" + part.content_type[:40], "charset:" + part.charset[:20], "encoding:" + part.encoding[:20]]
    return [*said, "attachment:" + part.filename.rpartition(".")[2].lower()[:12]] if part.filename else said


def _sender(value: str, sink: TokenSink) -> None:
    """The shape of the sender's local part tells a person's address from a machine's."""
    sink.add(("from:#" + id_shape(value.rpartition("<")[2].partition("@")[0][:30]),))


def _date(value: str, sink: TokenSink) -> None:
    """The time zone, and the shape of the date, which differs between mail programs."""
    zone = _ZONE.search(value)
    shape = "#" + value[:60].translate(_DATE_SHAPE)
    sink.add(("date:" + (zone.group() if zone else "no-zone"), "date:" + shape))


def _message_id(value: str, sink: TokenSink) -> None:
    """The host that made the id, and the shape of the rest, which tells the mail program."""
    left, _, host = value.strip("<> ").rpartition("@")
    sink.add(["message-id:" + token for token in (*normalize_host(host), "#" + id_shape(left))])


def id_shape(text: str) -> str:
    """How a mail program makes its ids: runs of letters and of digits as one character each.

    >>> id_shape("20020821.g7LBx45-Ab")
    '0.a0a0-a'
    """
    shape: list[str] = []
    for char in text[:60]:
        kind = "a" if char.isalpha() else "0" if char.isdigit() else char
        if not shape or shape[-1] != kind:
            shape.append(kind)
    return "".join(shape)
