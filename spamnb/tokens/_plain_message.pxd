# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What the kernel uses of _plain_message.pyx."""

cimport cython
from libc.stdint cimport int32_t


@cython.final
cdef class FieldName:
    cdef str text
    cdef bint volatile, describes  # is no part of the digest; says what the body is


@cython.final
cdef class PlainMessage:
    cdef bytes data
    # Where the header section and the body begin, and from where on only line ends follow; how many fields there are.
    cdef Py_ssize_t header_start, body, end, n_fields
    cdef list fields  # their names
    cdef int32_t[:, ::1] spans  # where the value of each begins and ends, and whether on a later line
    cdef list part_tokens  # of what the body is said to be
    cdef bytes digest
    cdef dict name_cache, part_cache
    cdef Py_ssize_t max_fields

    cdef bint read(self, bytes raw, bint identify) except -1
    cdef Py_ssize_t scan_section(self, Py_ssize_t limit) except -2
    cdef FieldName field_name(self, bytes name)
    cdef str value(self, Py_ssize_t field)
    cdef list describe_body(self)
    cdef bytes compute_digest(self, Py_ssize_t stop)
