"""Message → tokens: the evidence, as text that a person can read.

Body words are bare; every other token says where it was found: ``subject:offer``, ``from:example.org``,
``received:mail.example.org``, ``url:example.org``, ``header:x-mailer``, ``html:tag:font``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spamnb.words import words

if TYPE_CHECKING:
    from spamnb.message import Message

TOKENS_VERSION = 1  # rises whenever the same message would give other tokens: a model says which it was trained with


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """How messages become tokens; stored in the model, so that training and classifying cannot disagree.

    ``tokenizer`` is "own", "tweet" or "treebank" (nltk), ``stem`` a language of nltk's Snowball stemmers,
    ``ngrams`` the longest run of body words that is one token.
    """

    tokenizer: str = "own"
    stem: str | None = None
    ngrams: int = 1
    body_only: bool = False
    ignore_headers: tuple[str, ...] = ("newsgroups", "xref", "path")

    def __post_init__(self) -> None:
        if self.tokenizer not in ("own", "tweet", "treebank"):
            raise ValueError(f"tokenizer {self.tokenizer!r} is not one of own, tweet, treebank")
        if self.ngrams < 1:
            raise ValueError(f"ngrams is {self.ngrams}: at least 1 is needed")
        object.__setattr__(self, "ignore_headers", tuple(name.lower() for name in self.ignore_headers))


def _word_maker(options: TokenOptions) -> Callable[[str], list[str]]:
    if options.tokenizer == "tweet":
        from nltk.tokenize import TweetTokenizer

        split = TweetTokenizer(preserve_case=False).tokenize
    elif options.tokenizer == "treebank":
        from nltk.tokenize import TreebankWordTokenizer

        def split(text: str) -> list[str]:
            return [word.lower() for word in TreebankWordTokenizer().tokenize(text)]

    else:
        split = words
    if options.stem is None:
        return split
    from nltk.stem.snowball import SnowballStemmer

    if options.stem not in SnowballStemmer.languages:
        raise ValueError(f"stem {options.stem!r} is not one of {', '.join(SnowballStemmer.languages)}")
    stemmer = SnowballStemmer(options.stem)
    known: dict[str, str] = {}

    def stem(word: str) -> str:
        found = known.get(word)
        if found is None:
            if len(known) > 400_000:
                known.clear()
            found = known[word] = stemmer.stem(word)
        return found

    return lambda text: [stem(word) for word in split(text)]


class Tokenizer:
    """``Tokenizer(options)(message)`` → tokens in order, with repeats."""

    def __init__(self, options: TokenOptions | None = None) -> None:
        self.options = options or TokenOptions()
        self._words = _word_maker(self.options)
        self._ignored = frozenset(self.options.ignore_headers)

    def __call__(self, message: Message) -> list[str]:
        """All tokens of ``message``."""
        tokens: list[str] = []
        for text in message.texts:
            body = self._words(text)
            tokens += body
            for n in range(2, self.options.ngrams + 1):
                tokens += map(" ".join, zip(*(body[i:] for i in range(n))))
        if self.options.body_only:
            return tokens
        for name, value in message.headers:
            name = name.lower()
            if name in self._ignored:
                continue
            tokens.append("header:" + name)
            prefix = name + ":"
            tokens += [prefix + word for word in self._words(value)]
        for url in (*message.links, *message.images, *message.forms):
            tokens += ["url:" + word for word in self._words(url.replace("/", " ").replace("=", " "))]
        tokens += ["hidden:" + word for word in self._words(message.hidden)]
        tokens += ["html:" + fact for fact in message.html]
        for part in message.parts:
            tokens.append(f"part:{part.content_type}")
            if part.filename:
                tokens.append("attachment:" + part.filename.rpartition(".")[2].lower()[:12])
        return tokens
