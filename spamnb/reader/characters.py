"""What characters are, and what they become in words, by ``unicodedata``: the core asks when it meets one."""

from __future__ import annotations

import unicodedata
from itertools import accumulate

_WORD_SIGNS = frozenset("$'-.,!%_\n")  # ASCII that words may hold, and the line feed that ends a line
_FILLERS = frozenset(
    map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10)))
)
_BLANK_PATTERN = "\u2800"  # a letter of Braille without dots
# Letters of other scripts that look like Latin ones: the Cyrillic and Greek ones that a Latin reader cannot tell apart.
_LOOK_ALIKE_PAIRS = """
аa еe оo рp сc уy хx іi јj ѕs ԁd һh ӏl ѵv ԛq ԝw вb кk мm нh тt гr єe пn иn
αa βb εe ηn ιi κk μu νv οo ρp τt υu χx ωw γy ςc
"""
_LOOK_ALIKE = {ord(pair[0]): pair[1] for pair in _LOOK_ALIKE_PAIRS.split()}
_MARKS_OUT: dict[int, str | None] = {point: None for point in range(0x300, 0x370)}  # combining accents
_MARKS_OUT |= {0x131: "i", 0x237: "j"}  # letters without their dot
_CHANGED = _MARKS_OUT.keys() | _LOOK_ALIKE.keys()
# Letters in another guise that NFKC leaves: small capitals, and white ones on black discs and squares.
_SMALL_CAPITALS = """
ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ꞯq ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz
"""
_GUISES = {pair[0]: pair[1] for pair in _SMALL_CAPITALS.split()}
_GUISES |= {chr(first + i): chr(65 + i) for first in (0x1F150, 0x1F170) for i in range(26)}
# Thai and Lao, Burmese, Khmer, kana, Han.
_UNSPACED = ((0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0x20000, 0x3FFFF))


def is_invisible(char: str) -> bool:
    """Does a character take no room: zero-width and bidirectional marks, soft hyphens, variation selectors …?"""
    return char in _FILLERS or unicodedata.category(char) == "Cf"


def _in_words(char: str) -> str:
    """What is left of a character where words are looked for; of one that is no word character a space."""
    if char in _GUISES:
        return _GUISES[char]
    if char.isascii():
        return char if char.isalnum() or char in _WORD_SIGNS else " "
    if is_invisible(char):
        return ""
    return char if unicodedata.category(char)[0] in "LMN" else " "


def _forms(char: str) -> list[str]:
    """What a character becomes in words, in lower case, without accents, and where it poses as Latin."""
    if char.casefold() == char and unicodedata.is_normalized("NFKD", char) and ord(char) not in _CHANGED:
        return [_in_words(char), char, char, char]
    word = "".join(map(_in_words, unicodedata.normalize("NFKC", char)))
    low = unicodedata.normalize("NFC", char.casefold())
    bare = unicodedata.normalize("NFKD", low).translate(_MARKS_OUT)
    return [word, low, bare, bare.translate(_LOOK_ALIKE)]


def _flags(char: str, word: str) -> int:
    """What a character is: the bits of core/unicode.h, in its order."""
    point, category = ord(char), unicodedata.category(char)
    combines = unicodedata.combining(char) or 0x1161 <= point <= 0x11C2 or point in (0xFF9E, 0xFF9F)
    known = (
        word == char,
        category[0] in "PS" and char != _BLANK_PATTERN,
        is_invisible(char),
        char.isspace(),
        combines,
        any([first <= point <= last for first, last in _UNSPACED]),
    )
    return sum([bool(is_it) << bit for bit, is_it in enumerate(known)])


def describe_character(char: str) -> bytes:
    """What a character is and becomes, as ``struct character`` has it: flags, where each form ends, and the forms."""
    word, *others = _forms(char)
    forms = [form.encode() for form in (word, *others)]
    return bytes([_flags(char, word), *accumulate(map(len, forms))]) + b"".join(forms)
