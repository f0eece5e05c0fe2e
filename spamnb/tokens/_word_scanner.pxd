# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What the kernel uses of _word_scanner.pyx."""

cimport cython
from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t

from spamnb.tokens._csr_rows cimport CsrRowBuilder
from spamnb.tokens._vocabulary cimport HashIndex, Vocabulary
from spamnb.tokens._words cimport NormalizationCache, SpacedWords

cdef enum:
    MAX_QUEUED = 32  # tokens looked up together; 16 and 64 take the same time


cdef struct QueuedToken:  # that waits for its id
    uint64_t hash
    Py_ssize_t start, stop  # in the data
    const uint8_t* byte_map


@cython.final
cdef class WordScanner:
    cdef Vocabulary vocabulary
    cdef CsrRowBuilder rows
    cdef NormalizationCache plain  # without a prefix
    # What Python made of words, by number of the word: where in the ids its tokens end, and whether it is in capitals.
    cdef HashIndex word_cache
    cdef int64_t[::1] cached_ends
    cdef uint8_t[::1] cached_capitals
    cdef int32_t[::1] cached_ids
    # Tokens that wait.
    cdef QueuedToken[MAX_QUEUED] queue
    cdef Py_ssize_t queued
    # Of the text at hand how many words there are, and how many are in capitals.
    cdef Py_ssize_t count, capitals
    cdef SpacedWords spaced
    # Its first words: their text with a space behind each, where each ends, and its hash.
    cdef uint8_t[::1] opening
    cdef int64_t[::1] ends
    cdef uint64_t[::1] hashes
    cdef Py_ssize_t opened

    cdef int clear_cache(self) except -1
    cdef Py_ssize_t cache_size(self) except -1
    cdef int begin_text(self) except -1
    cdef int add_bigrams(self) except -1
    cdef Py_ssize_t count_words(self, bytes data) except -1
    cdef int scan(
        self, NormalizationCache cache, bytes data, Py_ssize_t i, Py_ssize_t size, Py_ssize_t max_words,
        Py_ssize_t max_opening, bint is_text,
    ) except -1
    cdef int enqueue(
        self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, uint64_t h,
        const uint8_t* byte_map, bint opens,
    ) except -1
    cdef int flush(self, NormalizationCache cache, bytes data) except -1
    cdef int append_opening(
        self, bytes data, Py_ssize_t start, Py_ssize_t stop, uint64_t h,
        const uint8_t* byte_map,
    ) except -1
    cdef int add_whole_word(
        self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, bint digits, bint opens,
        bint itself,
    ) except -1
    cdef int add_received(
        self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop,
        bint digits,
    ) except -1
    cdef int add_any_length(self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef int add_parts(
        self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop,
        bint opens,
    ) except -1
    cdef int add_word(
        self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop,
        bint opens,
    ) except -1
    cdef int add_by_python(
        self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens,
        bint is_text,
    ) except -1
    cdef Py_ssize_t cache_word(self, uint64_t h, NormalizationCache cache, str raw) except -1
