# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""Tokens ↔ ids, with the answers of vocabulary.py, which stands in where this is not compiled."""

from cpython.bytes cimport PyBytes_FromStringAndSize
from os import urandom  # secrets would do the same, and takes 4 ms to import

import numpy as np

from spamnb.tokens import ascii_bytes, token_array
from spamnb.tokens.groups import token_groups

if token_array.FNV_OFFSET != FNV_OFFSET or token_array.FNV_PRIME != FNV_PRIME:
    raise ImportError("vocabulary.pxd and token_array.py have different constants of the hash")

cdef bytes AS_IT_IS = ascii_bytes.IDENTITY
cdef const uint8_t* IDENTITY = <const uint8_t*> AS_IT_IS

cdef uint64_t FIRST_FACTOR = <uint64_t> int.from_bytes(urandom(8), "little") | 1
cdef uint64_t SECOND_FACTOR = <uint64_t> int.from_bytes(urandom(8), "little") | 1


def enlarged(old, Py_ssize_t size):
    """A copy with ``size`` rows, 0 in those that are new."""
    before = np.asarray(old)
    after = np.zeros((size, *before.shape[1:]), before.dtype)
    after[: len(before)] = before
    return after


cdef class HashIndex:
    """Keys of 64 bits → ids, in the order in which they come.

    An open hash with linear probing, at most half full. A sender can choose the keys, but not their slots: two secret
    factors decide those, so that nobody can fill neighbouring slots, and the number of probes needs no bound. Two words
    of one hash count as one.
    """

    def __init__(self):
        self.first_factor, self.second_factor = FIRST_FACTOR, SECOND_FACTOR
        self.slots = np.zeros(1 << 10, np.uint32)
        self.keys = np.zeros(1 << 9, np.uint64)
        self.shift = 64 - 10

    cdef Py_ssize_t insert(self, uint64_t key) except -1:
        """The id of a key, the next one where it is new."""
        cdef Py_ssize_t slot = self.slot(key), entry = self.slots[slot]
        if entry:
            return entry - 1
        if self.used == self.keys.shape[0]:
            self.grow()
            slot = self.slot(key)
        self.keys[self.used] = key
        self.used += 1
        self.slots[slot] = <uint32_t> self.used
        return self.used - 1

    cdef int grow(self) except -1:
        cdef Py_ssize_t i
        keys = enlarged(self.keys, 2 * self.used)
        self.slots = np.zeros(4 * self.used, np.uint32)
        self.keys = keys
        self.shift -= 1
        for i in range(self.used):
            self.slots[self.slot(self.keys[i])] = <uint32_t> (i + 1)
        return 0


cdef class Vocabulary:
    """Tokens and their ids, both ways; a token that has no id gets the next one.

    Tokens are known by their hash alone (before its last mixing, so that the hash of a pair goes on from that of its
    first word); the text is kept for reading.
    """

    def __init__(self):
        self.index = HashIndex()
        self.offsets = np.zeros(1 << 9, np.int64)
        self.text = np.zeros(1 << 12, np.uint8)

    def __len__(self):
        return self.index.used

    def ids(self, tokens):
        """The id of each of the k ``tokens``, (k,)."""
        return np.fromiter([self.id_of(token) for token in tokens], np.intp)

    def take(self, ids):
        """The tokens with these ids."""
        return [text.decode() for text in self.texts(ids)]

    def joined(self, ids):
        """The tokens with these ids as UTF-8, each but the last with a NUL behind it."""
        return b"\0".join(self.texts(ids))

    cdef list texts(self, ids):
        """The tokens with these ids as UTF-8."""
        cdef const int64_t[::1] wanted = np.ascontiguousarray(ids, np.int64)
        cdef Py_ssize_t i
        cdef list tokens = []
        for i in range(wanted.shape[0]):
            if not 0 <= wanted[i] < self.index.used:
                raise IndexError(f"no token has the id {wanted[i]}")
            tokens.append(self.text_of(wanted[i]))
        return tokens

    def hashes(self, ids):
        """The 64-bit hash of each token with these ids, (k,) int64."""
        hashes = np.asarray(self.index.keys)[: self.index.used][ids]
        return ((hashes ^ (hashes >> np.uint64(32))) * np.uint64(token_array.MIX)).view(np.int64)

    def groups(self, ids):
        """The group of each token with these ids, (k,) int8."""
        offsets, ids = np.asarray(self.offsets), np.asarray(ids, np.intp)
        return token_groups(np.asarray(self.text), offsets[ids], offsets[ids + 1] - offsets[ids])

    def tokens(self):
        """All tokens, in the order of their ids."""
        cdef Py_ssize_t used = self.index.used
        offsets = np.array(self.offsets[: used + 1])
        text = np.array(self.text[: self.offsets[used]])
        return token_array.TokenArray(text, offsets[:used], np.diff(offsets).astype(np.int32), self.hashes(slice(None)))

    cdef Py_ssize_t id_of(self, str token) except -1:
        cdef bytes data = token.encode()
        return self.id_of_hash(fnv1a(FNV_OFFSET, data, 0, len(data), IDENTITY), b"", data, 0, len(data), IDENTITY)

    cdef Py_ssize_t id_of_hash(
        self, uint64_t h, bytes prefix, bytes data, Py_ssize_t start, Py_ssize_t stop, const uint8_t* byte_map
    ) except -1:
        """The id of the token with this hash, whose text is the prefix and then these bytes as the map has them."""
        cdef Py_ssize_t id_ = self.index.find(h), end, i
        if id_ >= 0:
            return id_
        self.reserve(len(prefix) + stop - start)
        id_ = self.index.insert(h)
        end = self.offsets[id_]
        for i in range(len(prefix)):
            self.text[end + i] = <uint8_t> prefix[i]
        end += len(prefix) - start
        for i in range(start, stop):
            self.text[end + i] = byte_map[<uint8_t> data[i]]
        self.offsets[id_ + 1] = end + stop
        return id_

    cdef int reserve(self, Py_ssize_t size) except -1:
        """Make room for one more token of ``size`` bytes."""
        cdef Py_ssize_t needed = self.offsets[self.index.used] + size
        if needed > self.text.shape[0]:
            self.text = enlarged(self.text, 2 * needed)
        if self.index.used + 1 == self.offsets.shape[0]:
            self.offsets = enlarged(self.offsets, 2 * self.offsets.shape[0])
        return 0

    cdef bytes text_of(self, Py_ssize_t id_):
        cdef Py_ssize_t begin = self.offsets[id_], size = self.offsets[id_ + 1] - begin
        return PyBytes_FromStringAndSize(<const char*> &self.text[begin], size) if size else b""
