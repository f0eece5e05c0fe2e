"""Text → words, in every script.

A raw word is a maximal run of word characters: ASCII letters and digits, the ASCII punctuation in
``INNER_PUNCTUATION``, and every letter, mark and number of Unicode. ``raw_words`` finds them; ``normalize_word`` makes
tokens of one: the word in lower case and trimmed, and what else is worth knowing about it. That is the costly part, so
``NormalizationCache`` keeps the tokens of each raw word: in a stream of mail nineteen words of twenty were seen before.

ASCII text takes ``str.translate`` and ``split``; only text with other characters pays for Unicode.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

MAX_WORD = 30  # characters; a longer word is summarised by its first letter and its length
INNER_PUNCTUATION = "$'-.,!%_"  # may stand inside a word: prices, hosts, versions, don't
MAX_PUNCTUATION = 4
NO_BREAK = "\xa0"  # a space; half of the HTML that is not ASCII has no other such character

_LEFT_TRIMMED = "'-.,!%_"
_RIGHT_TRIMMED = "'-.,_$"
_CUTS = str.maketrans(dict.fromkeys("-.,!_", " "))

# Letters of other scripts that look like Latin ones: the Cyrillic and Greek ones that a Latin reader cannot tell apart.
_LOOK_ALIKE_PAIRS = """
аa еe оo рp сc уy хx іi јj ѕs ԁd һh ӏl ѵv ԛq ԝw вb кk мm нh тt гr єe пn иn
αa βb εe ηn ιi κk μu νv οo ρp τt υu χx ωw γy ςc
"""
_LOOK_ALIKE = {ord(pair[0]): pair[1] for pair in _LOOK_ALIKE_PAIRS.split()}
_ZERO_WIDTH = frozenset(
    (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
)
_NUMBER_SHAPE = str.maketrans("123456789", "000000000")
_MANY_MARKS = re.compile(r"[^\w\x00-\x7f]{33,}")  # marks, and what becomes a space
_MARKS_OUT = {point: None for point in range(0x300, 0x370)}  # combining accents
# From and to, of scripts written without spaces: Thai and Lao, Burmese, Khmer, kana, Han.
_UNSPACED = ((0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0x20000, 0x3FFFF))

_WORD_ASCII = {i: c if (c := chr(i)).isalnum() or c in INNER_PUNCTUATION else " " for i in range(128)}
_PUNCTUATION_ASCII = {i: c if (c := chr(i)).isprintable() and not c.isalnum() else " " for i in range(128)}


def _is_zero_width(point: int) -> bool:
    """Does the character take no room: zero-width and bidirectional marks, soft hyphens, variation selectors …?"""
    return point in _ZERO_WIDTH or unicodedata.category(chr(point)) == "Cf"


class _WordMap(dict[int, str]):
    """Maps a character where words are looked for to: itself, a space, or nothing where it has no width."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        letter = unicodedata.category(char)[0] in "LMN"
        mapped = self[point] = "" if _is_zero_width(point) else char if letter else " "
        return mapped


class _PunctuationMap(dict[int, str]):
    """Maps a character to a space, unless it is punctuation, a symbol, or has no width."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        sign = unicodedata.category(char)[0] in "PS"
        mapped = self[point] = "" if _is_zero_width(point) else char if sign else " "
        return mapped


_WORDS = _WordMap(_WORD_ASCII)
_PUNCTUATION = _PunctuationMap(_PUNCTUATION_ASCII)


def raw_words(text: str) -> list[str]:
    """The runs of word characters of ``text``, in its own case and untrimmed.

    >>> raw_words("Don't pay $19.95 -- it's V\\u200biagra!!")
    ["Don't", 'pay', '$19.95', '--', "it's", 'Viagra!!']
    """
    if not text.isascii():
        text = text.replace(NO_BREAK, " ")
    return (text.translate(_WORD_ASCII) if text.isascii() else word_text(text)).split()


def word_text(text: str) -> str:
    """``text``, which has no NO_BREAK, with a space for whatever is no word character."""
    # Putting n marks of one letter in order takes n² steps: 140 s for those of 3 MB. Two letters of katakana become
    # marks by that: 250 kB of them and of others in turn took 5 s.
    text = text.replace("\uff9e", "\u3099").replace("\uff9f", "\u309a")
    text = _MANY_MARKS.sub(lambda run: run.group()[:32], text)
    return unicodedata.normalize("NFKC", text).translate(_WORDS)


def punctuation(text: str) -> list[str]:
    """The runs of punctuation and symbols of ``text``; of a long run its beginning.

    >>> punctuation("FREE!! £5, -------")
    ['!!', '£', ',', '----']
    """
    table = _PUNCTUATION_ASCII if text.isascii() else _PUNCTUATION
    return [run[:MAX_PUNCTUATION] for run in text.translate(table).split()]


def _unspaced(char: str) -> bool:
    point = ord(char)
    return point >= 0xE00 and any(first <= point <= last for first, last in _UNSPACED)


def _runs(word: str) -> list[str]:
    """``word`` cut where a script without spaces meets one with them."""
    runs = [word[0]]
    for before, char in pairwise(word):
        if _unspaced(before) == _unspaced(char):
            runs[-1] += char
        else:
            runs.append(char)
    return runs


def normalize_word(raw: str) -> tuple[str, ...]:
    """The tokens of one raw word of running text: the words in it, then their marks. Empty where it holds neither
    letter nor digit.

    A word without digits is cut at its inner punctuation; one with digits stays whole and gets a second token, ``#``
    and its shape (docs/experiments.md#words); scripts without spaces give character pairs; a word with accents gets a
    second token without them; letters of other scripts that pose as Latin are read as such, with the mark
    ``look-alike``.

    >>> normalize_word("FREE!"), normalize_word("now.Click"), normalize_word("$19.95"), normalize_word("--")
    (('free',), ('now', 'click'), ('$19.95', '#$00.00'), ())
    >>> normalize_word("电子邮件"), normalize_word("vіagra"), normalize_word("café"), normalize_word("é" * 40)
    (('电子', '子邮', '邮件'), ('viagra', 'look-alike'), ('café', 'cafe'), ('long:é:40',))
    """
    if raw.isalpha() and raw.isascii() and len(raw) <= MAX_WORD:
        return (raw.lower(),)
    if raw.isascii() and any(map(str.isdigit, raw)):
        return normalize_whole_word(raw)
    tokens: list[str] = []
    for part in raw[: 64 * MAX_WORD].translate(_CUTS).split():
        word = part.strip("'%")
        if not word:
            continue
        if word.isascii():
            if len(word) > MAX_WORD:
                tokens.append(long_token(word.lower()))
            elif word != "$":
                tokens.append(word.lower())
            continue
        for run in _runs(word):
            if _unspaced(run[0]):
                tokens += [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]
            else:
                tokens += _normalize_run(run)
    return tuple(tokens)


def normalize_whole_word(raw: str) -> tuple[str, ...]:
    """The tokens of one raw word that names something, as a host or a program: never cut at its punctuation.

    >>> normalize_whole_word("Mail.example.org"), normalize_whole_word("1.2.5i")
    (('mail.example.org',), ('1.2.5i', '#0.0.0i'))
    """
    if not raw.isascii():
        return normalize_word(raw)
    word = raw.lstrip(_LEFT_TRIMMED).rstrip(_RIGHT_TRIMMED).lower()
    if len(word) > MAX_WORD:
        return (long_token(word),)
    if word.isalpha() or not word:
        return (word,) if word else ()
    shape = word.translate(_NUMBER_SHAPE)
    return (word, "#" + shape) if "0" in shape else (word,)


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


def long_token(word: str) -> str:
    """What stands for a word of more than MAX_WORD characters: its first one, and its length in tens up to 1,000."""
    return f"long:{word[0]}:{min(len(word) // 10 * 10, 1000)}"


class NormalizationCache(dict[str, tuple[str, ...]]):
    """``cache[raw]`` are the tokens of a raw word: those that ``normalize`` makes, each with the ``prefix`` before it.

    It starts afresh after ``max_words``, and keeps no long ones, so that a hostile stream cannot fill memory.

    >>> NormalizationCache(prefix="subject:")["FREE!"]
    ('subject:free',)
    """

    def __init__(
        self,
        normalize: Callable[[str], tuple[str, ...]] = normalize_word,
        prefix: str = "",
        max_words: int = 200_000,
    ) -> None:
        self.normalize = normalize
        self.prefix = prefix
        self._max_words = max_words

    def compute(self, raw: str) -> tuple[str, ...]:
        """The tokens, kept or not."""
        return tuple([self.prefix + token for token in self.normalize(raw)]) if self.prefix else self.normalize(raw)

    def __missing__(self, raw: str) -> tuple[str, ...]:
        if len(self) >= self._max_words:
            self.clear()
        tokens = self.compute(raw)
        if len(raw) <= 2 * MAX_WORD:
            self[raw] = tokens
        return tokens
