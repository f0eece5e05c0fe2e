"""The compiled library by way of ctypes, and the checks without which no array reaches it.

The library knows nothing of the sizes of Python's arrays. Whoever calls it checks them with ``checked_array``.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_size_t, c_void_p
from html.entities import html5
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np

from spamnb.errors import SpamnbError

_MAKE = "'pip install -e .' in its checkout makes it"
_spec = find_spec("spamnb.core._core")
if _spec is None or _spec.origin is None:
    raise SpamnbError(f"the compiled part of spamnb is missing; {_MAKE}")
_with_lock = ctypes.PyDLL(_spec.origin)
_without_lock = ctypes.CDLL(_spec.origin)


def c_function(name: str, result: Any, *arguments: Any, without_lock: bool = False) -> Callable[..., Any]:
    """Return a function of the library; ``without_lock``: other threads of Python run during a call."""
    try:
        function = getattr(_without_lock if without_lock else _with_lock, name)
    except AttributeError:
        raise SpamnbError(f"the compiled part of spamnb is of another version; {_MAKE} anew") from None
    function.restype, function.argtypes = result, arguments
    return function


def pointers(texts: Sequence[bytes]) -> Any:
    """Return an array of pointers to texts. They are valid for as long as the texts are referenced elsewhere."""
    return (ctypes.c_char_p * len(texts))(*texts)


def checked_array(values: Any, dtype: Any, *shape: int, writable: bool = False) -> np.ndarray:
    """Return an array that the library may read as it lies in memory; ValueError for another kind or shape."""
    if (
        not isinstance(values, np.ndarray)
        or values.dtype != dtype
        or not values.flags.c_contiguous
        or values.flags.writeable < writable
        or values.shape != (shape or values.shape[:1])
    ):
        raise ValueError("arrays have other numbers or shapes, or do not fit together")
    return values


def owned_pointer(owner: object, pointer: int | None, delete: Callable[[int], None]) -> int:
    """Return the pointer to what the library made for an object, which is deleted with the object."""
    if not pointer:
        raise MemoryError
    weakref.finalize(owner, delete, pointer).atexit = False  # other threads may still be at work then
    return pointer


class Locked(Protocol):
    """An object of the library, which only one thread may use at a time."""

    lock: threading.Lock


@contextmanager
def locked(owner: Locked) -> Iterator[None]:
    """Hold the lock of an object; RuntimeError if another thread has it."""
    if not owner.lock.acquire(blocking=False):
        raise RuntimeError("another thread uses it: each thread needs one of its own")
    try:
        yield
    finally:
        owner.lock.release()


# The library points to these texts for ever.
_REFERENCES = dict(sorted(html5.items()))
_REFERENCE_TEXTS = [pointers([text.encode() for text in texts]) for texts in (_REFERENCES, _REFERENCES.values())]
# The hash tables' secret is new in each process, so that a sender cannot choose the slots of tokens.
c_function("core_begin", None, c_void_p, c_void_p, c_size_t, c_void_p)(
    *_REFERENCE_TEXTS, len(_REFERENCES), os.urandom(16)
)
