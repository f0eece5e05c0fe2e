"""Describe characters for the core by ``unicodedata``: 256 at once, when the core reads any one of them."""

from __future__ import annotations

import unicodedata
from bisect import bisect
from collections.abc import Callable
from itertools import accumulate

from spamnb.reader.look_alikes import LOOK_ALIKES

_WORD_SIGNS = frozenset("$'-.,!%_\n")  # ASCII in words besides letters and digits, and the line feed, which ends a line
# Invisible characters besides controls (categories Cc, Cf): the letters, marks and unassigned points that Unicode
# lists as Default_Ignorable_Code_Point.
_FILLERS = frozenset(
    map(chr, (0x34F, 0x1160, 0x17B4, 0x17B5, *range(0x180B, 0x1810), 0x2065, *range(0xFE00, 0xFE10),
              *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)))
)  # fmt: skip
# Characters that hosts keep (UTS 46 calls them deviations), although their case folding is another or nothing.
_HOST_FORMS = {"ß": "ß", "ẞ": "ß", "ς": "ς", "\u200c": "\u200c", "\u200d": "\u200d"}
_BLANKS = frozenset("\u115f\u2800\u3164\uffa0")  # look like a space: Korean fillers, Braille without dots
_LOOK_ALIKE = {ord(char): line[0] for line in LOOK_ALIKES.split("\n") for char in line[2:]}
# Letters of disguised spam that the table lacks, or has for another letter.
_LOOK_ALIKE |= {ord(pair[0]): pair[1] for pair in "пn иn цu шw єe ғf ӏl Ꮖi ꓲi".split()}
# Accents are removed, and the dotless i and j get their dot.
_ACCENTS = ((0x300, 0x370), (0x1AB0, 0x1B00), (0x1DC0, 0x1E00), (0x20D0, 0x2100), (0xFE20, 0xFE30))
_WITHOUT_ACCENT: dict[int, str | None] = {point: None for accents in _ACCENTS for point in range(*accents)}
_WITHOUT_ACCENT |= {0x131: "i", 0x237: "j"}
# Styled letters that NFKC does not map to plain letters: small capitals, and white letters on black discs and squares.
_SMALL_CAPITALS = """
ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ꞯq ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz
"""
_PLAIN_LETTERS = {pair[0]: pair[1] for pair in _SMALL_CAPITALS.split()}
_PLAIN_LETTERS |= {chr(first + i): chr(65 + i) for first in (0x1F150, 0x1F170) for i in range(26)}
# Scripts without spaces: Thai and Lao, Burmese, Khmer, kana, Han (two ranges); the first point of each range, and the
# first point after the range.
_UNSPACED = (0xE00, 0xF00, 0x1000, 0x10A0, 0x1780, 0x1800, 0x3040, 0x3100, 0x3400, 0xA000, 0x20000, 0x40000)


def is_invisible(char: str) -> bool:
    """Return whether a character shows nothing: controls, zero-width marks, soft hyphens, variation selectors."""
    return char in _FILLERS or unicodedata.category(char) in ("Cc", "Cf")


def host_form(char: str) -> str:
    """Return the form of a character in the name of a host: UTS 46's mapping without transitional processing.

    >>> [host_form(char) for char in ("Ü", "ς", "ϲ", "。", "\u00ad")]
    ['ü', 'ς', 'σ', '.', '']
    """
    if char in _HOST_FORMS:
        return _HOST_FORMS[char]
    normal = unicodedata.normalize("NFKC", char).replace("\u3002", ".")
    visible = "".join([part for part in normal if not is_invisible(part) and part != "\u115f"])
    return unicodedata.normalize("NFKC", visible.casefold())


def _word_form(char: str) -> str:
    """Return the form of a character in words: itself, a Latin letter, nothing, or a space if it ends a word."""
    if char in _PLAIN_LETTERS:
        return _PLAIN_LETTERS[char]
    if char.isascii():
        return char if char.isalnum() or char in _WORD_SIGNS else " "
    if is_invisible(char):
        return ""
    return char if unicodedata.category(char)[0] in "LMN" else " "


def _flags(char: str, word: str, is_unchanged: bool) -> int:
    """Return the properties of a character, as the bits of core/unicode.h in the same order."""
    point, category = ord(char), unicodedata.category(char)
    combines = unicodedata.combining(char) or 0x1161 <= point <= 0x11C2 or point in (0xFF9E, 0xFF9F)
    is_blank = char in _BLANKS
    return (
        (word == char)
        | (category[0] in "PS" and not is_blank) << 1
        | is_invisible(char) << 2
        | (is_blank or char.isspace()) << 3
        | bool(combines) << 4
        | (bisect(_UNSPACED, point) % 2) << 5
        | is_unchanged << 6
    )


def _map_each(change: Callable[[str], str], chars: list[str]) -> list[str]:
    """Return ``change(char)`` of each character. All are changed in one call, because 262,144 calls take 1.9 s."""
    return change("\ud800".join(chars)).split("\ud800")  # a lone surrogate, which no change touches


def describe_characters(first: int) -> bytes:
    """Return the description of the 256 characters from ``first`` on, each as ``struct character`` of core/unicode.h.

    A description has flags, the end of each form, and the forms: in words, in lower case, without accents, and the
    Latin letter that the character looks like. If no form differs from the character, there are no forms. If all 256
    descriptions are equal, as in most scripts, only one is returned.
    """
    chars = list(map(chr, range(first, first + 256)))
    text = "".join(chars)
    is_plain = text.casefold() == text and unicodedata.is_normalized("NFKD", text) and _BLANKS.isdisjoint(chars)
    if is_plain and len(set(map(unicodedata.category, chars))) == 1:
        chars = chars[:1]
    spaced = [" " if char in _BLANKS else char for char in chars]
    normalized = _map_each(lambda text: unicodedata.normalize("NFKC", text), spaced)
    lowercase = _map_each(lambda text: unicodedata.normalize("NFC", text.casefold()), chars)
    unaccented = _map_each(lambda text: unicodedata.normalize("NFKD", text).translate(_WITHOUT_ACCENT), lowercase)
    latin = _map_each(lambda text: text.translate(_LOOK_ALIKE), unaccented)
    descriptions = []
    for char, normal, *forms in zip(chars, normalized, lowercase, unaccented, latin, strict=True):
        word, is_unchanged = "".join(map(_word_form, normal)), forms == [char] * 3
        flags = _flags(char, word, is_unchanged)
        if is_unchanged and word == char:
            descriptions.append(bytes([flags, 0, 0, 0, 0]))
            continue
        encoded = [form.encode() for form in ("" if word == char else word, *([] if is_unchanged else forms))]
        ends = list(accumulate(map(len, encoded)))
        descriptions.append(bytes([flags, *ends, *ends[-1:] * (4 - len(ends))]) + b"".join(encoded))
    return descriptions[0] if len(set(descriptions)) == 1 else b"".join(descriptions)
