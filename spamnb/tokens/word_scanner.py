# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""The words of a text or a field → their tokens, counted.

A word of ASCII is read where it stands in the bytes; of others ``words.py`` makes tokens, once, and the counter keeps
them. Compiled or not, this file is the same (``word_scanner.pxd`` has its C types).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count

from spamnb.tokens.ascii_bytes import (
    BYTE_KIND,
    DIGIT,
    INNER,
    LONG,
    LOWER,
    LOWER_CASE,
    MAX_CUT_WORD,
    MAX_WORD,
    MIN_SPACED,
    NOT_ASCII,
    NUMBER_SHAPE,
    PLAIN,
    UPPER,
)
from spamnb.tokens.ascii_words import AsciiWord, character_size, long_token
from spamnb.tokens.hosts import normalize_received
from spamnb.tokens.token_counter import Prefix, TokenCounter
from spamnb.tokens.words import SPACED, normalize_whole_word, normalize_word, spelt_words

MAX_SPACED_WORDS = 50  # of a text whose letters stand apart and are joined
MIN_ASCII_GAP = 64  # bytes; 8 and 24 take the same time
NUMBERS = count()
# What makes tokens of a word.
PARTS, WHOLE, HOST, ANYTHING = range(4)
METHODS: dict[Callable[[str], tuple[str, ...]], int] = {
    normalize_word: PARTS,
    normalize_whole_word: WHOLE,
    normalize_received: HOST,
}


class Normalization:
    """How the words of one place of a message become tokens: those that ``normalize`` makes, each with the ``prefix``.

    >>> Normalization(prefix="subject:").compute("FREE!")
    (('subject:free',), True)
    """

    def __init__(self, normalize: Callable[[str], tuple[str, ...]] = normalize_word, prefix: str = "") -> None:
        self.normalize = normalize
        self.method = METHODS.get(normalize, ANYTHING)
        self.number = next(NUMBERS)
        self.begins = prefix
        self.prefix = Prefix(prefix)
        self.shape_prefix = Prefix(prefix + "#")

    def compute(self, raw: str) -> tuple[tuple[str, ...], bool]:
        """The tokens of a word, and whether it is of more than one character and has no small letter."""
        return tuple([self.begins + token for token in self.normalize(raw)]), len(raw) > 1 and raw.isupper()


class WordScanner:
    """Finds words where they stand in the bytes of texts."""

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self.word = AsciiWord()
        # Of the text at hand: how many words there are, how many are in capitals, and how many were joined of letters.
        self.count = self.capitals = self.n_spaced = 0
        # Of words of one character with one sign between each two: how many follow each other, where that begins and
        # ends.
        self.singles = self.first_single = self.last_single = 0

    def begin_text(self) -> None:
        """Begin a text."""
        self.count = self.capitals = self.n_spaced = self.singles = 0

    def count_words(self, raw: bytes) -> int:
        """How many words ``scan`` finds."""
        data = raw
        size = len(raw)
        found = 0
        inside = False
        for i in range(size):
            if not BYTE_KIND[data[i]]:
                inside = False
            elif not inside:
                found += 1
                inside = True
        return found

    def scan(
        self,
        normalization: Normalization,
        raw: bytes,
        i: int,
        size: int,
        max_words: int,
        max_opening: int,
        is_text: bool,
    ) -> None:
        """The words in ``raw[i:size]``. Of a text ``max_words`` are read, and the first ``max_opening`` of them are to
        be joined."""
        data = raw
        counter = self.counter
        method = normalization.method
        prefix = normalization.prefix
        found = 0
        spaced: list[str] = []
        while i < size:
            kind = BYTE_KIND[data[i]]
            if not kind:
                i += 1
                continue
            start = i
            kinds = 0
            while kind:
                kinds |= kind
                i += 1
                if i == size:
                    break
                kind = BYTE_KIND[data[i]]
            found += 1
            if is_text:
                if i - start == 1 or (kinds & NOT_ASCII and i - start == character_size(data[start])):
                    self.add_single(raw, start, i, spaced)
                if found > max_words:
                    continue
            opens = found <= max_opening
            if method == ANYTHING or kinds & NOT_ASCII:
                capitals = counter.put_word(normalization, normalization.number, raw, start, i, opens)
                self.capitals += is_text and capitals
                continue
            if is_text and kinds & (UPPER | LOWER) == UPPER and i - start > 1:
                self.capitals += 1
            if method != HOST and not kinds & (DIGIT | INNER) and i - start <= MAX_WORD:
                counter.put(prefix, raw, start, i, LOWER_CASE)
                if opens:
                    counter.open(raw, start, i, LOWER_CASE)
            else:
                self.add_word(normalization, raw, start, i, kinds & DIGIT != 0, opens)
        counter.flush()
        if is_text:
            self.end_singles(raw, spaced)
            self.count += found
            for word in spaced:
                counter.add(normalization.compute(word)[0])
                counter.add((normalization.begins + SPACED,))

    def add_found(self, normalization: Normalization, words: list[str], max_opening: int) -> None:
        """Words of a text that were found elsewhere, the first ``max_opening`` of which are to be joined."""
        for i, word in enumerate(words):
            raw = word.encode()
            self.capitals += self.counter.put_word(
                normalization, normalization.number, raw, 0, len(raw), i < max_opening
            )

    def add_word(
        self, normalization: Normalization, raw: bytes, start: int, stop: int, digits: bool, opens: bool
    ) -> None:
        """The tokens of a word of ASCII."""
        word = self.word
        word.count = 0
        if normalization.method == HOST:
            word.read_host(raw, start, stop, True)
        elif normalization.method == WHOLE or digits:
            word.read_whole(raw, start, stop, digits, True)
        elif word.read_parts(raw, start, min(stop, start + MAX_CUT_WORD)):
            word.count = 0
            self.counter.put_word(normalization, normalization.number, raw, start, stop, opens)
        for i in range(word.count):
            start = word.pieces[3 * i]
            stop = word.pieces[3 * i + 1]
            form = word.pieces[3 * i + 2]
            if form == PLAIN:
                self.counter.put(normalization.prefix, raw, start, stop, LOWER_CASE)
                if opens:
                    self.counter.open(raw, start, stop, LOWER_CASE)
            elif form == LONG:
                token = long_token(raw[start:stop].decode().lower())
                self.counter.add((normalization.begins + token,))
                if opens:
                    said = token.encode()
                    self.counter.open(said, 0, len(said), LOWER_CASE)
            else:
                self.counter.put(normalization.shape_prefix, raw, start, stop, NUMBER_SHAPE)

    def add_single(self, raw: bytes, start: int, stop: int, spaced: list[str]) -> None:
        """A word of one character."""
        data = raw
        if not self.singles or start != self.last_single + 1 or data[self.last_single] == 10:
            self.end_singles(raw, spaced)
            self.first_single = start
        self.singles += 1
        self.last_single = stop

    def end_singles(self, raw: bytes, spaced: list[str]) -> None:
        """End a run of words of one character: what they spell is added to ``spaced``."""
        if self.singles >= MIN_SPACED and self.n_spaced < MAX_SPACED_WORDS:
            found = spelt_words(raw[self.first_single : self.last_single].decode())[: MAX_SPACED_WORDS - self.n_spaced]
            self.n_spaced += len(found)
            spaced += found
        self.singles = 0


def non_ascii_stretch(raw: bytes, start: int, stop: int) -> tuple[int, int]:
    """Where in ``raw[start:stop]`` the first stretch begins and ends that has other characters than ASCII, from a space
    to a space.

    It ends where MIN_ASCII_GAP bytes of ASCII follow. No character joins a space before it or ASCII behind it, so NFKC
    makes of the stretch alone what it makes of it in the text.
    """
    data = raw
    i = start
    while i < stop and data[i] < 128:
        if data[i] == 32 or data[i] == 10:
            start = i
        i += 1
    if i == stop:
        return stop, stop
    last = i
    while i < stop and (i - last < MIN_ASCII_GAP or (data[i] != 32 and data[i] != 10)):
        if data[i] > 127:
            last = i
        i += 1
    return start, i
