# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""header_rules.py, compiled."""

from spamnb.tokens._made_for cimport KERNEL_VERSION, TOKENS_VERSION

MADE_FOR = TOKENS_VERSION, KERNEL_VERSION


cdef class HeaderRule:
    """How one header field is read: a header_rules.HeaderRule."""

    def __init__(self, twin, Py_ssize_t presence, NormalizationCache normalization):
        self.twin, self.presence, self.normalization = twin, presence, normalization
        self.shorten, self.extra_tokens = twin.shorten, twin.extra_tokens
