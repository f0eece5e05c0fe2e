cimport cython
from libc.stdint cimport uint64_t

cdef int MAX_PREFIX, N_PREFIXES
cdef signed char[15] GROUP
cdef uint64_t[15] PREFIX


@cython.locals(
    data="const unsigned char[::1]", begins="const long long[::1]", sizes="const long long[::1]",
    group="signed char[::1]", i=Py_ssize_t, j=Py_ssize_t, begin=Py_ssize_t, end=Py_ssize_t, colon=Py_ssize_t,
    known=int, packed=uint64_t, pairs=int, headers=int,
)
cpdef token_groups(text, offsets, lengths)
