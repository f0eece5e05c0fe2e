# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""Builds the rows of csr_rows.py, one message after the other."""

from spamnb.tokens._made_for cimport KERNEL_VERSION, TOKENS_VERSION

import numpy as np

from spamnb.tokens._vocabulary import enlarged

MADE_FOR = TOKENS_VERSION, KERNEL_VERSION


cdef class CsrRowBuilder:
    """Messages as rows of (token id, occurrences), tokens in the order in which each message first has them.

    Where in the rows a token was last put tells whether the row at hand has it: a sparse set (Briggs and Torczon
    1993), that needs no clearing and half the time of a hash table of the row's tokens.
    """

    def __init__(self):
        self.cells = np.zeros((1 << 12, 2), np.int32)
        self.last_cell = np.zeros(1 << 9, np.int32)

    cdef int append(self, Py_ssize_t id_) except -1:
        """The first occurrence of a token in the row."""
        if id_ >= self.last_cell.shape[0]:
            self.last_cell = enlarged(self.last_cell, 2 * id_)
        if self.used == self.cells.shape[0]:
            self.cells = enlarged(self.cells, 2 * self.used)
        self.cells[self.used, 0] = <int32_t> id_
        self.cells[self.used, 1] = 1
        self.last_cell[id_] = <int32_t> self.used
        self.used += 1
        return 0

    cdef int begin(self) except -1:
        """Begin a row; one that was not ended is given up."""
        self.used = self.start
        return 0

    cdef Py_ssize_t end(self) except -1:
        """Complete the row; returns how many different tokens it has."""
        cdef Py_ssize_t size = self.used - self.start
        self.start = self.used
        return size

    cdef object take_cells(self):
        """(k, 2) ids and occurrences of all rows since the last call."""
        cells = np.array(self.cells[: self.start])
        self.start = self.used = 0
        return cells
