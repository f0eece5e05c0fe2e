cimport cython

cdef const unsigned char[::1] BYTE_KIND
cdef int UPPER, LOWER, DIGIT, INNER, NOT_ASCII, LEFT, RIGHT, CUTS, PLAIN, SHAPE, LONG, OTHER
cdef Py_ssize_t MAX_WORD, MAX_HOST, MIN_SPACED


cpdef Py_ssize_t character_size(int first) noexcept


@cython.final
cdef class AsciiWord:
    cdef int[::1] pieces
    cdef Py_ssize_t count

    cdef int add(self, Py_ssize_t start, Py_ssize_t stop, int form) except -1
    @cython.locals(
        data="const unsigned char*", i=Py_ssize_t, end=Py_ssize_t, parts=Py_ssize_t, letters=Py_ssize_t, kinds=int
    )
    cpdef bint read_parts(self, bytes raw, Py_ssize_t start, Py_ssize_t stop) except -1
    @cython.locals(data="const unsigned char*")
    cpdef int read_whole(self, bytes raw, Py_ssize_t start, Py_ssize_t stop, bint digits, bint itself) except -1
    @cython.locals(
        data="const unsigned char*", i=Py_ssize_t, first=Py_ssize_t, last=Py_ssize_t, begin=Py_ssize_t,
        dots=Py_ssize_t, size=Py_ssize_t, digits=bint, address=bint, number=bint,
    )
    cpdef void read_host(self, bytes raw, Py_ssize_t start, Py_ssize_t stop, bint received) except *
    @cython.locals(i=Py_ssize_t, form=int, piece=bytes, found=list)
    cpdef list texts(self, bytes raw, other=*)
