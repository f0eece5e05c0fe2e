cimport cython

from spamnb.message.rule_index cimport RuleIndex
from spamnb.message.tags cimport Tag

cdef Tag TABLE_TAG, DETAILS, SUMMARY


@cython.final
cdef class Context:
    cdef object style, around, parent
    cdef bint is_split
    cdef dict derived


cdef Context NO_CONTEXT


@cython.final
cdef class Element:
    cdef readonly Tag tag
    cdef readonly dict attributes
    cdef bytes source
    cdef Context context
    cdef bint visible, in_table, open
    cdef list into, before
    cdef Py_ssize_t paragraph

    @cython.locals(above=Context, tag=Tag, index=RuleIndex, in_old_table=bint, is_special=bint, in_closed=bint, found=Context, attributes=dict)
    cdef void inherit(self, Element parent, sheet, bint quirks) except *
    @cython.locals(above=Context, context=Context, tag=Tag, index=RuleIndex, in_closed=bint, key=tuple, contexts=dict)
    cdef Context derived_from(self, Element parent, sheet, bint in_old_table)
