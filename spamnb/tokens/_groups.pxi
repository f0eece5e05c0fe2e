# What groups.py says, compiled. A part of _kernel.pyx.

cdef enum:
    MOST_PLACES = 32
    LONGEST_PLACE = 12  # letters, of five bits each

cdef int8_t PAIRS = groups.PAIRS, HEADERS = groups.HEADERS
cdef Py_ssize_t KNOWN_PLACES = len(groups.PLACES)
cdef uint64_t[MOST_PLACES] PLACE
cdef int8_t[MOST_PLACES] GROUP


cdef uint64_t spelt(const uint8_t[::1] text, Py_ssize_t start, Py_ssize_t stop) except? 0:
    """A name of up to LONGEST_PLACE small letters as a number, 0 for any other."""
    cdef uint64_t name = 0
    cdef Py_ssize_t i
    if stop - start > LONGEST_PLACE:
        return 0
    for i in range(start, stop):
        if not c'a' <= text[i] <= c'z':
            return 0
        name = (name << 5) | (text[i] - 96)
    return name


for _i, (_place, _view) in enumerate(groups.PLACES.items()):
    PLACE[_i], GROUP[_i] = spelt(_place.encode(), 0, len(_place)), _view


def token_groups(text, offsets, lengths):
    """groups.view of k tokens: of ``lengths`` (k,) bytes of ``text`` from ``offsets`` (k,) on."""
    cdef const uint8_t[::1] data = text
    cdef const int64_t[::1] begin = np.ascontiguousarray(offsets, np.int64)
    cdef const int32_t[::1] length = np.ascontiguousarray(lengths, np.int32)
    cdef Py_ssize_t k = begin.shape[0], i, at, end, colon
    cdef Py_ssize_t place
    cdef uint64_t name
    cdef int8_t[::1] found = np.zeros(k, np.int8)
    for i in range(k):
        at, end, colon = begin[i], begin[i] + length[i], -1
        while at < end and data[at] != c' ':
            if data[at] == c':' and colon < 0:
                colon = at
            at += 1
        if at < end:
            found[i] = PAIRS
        elif colon > begin[i] and c'a' <= data[begin[i]] | 32 <= c'z':
            found[i] = HEADERS
            name = spelt(data, begin[i], colon)
            for place in range(KNOWN_PLACES if name else 0):
                if PLACE[place] == name:
                    found[i] = GROUP[place]
    return np.asarray(found)
