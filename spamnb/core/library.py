"""The core, in C: ``lib`` has the functions of interface.h, and ``ffi`` makes their arguments.

The core cannot check the sizes of arrays. Each array is passed by ``pointer``, which does. An exception in
``answer_question`` is kept, and raised after the call (reader/binding.py).
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from html.entities import html5
from importlib import import_module
from typing import Any

import numpy as np

from spamnb.errors import SpamnbError

try:
    _core = import_module("spamnb.core._core")
except ImportError as error:
    if error.name == "_cffi_backend":
        raise SpamnbError("spamnb needs the package cffi: run 'pip install cffi'") from None
    build = "run 'pip install -e .' in the folder of spamnb's source"
    raise SpamnbError(f"the compiled library of spamnb is missing: {build}") from None

ffi: Any = _core.ffi
lib: Any = _core.lib
_DTYPES: dict[str, type] = {"int8_t": np.int8, "uint8_t": np.uint8, "int32_t": np.int32, "uint32_t": np.uint32}
_DTYPES |= {"int64_t": np.int64, "double": np.float64, "bool": np.bool_}


def pointer(ctype: str, values: np.ndarray, *shape: int, writable: bool = False) -> Any:
    """Return a pointer to an array of C numbers, which it keeps alive. Raise ValueError for another type or shape.

    Without a ``shape``, the array may have any length.
    """
    if (
        not isinstance(values, np.ndarray)
        or values.dtype != _DTYPES[ctype]
        or not values.flags.c_contiguous
        or values.flags.writeable < writable
        or values.shape != (shape or values.shape[:1])
    ):
        raise ValueError("an array has another type or shape than the library expects")
    return ffi.from_buffer(f"{ctype}[]", values)


def numbers(ctype: str, values: np.ndarray, bound: int, *shape: int, least: int = 0) -> Any:
    """Return the ``pointer`` to numbers from ``least`` to below ``bound``: of tokens, classes or messages."""
    checked = pointer(ctype, values, *shape)
    if len(values) and not least <= values.min() <= values.max() < bound:
        raise ValueError("a number is out of bounds: of a token, a group, a class or a message")
    return checked


def texts(octets: Sequence[bytes]) -> Any:
    """Return an array of pointers to texts. They are valid for as long as the texts are referenced elsewhere."""
    if not all(isinstance(text, bytes) for text in octets):  # the memory of a bytearray may move
        raise TypeError("a text must be bytes")
    return ffi.new("char *[]", list(map(ffi.from_buffer, octets)))


def owned(item: Any, delete: Callable[[Any], None]) -> Any:
    """Return an object of the library, which is deleted when nothing refers to the result any more.

    No Python code runs then: an interrupt in the callback of a ``weakref.finalize`` would be lost.
    """
    if not item:
        raise MemoryError
    return ffi.gc(item, delete)


def locked(owner: Any) -> threading.Lock:
    """Return ``owner.lock`` for a with statement. Raise RuntimeError if it is held, mostly by another thread.

    An interrupt cannot leave the lock held: the with statement acquires it without running Python code.
    """
    if owner.lock.locked():
        raise RuntimeError("another thread uses this object: give each thread its own")
    lock: threading.Lock = owner.lock
    return lock


# The core keeps pointers to these texts, so they are never freed.
_REFERENCES = "".join([f"{name}\0{text}\0" for name, text in sorted(html5.items())]).encode()
# Each process has another secret for its hash tables, so that a sender cannot choose the slots of tokens.
if not lib.core_begin(ffi.from_buffer(_REFERENCES), len(html5), os.urandom(16)):
    raise MemoryError
