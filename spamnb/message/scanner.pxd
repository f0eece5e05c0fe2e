cimport cython

from spamnb.message.tags cimport Tag

cdef const unsigned char[::1] KIND
cdef unsigned int[256] LENGTHS
cdef dict NAMES, NOTHING, KINDS
cdef frozenset UNSTYLED
cdef int SPACE, ENDS_NAME, MAX_NAME


cdef class Scanner:
    cdef bytes html, source
    cdef Py_ssize_t size
    cdef dict attributes
    cdef bint may_hold_urls

    @cython.locals(data="const unsigned char*", size=Py_ssize_t)
    cdef Py_ssize_t name_end(self, Py_ssize_t i) except -1
    @cython.locals(html=bytes, stop=Py_ssize_t)
    cdef Py_ssize_t comment_end(self, Py_ssize_t i) except -1
    @cython.locals(stop=Py_ssize_t)
    cdef Py_ssize_t behind(self, bytes what, Py_ssize_t i) except -1
    @cython.locals(
        html=bytes, data="const unsigned char*", size=Py_ssize_t, start=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t,
        quote=cython.uchar, source=bytes, attributes=dict, name=str,
        value=bytes,
    )
    cdef Py_ssize_t attributes_end(self, Py_ssize_t i) except -2
    @cython.locals(html=bytes, name=bytes, stop=Py_ssize_t)
    cdef Py_ssize_t raw_end(self, Tag tag, Py_ssize_t at) except -1
