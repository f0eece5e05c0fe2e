cdef class RuleIndex:
    cdef readonly dict by_key
    cdef dict known
    cdef readonly list masks
    cdef readonly bint cut, by_any, by_siblings, by_parent
    cdef readonly tuple asked
    cdef readonly frozenset tags
