"""Messages → rows of token numbers: what a Tokenizer finds, counted.

Where the compiled kernel is there (``_kernel.pyx``, built when spamnb is installed with a C compiler at hand) most
words never become Python objects: 52 µs a message of words that were seen before, where dictionaries take 172. Without
it dictionaries do the same, and they are its specification.
"""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.numbers import Numbers
from spamnb.tokens import MAX_WORDS, PAIRED, Found, Tokenizer
from spamnb.words import INSIDE, Folded, punctuation, word_text

if TYPE_CHECKING:
    from spamnb.message import Message

try:
    from spamnb._kernel import Kernel
except ImportError:
    Kernel = None

MOST_FIELDS = 2000  # headers of other names that the kernel remembers words of

_WORD = bytes(b > 127 or chr(b).isalnum() or chr(b) in INSIDE for b in range(256))
_SIGN = bytes(b < 128 and chr(b).isprintable() and chr(b) != " " and not chr(b).isalnum() for b in range(256))


class Numbering:
    """Numbers tokens in the order in which they are met, and keeps messages as rows of numbers.

    >>> from spamnb.message import parse
    >>> from spamnb.tokens import TokenOptions
    >>> numbering = Numbering(Tokenizer(TokenOptions(body_only=True, ngrams=1)))
    >>> numbering.add(parse(b"\\nlunch, lunch")), numbering.add(parse(b"\\nno lunch"))
    (4, 4)
    >>> numbers, repeats = numbering.take()
    >>> [(numbering.tokens[n], int(r)) for n, r in zip(numbers[:4], repeats)]
    [('lunch', 2), ('p:,', 1), ('length:2', 1), ('caps:0', 1)]
    """

    def __init__(self, tokenizer: Tokenizer, compiled: bool = True, numbers: Numbers | None = None) -> None:
        self.numbers = Numbers() if numbers is None else numbers
        self._tokenizer = tokenizer
        self._numbers, self._repeats = array("i"), array("i")
        self._compiled = None
        options = tokenizer.options
        if compiled and Kernel is not None and options.tokenizer == "own" and options.ngrams <= 2:
            self._compiled = _Compiled(self.numbers.of)

    @property
    def tokens(self) -> list[str]:
        """The token of every number."""
        return self.numbers.tokens

    def __len__(self) -> int:
        return len(self.numbers)

    def add(self, message: Message) -> int:
        """One more row; how many different tokens it has."""
        if self._compiled is not None:
            return self._compiled.read(message, self._tokenizer)
        counted = Counter(self._tokenizer(message))
        self._numbers.extend(map(self.numbers.of.__getitem__, counted))
        self._repeats.extend(counted.values())
        return len(counted)

    def take(self) -> tuple[np.ndarray, np.ndarray]:
        """(k,) numbers and (k,) occurrences of the rows added since the last call, tokens as first met in each."""
        if self._compiled is not None:
            cells = self._compiled.kernel.take()
            return cells[:, 0], cells[:, 1]
        taken = np.array(self._numbers, np.int32), np.array(self._repeats, np.int32)
        self._numbers, self._repeats = array("i"), array("i")
        return taken


class _Compiled(Found):
    """What the tokenizer finds, handed to the kernel."""

    def __init__(self, number: defaultdict[str, int]) -> None:
        self.kernel: Any = Kernel(number, _WORD, _SIGN)
        self._fields: dict[int, tuple[int, Folded]] = {}  # by identity; the Folded is kept, so that it stays the same

    def read(self, message: Message, tokenizer: Tokenizer) -> int:
        if len(self._fields) > MOST_FIELDS:
            self._fields.clear()
            self.kernel.forget_fields()
        self.kernel.begin()
        tokenizer.read(message, self)
        return self.kernel.end()

    def _field(self, folded: Folded) -> int:
        found = self._fields.get(id(folded))
        if found is None:
            found = self._fields[id(folded)] = self.kernel.field(folded.fold), folded
        return found[0]

    def add(self, tokens: Iterable[str]) -> None:
        self.kernel.tokens(tokens)

    def words(self, folded: Folded, value: str) -> None:
        if not value.isascii():
            value = word_text(value)
        self.kernel.words(self._field(folded), value.encode())

    def text(
        self, folded: Folded, texts: Iterable[str], split: Callable[[str], list[str]], ngrams: int
    ) -> tuple[int, int, Iterable[str]]:
        kernel, field = self.kernel, self._field(folded)
        signs: set[str] = set()
        for text in texts:
            most = max(MAX_WORDS - kernel.count, 0)
            opening = max(PAIRED - kernel.openings, 0)
            if text.isascii():
                kernel.text(field, text.encode(), most, opening, True)
            else:
                kernel.text(field, word_text(text).encode(), most, opening, False)
                signs.update(punctuation(text))
        if ngrams == 2:
            kernel.join()
        return kernel.count, kernel.capitals, kernel.signs | signs
