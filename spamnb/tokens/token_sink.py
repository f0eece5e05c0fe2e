"""What a tokenizer finds goes into a TokenSink: here a list of tokens in their order.

The compiled kernel is the other sink: it counts tokens without making Python strings of them. TokenList is its
specification.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Protocol

from spamnb.tokens.header_rules import HeaderRules
from spamnb.tokens.words import (
    MAX_SPACED_WORDS,
    NormalizationCache,
    may_be_spaced,
    punctuation,
    raw_words,
    shares,
    spaced_words,
)

# The first words of a text say what it is. Pairs of all its words would triple the vocabulary and gain little:
# docs/experiments.md#pairs-of-words.
BIGRAM_WORDS = 75
# Later words are not read: a novel pasted under a spam would drown it (docs/experiments.md#words-of-a-text). The texts
# of a message share these, and the words that are joined: see shares().
MAX_WORDS = 1000
MAX_VALUE = 2000  # characters of a header value that are read
MAX_LAYOUT = 20_000  # characters of text whose layout is read
_CAPITALS = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class TokenSink(Protocol):
    """Where a tokenizer puts what it finds in one message."""

    def add(self, tokens: Iterable[str]) -> None:
        """Tokens as they are."""

    def add_headers(self, rules: HeaderRules, headers: Iterable[tuple[str, str]]) -> None:
        """The tokens of header fields (name, value), as the rules tell to read them."""

    def add_words(self, normalization: NormalizationCache, value: str) -> None:
        """The words of a header value or of hidden text."""

    def add_text(
        self,
        normalization: NormalizationCache,
        texts: Sequence[str],
        split: Callable[[str], list[str]],
        ngrams: int,
        prefix: str = "",
    ) -> None:
        """The words of the texts together, which ``split`` finds; those whose letters stand apart; n-grams of their
        first words; their punctuation; how many words there are, and how many in capitals. ``prefix`` stands before the
        tokens of the last three kinds.
        """

    def add_layout(self, texts: Iterable[str]) -> None:
        """How long the lines are, and which share of the characters are capitals."""


class TokenList:
    """A TokenSink that keeps a list of tokens, with repeats, in the order in which they were found.

    >>> sink = TokenList()
    >>> sink.add_words(NormalizationCache(prefix="subject:"), "Lunch today")
    >>> sink.tokens
    ['subject:lunch', 'subject:today']
    """

    def __init__(self) -> None:
        self.tokens: list[str] = []

    def add(self, tokens: Iterable[str]) -> None:
        """See TokenSink."""
        self.tokens += tokens

    def add_headers(self, rules: HeaderRules, headers: Iterable[tuple[str, str]]) -> None:
        """See TokenSink; of a value MAX_VALUE characters are read."""
        for name, value in headers:
            rule = rules[name]
            if rule is None:
                continue
            self.tokens.append(rule.presence)
            value = value[:MAX_VALUE]
            if rule.shorten is not None:
                value = rule.shorten(value)
            if rule.normalization is not None:
                self.add_words(rule.normalization, value)
            if rule.extra_tokens is not None:
                rule.extra_tokens(value, self)

    def add_words(self, normalization: NormalizationCache, value: str) -> None:
        """See TokenSink."""
        self.tokens += chain.from_iterable(map(normalization.__getitem__, raw_words(value)))

    def add_text(
        self,
        normalization: NormalizationCache,
        texts: Sequence[str],
        split: Callable[[str], list[str]],
        ngrams: int,
        prefix: str = "",
    ) -> None:
        """See TokenSink; the texts share MAX_WORDS words that are read, and BIGRAM_WORDS that are joined; a run of
        punctuation counts once, and the last two tokens give bit lengths.
        """
        runs = dict.fromkeys(chain.from_iterable(map(punctuation, texts)))
        self.tokens += [f"{prefix}p:{run}" for run in runs]
        found = [split(text) for text in texts]
        counts = [len(words) for words in found]
        opening: list[str] = []
        n_words, n_capitalized, n_spaced = sum(counts), 0, 0
        read_of_each, joined_of_each = shares(counts, MAX_WORDS), shares(counts, BIGRAM_WORDS)
        for text, words, n_read, n_joined in zip(texts, found, read_of_each, joined_of_each):
            read = words[:n_read]
            n_capitalized += count_capitalized(read)
            self.tokens += chain.from_iterable(map(normalization.__getitem__, read))
            joined = chain.from_iterable(map(normalization.__getitem__, read[:n_joined]))
            opening += [word for word in joined if word[:1] != "#"]  # "#": the shape of a word
            if may_be_spaced(words):
                spaced = spaced_words(text)[: MAX_SPACED_WORDS - n_spaced]
                n_spaced += len(spaced)
                self.tokens += chain.from_iterable(map(normalization.of_spaced, spaced))
        for n in range(2, ngrams + 1):
            self.tokens += map(" ".join, zip(*(opening[i:] for i in range(n))))
        # Capitals are counted once a text. As words of their own (FREE beside free) they would say it once a word:
        # docs/experiments.md#capitals-and-length.
        self.add((f"{prefix}length:{n_words.bit_length()}", f"{prefix}caps:{n_capitalized.bit_length()}"))

    def add_layout(self, texts: Iterable[str]) -> None:
        """The mean length of lines that are not empty, and capitals in 64 ASCII characters, both as bit lengths.

        Line ends behind the last line are not read: mailboxes add and remove them, and a message that was learned with
        one more could not be forgotten (docs/experiments.md#layout).

        >>> sink = TokenList()
        >>> sink.add_layout(["Buy NOW\\n\\nand here"])
        >>> sink.tokens
        ['line:3', 'capitals:4']
        """
        text = "\n".join(texts).rstrip("\n")[:MAX_LAYOUT]
        n_ends, n_empty = text.count("\n"), text.count("\n\n")
        ascii_bytes = text.encode("ascii", "ignore")
        n_capitals = len(ascii_bytes) - len(ascii_bytes.translate(None, _CAPITALS))
        share = 64 * n_capitals // max(len(ascii_bytes), 1)
        line_length = (len(text) - n_ends) // (n_ends + 1 - n_empty)
        self.add((f"line:{line_length.bit_length()}", f"capitals:{share.bit_length()}"))


def count_capitalized(words: Iterable[str]) -> int:
    """How many of these words have more than one character and no small letter.

    >>> count_capitalized(["FREE", "I", "Now"])
    1
    """
    return sum([len(word) > 1 for word in filter(str.isupper, words)])
