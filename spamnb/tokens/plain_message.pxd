cimport cython

from spamnb.message.field_scanner cimport FieldName, FieldScanner
from spamnb.tokens.header_rules cimport HeaderRule
from spamnb.tokens.token_sink cimport TokenSink

cdef Py_ssize_t MAX_FIELDS, MAX_DESCRIPTION, MAX_HEADER_BYTES, MAX_TEXT, MAX_PLAIN_MESSAGE, MAX_LAYOUT


@cython.final
cdef class PlainMessage:
    cdef Py_ssize_t max_kept
    cdef dict parts
    cdef bytes data
    cdef Py_ssize_t start, body, end
    cdef FieldScanner fields
    cdef list part_tokens

    @cython.locals(data=bytes, size=Py_ssize_t, stop=Py_ssize_t)
    cpdef read(self, bytes raw, bint identify)
    @cython.locals(data="const unsigned char*", stop=Py_ssize_t)
    cdef Py_ssize_t scan_section(self, Py_ssize_t limit) except -2
    @cython.locals(fields=FieldScanner, i=Py_ssize_t, length=Py_ssize_t, name=FieldName, description=list)
    cdef list describe_body(self)
    @cython.locals(fields=FieldScanner, i=Py_ssize_t, name=FieldName, rule=HeaderRule)
    cpdef put(self, TokenSink sink, text, rules, int ngrams, bint body_only)
