# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""Characters of a text → what they become where words or punctuation are looked for.

``str.translate`` takes 42 ns a character that is not ASCII, this a tenth. Compiled or not, this file is the same
(``character_map.pxd`` has its C types).
"""

from __future__ import annotations

from collections.abc import Callable

UNKNOWN, KEPT, SPACE, NOTHING, ANOTHER = range(5)
N_QUICK = 0x20000  # characters whose kind stands in a table; the others are hardly ever seen


class CharacterMap:
    """What every character becomes, which takes no more bytes of UTF-8 than itself; asked for once.

    >>> CharacterMap(lambda point: "" if point == 0x200b else chr(point).lower()).apply("CA\\u200bFÉ")
    'café'
    """

    def __init__(self, becomes: Callable[[int], str]) -> None:
        self.becomes = becomes
        self.kinds = bytearray(N_QUICK)
        self.rare_kinds: dict[int, int] = {}

    def kind_of(self, point: int) -> int:
        """What kind of character stands for this one."""
        kind = self.rare_kinds.get(point, UNKNOWN)
        if kind == UNKNOWN:
            char = self.becomes(point)
            kind = KEPT if char == chr(point) else SPACE if char == " " else ANOTHER if char else NOTHING
            if point < N_QUICK:
                self.kinds[point] = kind
            else:
                self.rare_kinds[point] = kind
        return kind

    def apply(self, text: str) -> str:
        """What ``text`` becomes."""
        raw = text.encode()
        data = raw
        known = self.kinds
        size = len(raw)
        out = bytearray(size)
        written = out
        i = n = 0
        while i < size:
            point = data[i]
            step = 1
            if point >= 0xF0:
                step = 4
                point = (point & 7) << 18 | (data[i + 1] & 63) << 12 | (data[i + 2] & 63) << 6 | data[i + 3] & 63
            elif point >= 0xE0:
                step = 3
                point = (point & 15) << 12 | (data[i + 1] & 63) << 6 | data[i + 2] & 63
            elif point >= 0x80:
                step = 2
                point = (point & 31) << 6 | data[i + 1] & 63
            kind = known[point] if point < N_QUICK else UNKNOWN
            if kind == UNKNOWN:
                kind = self.kind_of(point)
            if kind == KEPT:
                for k in range(i, i + step):
                    written[n] = data[k]
                    n += 1
            elif kind == SPACE:
                written[n] = 32
                n += 1
            elif kind == ANOTHER:
                for byte in self.becomes(point).encode():
                    written[n] = byte
                    n += 1
            i += step
        return out[:n].decode()


def has_long_stretch(raw: bytes, most: int) -> bool:
    """Whether so many characters that are not ASCII follow each other in UTF-8.

    >>> has_long_stretch("caffè e tè".encode(), 2), has_long_stretch("день".encode(), 4)
    (False, True)
    """
    data = raw
    stretch = 0
    for i in range(len(raw)):
        if data[i] < 0x80:
            stretch = 0
        elif data[i] >= 0xC0:
            stretch += 1
            if stretch == most:
                return True
    return False
