cimport cython

from spamnb.message.elements cimport OpenElements
from spamnb.message.scanner cimport Scanner
from spamnb.message.tags cimport Tag

cdef const unsigned char[::1] KIND
cdef int LETTER, SPACE, NORMAL, NOWHERE, RAW, REFERENCES, REST


@cython.final
cdef class Reader(Scanner):
    cdef Py_ssize_t reference, link_left
    cdef readonly object sheet
    cdef readonly OpenElements elements
    cdef dict known
    cdef readonly set met, facts
    cdef readonly list links, images, forms
    cdef readonly Py_ssize_t max_tags, tags
    cdef bint begun, in_title
    cdef str linked
    cdef list link_text
    cdef readonly bint mismatch, cut_tags, cut_urls

    @cython.locals(
        html=bytes, data="const unsigned char*", size=Py_ssize_t, at=Py_ssize_t, search=Py_ssize_t,
        opened=Py_ssize_t, opened_end=Py_ssize_t, opened_tag=Tag, found=Py_ssize_t, i=Py_ssize_t, stop=Py_ssize_t, end=Py_ssize_t, tag=Tag,
        is_end=bint, is_pair=bint, tail=Py_ssize_t,
    )
    cpdef void read(self) except *
    cdef Tag tag_of(self, bytes name)
    cdef void skip(self, Py_ssize_t start, Py_ssize_t stop) except *
    @cython.locals(html=bytes, data="const unsigned char*", breaks=bint, piece=bytes)
    cdef void text_before(self, Py_ssize_t start, Py_ssize_t stop, Tag tag) except *
    @cython.locals(attributes=dict, shown=bint, stop=Py_ssize_t)
    cdef Py_ssize_t start(self, Tag tag, Py_ssize_t at) except -1
    cdef void collect(self, Tag tag, dict attributes) except *
    cdef void end_link(self) except *
