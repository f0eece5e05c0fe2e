"""The core's reader of messages, by way of ctypes.

While the core reads, it asks for such things as the text in a rare charset. ``answers.Answers`` answers in Python, and
holds the GIL. If an answer raises an exception, the reading of the message ends, and ``ReaderCore`` raises the
exception again.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from ctypes import POINTER, byref, c_bool, c_int, c_size_t, c_void_p
from typing import Any, NamedTuple

import numpy as np

from spamnb.core.library import c_function, locked, owned_pointer, pointers
from spamnb.reader.tokens import Vocabulary
from spamnb.settings import Settings

DIGEST_BYTES, DATE_BYTES = 16, 64  # as the sizes DIGEST in core/hash.h and DATE in core/reader.h
# The parts of a message that can be requested: the WANT_ bits of core/reader.h.
FIELDS, BODY, DIGEST, DATE = 1, 2, 4, 8
_FAILURES = {1: MemoryError, 2: RuntimeError, 3: RuntimeError}  # enum failure of core/bytes.h
_QUESTIONS = "characters decode compose host stem split pdf smime tnef".split()  # enum ask of core/reader.h


class _Span(ctypes.Structure):
    """A span of core/bytes.h."""

    _fields_ = (("at", c_void_p), ("end", c_void_p))

    @classmethod
    def of(cls, octets: bytes | None) -> _Span:
        """Return the span of octets. The caller must hold a reference to the octets while the span is used."""
        if octets is None:
            return cls()
        at = ctypes.cast(ctypes.c_char_p(octets), c_void_p).value or 0
        return cls(at, at + len(octets))

    def octets(self) -> bytes:
        return ctypes.string_at(self.at, (self.end or 0) - self.at) if self.at else b""

    def text(self) -> str:
        return self.octets().decode("utf-8", "replace")


class _Answer(ctypes.Structure):
    """The struct answer of core/reader.h."""

    _fields_ = (("text", _Span), ("is_whole", c_bool))


_Callback = ctypes.CFUNCTYPE(c_bool, c_int, POINTER(_Span), POINTER(_Span), POINTER(_Answer))

_new = c_function(
    "reader_new", c_void_p, _Callback, c_int, c_bool, c_bool, c_bool, c_void_p, c_void_p, c_void_p, c_size_t
)
_delete = c_function("reader_delete", None, c_void_p)
_read_messages = c_function(
    "read_messages", c_int, c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_int, *[c_void_p] * 4, without_lock=True
)
_message_list = c_function("message_list", c_size_t, c_void_p, c_int, POINTER(c_void_p))
_cells = c_function("vocabulary_cells", c_void_p, c_void_p, POINTER(c_size_t))
_forget_rows = c_function("vocabulary_forget_rows", None, c_void_p)


class MessageParts(NamedTuple):
    """The parts of one message. A part that was not requested is empty."""

    headers: list[tuple[str, str]]  # (name as written, decoded value) of the header fields
    texts: list[str]
    links: list[str]
    hidden: list[str]
    attachments: list[tuple[str, str]]  # (name of the file, content type) of the MIME parts that are files
    digest: bytes
    date: str
    truncations: int  # bits in the order of ``evidence.TRUNCATIONS``


class _Answerer:
    """The callback of the core: calls the method for a question, and keeps the exception of the method in ``error``."""

    def __init__(self, answers: Any) -> None:
        self._answers = answers
        self._octets: Any = None  # of the last answer, because the core reads them after the call
        self.error: BaseException | None = None

    def answer(self, question: int, text: Any, other: Any, answer: Any) -> bool:
        name = _QUESTIONS[question]
        try:
            arguments = (text[0].octets(), other[0].octets()) if name == "decode" else (text[0].octets(),)
            result = getattr(self._answers, name)(*arguments)
            self._octets, is_whole = result if isinstance(result, tuple) else (result, True)
            answer[0] = _Answer(_Span.of(self._octets), is_whole)
        except BaseException as error:
            self.error = error
            return False
        return True


class ReaderCore:
    """Reads messages. Other packages use ``message.Reader``.

    rules: how header fields are read, as ``evidence.header_rules`` returns them
    answers: has a method for each kind of question, as ``answers.Answers`` has
    """

    def __init__(self, rules: Sequence[tuple[bytes, int, bytes]], answers: object, settings: Settings) -> None:
        self.lock = threading.Lock()
        self._rules = list(rules)  # the core points to their texts
        self._answerer = _Answerer(answers)
        self._callback = _Callback(self._answerer.answer)
        names, methods, prefixes = zip(*self._rules)
        flags = settings.body_only, settings.stem is not None, settings.tokenizer != "own"
        rule_arrays = pointers(names), pointers(prefixes), bytes(methods)
        pointer = _new(self._callback, settings.ngrams, *flags, *rule_arrays, len(rules))
        self.pointer = owned_pointer(self, pointer, _delete)

    def _read(self, messages: Sequence[bytes], vocabulary: int | None, parts: int) -> tuple[np.ndarray, ...]:
        """Read these parts of messages; return the length of each row, the digests, the dates and the truncations."""
        n = len(messages)
        raws, sizes = pointers(messages), np.fromiter(map(len, messages), np.uintp, n)
        dtypes = np.uint32, f"V{DIGEST_BYTES}", f"S{DATE_BYTES}", np.uint32
        results = tuple([np.zeros(n, dtype) for dtype in dtypes])
        addresses = [array.ctypes.data for array in results]
        failure = _read_messages(self.pointer, vocabulary, raws, sizes.ctypes.data, n, parts, *addresses)
        error, self._answerer.error = self._answerer.error, None
        if failure:
            raise error or _FAILURES[failure]("the reader of messages failed")
        return results

    def read_cells(
        self, messages: Sequence[bytes], vocabulary: Vocabulary, parts: int
    ) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        """Return the ids and counts of the cells of messages, and the four arrays of ``_read``."""
        n_cells = c_size_t()
        with locked(self), locked(vocabulary):
            try:
                columns = self._read(messages, vocabulary.pointer, parts)
                cells = _cells(vocabulary.pointer, byref(n_cells))
                ids, counts = np.frombuffer(ctypes.string_at(cells, 8 * n_cells.value), np.int32).reshape(-1, 2).T
            finally:
                _forget_rows(vocabulary.pointer)
        return ids, counts, columns

    def read_parts(self, raw: bytes, parts: int) -> MessageParts:
        """Return the requested parts of one message; ``parts`` is a sum of FIELDS, BODY, DIGEST and DATE."""
        with locked(self):
            _, digests, dates, truncations = self._read([raw], None, parts)
            fields, texts, links, hidden, files = map(self._list, range(5))
        headers = list(zip(fields[::2], fields[1::2]))
        attachments = list(zip(files[::2], files[1::2]))
        date, bits = dates[0].decode(), int(truncations[0])
        return MessageParts(headers, texts, links, hidden, attachments, digests.tobytes(), date, bits)

    def _list(self, number: int) -> list[str]:
        """Return a list of strings of the message; ``message_list`` in core/python.c has the numbers."""
        items = c_void_p()
        n = _message_list(self.pointer, number, byref(items))
        return [span.text() for span in (_Span * n).from_address(items.value)] if n else []
