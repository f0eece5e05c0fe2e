# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What the kernel's other modules use of _vocabulary.pyx. Methods that run once a word stand here, to be inlined there."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

from spamnb.tokens._token_array cimport prefetch


@cython.final
cdef class HashIndex:
    cdef uint32_t[::1] slots  # 1 + the id of a key, 0 where the slot is empty
    cdef uint64_t[::1] keys  # by id
    cdef Py_ssize_t used
    cdef int shift
    cdef uint64_t first_factor, second_factor

    cdef int renew(self) except -1
    cdef int clear(self) except -1
    cdef int grow(self) except -1

    cdef inline Py_ssize_t home(self, uint64_t key) noexcept:
        cdef uint64_t mixed = key * self.first_factor
        return <Py_ssize_t> (((mixed ^ (mixed >> 32)) * self.second_factor) >> self.shift)

    cdef inline int prefetch_slot(self, uint64_t key) except -1:
        """Begin to fetch what looking up a key reads first."""
        prefetch(&self.slots[self.home(key)])
        return 0

    cdef inline Py_ssize_t prefetch_key(self, uint64_t key) except -2:
        """Begin to fetch what it reads next; returns the id that the key is likely to have, −1 where it has none."""
        cdef uint32_t entry = self.slots[self.home(key)]
        if entry:
            prefetch(&self.keys[entry - 1])
        return <Py_ssize_t> entry - 1

    cdef inline Py_ssize_t slot(self, uint64_t key) except -1:
        """Where the key is, or would be put."""
        cdef Py_ssize_t mask = self.slots.shape[0] - 1, slot = self.home(key)
        cdef uint32_t entry
        while True:
            entry = self.slots[slot]
            if entry == 0 or self.keys[entry - 1] == key:
                return slot
            slot = (slot + 1) & mask

    cdef inline Py_ssize_t find(self, uint64_t key) except -2:
        """The id of a key, −1 where it has none."""
        return <Py_ssize_t> self.slots[self.slot(key)] - 1

    cdef Py_ssize_t insert(self, uint64_t key) except -1


@cython.final
cdef class Vocabulary:
    cdef HashIndex index
    cdef int64_t[::1] offsets  # in the text, of each id and of the next
    cdef uint8_t[::1] text

    cdef Py_ssize_t id_of(self, str token) except -1
    cdef Py_ssize_t id_of_hash(
        self, uint64_t h, bytes prefix, bytes data, Py_ssize_t start, Py_ssize_t stop, const uint8_t* byte_map
    ) except -1
    cdef int reserve(self, Py_ssize_t size) except -1
    cdef bytes text_of(self, Py_ssize_t id_)
