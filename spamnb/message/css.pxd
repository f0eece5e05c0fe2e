cimport cython

cdef dict KNOWN
cdef object UNREAD


@cython.locals(known=dict, normal=list, important=list, text=str)
cpdef parse_declarations(str style)
