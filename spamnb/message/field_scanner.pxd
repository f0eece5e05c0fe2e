cimport cython

cdef dict NAMES
cdef Py_ssize_t MAX_NAME, MAX_KEPT


@cython.final
cdef class FieldName:
    cdef readonly str text, low
    cdef readonly bint volatile, describes


@cython.final
cdef class FieldScanner:
    cdef bytes data
    cdef Py_ssize_t start
    cdef readonly list names
    cdef int[::1] spans

    @cython.locals(
        data="const unsigned char*", at=Py_ssize_t, begin=Py_ssize_t, end=Py_ssize_t, n=Py_ssize_t, room=Py_ssize_t,
        names=list, is_folded=bint,
    )
    cpdef Py_ssize_t scan(self, bytes section, Py_ssize_t start, Py_ssize_t limit) except -1
    @cython.locals(before="int[::1]", size=Py_ssize_t, i=Py_ssize_t)
    cdef void make_room(self) except *
    @cython.locals(found=FieldName)
    cdef FieldName field_name(self, bytes name)
    @cython.locals(data="const unsigned char*", value=str)
    cpdef str value(self, Py_ssize_t field)
    @cython.locals(name=FieldName, i=Py_ssize_t, found=list)
    cpdef list values(self, Py_ssize_t most)
    @cython.locals(names=list, name=FieldName, i=Py_ssize_t, size=Py_ssize_t, begin=Py_ssize_t, end=Py_ssize_t, kept=list)
    cpdef bytes lasting(self)
