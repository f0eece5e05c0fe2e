cimport cython

from spamnb.tokens.ascii_words cimport AsciiWord
from spamnb.tokens.token_counter cimport Prefix, TokenCounter

cdef const unsigned char[::1] BYTE_KIND
cdef bytes LOWER_CASE, NUMBER_SHAPE
cdef int UPPER, LOWER, DIGIT, INNER, NOT_ASCII, PLAIN, LONG, ANYTHING, WHOLE, HOST
cdef Py_ssize_t MAX_WORD, MAX_CUT_WORD, MIN_SPACED, MIN_ASCII_GAP


@cython.final
cdef class Normalization:
    cdef readonly object normalize
    cdef readonly int method
    cdef readonly Py_ssize_t number
    cdef readonly str begins
    cdef Prefix prefix, shape_prefix


@cython.final
cdef class WordScanner:
    cdef TokenCounter counter
    cdef AsciiWord word
    cdef readonly Py_ssize_t count, capitals, n_spaced
    cdef Py_ssize_t singles, first_single, last_single

    cpdef int begin_text(self) except -1
    @cython.locals(data="const unsigned char*", size=Py_ssize_t, found=Py_ssize_t, i=Py_ssize_t, inside=bint)
    cpdef Py_ssize_t count_words(self, bytes raw) except -1
    @cython.locals(
        data="const unsigned char*", counter=TokenCounter, method=int, prefix=Prefix, found=Py_ssize_t, spaced=list,
        start=Py_ssize_t, kind=int, kinds=int, opens=bint, capitals=bint,
    )
    cpdef int scan(
        self, Normalization normalization, bytes raw, Py_ssize_t i, Py_ssize_t size, Py_ssize_t max_words,
        Py_ssize_t max_opening, bint is_text,
    ) except -1
    @cython.locals(raw=bytes)
    cpdef int add_found(self, Normalization normalization, list words, Py_ssize_t max_opening) except -1
    @cython.locals(word=AsciiWord, form=int, i=Py_ssize_t, said=bytes)
    cdef int add_word(
        self, Normalization normalization, bytes raw, Py_ssize_t start, Py_ssize_t stop, bint digits, bint opens
    ) except -1
    @cython.locals(data="const unsigned char*")
    cdef int add_single(self, bytes raw, Py_ssize_t start, Py_ssize_t stop, list spaced) except -1
    cdef int end_singles(self, bytes raw, list spaced) except -1


@cython.locals(data="const unsigned char*", i=Py_ssize_t, last=Py_ssize_t)
cpdef tuple non_ascii_stretch(bytes raw, Py_ssize_t start, Py_ssize_t stop)
