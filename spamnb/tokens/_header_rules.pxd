# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What the kernel uses of _header_rules.pyx."""

cimport cython

from spamnb.tokens._words cimport NormalizationCache


@cython.final
cdef class HeaderRule:
    cdef object twin  # of header_rules.py; kept, as it is known by its identity
    cdef Py_ssize_t presence  # the id of that token
    cdef object shorten, extra_tokens
    cdef NormalizationCache normalization
