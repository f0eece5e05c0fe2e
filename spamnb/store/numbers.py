"""Numbers of 7 bits a byte, the lowest first; a byte above 127 has another behind it."""

from __future__ import annotations

import numpy as np

_LEAST = 1 << 7 * np.arange(1, 9)  # numbers of two bytes, of three …
MAX_BYTES = 5  # of a number that is read


def pack_numbers(numbers: np.ndarray) -> tuple[bytes, np.ndarray]:
    """Numbers (k,) that are not negative, and where each ends, (k,).

    >>> packed, ends = pack_numbers(np.array([5, 300]))
    >>> packed.hex(), ends, unpack_numbers(packed)
    ('05ac02', array([1, 3]), (array([  5, 300]), array([1, 3])))
    """
    lengths = np.searchsorted(_LEAST, numbers, side="right") + 1
    ends = np.cumsum(lengths)
    left = np.repeat(ends, lengths) - np.arange(lengths.sum()) - 1  # bytes behind this one
    place = np.repeat(lengths, lengths) - 1 - left
    octets = np.repeat(numbers, lengths) >> 7 * place & 127 | (left > 0) << 7
    return octets.astype(np.uint8).tobytes(), ends


def unpack_numbers(packed: bytes) -> tuple[np.ndarray, np.ndarray] | None:
    """The numbers that were packed so, and where each ends; None where they are no such numbers."""
    octets = np.frombuffer(packed, np.uint8)
    ends = np.flatnonzero(octets < 128) + 1
    lengths = np.diff(ends, prepend=0)
    if lengths.max(initial=0) > MAX_BYTES or ends.max(initial=0) != len(octets):
        return None
    place = np.arange(len(octets)) - np.repeat(ends - lengths, lengths)
    return np.add.reduceat((octets & 127).astype(np.int64) << 7 * place, ends - lengths) if len(ends) else ends, ends
