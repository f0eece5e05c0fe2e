# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""Which pieces of a word of ASCII are its tokens.

``words.py`` knows the other scripts, and what each rule is for. Compiled or not, this file is the same
(``ascii_words.pxd`` has its C types).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable

from spamnb.tokens.ascii_bytes import (
    BYTE_KIND,
    CUTS,
    DIGIT,
    INNER,
    LEFT,
    LONG,
    LOWER,
    MAX_CUT_WORD,
    MAX_HOST,
    MAX_WORD,
    MIN_SPACED,
    NOT_ASCII,
    NUMBER_SHAPE,
    OTHER,
    PLAIN,
    RIGHT,
    SHAPE,
    UPPER,
)


def long_token(word: str) -> str:
    """What stands for a word of more than MAX_WORD characters: its first one, and its length in tens up to 1,000."""
    return f"long:{word[0]}:{min(len(word) // 10 * 10, 1000)}"


def character_size(first: int) -> int:
    """Of how many bytes the character is that begins with this one."""
    return 1 if first < 0x80 else 2 if first < 0xE0 else 3 if first < 0xF0 else 4


class AsciiWord:
    """The pieces of one word: the ``count`` first triples (start, stop, how it is written) of ``pieces``."""

    def __init__(self, most: int = MAX_CUT_WORD) -> None:
        # A piece takes two of the word's bytes, a host has 8 at most. With room for the longest word it takes 3 µs.
        self.pieces = array("i", bytes(12 * (most // 2 + 8)))
        self.count = 0

    def add(self, start: int, stop: int, form: int) -> None:
        """One more piece."""
        self.pieces[3 * self.count] = start
        self.pieces[3 * self.count + 1] = stop
        self.pieces[3 * self.count + 2] = form
        self.count += 1

    def read_parts(self, raw: bytes, start: int, stop: int) -> bool:
        """A word of up to MAX_CUT_WORD characters, cut at its inner punctuation; in other scripts, too. True where its
        parts are enough single characters to spell a word."""
        data = raw
        parts = letters = 0
        self.count = 0
        i = start
        while i < stop:
            start = i
            kinds = 0
            while i < stop and not BYTE_KIND[data[i]] & CUTS:
                kinds |= BYTE_KIND[data[i]]
                i += 1
            end = i
            parts += start < end
            while start < end and (data[start] == 39 or data[start] == 37):  # "'" and "%"
                start += 1
            while start < end and (data[end - 1] == 39 or data[end - 1] == 37):
                end -= 1
            i += 1
            if start == end or (end - start == 1 and data[start] == 36):  # "$"
                continue
            letters += kinds & (UPPER | LOWER | NOT_ASCII) != 0 and end - start == character_size(data[start])
            self.add(start, end, OTHER if kinds & NOT_ASCII else LONG if end - start > MAX_WORD else PLAIN)
        return letters == parts >= MIN_SPACED

    def read_whole(self, raw: bytes, start: int, stop: int, digits: bool, itself: bool) -> None:
        """To the pieces so far the word as it is, and where it has ``digits`` its shape; of a short one without
        ``itself`` the shape alone."""
        data = raw
        while start < stop and BYTE_KIND[data[start]] & LEFT:
            start += 1
        while start < stop and BYTE_KIND[data[stop - 1]] & RIGHT:
            stop -= 1
        if stop - start > MAX_WORD:
            self.add(start, stop, LONG)
        elif start < stop:
            if itself:
                self.add(start, stop, PLAIN)
            if digits:
                self.add(start, stop, SHAPE)

    def read_host(self, raw: bytes, start: int, stop: int, received: bool) -> None:
        """A host with the domains above it, an address with the networks it is in. Where it was ``received`` from, of
        what has digits and is neither address nor domain the shape alone, and of a domain the shape, too."""
        data = raw
        first = start
        last = stop
        dots = size = 0
        digits = False
        self.count = 0
        while first < last and BYTE_KIND[data[first]] & INNER:
            first += 1
        while first < last and BYTE_KIND[data[last - 1]] & INNER:
            last -= 1
        for i in range(first, last):
            dots += data[i] == 46  # "."
            size += data[i] & 0xC0 != 0x80  # no byte of a character behind its first
            digits = digits or BYTE_KIND[data[i]] & DIGIT != 0
        if not 0 < size <= MAX_HOST:
            return
        i = last
        while i > first and BYTE_KIND[data[i - 1]] & DIGIT:
            i -= 1
        address = dots == 3 and i < last and data[i - 1] == 46
        i = first
        while i < last and BYTE_KIND[data[i]] & DIGIT:
            i += 1
        number = i == last or (address and data[i] == 46)
        if not received or number or not digits or (dots and not address):
            begin = first
            for i in range(first, last + 1):
                if i < last and data[i] != 46:
                    continue
                if address:
                    self.add(first, i, PLAIN)
                else:  # of four labels at most and of two at least
                    if dots < 4 and (dots > 0 or begin == first):
                        self.add(begin, last, PLAIN)
                    begin = i + 1
                    dots -= 1
        if received and digits and not number:
            self.read_whole(raw, start, stop, True, False)

    def texts(self, raw: bytes, other: Callable[[str], list[str]] | None = None) -> list[str]:
        """The tokens; ``other`` makes those of pieces that are not ASCII."""
        found: list[str] = []
        for i in range(self.count):
            piece = raw[self.pieces[3 * i] : self.pieces[3 * i + 1]]
            form = self.pieces[3 * i + 2]
            if form == PLAIN:
                found.append(piece.decode().lower())
            elif form == SHAPE:
                found.append("#" + piece.translate(NUMBER_SHAPE).decode())
            elif form == LONG:
                found.append(long_token(piece.decode().lower()))
            elif other is not None and piece:
                found += other(piece.decode())
        return found
