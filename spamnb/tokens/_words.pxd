# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What the kernel's other modules use of _words.pyx."""

cimport cython
from libc.stdint cimport uint8_t, uint64_t

cdef enum:
    # What a byte is: what it may be in a word, and what words.py does with it there.
    UPPER = 1
    LOWER = 2
    DIGIT = 4
    INNER = 8
    NOT_ASCII = 16
    LEFT_TRIMMED = 32
    RIGHT_TRIMMED = 64
    CUTS = 128
    # What makes tokens of a word.
    PARTS = 0  # words.normalize_word
    WHOLE = 1  # words.normalize_whole_word
    HOST = 2  # hosts.normalize_received
    PYTHON = 3  # anything else

# By byte: what it is, whether it is punctuation, and the maps of bytes in which tokens are written.
cdef uint8_t[256] BYTE_KIND
cdef uint8_t[256] IS_PUNCTUATION
cdef uint8_t[256] LOWER_CASE
cdef uint8_t[256] NUMBER_SHAPE
cdef uint8_t[256] IDENTITY

cdef bint letters_apart(bytes data, Py_ssize_t start, Py_ssize_t stop) noexcept
cdef tuple non_ascii_stretch(bytes data, Py_ssize_t i)
cdef Py_ssize_t bit_length(Py_ssize_t value) noexcept


@cython.final
cdef class Prefix:
    cdef bytes text
    cdef uint64_t state  # its hash


@cython.final
cdef class SpacedWords:
    cdef Py_ssize_t count  # of the text at hand
    cdef list found  # in the piece of it at hand
    # Of words of one character with one sign between each two: how many follow each other, where they begin and end.
    cdef Py_ssize_t singles, start, stop

    cdef int add(self, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1
    cdef int close(self, bytes data) except -1
    cdef list take_tokens(self, bytes data, twin)


@cython.final
cdef class NormalizationCache:
    cdef object twin  # of words.py; kept, as it is known by its identity
    cdef int method
    cdef bytes prefix, shape_prefix
    cdef uint64_t state, shape_state  # the hashes of these
    cdef uint64_t salt
