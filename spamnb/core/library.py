"""The compiled library, loaded by ctypes, and checks of the arrays that are passed to it.

The library cannot check the sizes of the arrays, so each caller checks them with ``checked_array``.
"""

from __future__ import annotations

import ctypes
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from ctypes import c_size_t, c_void_p
from html.entities import html5
from importlib.util import find_spec
from typing import Any

import numpy as np

from spamnb.errors import SpamnbError

_BUILD = "run 'pip install -e .' in the folder of spamnb's source"
_spec = find_spec("spamnb.core._core")
if _spec is None or _spec.origin is None:
    raise SpamnbError(f"the compiled library of spamnb is missing: {_BUILD}")
_library_with_lock = ctypes.PyDLL(_spec.origin)
_library_without_lock = ctypes.CDLL(_spec.origin)


def c_function(name: str, result: Any, *arguments: Any, without_lock: bool = False) -> Callable[..., Any]:
    """Return a function of the library. ``without_lock``: a call releases the GIL, so that other threads run."""
    try:
        function = getattr(_library_without_lock if without_lock else _library_with_lock, name)
    except AttributeError:
        raise SpamnbError(f"the compiled library of spamnb is of another version: {_BUILD}") from None
    function.restype, function.argtypes = result, arguments
    return function


def pointers(texts: Sequence[bytes]) -> Any:
    """Return an array of pointers to texts. They are valid for as long as the texts are referenced elsewhere."""
    return (ctypes.c_char_p * len(texts))(*texts)


def checked_array(values: Any, dtype: Any, *shape: int, writable: bool = False) -> np.ndarray:
    """Return values as a contiguous array for the library. Raise ValueError for another type or shape."""
    if (
        not isinstance(values, np.ndarray)
        or values.dtype != dtype
        or not values.flags.c_contiguous
        or values.flags.writeable < writable
        or values.shape != (shape or values.shape[:1])
    ):
        raise ValueError("an array has another type or shape than the library expects")
    return values


def owned_pointer(owner: object, pointer: int | None, delete: Callable[[int], None]) -> int:
    """Return the pointer to an object of the library, and delete the object together with ``owner``."""
    if not pointer:
        raise MemoryError
    weakref.finalize(owner, delete, pointer).atexit = False  # at exit other threads may still use the object
    return pointer


@contextmanager
def locked(owner: Any) -> Iterator[None]:
    """Hold ``owner.lock``. Raise RuntimeError if another thread holds it."""
    if not owner.lock.acquire(blocking=False):
        raise RuntimeError("another thread uses this object: give each thread its own")
    try:
        yield
    finally:
        owner.lock.release()


# The library keeps pointers to these texts, so they are never freed.
_REFERENCES = dict(sorted(html5.items()))
_REFERENCE_TEXTS = [pointers([text.encode() for text in texts]) for texts in (_REFERENCES, _REFERENCES.values())]
# Each process has another secret for its hash tables, so that a sender cannot choose the slots of tokens.
c_function("core_begin", None, c_void_p, c_void_p, c_size_t, c_void_p)(
    *_REFERENCE_TEXTS, len(_REFERENCES), os.urandom(16)
)
