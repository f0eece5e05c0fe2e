# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""The hash of token_array.py, and a hint to fetch memory: inlined wherever the kernel uses them."""

from libc.stdint cimport uint8_t, uint64_t

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
