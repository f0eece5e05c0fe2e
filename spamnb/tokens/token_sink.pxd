cimport cython

from spamnb.tokens.header_rules cimport HeaderRule
from spamnb.tokens.token_counter cimport Prefix, TokenCounter
from spamnb.tokens.word_scanner cimport Normalization, WordScanner

cdef const unsigned char[::1] IS_PUNCTUATION
cdef bytes LOWER_CASE
cdef Py_ssize_t MAX_PUNCTUATION


@cython.final
cdef class TokenSink:
    cdef readonly TokenCounter counter
    cdef WordScanner scanner
    cdef Prefix plain
    cdef dict prefixes

    @cython.locals(rule=HeaderRule)
    cpdef void add_headers(self, rules, headers) except *
    cpdef void add_presence(self, HeaderRule rule) except *
    cpdef void add_value(self, HeaderRule rule, str value) except *
    @cython.locals(raw=bytes)
    cpdef void add_words(self, Normalization normalization, str value) except *
    cpdef void add_bytes(self, Normalization normalization, bytes raw, Py_ssize_t start, Py_ssize_t stop) except *
    @cython.locals(scanner=WordScanner, signs=Prefix, raw=bytes)
    cpdef void add_text(self, Normalization normalization, texts, split, int ngrams, str prefix=*) except *
    cpdef void add_raw_text(self, Normalization normalization, bytes raw, Py_ssize_t start, int ngrams) except *
    cdef int add_counts(self, str prefix, n_words) except -1
    cdef Prefix prefix_of(self, str place)
    cpdef void add_layout(self, texts) except *
    @cython.locals(
        data="const unsigned char*", i=Py_ssize_t, byte=int, size=Py_ssize_t, n_ascii=Py_ssize_t, n_capitals=Py_ssize_t,
        n_ends=Py_ssize_t, n_empty=Py_ssize_t, line=Py_ssize_t, share=Py_ssize_t, after_end=bint,
    )
    cpdef void add_raw_layout(self, bytes raw) except *
    @cython.locals(raw=bytes, size=Py_ssize_t, i=Py_ssize_t, start=Py_ssize_t, stop=Py_ssize_t, said=bytes)
    cdef bytes read_text(self, str text, Prefix signs)
    @cython.locals(data="const unsigned char*", start=Py_ssize_t)
    cdef int add_punctuation(self, Prefix signs, bytes raw, Py_ssize_t i, Py_ssize_t stop) except -1
