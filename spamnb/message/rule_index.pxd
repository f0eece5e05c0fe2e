cdef class RuleIndex:
    cdef readonly dict by_key
    cdef dict known
    cdef readonly list masks
    cdef readonly bint cut, old, by_any, by_parent
    cdef readonly frozenset tags
