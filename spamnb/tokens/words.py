"""Text → words, in every script.

A raw word is a maximal run of word characters: ASCII letters and digits, the ASCII punctuation in ``INSIDE``, and every
letter, mark and number of Unicode. ``raw_words`` finds them; ``fold`` makes tokens of one: the word in lower case and
trimmed, and what else is worth knowing about it. Folding is the costly part, so it is done once per distinct raw word
and remembered (``Folded``): in a stream of mail nineteen words of twenty were seen before.

ASCII text takes ``str.translate`` and ``split``; only text with other characters pays for Unicode.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from itertools import pairwise

MAX_WORD = 30  # characters; a longer word is summarised by its first letter and its length
INSIDE = "$'-.,!%_"  # may stand inside a word: prices, hosts, versions, don't
MAX_PUNCTUATION = 4
NO_BREAK = "\xa0"  # a space; half of the HTML that is not ASCII has no other such character

_LEFT = "'-.,!%_"  # trimmed
_RIGHT = "'-.,_$"
_CUT = str.maketrans(dict.fromkeys("-.,!_", " "))

# Letters of other scripts that look like Latin ones: the Cyrillic and Greek ones that a Latin reader cannot tell apart.
_PAIRS = """
аa еe оo рp сc уy хx іi јj ѕs ԁd һh ӏl ѵv ԛq ԝw вb кk мm нh тt гr єe пn иn
αa βb εe ηn ιi κk μu νv οo ρp τt υu χx ωw γy ςc
"""
_LOOK_ALIKE = {ord(pair[0]): pair[1] for pair in _PAIRS.split()}
_NO_WIDTH = frozenset(
    (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x3164, 0xFFA0, *range(0x180B, 0x1810), *range(0xFE00, 0xFE10))
)
_NUMBER_SHAPE = str.maketrans("123456789", "000000000")
_MANY_MARKS = re.compile(r"[^\w\x00-\x7f]{33,}")  # marks, and what becomes a space
_MARKS_OUT = {point: None for point in range(0x300, 0x370)}  # combining accents
# From and to, of scripts written without spaces: Thai and Lao, Burmese, Khmer, kana, Han.
_UNSPACED = ((0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0x20000, 0x3FFFF))

_WORD_ASCII = {i: c if (c := chr(i)).isalnum() or c in INSIDE else " " for i in range(128)}
_PUNCTUATION_ASCII = {i: c if (c := chr(i)).isprintable() and not c.isalnum() else " " for i in range(128)}


def _no_width(point: int) -> bool:
    """Does the character take no room: zero-width and bidirectional marks, soft hyphens, variation selectors …?"""
    return point in _NO_WIDTH or unicodedata.category(chr(point)) == "Cf"


class _Words(dict[int, str]):
    """What becomes of a character where words are looked for: itself, a space, or nothing where it has no width."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        letter = unicodedata.category(char)[0] in "LMN"
        become = self[point] = "" if _no_width(point) else char if letter else " "
        return become


class _Punctuation(dict[int, str]):
    """What becomes of a character where punctuation is looked for: a space unless it is punctuation or a symbol."""

    def __missing__(self, point: int) -> str:
        char = chr(point)
        sign = unicodedata.category(char)[0] in "PS"
        become = self[point] = "" if _no_width(point) else char if sign else " "
        return become


_WORDS = _Words(_WORD_ASCII)
_PUNCTUATION = _Punctuation(_PUNCTUATION_ASCII)


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


def fold(raw: str) -> tuple[str, ...]:
    """The tokens of one raw word of running text: the words in it, then their marks. Empty where it holds neither
    letter nor digit.

    A word without digits is cut at its inner punctuation (SpamAssassin .0343 1-ROCA%, whole .0373, both .0362); what
    has digits stays whole and is joined by ``#`` and its shape (SMS .55 without the shapes, .47 with);
    scripts without spaces give character pairs; accents are taken off for a second token; letters of other scripts that
    pose as Latin are read as such, with the mark ``look-alike``.

    >>> fold("FREE!"), fold("now.Click"), fold("$19.95"), fold("--")
    (('free',), ('now', 'click'), ('$19.95', '#$00.00'), ())
    >>> fold("电子邮件"), fold("vіagra"), fold("café"), fold("é" * 40)
    (('电子', '子邮', '邮件'), ('viagra', 'look-alike'), ('café', 'cafe'), ('long:é:40',))
    """
    if raw.isalpha() and raw.isascii() and len(raw) <= MAX_WORD:
        return (raw.lower(),)
    if raw.isascii() and any(map(str.isdigit, raw)):
        return fold_whole(raw)
    tokens: list[str] = []
    for part in raw[: 64 * MAX_WORD].translate(_CUT).split():
        word = part.strip("'%")
        if not word:
            continue
        if word.isascii():
            if len(word) > MAX_WORD:
                tokens.append(_long(word.lower()))
            elif word != "$":
                tokens.append(word.lower())
            continue
        for run in _runs(word):
            if _unspaced(run[0]):
                tokens += [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]
            else:
                tokens += _fold_run(run)
    return tuple(tokens)


def fold_whole(raw: str) -> tuple[str, ...]:
    """The tokens of one raw word that names something, as a host or a program: never cut at its punctuation.

    >>> fold_whole("Mail.example.org"), fold_whole("1.2.5i")
    (('mail.example.org',), ('1.2.5i', '#0.0.0i'))
    """
    if not raw.isascii():
        return fold(raw)
    word = raw.lstrip(_LEFT).rstrip(_RIGHT).lower()
    if len(word) > MAX_WORD:
        return (_long(word),)
    if word.isalpha() or not word:
        return (word,) if word else ()
    shape = word.translate(_NUMBER_SHAPE)
    return (word, "#" + shape) if "0" in shape else (word,)


def _fold_run(word: str) -> list[str]:
    """The tokens of a run in scripts with spaces, not all of it ASCII."""
    low = unicodedata.normalize("NFC", word.casefold())
    if len(low) > MAX_WORD:
        return [_long(low)]
    bare = unicodedata.normalize("NFKD", low).translate(_MARKS_OUT)
    latin = bare.translate(_LOOK_ALIKE)
    if latin != bare and latin.isascii() and any("a" <= char <= "z" for char in bare):
        return [latin, "look-alike"]  # mixed scripts: a disguise
    return [low, bare] if bare and bare != low and bare.isascii() else [low]


def _long(word: str) -> str:
    return f"long:{word[0]}:{min(len(word) // 10 * 10, 1000)}"


class Folded(dict[str, tuple[str, ...]]):
    """Remembers the tokens of each raw word; starts afresh when full, so that a hostile stream cannot fill memory.

    >>> Folded(prefix="subject:")["FREE!"]
    ('subject:free',)
    """

    def __init__(self, fold: Callable[[str], tuple[str, ...]] = fold, prefix: str = "", room: int = 200_000) -> None:
        self.fold = fold
        self.prefix = prefix  # of every token
        self._room = room

    def made(self, raw: str) -> tuple[str, ...]:
        """The tokens, whether they are remembered or not."""
        return tuple([self.prefix + token for token in self.fold(raw)]) if self.prefix else self.fold(raw)

    def __missing__(self, raw: str) -> tuple[str, ...]:
        if len(self) >= self._room:
            self.clear()
        tokens = self.made(raw)
        if len(raw) <= 2 * MAX_WORD:
            self[raw] = tokens
        return tokens
