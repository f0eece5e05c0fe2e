cimport cython

cdef int UNKNOWN, KEPT, SPACE, NOTHING, ANOTHER
cdef Py_ssize_t N_QUICK


@cython.final
cdef class CharacterMap:
    cdef object becomes
    cdef bytearray kinds
    cdef dict rare_kinds

    cdef int kind_of(self, Py_ssize_t point) except -1
    @cython.locals(
        raw=bytes, data="const unsigned char*", known="unsigned char[::1]", out=bytearray,
        written="unsigned char[::1]", size=Py_ssize_t, i=Py_ssize_t, n=Py_ssize_t, k=Py_ssize_t, step=Py_ssize_t,
        point=Py_ssize_t, kind=int, byte="unsigned char",
    )
    cpdef str apply(self, str text)


@cython.locals(data="const unsigned char*", i=Py_ssize_t, stretch=Py_ssize_t)
cpdef bint has_long_stretch(bytes raw, Py_ssize_t most) except -1
