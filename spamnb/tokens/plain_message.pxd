cimport cython

from spamnb.tokens.header_rules cimport HeaderRule
from spamnb.tokens.token_sink cimport TokenSink

cdef Py_ssize_t MAX_FIELDS, MAX_NAME, MAX_DESCRIPTION, MAX_HEADER_BYTES, MAX_TEXT, MAX_PLAIN_MESSAGE, MAX_LAYOUT


@cython.final
cdef class FieldName:
    cdef str text
    cdef bint volatile, describes


@cython.final
cdef class PlainMessage:
    cdef Py_ssize_t max_kept
    cdef dict names, parts
    cdef bytes data
    cdef Py_ssize_t start, body, end
    cdef list fields
    cdef int[::1] spans
    cdef list part_tokens

    @cython.locals(data=bytes, size=Py_ssize_t, stop=Py_ssize_t)
    cpdef read(self, bytes raw, bint identify)
    @cython.locals(message=bytes, data="const unsigned char*", i=Py_ssize_t, begin=Py_ssize_t, n=Py_ssize_t, later=bint)
    cdef Py_ssize_t scan_section(self, Py_ssize_t limit) except -2
    cdef FieldName field_name(self, bytes name)
    @cython.locals(value=bytes)
    cdef str value(self, Py_ssize_t field)
    @cython.locals(i=Py_ssize_t, length=Py_ssize_t, name=FieldName, description=list)
    cdef list describe_body(self)
    @cython.locals(i=Py_ssize_t, begin=Py_ssize_t, name=FieldName, kept=list)
    cdef bytes digest(self, Py_ssize_t stop)
    @cython.locals(i=Py_ssize_t, name=FieldName, rule=HeaderRule)
    cpdef put(self, TokenSink sink, text, rules, int ngrams, bint body_only)
