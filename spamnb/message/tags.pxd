cdef class Tag:
    cdef readonly str name
    cdef readonly int number, kind, text
    cdef readonly bint ends_word, special, barrier, marker, styled, holds_rows
