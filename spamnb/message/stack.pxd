cimport cython

from spamnb.message.inheritance cimport Context, Element
from spamnb.message.tags cimport Tag

cdef Tag HTML, BODY_TAG, BUTTON, TEXTAREA, P, TABLE_TAG, LI
cdef frozenset LISTS
cdef int TABLE, CELL, NOWHERE


cdef class Stack:
    cdef readonly object sheet
    cdef bint quirks, form_is_open, has_content
    cdef readonly list shown, hidden
    cdef list stack, formatting
    cdef Element top
    cdef int[200] counts

    @cython.locals(top=Element, stray=bint)
    cdef void add_text(self, bytes piece, bint in_head) except *
    @cython.locals(stop=Py_ssize_t)
    cdef bytes beginning(self, bytes title)
    @cython.locals(at=Py_ssize_t, into=list, table=Element, parent=Element)
    cdef void foster(self, bytes piece) except *
    @cython.locals(at=Py_ssize_t, element=Element)
    cdef Py_ssize_t table_index(self) except -1
    @cython.locals(top=Element, parent=Element, element=Element, into=list, fostered=bint, at=Py_ssize_t, table=Element)
    cdef Element push(self, Tag tag, dict attributes, bytes source)
    @cython.locals(element=Element)
    cdef void pop(self) except *
    cdef void pop_to(self, Py_ssize_t at) except *
    @cython.locals(at=Py_ssize_t, element=Element, other=Tag, in_table=bint)
    cdef Py_ssize_t find(self, Tag tag, bint stops_at_special) except -1
    @cython.locals(at=Py_ssize_t, other=Element, same=int)
    cdef void remember(self, Element element) except *
    @cython.locals(at=Py_ssize_t, size=Py_ssize_t, closed=Element, element=Element)
    cdef void open_formatting_again(self) except *
    cdef void close(self, Element element) except *
    cdef void merge(self, Element element, dict attributes) except *
    @cython.locals(element=Element, above=Element)
    cdef void inherit_again(self, Py_ssize_t at) except *
