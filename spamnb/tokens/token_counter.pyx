# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""Counts tokens, as token_counter.py does, which stands in where this is not compiled.

A token is hashed and looked up where its bytes stand in the message: no Python object is made of it.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize

from spamnb.tokens.vocabulary cimport FNV_OFFSET, FNV_PRIME, fnv1a, prefetch

from os import urandom

import numpy as np

from spamnb.tokens import ascii_bytes
from spamnb.tokens.vocabulary import enlarged

cdef bytes AS_IT_IS = ascii_bytes.IDENTITY
cdef const uint8_t* IDENTITY = <const uint8_t*> AS_IT_IS


cdef class Prefix:
    """What tokens begin with."""

    def __init__(self, str text):
        self.text = text.encode()
        self.state = fnv1a(FNV_OFFSET, self.text, 0, len(self.text), IDENTITY)


cdef class TokenCounter:
    """Messages as rows of (token id, occurrences), tokens in the order in which each message first has them.

    Where in the rows a token was last put tells whether the row at hand has it: a sparse set (Briggs and Torczon
    1993), that needs no clearing and half the time of a hash table of the row's tokens.

    ``max_words`` bounds the words and tokens kept of what Python normalised.
    """

    def __init__(self, Vocabulary vocabulary not None, Py_ssize_t max_words=1 << 20):
        self.vocabulary, self.max_words = vocabulary, max_words
        self.cells = np.zeros((1 << 12, 2), np.int32)
        self.last_cell = np.zeros(1 << 9, np.int32)
        self.opening = np.zeros(1 << 12, np.uint8)
        self.ends = np.zeros(1 << 9, np.int64)
        self.clear_cache()

    cdef int clear_cache(self) except -1:
        """Forget what Python made of words."""
        self.word_cache = HashIndex()
        self.salt = int.from_bytes(urandom(8), "little")
        self.cached_ends = np.zeros(1 << 9, np.int64)
        self.cached_capitals = np.zeros(1 << 9, np.uint8)
        self.cached_ids = np.zeros(1 << 9, np.int32)
        return 0

    def begin(self):
        """Begin a row; one that was not ended is given up."""
        if self.word_cache.used + self.cached_ends[self.word_cache.used] > self.max_words:
            self.clear_cache()
        self.used = self.row
        self.queued = self.opened = 0

    def end(self):
        """Complete the row; returns how many different tokens it has."""
        self.flush()
        cdef Py_ssize_t size = self.used - self.row
        self.row = self.used
        return size

    def take_cells(self):
        """(k, 2) int32, token ids and occurrences of all rows since the last call, row after row."""
        cells = np.array(self.cells[: self.row])
        self.row = self.used = 0
        return cells

    cdef int count(self, Py_ssize_t id_) except -1:
        """One more occurrence of a token."""
        cdef Py_ssize_t cell
        if id_ < self.last_cell.shape[0]:
            cell = self.last_cell[id_]
            if self.row <= cell < self.used and self.cells[cell, 0] == id_:
                self.cells[cell, 1] += 1
                return 0
        else:
            self.last_cell = enlarged(self.last_cell, 2 * id_)
        if self.used == self.cells.shape[0]:
            self.cells = enlarged(self.cells, 2 * self.used)
        self.cells[self.used, 0] = <int32_t> id_
        self.cells[self.used, 1] = 1
        self.last_cell[id_] = <int32_t> self.used
        self.used += 1
        return 0

    cpdef int add(self, tokens) except -1:
        """Tokens as they are."""
        self.flush()
        for token in tokens:
            self.count(self.vocabulary.id_of(token))
        return 0

    cpdef int put(self, Prefix prefix, bytes data, Py_ssize_t start, Py_ssize_t stop, bytes byte_map) except -1:
        """The token of the prefix and of these bytes as the map has them. Until ``flush`` all three are to be kept.

        It waits for others, so that the memory that looking them up needs is fetched for all of them at once: a
        quarter less time for a message.
        """
        cdef const uint8_t* written = <const uint8_t*> byte_map
        cdef uint64_t h = fnv1a(prefix.state, data, start, stop, written)
        if self.queued == MAX_QUEUED:
            self.flush()
        self.queue[self.queued] = QueuedToken(h, <void*> prefix, <void*> data, written, start, stop)
        self.queued += 1
        self.vocabulary.index.prefetch_slot(h)
        return 0

    cpdef int flush(self) except -1:
        """Look up what waits."""
        cdef Py_ssize_t i, id_, queued = self.queued
        cdef QueuedToken* token
        for i in range(queued):
            id_ = self.vocabulary.index.prefetch_key(self.queue[i].hash)
            if 0 <= id_ < self.last_cell.shape[0]:
                prefetch(&self.last_cell[id_])
        self.queued = 0
        for i in range(queued):
            token = &self.queue[i]
            id_ = self.vocabulary.index.find(token.hash)
            if id_ < 0:
                id_ = self.vocabulary.id_of_hash(
                    token.hash, (<Prefix> token.prefix).text, <bytes> token.data, token.start, token.stop, token.byte_map
                )
            self.count(id_)
        return 0

    cpdef int put_once(self, Prefix prefix, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        """The token of the prefix and of these bytes, unless the message has it already."""
        cdef uint64_t h = fnv1a(prefix.state, data, start, stop, IDENTITY)
        cdef Py_ssize_t id_ = self.vocabulary.id_of_hash(h, prefix.text, data, start, stop, IDENTITY), cell
        if id_ < self.last_cell.shape[0]:
            cell = self.last_cell[id_]
            if self.row <= cell < self.used and self.cells[cell, 0] == id_:
                return 0
        return self.count(id_)

    cpdef bint put_word(
        self, normalization, Py_ssize_t number, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens
    ) except -1:
        """The tokens of a word that Python normalises, or has normalised before. Returns whether it is in capitals."""
        cdef uint64_t h = self.salt + <uint64_t> number * FNV_PRIME
        cdef Py_ssize_t entry, i
        cdef bytes token
        self.flush()
        for i in range(start, stop):  # not fnv1a(), by which two words can be made to have one hash whatever the salt
            h = (h ^ <uint8_t> data[i]) * self.word_cache.first_factor
            h ^= h >> 32
        entry = self.word_cache.find(h)
        if entry < 0:
            entry = self.cache_word(h, normalization, data[start:stop])
        for i in range(self.cached_ends[entry], self.cached_ends[entry + 1]):
            self.count(self.cached_ids[i])
            if opens:
                token = self.vocabulary.text_of(self.cached_ids[i])
                if token[:1] != b"#":  # the shape of a word
                    self.open(token, 0, len(token), AS_IT_IS)
        return self.cached_capitals[entry]

    cdef Py_ssize_t cache_word(self, uint64_t h, normalization, bytes raw) except -1:
        cdef Py_ssize_t entry = self.word_cache.used, end = self.cached_ends[entry]
        cdef list ids
        tokens, capitals = normalization.compute(raw.decode())
        ids = [self.vocabulary.id_of(token) for token in tokens]
        if entry + 1 == self.cached_ends.shape[0]:
            self.cached_ends = enlarged(self.cached_ends, 2 * entry + 2)
            self.cached_capitals = enlarged(self.cached_capitals, 2 * entry + 2)
        if end + len(ids) > self.cached_ids.shape[0]:
            self.cached_ids = enlarged(self.cached_ids, 2 * (end + len(ids)))
        for id_ in ids:
            self.cached_ids[end] = id_
            end += 1
        self.cached_ends[entry + 1] = end
        self.cached_capitals[entry] = capitals
        return self.word_cache.insert(h)

    cpdef int open(self, bytes data, Py_ssize_t start, Py_ssize_t stop, bytes byte_map) except -1:
        """A word of these bytes as the map has them is one of those that ``join`` joins."""
        cdef const uint8_t* written = <const uint8_t*> byte_map
        cdef Py_ssize_t i, end = self.ends[self.opened - 1] + 1 if self.opened else 0
        if end + stop - start + 1 > self.opening.shape[0]:
            self.opening = enlarged(self.opening, 2 * (end + stop - start + 1))
        if self.opened == self.ends.shape[0]:
            self.ends = enlarged(self.ends, 2 * self.opened)
        for i in range(start, stop):
            self.opening[end] = written[<uint8_t> data[i]]
            end += 1
        self.opening[end] = 0x20
        self.ends[self.opened] = end
        self.opened += 1
        return 0

    cpdef int join(self, Prefix prefix, Py_ssize_t n) except -1:
        """Each n neighbours of the words that were opened as one token; then forget these."""
        cdef Py_ssize_t i, start = 0
        cdef bytes data
        for n in range(2, n + 1):
            if n > self.opened:
                break
            data = PyBytes_FromStringAndSize(<const char*> &self.opening[0], self.ends[self.opened - 1])
            start = 0
            for i in range(self.opened - n + 1):
                self.put(prefix, data, start, self.ends[i + n - 1], AS_IT_IS)
                start = self.ends[i] + 1
            self.flush()
        self.opened = 0
        return 0
