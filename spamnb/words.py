"""Text → words, in every script.

A raw word is a maximal run of word characters: ASCII letters, digits and ``$ ' - . , ! % _`` (trimmed at its ends), and
every letter, mark and number of Unicode. Folding (case, NFKC, characters of no width) is done once per distinct raw word
and remembered: most words of a message were seen before.

ASCII text takes ``str.translate`` and ``split``; only text with other characters pays for Unicode.
"""

from __future__ import annotations

import unicodedata
from itertools import chain

MAX_WORD = 30  # characters; a longer word is summarised by its first letters and its length
REMEMBERED = 400_000  # distinct raw words that a fold remembers before it starts afresh: bounds memory on a hostile stream

_INSIDE = "$'-.,!%_"  # punctuation that may stand inside a word: prices, host names, versions, don't
_TRIM_LEFT = "'-.,!%_"
_TRIM_RIGHT = "'-.,_$"

_ASCII = {i: " " for i in range(128)}
_ASCII.update({ord(c): c.lower() for c in map(chr, range(128)) if c.isalnum() or c in _INSIDE})


def fold_word(raw: str) -> str:
    """One raw ASCII word as a token, ``""`` where nothing is left of it.

    >>> fold_word("'hello'"), fold_word("$19.95"), fold_word("--"), fold_word("a" * 50)
    ('hello', '$19.95', '', 'long:a:50')
    """
    word = raw.lstrip(_TRIM_LEFT).rstrip(_TRIM_RIGHT)
    if len(word) > MAX_WORD:
        return f"long:{word[0]}:{len(word) // 10 * 10}"
    return word


class _Characters(dict[int, str]):
    """What each character becomes: itself in lower case, a space between words, or nothing where it has no width."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        if point < 128:
            become = _ASCII[point]
        else:
            category = unicodedata.category(char)
            if category == "Cf" or 0xFE00 <= point <= 0xFE0F or point in (0x34F, 0x115F, 0x1160, 0x3164, 0xFFA0):
                become = ""  # zero-width and bidirectional marks, variation selectors, fillers: split words unseen
            elif category[0] in "LMN":
                become = char.casefold()
            else:
                become = " "
        self[point] = become
        return become


_CHARACTERS = _Characters()


def unspaced(char: str) -> bool:
    """Is ``char`` of a script that is written without spaces between words (Han, kana, Thai, Lao, Khmer, Burmese)?"""
    point = ord(char)
    return (
        0x3040 <= point <= 0x30FF
        or 0x3400 <= point <= 0x4DBF
        or 0x4E00 <= point <= 0x9FFF
        or 0x0E00 <= point <= 0x0EFF
        or 0x1780 <= point <= 0x17FF
        or 0x1000 <= point <= 0x109F
        or 0x20000 <= point <= 0x3FFFF
    )


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]


def fold_unicode(raw: str) -> tuple[str, ...]:
    """One raw word with characters beyond ASCII as tokens; scripts without spaces become character pairs.

    >>> fold_unicode("café"), fold_unicode("電子郵件")
    (('café',), ('電子', '子郵', '郵件'))
    """
    if raw.isascii():
        word = fold_word(raw)
        return (word,) if word else ()
    runs: list[str] = []
    kind = False
    for char in raw:
        now = unspaced(char)
        if runs and now == kind:
            runs[-1] += char
        else:
            runs.append(char)
            kind = now
    tokens: list[str] = []
    for run in runs:
        if unspaced(run[0]):
            tokens += _pairs(run)
        elif word := fold_word(run):
            tokens.append(word)
    return tuple(tokens)


class _Remembered(dict[str, str]):
    def __missing__(self, raw: str) -> str:
        if len(self) >= REMEMBERED:
            self.clear()
        word = self[raw] = fold_word(raw)
        return word


class _RememberedUnicode(dict[str, tuple[str, ...]]):
    def __missing__(self, raw: str) -> tuple[str, ...]:
        if len(self) >= REMEMBERED:
            self.clear()
        words = self[raw] = fold_unicode(raw)
        return words


_folded = _Remembered()
_folded_unicode = _RememberedUnicode()


def raw_words(text: str) -> list[str]:
    """The runs of word characters of ASCII ``text``, in lower case and untrimmed."""
    return text.translate(_ASCII).split()


def words(text: str) -> list[str]:
    """The words of ``text`` in order, with repeats.

    >>> words("Don't pay $19.95 -- it's FREE!!")
    ["don't", 'pay', '$19.95', "it's", 'free!!']
    >>> words("V\\u200biagra, 免费发票")
    ['viagra', '免费', '费发', '发票']
    """
    if text.isascii():
        return [word for word in map(_folded.__getitem__, raw_words(text)) if word]
    text = unicodedata.normalize("NFKC", text).translate(_CHARACTERS)
    return list(chain.from_iterable(map(_folded_unicode.__getitem__, text.split())))
