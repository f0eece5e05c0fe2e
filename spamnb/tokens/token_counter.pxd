# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What other compiled modules use of token_counter.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from spamnb.tokens.vocabulary cimport HashIndex, Vocabulary

cdef enum:
    MAX_QUEUED = 32  # tokens looked up together; 16 and 64 take the same time


@cython.final
cdef class Prefix:
    cdef bytes text
    cdef uint64_t state  # its hash


cdef struct QueuedToken:  # that waits for its id
    uint64_t hash
    void* prefix
    void* data
    const uint8_t* byte_map
    Py_ssize_t start, stop  # in the data


@cython.final
cdef class TokenCounter:
    cdef readonly Vocabulary vocabulary
    cdef Py_ssize_t max_words
    # Rows: (id, occurrences), until they are taken; by id of a token, where in them it was last put, if ever; where the
    # row at hand begins and ends.
    cdef int32_t[:, ::1] cells
    cdef int32_t[::1] last_cell
    cdef Py_ssize_t row, used
    # Tokens that wait.
    cdef QueuedToken[MAX_QUEUED] queue
    cdef Py_ssize_t queued
    # What Python made of words, by number of the word: where in the ids its tokens end, and whether it is in capitals.
    cdef HashIndex word_cache
    cdef int64_t[::1] cached_ends
    cdef uint8_t[::1] cached_capitals
    cdef int32_t[::1] cached_ids
    cdef uint64_t salt
    # Words that are joined: their text with a space behind each, and where each ends.
    cdef uint8_t[::1] opening
    cdef int64_t[::1] ends
    cdef Py_ssize_t opened

    cpdef int put(self, Prefix prefix, bytes data, Py_ssize_t start, Py_ssize_t stop, bytes byte_map) except -1
    cpdef int put_once(self, Prefix prefix, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1
    cpdef bint put_word(
        self, normalization, Py_ssize_t number, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens
    ) except -1
    cpdef int flush(self) except -1
    cpdef int open(self, bytes data, Py_ssize_t start, Py_ssize_t stop, bytes byte_map) except -1
    cpdef int join(self, Prefix prefix, Py_ssize_t n) except -1
    cpdef int add(self, tokens) except -1
    cdef int count(self, Py_ssize_t id_) except -1
    cdef int clear_cache(self) except -1
    cdef Py_ssize_t cache_word(self, uint64_t h, normalization, bytes raw) except -1
