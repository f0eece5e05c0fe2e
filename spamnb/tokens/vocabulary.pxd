# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""What other compiled modules use of vocabulary.pyx. What runs once a word stands here, to be inlined there."""

cimport cython
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t

cdef extern from *:
    """
    #define SPAMNB_FNV_OFFSET UINT64_C(0xCBF29CE484222325)
    #define SPAMNB_FNV_PRIME UINT64_C(0x100000001B3)
    #if defined(__GNUC__) || defined(__clang__)
    #define spamnb_prefetch(address) __builtin_prefetch(address)
    #else
    #define spamnb_prefetch(address) ((void) (address))
    #endif
    """
    const uint64_t FNV_OFFSET "SPAMNB_FNV_OFFSET"
    const uint64_t FNV_PRIME "SPAMNB_FNV_PRIME"
    void prefetch "spamnb_prefetch" (const void* address)


cdef inline uint64_t fnv1a(
    uint64_t h, bytes data, Py_ssize_t start, Py_ssize_t stop, const uint8_t* byte_map
) except? 0:
    """Fowler, Noll and Vo's hash, continued from ``h`` over these bytes, each as the map has it."""
    cdef Py_ssize_t i
    for i in range(start, stop):
        h = (h ^ byte_map[<uint8_t> data[i]]) * FNV_PRIME
    return h

@cython.final
cdef class HashIndex:
    cdef uint32_t[::1] slots  # 1 + the id of a key, 0 where the slot is empty
    cdef uint64_t[::1] keys  # by id
    cdef Py_ssize_t used
    cdef int shift
    cdef uint64_t first_factor, second_factor

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
    cdef list texts(self, ids)
