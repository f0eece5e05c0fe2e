"""The core's reader of messages.

While the core reads, it asks for such things as the text in a rare charset. ``answers.Answers`` answers in Python, and
holds the GIL. If an answer raises an exception, the reading of the message ends, and ``ReaderCore`` raises the
exception again.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np

from spamnb.core.library import ffi, lib, locked, owned, pointer, texts
from spamnb.reader.tokens import Vocabulary
from spamnb.settings import Settings

# The parts of a message that can be requested.
FIELDS, BODY, DIGEST, DATE = lib.WANT_FIELDS, lib.WANT_BODY, lib.WANT_DIGEST, lib.WANT_DATE
DOUBTFUL, SENDER = lib.WANT_DOUBTFUL, lib.WANT_SENDER
# The methods of ``answers.Answers``, by the number of the question: "decode" answers ASK_DECODE.
_QUESTIONS = {number: name.removeprefix("ASK_").lower() for number, name in ffi.typeof("enum ask").elements.items()}


class _Answerer:
    """Answers the questions of a reader, and keeps the exception of an answer in ``error``."""

    def __init__(self, answers: Any) -> None:
        self._answers = answers
        self._octets: Any = None  # of the last answer, because the core reads them after the call
        self.error: BaseException | None = None

    def answer(self, question: int, text: Any, other: Any, answer: Any) -> None:
        name = _QUESTIONS[question]
        arguments = (_octets(text), _octets(other)) if name == "decode" else (_octets(text),)
        result = getattr(self._answers, name)(*arguments)
        self._octets, answer.is_whole = result if isinstance(result, tuple) else (result, True)
        if self._octets is not None:
            begin = ffi.from_buffer("uint8_t[]", self._octets)
            answer.text.at, answer.text.end = begin, begin + len(self._octets)


def _octets(span: Any) -> bytes:
    return ffi.buffer(span.at, span.end - span.at)[:] if span.at else b""


def _keep_error(_: type[BaseException], error: BaseException, traceback: TracebackType) -> None:
    """Keep the exception of ``_answer``: also an interrupt that arrives before its first line."""
    ffi.from_handle(traceback.tb_frame.f_locals["answerer"]).error = error


def _answer(answerer: Any, question: int, text: Any, other: Any, answer: Any) -> bool:
    ffi.from_handle(answerer).answer(question, text, other, answer)
    return True


ffi.def_extern("answer_question", error=False, onerror=_keep_error)(_answer)


class ReaderCore:
    """Reads messages. Other packages use ``message.Reader``.

    rules: how header fields are read, as ``evidence.header_rules`` returns them
    answers: has a method for each kind of question, as ``answers.Answers`` has
    """

    def __init__(self, rules: Sequence[tuple[bytes, int, bytes]], answers: object, settings: Settings) -> None:
        self.lock = threading.Lock()
        self._rules = list(rules)  # the core points to their texts
        self._answerer = _Answerer(answers)
        self._handle = ffi.new_handle(self._answerer)
        names, methods, prefixes = zip(*self._rules)
        flags = settings.body_only, settings.stem is not None, settings.tokenizer != "own"
        rule_arrays = texts(names), texts(prefixes), bytes(methods)
        reader = lib.reader_new(self._handle, settings.ngrams, *flags, *rule_arrays, len(rules))
        self.pointer = owned(reader, lib.reader_delete)

    def _read(self, messages: Sequence[bytes], vocabulary: Any, parts: int) -> tuple[np.ndarray, ...]:
        """Read these parts of messages.

        Return the length of each row, the number of its plain tokens, digests, dates, senders and truncations.
        """
        n = len(messages)
        raws, sizes = texts(messages), ffi.new("size_t[]", list(map(len, messages)))
        lengths, n_plain, truncations = np.zeros((3, n), np.uint32)
        digests, dates = np.zeros((n, lib.DIGEST), np.uint8), np.zeros((n, lib.DATE), np.uint8)
        senders = np.zeros(n, np.int64)
        failure = lib.read_messages(
            self.pointer, vocabulary, raws, sizes, n, parts, pointer("uint32_t", lengths),
            pointer("uint32_t", n_plain), pointer("uint8_t", digests, n, lib.DIGEST),
            pointer("uint8_t", dates, n, lib.DATE), pointer("int64_t", senders), pointer("uint32_t", truncations),
        )  # fmt: skip
        error, self._answerer.error = self._answerer.error, None
        if failure == lib.FAILED_MEMORY:
            raise MemoryError
        if failure:
            raise error or RuntimeError("the reader of messages failed")
        return lengths, n_plain, digests, dates.view(f"S{lib.DATE}").reshape(n), senders, truncations

    def read_cells(
        self, messages: Sequence[bytes], vocabulary: Vocabulary, parts: int
    ) -> tuple[np.ndarray, np.ndarray, tuple[np.ndarray, ...]]:
        """Return the ids and counts of the cells of messages, and the six arrays of ``_read``."""
        n_cells = ffi.new("size_t *")
        with locked(self), locked(vocabulary):
            lib.vocabulary_forget_rows(vocabulary.pointer)  # first, because an interrupt can end every call
            columns = self._read(messages, vocabulary.pointer, parts)
            cells = lib.vocabulary_cells(vocabulary.pointer, n_cells)
            octets = ffi.buffer(cells, n_cells[0] * ffi.sizeof("struct cell"))[:] if n_cells[0] else b""
            ids, counts = np.frombuffer(octets, np.int32).reshape(-1, 2).T
        return ids, counts, columns

    def read_lists(self, raw: bytes, parts: int) -> tuple[list[list[str]], tuple[np.ndarray, ...]]:
        """Return the lists of one message by their numbers in core/interface.h, and the six arrays of ``_read``.

        ``parts`` is a sum of FIELDS, BODY, DIGEST and DATE. A part that was not requested is empty.
        """
        with locked(self):
            columns = self._read([raw], ffi.NULL, parts)
            return list(map(self._list, range(5))), columns

    def _list(self, number: int) -> list[str]:
        """Return a list of strings of the message; ``message_list`` in core/interface.h has the numbers."""
        items = ffi.new("span **")
        return [
            _octets(items[0][i]).decode("utf-8", "replace")
            for i in range(lib.message_list(self.pointer, number, items))
        ]
