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
from collections.abc import Callable, Sequence
from itertools import pairwise

MAX_WORD = 30  # characters; a longer word is summarised by its first letter and its length
INNER_PUNCTUATION = "$'-.,!%_"  # may stand inside a word: prices, hosts, versions, don't
MAX_PUNCTUATION = 4
MIN_SPACED = 4  # letters with one sign between each two that are a word: "V i a g r a", "V.i.a.g.r.a"
SPACED = "spaced-letters"  # the mark of such a word
MAX_SPACED_WORDS = 50  # of a text that are joined
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
_MARKS_OUT: dict[int, str | None] = {point: None for point in range(0x300, 0x370)}  # combining accents
_MARKS_OUT |= {0x131: "i", 0x237: "j"}  # letters without their dot
# Letters in another guise that NFKC leaves: small capitals, and white ones on black discs and squares.
_SMALL_CAPITALS = """
ᴀa ʙb ᴄc ᴅd ᴇe ꜰf ɢg ʜh ɪi ᴊj ᴋk ʟl ᴍm ɴn ᴏo ᴘp ꞯq ʀr ꜱs ᴛt ᴜu ᴠv ᴡw ʏy ᴢz
"""
_GUISES = {ord(pair[0]): pair[1] for pair in _SMALL_CAPITALS.split()}
_GUISES |= {first + i: chr(65 + i) for first in (0x1F150, 0x1F170) for i in range(26)}
_SINGLES = b"\1" * MIN_SPACED
_SPACED = re.compile(rf" \S(?: \S){{{MIN_SPACED - 1},}}(?= )")
# From and to, of scripts written without spaces: Thai and Lao, Burmese, Khmer, kana, Han.
_UNSPACED = ((0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3040, 0x30FF), (0x3400, 0x9FFF), (0x20000, 0x3FFFF))

_WORD_ASCII = {i: c if (c := chr(i)).isalnum() or c in INNER_PUNCTUATION or c == "\n" else " " for i in range(128)}
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


_WORDS = _WordMap(_WORD_ASCII | _GUISES)
_PUNCTUATION = _PunctuationMap(_PUNCTUATION_ASCII | {0x2800: " "})  # a letter of Braille without dots: a blank


def raw_words(text: str) -> list[str]:
    """The runs of word characters of ``text``, in its own case and untrimmed.

    >>> raw_words("Don't pay $19.95 -- it's V\\u200biagra!!")
    ["Don't", 'pay', '$19.95', '--', "it's", 'Viagra!!']
    """
    return _with_spaces(text).split()


def _with_spaces(text: str) -> str:
    """``text`` with a space for whatever is neither a word character nor a line feed."""
    if not text.isascii():
        text = text.replace(NO_BREAK, " ")
    return text.translate(_WORD_ASCII) if text.isascii() else word_text(text)


def may_be_spaced(raw: list[str]) -> bool:
    """Whether ``spaced_words`` may find something in the text of these raw words: a third of the time of looking."""
    try:
        return _SINGLES in bytes(map(len, raw))
    except ValueError:  # a word of more than 255 characters
        return True


def spaced_words(text: str) -> list[str]:
    """The words of ``text`` that are written with one sign between each two letters, joined; the first
    MAX_SPACED_WORDS. A line feed ends one.

    >>> spaced_words("Buy V i a g r a *n*o*w*  N o w or 1 2 3 4")
    ['Viagra']
    >>> spaced_words("F R E E  G I F T")
    ['FREE', 'GIFT']
    """
    found: list[str] = []
    for run in _SPACED.findall(f" {_with_spaces(text)} ".replace("\n", "  ")):
        letters = "".join([char if char.isalpha() else " " for char in run[1::2]])
        found += [word for word in letters.split() if len(word) >= MIN_SPACED]
        if len(found) >= MAX_SPACED_WORDS:
            break
    return found[:MAX_SPACED_WORDS]


def word_text(text: str) -> str:
    """``text``, which has no NO_BREAK, with a space for whatever is neither a word character nor a line feed."""
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
    ``look-alike``. Single letters with punctuation between them are also the word that they spell, with the mark
    ``spaced-letters``.

    >>> normalize_word("FREE!"), normalize_word("now.Click"), normalize_word("$19.95"), normalize_word("--")
    (('free',), ('now', 'click'), ('$19.95', '#$00.00'), ())
    >>> normalize_word("电子邮件"), normalize_word("vіagra"), normalize_word("café"), normalize_word("é" * 40)
    (('电子', '子邮', '邮件'), ('viagra', 'look-alike'), ('café', 'cafe'), ('long:é:40',))
    >>> normalize_word("S.P.A.M.")
    ('s', 'p', 'a', 'm', 'spam', 'spaced-letters')
    """
    if raw.isalpha() and raw.isascii() and len(raw) <= MAX_WORD:
        return (raw.lower(),)
    if raw.isascii() and any(map(str.isdigit, raw)):
        return normalize_whole_word(raw)
    tokens: list[str] = []
    parts = [part.strip("'%") for part in raw[: 64 * MAX_WORD].translate(_CUTS).split()]
    for word in parts:
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
    if len(parts) >= MIN_SPACED and all([len(word) == 1 and word.isalpha() for word in parts]):
        tokens += (*normalize_word("".join(parts)), SPACED)
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

    def of_spaced(self, word: str) -> tuple[str, ...]:
        """The tokens of a word whose letters stood apart, and the mark of that; not kept."""
        return (*self.compute(word), self.prefix + SPACED)

    def __missing__(self, raw: str) -> tuple[str, ...]:
        if len(self) >= self._max_words:
            self.clear()
        tokens = self.compute(raw)
        if len(raw) <= 2 * MAX_WORD:
            self[raw] = tokens
        return tokens


def shares(counts: Sequence[int], allowance: int) -> list[int]:
    """How many words of each text are read, of texts with so many words: ``allowance`` in all.

    Half of the allowance is for all texts evenly, so that each is heard; the rest goes to the first ones, which a
    reader sees first, so that a hundred attached texts do not outvote the letter. What a text leaves goes to others.

    >>> shares([3000], 1000), shares([3000, 9, 3000], 1000), shares([400, 600], 1000), shares([700] * 4, 1000)
    ([1000], [745, 9, 246], [400, 600], [625, 125, 125, 125])
    """
    if len(counts) == 1:
        return [min(counts[0], allowance)]
    read = [0] * len(counts)
    left = allowance // 2
    for n_longer, i in zip(range(len(counts), 0, -1), sorted(range(len(counts)), key=counts.__getitem__)):
        read[i] = min(counts[i], left // n_longer)
        left -= read[i]
    left += allowance - allowance // 2
    for i, count in enumerate(counts):
        more = min(count - read[i], left)
        read[i] += more
        left -= more
    return read
