# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""groups.py, compiled."""

from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint64_t

from spamnb.tokens._made_for cimport KERNEL_VERSION, TOKENS_VERSION

import numpy as np

from spamnb.tokens import groups

MADE_FOR = TOKENS_VERSION, KERNEL_VERSION

cdef enum:
    MAX_PREFIXES = 32
    MAX_PREFIX = 12  # letters, of five bits each

cdef int8_t PAIRS = groups.PAIRS, HEADERS = groups.HEADERS
cdef Py_ssize_t N_PREFIXES = len(groups.PREFIX_GROUPS)
cdef uint64_t[MAX_PREFIXES] PREFIX
cdef int8_t[MAX_PREFIXES] GROUP


cdef uint64_t packed(const uint8_t[::1] text, Py_ssize_t start, Py_ssize_t stop) except? 0:
    """A prefix of up to MAX_PREFIX small letters as a number, 0 for any other."""
    cdef uint64_t prefix = 0
    cdef Py_ssize_t i
    if stop - start > MAX_PREFIX:
        return 0
    for i in range(start, stop):
        if not c'a' <= text[i] <= c'z':
            return 0
        prefix = (prefix << 5) | (text[i] - 96)
    return prefix


for _i, (_prefix, _group) in enumerate(groups.PREFIX_GROUPS.items()):
    PREFIX[_i], GROUP[_i] = packed(_prefix.encode(), 0, len(_prefix)), _group


def token_groups(text, offsets, lengths):
    """The group of each of k tokens, (k,) int8: of ``lengths`` (k,) bytes of ``text`` from ``offsets`` (k,) on."""
    cdef const uint8_t[::1] data = text
    cdef const int64_t[::1] begin = np.ascontiguousarray(offsets, np.int64)
    cdef const int32_t[::1] length = np.ascontiguousarray(lengths, np.int32)
    cdef Py_ssize_t k = begin.shape[0], i, j, end, colon, known
    cdef uint64_t prefix
    cdef int8_t[::1] found = np.zeros(k, np.int8)
    for i in range(k):
        j, end, colon = begin[i], begin[i] + length[i], -1
        while j < end and data[j] != c' ':
            if data[j] == c':' and colon < 0:
                colon = j
            j += 1
        if j < end:
            found[i] = PAIRS
        elif colon > begin[i] and c'a' <= data[begin[i]] | 32 <= c'z':
            found[i] = HEADERS
            prefix = packed(data, begin[i], colon)
            for known in range(N_PREFIXES if prefix else 0):
                if PREFIX[known] == prefix:
                    found[i] = GROUP[known]
    return np.asarray(found)
