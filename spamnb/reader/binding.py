"""The reader of messages in the compiled library, by way of ctypes.

What the core asks for in the midst of a message (``Program`` of ``attachments``) comes back as a call with Python's
lock. An exception there ends the message, and is raised again where the message was to be read.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from ctypes import POINTER, byref, c_bool, c_int, c_size_t, c_void_p
from typing import Any

import numpy as np

from spamnb.core.library import c_function, locked, owned_pointer, pointers
from spamnb.reader.options import TokenOptions
from spamnb.reader.rows import CsrRows, ReadRows
from spamnb.reader.tokens import Vocabulary

DIGEST, DATE = 16, 64  # bytes
_FAILURES = {1: MemoryError, 2: RuntimeError, 3: RuntimeError}  # enum failure of bytes.h
_ASKS = "characters decode compose host stem split pdf smime tnef".split()  # enum ask of reader.h
# What may be wanted of a message: reader.h.
FIELDS, BODY, DIGEST_OF, DATE_OF = 1, 2, 4, 8


class _Span(ctypes.Structure):
    """A span of bytes.h."""

    _fields_ = (("at", c_void_p), ("end", c_void_p))

    def octets(self) -> bytes:
        return ctypes.string_at(self.at, (self.end or 0) - self.at) if self.at else b""

    def value(self) -> str:
        return self.octets().decode("utf-8", "replace")


class _Answer(ctypes.Structure):
    _fields_ = (("text", _Span), ("is_whole", c_bool))


# The lists of message_list in python.c, and what they belong to.
_LISTS = {"headers": FIELDS, "texts": BODY, "links": BODY, "hidden": BODY}
_Answerer = ctypes.CFUNCTYPE(c_bool, c_int, POINTER(_Span), POINTER(_Span), POINTER(_Answer))

_new = c_function(
    "reader_new", c_void_p, _Answerer, c_int, c_bool, c_bool, c_bool, c_void_p, c_void_p, c_void_p, c_size_t
)
_delete = c_function("reader_delete", None, c_void_p)
_read_messages = c_function(
    "read_messages", c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_int, *[c_void_p] * 4, without_lock=True
)
_message_list = c_function("message_list", c_size_t, c_void_p, c_int, POINTER(c_void_p))
_cells = c_function("vocabulary_cells", c_void_p, c_void_p, POINTER(c_size_t))
_forget_rows = c_function("vocabulary_forget_rows", None, c_void_p)


class _Answers:
    """Answers the core by the methods of a program; keeps what it raised, and what the core has still to copy."""

    def __init__(self, program: Any) -> None:
        self._program = program
        self._kept: Any = None
        self.error: BaseException | None = None

    def answer(self, what: int, text: Any, other: Any, answer: Any) -> bool:
        """Answer; false after an exception."""
        try:
            given = (text[0].octets(), other[0].octets()) if _ASKS[what] == "decode" else (text[0].octets(),)
            found = getattr(self._program, _ASKS[what])(*given)
            self._kept, is_whole = found if isinstance(found, tuple) else (found, True)
            answer[0] = _Answer(_span(self._kept), is_whole)
        except BaseException as error:
            self.error = error
            return False
        return True


class ReaderCore:
    """Reads messages; ``message.Reader`` is what others use.

    rules: how header fields are read, see ``evidence.header_rules``
    program: answers what the core asks for, see ``attachments.Program``
    """

    def __init__(self, rules: Sequence[tuple[bytes, int, bytes]], program: object, options: TokenOptions) -> None:
        self.lock = threading.Lock()
        self._rules = list(rules)  # whose texts the core has
        self._answers = _Answers(program)
        self._answerer = _Answerer(self._answers.answer)
        names, hows, prefixes = zip(*self._rules)
        chosen = options.ngrams, options.body_only, options.stem is not None, options.tokenizer != "own"
        pointer = _new(self._answerer, *chosen, pointers(names), pointers(prefixes), bytes(hows), len(rules))
        self.pointer = owned_pointer(self, pointer, _delete)

    def _read(self, messages: Sequence[bytes], vocabulary: int | None, wants: int) -> tuple[np.ndarray, ...]:
        """Of each message the length of its row, its digest, its date and what was cut off."""
        n = len(messages)
        raws, sizes = pointers(messages), np.fromiter(map(len, messages), np.uintp, n)
        found = np.zeros(n, np.uint32), np.zeros(n, f"V{DIGEST}"), np.zeros(n, f"S{DATE}"), np.zeros(n, np.uint32)
        arrays = [array.ctypes.data for array in found]
        failure = _read_messages(self.pointer, vocabulary, raws, sizes.ctypes.data, n, wants, *arrays)
        error, self._answers.error = self._answers.error, None
        if failure:
            raise error or _FAILURES[failure]("the reader of messages failed")
        return found

    def read(self, messages: Sequence[bytes], vocabulary: Vocabulary, identify: bool = True) -> ReadRows:
        """Messages as rows of the vocabulary's ids; with their digests and dates where they are to ``identify``."""
        indptr, n_cells = np.zeros(len(messages) + 1, np.int64), c_size_t()
        wants = BODY | (DIGEST_OF | DATE_OF if identify else 0)
        with locked(self), locked(vocabulary):
            try:
                lengths, digests, dates, cuts = self._read(messages, vocabulary.pointer, wants)
                at = _cells(vocabulary.pointer, byref(n_cells))
                ids, counts = np.frombuffer(ctypes.string_at(at, 8 * n_cells.value), np.int32).reshape(-1, 2).T
            finally:
                _forget_rows(vocabulary.pointer)
        np.cumsum(lengths, out=indptr[1:])
        return ReadRows(CsrRows(indptr, ids, counts), digests.tobytes(), dates, cuts)

    def parse_with(self, raw: bytes, wants: int) -> dict[str, Any]:
        """What stands in a message, by name; ``wants``: FIELDS, BODY and so on."""
        with locked(self):
            _, digests, dates, cuts = self._read([raw], None, wants)
            found: dict[str, Any] = {
                name: self._list(number) for number, (name, belongs) in enumerate(_LISTS.items()) if belongs & wants
            }
        if wants & FIELDS:
            found["headers"] = list(zip(found["headers"][::2], found["headers"][1::2]))
        return found | {"digest": digests.tobytes(), "date": dates[0].decode(), "cuts": int(cuts[0])}

    def _list(self, number: int) -> list[str]:
        items = c_void_p()
        n = _message_list(self.pointer, number, byref(items))
        return [text.value() for text in (_Span * n).from_address(items.value)] if n else []


def _span(octets: bytes | None) -> _Span:
    if octets is None:
        return _Span()
    at = ctypes.cast(ctypes.c_char_p(octets), c_void_p).value or 0
    return _Span(at, at + len(octets))
