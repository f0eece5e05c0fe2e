"""Messages → rows of token numbers: what a Tokenizer finds, counted.

Where the compiled kernel is there (``_kernel.pyx``, built when spamnb is installed with a C compiler at hand) most
words never become Python objects, and a plain letter (one text of ASCII) is read in its bytes: 57 µs a message of
SpamAssassin and 20news, parsing included, and 50 MB for their 903,000 tokens, where parsing and dictionaries take
500 µs and 270 MB. Without it they do the same, and they are its specification.
"""

from __future__ import annotations

from array import array
from collections import Counter
from typing import Any, NamedTuple

import numpy as np

from spamnb.message.parse import Message, parse
from spamnb.tokens.token_array import Numbers, Tokens
from spamnb.tokens.tokenizer import TOKENS_VERSION, Tokenizer

KERNEL_VERSION = 4  # rises whenever what follows asks other things of the kernel

try:
    import spamnb.tokens._kernel as kernel
except ImportError:
    kernel = None
else:
    if getattr(kernel, "MADE_FOR", None) != (TOKENS_VERSION, KERNEL_VERSION):  # built of other source
        kernel = None


def new_numbers() -> Numbers:
    """An empty table of tokens, the kernel's where it is built."""
    return Numbers() if kernel is None else kernel.Numbers()


def views_of(tokens: Tokens) -> np.ndarray:
    """(k,) int8, the view of each token."""
    return tokens.views if kernel is None else kernel.views_of(tokens.text, tokens.begins, tokens.lengths)


class Row(NamedTuple):
    """A message that became a row."""

    length: int  # its different tokens
    digest: bytes  # of the message
    cut: tuple[str, ...]  # what was left out of it: see Message


class Numbering:
    """Numbers tokens in the order in which they are met, and keeps messages as rows of numbers.

    >>> from spamnb.message.parse import parse
    >>> from spamnb.tokens.tokenizer import TokenOptions
    >>> numbering = Numbering(Tokenizer(TokenOptions(body_only=True, ngrams=1)))
    >>> numbering.add(parse(b"\\nlunch, lunch")), numbering.add(parse(b"\\nno lunch"))
    (6, 6)
    >>> numbers, repeats = numbering.take()[:4].T
    >>> list(zip(numbering.numbers.some(numbers), repeats.tolist()))
    [('p:,', 1), ('lunch', 2), ('length:2', 1), ('caps:0', 1)]
    """

    def __init__(self, tokenizer: Tokenizer, numbers: Numbers | None = None, compiled: bool = True) -> None:
        if numbers is None:
            numbers = new_numbers() if compiled else Numbers()
        self.numbers = numbers
        self._tokenizer = tokenizer
        self._numbers, self._repeats = array("i"), array("i")
        self._kernel: Any = None
        options = tokenizer.options
        served = options.tokenizer == "own" and options.ngrams <= 2
        if served and kernel is not None and isinstance(numbers, kernel.Numbers):
            self._kernel = kernel.Kernel(numbers)

    def __len__(self) -> int:
        return len(self.numbers)

    def read(self, raw: bytes, identify: bool = True) -> Row:
        """One more row, of any bytes: ``parse`` and ``add`` in one, 28 µs for a plain letter where the two take 40.

        Without ``identify`` the digest may be empty, which saves an eighth of that.
        """
        if self._kernel is not None:
            self._kernel.begin()
            digest = self._tokenizer.read_letter(raw, self._kernel, identify)
            if digest is not None:
                return Row(self._kernel.end(), digest, ())
        message = parse(raw)
        return Row(self.add(message), message.digest, message.cut)

    def add(self, message: Message) -> int:
        """One more row; returns how many different tokens it has."""
        if self._kernel is not None:
            self._kernel.begin()
            self._tokenizer.read(message, self._kernel)
            return self._kernel.end()
        counted = Counter(self.numbers.at(self._tokenizer(message)).tolist())
        self._numbers.extend(counted)
        self._repeats.extend(counted.values())
        return len(counted)

    def take(self) -> np.ndarray:
        """(k, 2) numbers and occurrences of the rows added since the last call, tokens as first met in each."""
        if self._kernel is not None:
            return self._kernel.take()
        taken = np.stack([np.array(self._numbers, np.int32), np.array(self._repeats, np.int32)], axis=1)
        self._numbers, self._repeats = array("i"), array("i")
        return taken
