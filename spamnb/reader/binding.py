"""The compiled core (``_core.c`` and ``core/``) by way of ctypes: all arrays are checked here.

What the core asks for in the midst of a message (``Program`` of ``attachments``) comes back as a call with Python's
lock. An exception there ends the message, and is raised again where the message was to be read.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import POINTER, byref, c_bool, c_double, c_int, c_size_t, c_void_p
from html.entities import html5
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.errors import SpamnbError
from spamnb.reader.evidence import GROUPS, KINDS
from spamnb.reader.options import TokenOptions
from spamnb.reader.rows import CsrRows, ReadRows

if TYPE_CHECKING:
    from spamnb.reader.tokens import Vocabulary

DIGEST, DATE = 16, 64  # bytes
_FAILURES = {1: MemoryError, 2: RuntimeError, 3: RuntimeError}  # enum failure of core/bytes.h
_ASKS = "characters decode compose host stem split pdf smime tnef".split()  # enum ask of core/reader.h
# What may be wanted of a message: core/reader.h.
FIELDS, BODY, DIGEST_OF, DATE_OF = 1, 2, 4, 8

_spec = find_spec("spamnb.reader._core")
if _spec is None or _spec.origin is None:
    raise SpamnbError("the compiled part of spamnb is missing; 'pip install -e .' in its checkout makes it")
core = ctypes.PyDLL(_spec.origin)
_free = ctypes.CDLL(_spec.origin)  # calls without Python's lock


class _Span(ctypes.Structure):
    """A span of core/bytes.h."""

    _fields_ = (("at", c_void_p), ("end", c_void_p))

    def octets(self) -> bytes:
        return ctypes.string_at(self.at, (self.end or 0) - self.at) if self.at else b""

    def value(self) -> str:
        return self.octets().decode("utf-8", "replace")


class _Answer(ctypes.Structure):
    _fields_ = (("text", _Span), ("is_whole", c_bool))


class _Fit(ctypes.Structure):
    """core/fit.h."""

    _fields_ = (
        *((name, c_void_p) for name in "begins ends columns values offsets labels visits".split()),
        ("contributions", c_void_p), ("weights", c_void_p),
        ("n_visits", c_size_t), ("n_others", c_size_t),
        *((name, c_double) for name in "penalty noise unit least".split()),
    )  # fmt: skip


# The lists of message_list of _core.c, and what they belong to.
_LISTS = {"headers": FIELDS, "texts": BODY, "links": BODY, "hidden": BODY}
_Answerer = ctypes.CFUNCTYPE(c_bool, c_int, POINTER(_Span), POINTER(_Span), POINTER(_Answer))

for _name, _result, _arguments in (
    ("tables_begin", c_bool, [*[c_void_p, c_void_p, c_size_t] * 2, c_void_p, c_void_p]),
    ("vocabulary_new", c_void_p, []),
    ("vocabulary_delete", None, [c_void_p]),
    ("vocabulary_size", c_size_t, [c_void_p]),
    ("vocabulary_ids", c_bool, [c_void_p, c_void_p, c_void_p, c_size_t, c_void_p]),
    ("vocabulary_lengths", None, [c_void_p, c_void_p, c_size_t, c_void_p]),
    ("vocabulary_texts", None, [c_void_p, c_void_p, c_size_t, c_void_p]),
    ("vocabulary_describe", None, [c_void_p, c_void_p, c_size_t, c_void_p, c_void_p]),
    ("vocabulary_cells", c_void_p, [c_void_p, POINTER(c_size_t)]),
    ("vocabulary_forget_rows", None, [c_void_p]),
    ("reader_new", c_void_p, [_Answerer, c_int, c_bool, c_bool, c_bool, c_void_p, c_void_p, c_void_p, c_size_t]),
    ("reader_delete", None, [c_void_p]),
    ("message_list", c_size_t, [c_void_p, c_int, POINTER(c_void_p)]),
):
    _function = getattr(core, _name)
    _function.restype, _function.argtypes = _result, _arguments
_free.read_messages.argtypes = [c_void_p, c_void_p, c_void_p, c_void_p, c_size_t, c_int, *[c_void_p] * 4]
_free.fit_sweep.argtypes, _free.fit_sweep.restype = [POINTER(_Fit)], c_double
_free.fit_take_out.argtypes = [POINTER(_Fit)]
_free.fit_scores.argtypes, _free.fit_scores.restype = [POINTER(_Fit), c_void_p], c_bool


def _texts(texts: Sequence[bytes]) -> Any:
    """Pointers to texts, which must be kept for as long as these are used."""
    return (ctypes.c_char_p * len(texts))(*texts)


def checked(values: Any, dtype: Any, *shape: int, writable: bool = False) -> np.ndarray:
    """An array that the core may read as it lies in memory; ValueError for one of another kind or shape."""
    if (
        not isinstance(values, np.ndarray)
        or values.dtype != dtype
        or not values.flags.c_contiguous
        or values.flags.writeable < writable
        or values.shape != (shape or values.shape[:1])
    ):
        raise ValueError("arrays have other numbers or shapes, or do not fit together")
    return values


# ---- What the core is given once, and points to for ever ----

_REFERENCES = dict(sorted(html5.items()))
_GIVEN = [_texts([text.encode() for text in each]) for each in (_REFERENCES, _REFERENCES.values(), KINDS)]
_GROUP_OF_KIND = bytes(map(GROUPS.index, KINDS.values()))
_OTHER_GROUPS = bytes(map(GROUPS.index, ("text", "pairs", "headers")))
if not core.tables_begin(*_GIVEN[:2], len(html5), _GIVEN[2], _GROUP_OF_KIND, len(KINDS), _OTHER_GROUPS, os.urandom(16)):
    raise MemoryError


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
        pointer = core.reader_new(self._answerer, *chosen, _texts(names), _texts(prefixes), bytes(hows), len(rules))
        self.pointer = owned(self, pointer, core.reader_delete)

    def _read(self, messages: Sequence[bytes], vocabulary: int | None, wants: int) -> tuple[np.ndarray, ...]:
        """Of each message the length of its row, its digest, its date and what was cut off."""
        n = len(messages)
        raws, sizes = _texts(messages), np.fromiter(map(len, messages), np.uintp, n)
        found = np.zeros(n, np.uint32), np.zeros(n, f"V{DIGEST}"), np.zeros(n, f"S{DATE}"), np.zeros(n, np.uint32)
        pointers = [array.ctypes.data for array in found]
        failure = _free.read_messages(self.pointer, vocabulary, raws, sizes.ctypes.data, n, wants, *pointers)
        error, self._answers.error = self._answers.error, None
        if failure:
            raise error or _FAILURES[failure]("the reader of messages failed")
        return found

    def read(self, messages: Sequence[bytes], vocabulary: Vocabulary, identify: bool = True) -> ReadRows:
        """Messages as rows of the vocabulary's ids; with their digests and dates where they are to ``identify``."""
        indptr, n_cells = np.zeros(len(messages) + 1, np.int64), c_size_t()
        wants = BODY | (DIGEST_OF | DATE_OF if identify else 0)
        with held(self), held(vocabulary):
            try:
                lengths, digests, dates, cuts = self._read(messages, vocabulary.pointer, wants)
                at = core.vocabulary_cells(vocabulary.pointer, byref(n_cells))
                ids, counts = np.frombuffer(ctypes.string_at(at, 8 * n_cells.value), np.int32).reshape(-1, 2).T
            finally:
                core.vocabulary_forget_rows(vocabulary.pointer)
        np.cumsum(lengths, out=indptr[1:])
        return ReadRows(CsrRows(indptr, ids, counts), digests.tobytes(), dates, cuts)

    def parse_with(self, raw: bytes, wants: int) -> dict[str, Any]:
        """What stands in a message, by name; ``wants``: FIELDS, BODY and so on."""
        with held(self):
            _, digests, dates, cuts = self._read([raw], None, wants)
            found: dict[str, Any] = {
                name: self._list(number) for number, (name, belongs) in enumerate(_LISTS.items()) if belongs & wants
            }
        if wants & FIELDS:
            found["headers"] = list(zip(found["headers"][::2], found["headers"][1::2]))
        return found | {"digest": digests.tobytes(), "date": dates[0].decode(), "cuts": int(cuts[0])}

    def _list(self, number: int) -> list[str]:
        items = c_void_p()
        n = core.message_list(self.pointer, number, byref(items))
        return [text.value() for text in (_Span * n).from_address(items.value)] if n else []


def owned(owner: object, pointer: int | None, delete: Callable[[int], None]) -> int:
    """What the core made for an object, and deletes with it."""
    if not pointer:
        raise MemoryError
    weakref.finalize(owner, delete, pointer).atexit = False  # other threads may still be at work then
    return pointer


def _span(octets: bytes | None) -> _Span:
    if octets is None:
        return _Span()
    at = ctypes.cast(ctypes.c_char_p(octets), c_void_p).value or 0
    return _Span(at, at + len(octets))


@contextmanager
def held(owner: ReaderCore | Vocabulary) -> Iterator[None]:
    if not owner.lock.acquire(blocking=False):
        raise RuntimeError("another thread uses it: each thread needs one of its own")
    try:
        yield
    finally:
        owner.lock.release()


# ---- The loops of formulas/correction.py ----


class FitRows:
    """The columns of n messages, from ``columns[begins[i]]`` to ``columns[ends[i]]`` of the i-th; all are below
    ``n_columns``. ValueError for arrays that do not fit together."""

    def __init__(self, begins: np.ndarray, ends: np.ndarray, columns: np.ndarray, n_columns: int) -> None:
        checked(begins, np.int64)
        checked(ends, np.int64, len(begins))
        checked(columns, np.int32)
        if (begins > ends).any() or begins.min(initial=0) < 0 or ends.max(initial=0) > len(columns):
            raise ValueError("messages' columns are not there")
        _check_numbers(columns, n_columns)
        self._arrays, self._n_columns = (begins, ends, columns), n_columns

    def __len__(self) -> int:
        return len(self._arrays[0])

    def _fit(
        self, values: np.ndarray, offsets: np.ndarray, labels: np.ndarray, visits: np.ndarray,
        contributions: np.ndarray | None, weights: np.ndarray, *numbers: float,
    ) -> Any:  # fmt: skip
        """The struct of C; the arrays must be kept for as long as it is used."""
        n, classes = len(self), offsets.shape[-1]
        for array, *form in (
            (values, np.float64, n), (offsets, np.float64, n, classes), (labels, np.int64, n), (visits, np.int64),
        ):  # fmt: skip
            checked(array, *form)
        if contributions is not None:
            checked(contributions, np.int64, n, classes - 1, writable=True)
        checked(weights, np.int64, self._n_columns, classes - 1, writable=True)
        _check_numbers(labels, classes)
        _check_numbers(visits, n)
        arrays = (*self._arrays, values, offsets, labels, visits, contributions, weights)
        pointers = [None if array is None else array.ctypes.data for array in arrays]
        return _Fit(*pointers, len(visits), classes - 1, *numbers)

    def sweep(self, *arrays: Any, penalty: float, noise: float, unit: float, least: float) -> float:
        """Solve for each message of the visits; return the largest change of a coefficient."""
        worst = _free.fit_sweep(byref(self._fit(*arrays, penalty, noise, unit, least)))
        if worst < 0:
            raise MemoryError
        return worst

    def take_out(self, *arrays: Any) -> None:
        """Subtract the contributions of these messages from the weights."""
        _free.fit_take_out(byref(self._fit(*arrays)))

    def scores(self, *arrays: Any, unit: float) -> np.ndarray:
        """The scores of each message of the visits, (m, C), by the weights."""
        values, offsets, labels, visits, weights = arrays
        scores = np.empty((len(visits), offsets.shape[-1]))
        fit = self._fit(values, offsets, labels, visits, None, weights, 0.0, 0.0, unit)
        if not _free.fit_scores(byref(fit), scores.ctypes.data):
            raise MemoryError
        return scores


def _check_numbers(numbers: np.ndarray, bound: int) -> None:
    if len(numbers) and not 0 <= numbers.min() <= numbers.max() < bound:
        raise ValueError("a label, a message or a column is not there")
