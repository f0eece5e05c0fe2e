"""Text → words, in every script.

A raw word is a maximal run of word characters: ASCII letters and digits, the ASCII punctuation in
``INNER_PUNCTUATION``, and every letter, mark and number of Unicode. ``word_scanner.py`` finds them; ``normalize_word``
makes tokens of one: the word in lower case and trimmed, and what else is worth knowing about it.

What stands here is for other characters than ASCII; ``ascii_words.py`` has the rules of the rest.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from functools import cache, partial

from spamnb.tokens.ascii_bytes import BYTE_KIND, IS_PUNCTUATION, MAX_CUT_WORD, MAX_WORD, MIN_SPACED, NOT_SPELT
from spamnb.tokens.ascii_words import AsciiWord, long_token
from spamnb.tokens.character_map import CharacterMap, has_long_stretch

MAX_PUNCTUATION = 4
SPACED = "spaced-letters"  # the mark of a word whose letters stood apart

# Letters of other scripts that look like Latin ones: the Cyrillic and Greek ones that a Latin reader cannot tell apart.
_LOOK_ALIKE_PAIRS = """
аa еe оo рp сc уy хx іi јj ѕs ԁd һh ӏl ѵv ԛq ԝw вb кk мm нh тt гr єe пn иn
αa βb εe ηn ιi κk μu νv οo ρp τt υu χx ωw γy ςc
"""
_LOOK_ALIKE = {ord(pair[0]): pair[1] for pair in _LOOK_ALIKE_PAIRS.split()}
_ZERO_WIDTH = frozenset(
    (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
)
_MANY_MARKS = re.compile(r"[^\w\x00-\x7f]{33,}")  # marks, and what becomes a space
_MARKS_OUT: dict[int, str | None] = {point: None for point in range(0x300, 0x370)}  # combining accents
_MARKS_OUT |= {0x131: "i", 0x237: "j"}  # letters without their dot
# Letters in another guise that NFKC leaves: small capitals, and white ones on black discs and squares.
_SMALL_CAPITALS = """
ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ꞯq ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz
"""
_GUISES = {ord(pair[0]): pair[1] for pair in _SMALL_CAPITALS.split()}
_GUISES |= {first + i: chr(65 + i) for first in (0x1F150, 0x1F170) for i in range(26)}
# Scripts written without spaces: Thai and Lao, Burmese, Khmer, kana, Han.
_UNSPACED_SCRIPTS = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_FIRST_UNSPACED = _UNSPACED_SCRIPTS[0]

_FIXED_IN_WORDS = {i: chr(i) if BYTE_KIND[i] or i == 10 else " " for i in range(128)} | _GUISES
_FIXED_IN_PUNCTUATION = {i: chr(i) if IS_PUNCTUATION[i] else " " for i in range(128)}
_FIXED_IN_PUNCTUATION[0x2800] = " "  # a letter of Braille without dots: a blank


def _is_zero_width(point: int) -> bool:
    """Does the character take no room: zero-width and bidirectional marks, soft hyphens, variation selectors …?"""
    return point in _ZERO_WIDTH or unicodedata.category(chr(point)) == "Cf"


def _kept(kinds: str, fixed: Mapping[int, str], point: int) -> str:
    """What is left of a character: what ``fixed`` says, or else itself where it is of these general categories, nothing
    where it has no width, and a space."""
    char = fixed.get(point)
    if char is None:
        kept = unicodedata.category(chr(point))[0] in kinds
        char = "" if _is_zero_width(point) else chr(point) if kept else " "
    return char


_WORDS = CharacterMap(partial(_kept, "LMN", _FIXED_IN_WORDS))  # letters, marks and numbers
_PUNCTUATION = CharacterMap(partial(_kept, "PS", _FIXED_IN_PUNCTUATION))  # and symbols


def spelt_words(run: str) -> list[str]:
    """The words in a run of single characters with one sign between each two.

    >>> spelt_words("V i a g r a 1 n*o*w*!"), spelt_words("1 2 3 4")
    (['Viagra'], [])
    """
    letters = "".join([char if char.isalpha() else " " for char in run[::2]])
    return [word for word in letters.split() if len(word) >= MIN_SPACED]


def word_text(text: str) -> str:
    """``text``, which has no U+00A0, with a space for whatever is neither a word character nor a line feed."""
    # Putting n marks of one letter in order takes n² steps: 140 s for those of 3 MB. Two letters of katakana become
    # marks by that: 250 kB of them and of others in turn took 5 s.
    if "\uff9e" in text or "\uff9f" in text:
        text = text.replace("\uff9e", "\u3099").replace("\uff9f", "\u309a")
    if has_long_stretch(text.encode(), 33):  # found in a tenth of the time of the pattern
        text = _MANY_MARKS.sub(lambda run: run.group()[:32], text)
    return _WORDS.apply(unicodedata.normalize("NFKC", text))


def punctuation(text: str) -> list[str]:
    """The runs of punctuation and symbols of ``text``; of a long run its beginning.

    >>> punctuation("FREE!! £5, -------")
    ['!!', '£', ',', '----']
    """
    return [run[:MAX_PUNCTUATION] for run in _PUNCTUATION.apply(text).split()]


def normalize_word(raw: str) -> tuple[str, ...]:
    """The tokens of one raw word of running text: the words in it, then their marks. Empty where it holds neither
    letter nor digit.

    A word without digits is cut at its inner punctuation; one with digits stays whole and gets a second token, ``#``
    and its shape (docs/experiments.md#words); scripts without spaces give character pairs; a word with accents gets a
    second token without them; letters of other scripts that pose as Latin are read as such, with the mark
    ``look-alike``. Single letters with punctuation between them are also the word that they spell, with the mark
    ``spaced-letters``.

    >>> normalize_word("FREE!"), normalize_word("now.Click"), normalize_word("$19.95"), normalize_word("--")
    (('free',), ('now', 'click'), ('$19.95', '#$00.00'), ())
    >>> normalize_word("电子邮件"), normalize_word("vіagra"), normalize_word("café"), normalize_word("é" * 40)
    (('电子', '子邮', '邮件'), ('viagra', 'look-alike'), ('café', 'cafe'), ('long:é:40',))
    >>> normalize_word("S.P.A.M.")
    ('s', 'p', 'a', 'm', 'spam', 'spaced-letters')
    """
    if raw.isascii() and any(map(str.isdigit, raw)):
        return normalize_whole_word(raw)
    data = raw[:MAX_CUT_WORD].encode()
    word = AsciiWord(len(data))
    may_be_spelt = word.read_parts(data, 0, len(data))
    tokens = word.texts(data, _normalize_part)
    if may_be_spelt and (letters := data.translate(None, NOT_SPELT).decode()).isalpha():
        tokens += (*normalize_word(letters), SPACED)
    return tuple(tokens)


def normalize_whole_word(raw: str) -> tuple[str, ...]:
    """The tokens of one raw word that names something, as a host or a program: never cut at its punctuation.

    >>> normalize_whole_word("Mail.example.org"), normalize_whole_word("1.2.5i")
    (('mail.example.org',), ('1.2.5i', '#0.0.0i'))
    """
    if not raw.isascii():
        return normalize_word(raw)
    data = raw.encode()
    word = AsciiWord(len(data))
    word.read_whole(data, 0, len(data), any(map(str.isdigit, raw)), True)
    return tuple(word.texts(data))


@cache
def _runs() -> re.Pattern[str]:
    """Runs of scripts without spaces, its group, or of others; 2 ms to make, that most messages need not wait for."""
    return re.compile(f"([{_UNSPACED_SCRIPTS}]++)|[^{_UNSPACED_SCRIPTS}]++")


def _normalize_part(part: str) -> list[str]:
    """The tokens of a word without inner punctuation, not all of it ASCII."""
    if max(part, default="") < _FIRST_UNSPACED:
        return _normalize_run(part) if part else []
    tokens: list[str] = []
    for found in _runs().finditer(part):
        run = found.group()
        if found.lastindex:
            tokens += [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]
        else:
            tokens += _normalize_run(run)
    return tokens


def _normalize_run(word: str) -> list[str]:
    """The tokens of a run in scripts with spaces, not all of it ASCII."""
    low = unicodedata.normalize("NFC", word.casefold())
    if len(low) > MAX_WORD:
        return [long_token(low)]
    bare = unicodedata.normalize("NFKD", low).translate(_MARKS_OUT)
    latin = bare.translate(_LOOK_ALIKE)
    if latin != bare and latin.isascii() and any("a" <= char <= "z" for char in bare):
        return [latin, "look-alike"]  # mixed scripts: a disguise
    return [low, bare] if bare and bare != low and bare.isascii() else [low]
