# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What the kernel's other modules use of _csr_rows.pyx. Methods that run once a word stand here, to be inlined there."""

cimport cython
from libc.stdint cimport int32_t

from spamnb.tokens._token_array cimport prefetch


@cython.final
cdef class CsrRowBuilder:
    cdef int32_t[:, ::1] cells  # (id, occurrences), until they are taken
    cdef int32_t[::1] last_cell  # by id of a token: where in the cells it was last put, if ever
    cdef Py_ssize_t start, used  # of the row at hand

    cdef inline int prefetch_id(self, Py_ssize_t id_) except -1:
        """Begin to fetch what adding this token reads."""
        if id_ < self.last_cell.shape[0]:
            prefetch(&self.last_cell[id_])
        return 0

    cdef inline int add(self, Py_ssize_t id_) except -1:
        """One more occurrence of a token."""
        cdef Py_ssize_t cell
        if id_ < self.last_cell.shape[0]:
            cell = self.last_cell[id_]
            if self.start <= cell < self.used and self.cells[cell, 0] == id_:
                self.cells[cell, 1] += 1
                return 0
        return self.append(id_)

    cdef int append(self, Py_ssize_t id_) except -1
    cdef int begin(self) except -1
    cdef Py_ssize_t end(self) except -1
    cdef object take_cells(self)
