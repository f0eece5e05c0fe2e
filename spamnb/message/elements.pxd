cimport cython

from spamnb.message.inheritance cimport Element
from spamnb.message.stack cimport Stack
from spamnb.message.tags cimport Tag

cdef Tag FRAMESET, A, NOBR, DD, DT, BODY_TAG, BUTTON, TABLE_TAG, LI, P
cdef frozenset ITEMS_INSIDE
cdef int BLOCK, BODY, CELL, FORM, FORMATTING, HEADING, IGNORED, ITEM, OPTION, ORDINARY, ROW, ROWS, TABLE, VOID


@cython.final
cdef class OpenElements(Stack):
    @cython.locals(kind=int, element=Element, body=Element)
    cdef bint start(self, Tag tag, dict attributes, bytes source) except -1
    @cython.locals(kind=int, element=Element, parent=Element)
    cdef bint start_of_table(self, Tag tag, dict attributes, bytes source) except -1
    cdef void end_paragraph(self) except *
    @cython.locals(at=Py_ssize_t, element=Element, other=Tag)
    cdef void end_item(self, Tag tag) except *
    @cython.locals(kind=int, at=Py_ssize_t, element=Element)
    cdef void end(self, Tag tag) except *
    @cython.locals(number=Py_ssize_t, at=Py_ssize_t, block=Py_ssize_t, element=Element, other=Element, inside=list)
    cdef void end_formatting(self, Tag tag) except *
