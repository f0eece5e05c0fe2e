cimport cython

from spamnb.tokens.token_counter cimport Prefix
from spamnb.tokens.word_scanner cimport Normalization


@cython.final
cdef class HeaderRule:
    cdef readonly str said
    cdef readonly Prefix presence
    cdef readonly object shorten, extra_tokens
    cdef readonly Normalization normalization
