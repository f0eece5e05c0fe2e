# Keys of 64 bits → numbers, tokens → numbers, and rows of those. A part of _kernel.pyx, so that the C compiler inlines it.

cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define spamnb_prefetch(address) __builtin_prefetch(address)
    #else
    #define spamnb_prefetch(address) ((void) (address))
    #endif
    """
    void prefetch "spamnb_prefetch" (const void* address)

cdef enum:
    SMALL = 1 << 15  # slots that are cheaper to clear than to make anew

cdef uint64_t OFFSET = <uint64_t> token_array.FNV_OFFSET
cdef uint64_t PRIME = <uint64_t> token_array.FNV_PRIME
cdef uint64_t FIRST = <uint64_t> secrets.randbits(64) | 1
cdef uint64_t SECOND = <uint64_t> secrets.randbits(64) | 1


cdef uint64_t hashed(uint64_t h, bytes data, Py_ssize_t start, Py_ssize_t stop, const uint8_t* become) except? 0:
    """Fowler, Noll and Vo's hash, continued over what becomes of these bytes."""
    cdef Py_ssize_t i
    for i in range(start, stop):
        h = (h ^ become[<uint8_t> data[i]]) * PRIME
    return h


def _grown(old, Py_ssize_t size):
    """A copy with ``size`` places, those that are new 0."""
    before = np.asarray(old)
    after = np.zeros((size, *before.shape[1:]), before.dtype)
    after[: len(before)] = before
    return after


@cython.final
cdef class Table:
    """Keys of 64 bits, numbered as they come.

    An open hash with linear probing, at most half full. A sender can choose the keys, but not their slots: two secret
    factors decide those, so that nobody can fill neighbouring slots, and the number of probes needs no bound. Two words
    of one hash count as one.
    """

    cdef uint32_t[::1] slots  # 1 + the number of a key
    cdef uint64_t[::1] keys
    cdef Py_ssize_t used
    cdef int shift

    def __init__(self):
        self.renew()

    cdef int renew(self) except -1:
        self.slots = np.zeros(1 << 10, np.uint32)
        self.keys = np.zeros(1 << 9, np.uint64)
        self.used = 0
        self.shift = 64 - 10
        return 0

    cdef int clear(self) except -1:
        if self.used == 0:
            return 0
        if self.slots.shape[0] > SMALL:
            return self.renew()
        memset(&self.slots[0], 0, self.slots.shape[0] * sizeof(uint32_t))
        self.used = 0
        return 0

    cdef Py_ssize_t home(self, uint64_t key) noexcept:
        cdef uint64_t mixed = key * FIRST
        return <Py_ssize_t> (((mixed ^ (mixed >> 32)) * SECOND) >> self.shift)

    cdef int expect(self, uint64_t key) except -1:
        """Begin to fetch what looking up a key reads first."""
        prefetch(&self.slots[self.home(key)])
        return 0

    cdef Py_ssize_t expect_more(self, uint64_t key) except -2:
        """Begin to fetch what it reads next; returns the number the key is likely to have, −1 where it has none."""
        cdef uint32_t entry = self.slots[self.home(key)]
        if entry:
            prefetch(&self.keys[entry - 1])
        return <Py_ssize_t> entry - 1

    cdef Py_ssize_t slot(self, uint64_t key) except -1:
        """Where the key is, or would be put."""
        cdef Py_ssize_t mask = self.slots.shape[0] - 1, slot = self.home(key)
        cdef uint32_t entry
        while True:
            entry = self.slots[slot]
            if entry == 0 or self.keys[entry - 1] == key:
                return slot
            slot = (slot + 1) & mask

    cdef Py_ssize_t find(self, uint64_t key) except -2:
        """The number of a key, −1 where it has none."""
        return <Py_ssize_t> self.slots[self.slot(key)] - 1

    cdef Py_ssize_t place(self, uint64_t key) except -1:
        """The number of a key, the next one where it is new."""
        cdef Py_ssize_t slot = self.slot(key), entry = self.slots[slot]
        if entry:
            return entry - 1
        if self.used == self.keys.shape[0]:
            self.grow()
            slot = self.slot(key)
        self.keys[self.used] = key
        self.used += 1
        self.slots[slot] = <uint32_t> self.used
        return self.used - 1

    cdef int grow(self) except -1:
        cdef Py_ssize_t i
        keys = _grown(self.keys, 2 * self.used)
        self.slots = np.zeros(4 * self.used, np.uint32)
        self.keys = keys
        self.shift -= 1
        for i in range(self.used):
            self.slots[self.slot(self.keys[i])] = <uint32_t> (i + 1)
        return 0


@cython.final
cdef class Vocabulary:
    """A two-way table that grows: a number for every token, a new one for a token that has none.

    vocabulary.Vocabulary with the same answers. Tokens are known by their hash alone (before its last mixing, so that
    the hash of a pair goes on from that of its first word); the text is kept for reading.
    """

    cdef Table table
    cdef int64_t[::1] offsets  # in the text, of each number and of the next
    cdef uint8_t[::1] text

    def __init__(self):
        self.table = Table()
        self.offsets = np.zeros(1 << 9, np.int64)
        self.text = np.zeros(1 << 12, np.uint8)

    def __len__(self):
        return self.table.used

    def ids(self, tokens):
        """(k,) the numbers of these tokens."""
        return np.fromiter([self.named(token) for token in tokens], np.intp)

    def take(self, ids):
        """The tokens of these numbers."""
        cdef const int64_t[::1] numbers = np.ascontiguousarray(ids, np.int64)
        cdef Py_ssize_t i
        cdef list found = []
        for i in range(numbers.shape[0]):
            if not 0 <= numbers[i] < self.table.used:
                raise IndexError(f"no token has the number {numbers[i]}")
            found.append(self.text_of(numbers[i]).decode())
        return found

    def hashes(self, ids):
        """(k,) int64 keys of the tokens of these numbers."""
        hashes = np.asarray(self.table.keys)[: self.table.used][ids]
        return ((hashes ^ (hashes >> np.uint64(32))) * np.uint64(token_array.MIX)).view(np.int64)

    def groups(self, ids):
        """(k,) int8 groups of the tokens of these numbers."""
        offsets, ids = np.asarray(self.offsets), np.asarray(ids, np.intp)
        return token_groups(np.asarray(self.text), offsets[ids], offsets[ids + 1] - offsets[ids])

    def tokens(self):
        """The token of every number."""
        cdef Py_ssize_t used = self.table.used
        offsets = np.array(self.offsets[: used + 1])
        text = np.array(self.text[: self.offsets[used]])
        return token_array.TokenArray(text, offsets[:used], np.diff(offsets).astype(np.int32), self.hashes(slice(None)))

    cdef Py_ssize_t named(self, str token) except -1:
        cdef bytes data = token.encode()
        return self.number(hashed(OFFSET, data, 0, len(data), SAME), b"", data, 0, len(data), SAME)

    cdef Py_ssize_t number(
        self, uint64_t h, bytes prefix, bytes data, Py_ssize_t start, Py_ssize_t stop, const uint8_t* become
    ) except -1:
        """The number of the token of this hash, whose text is the prefix and then what becomes of these bytes."""
        cdef Py_ssize_t number = self.table.find(h), end, i
        if number >= 0:
            return number
        self.reserve(len(prefix) + stop - start)
        number = self.table.place(h)
        end = self.offsets[number]
        for i in range(len(prefix)):
            self.text[end + i] = <uint8_t> prefix[i]
        end += len(prefix) - start
        for i in range(start, stop):
            self.text[end + i] = become[<uint8_t> data[i]]
        self.offsets[number + 1] = end + stop
        return number

    cdef int reserve(self, Py_ssize_t size) except -1:
        """Room for one more token of ``size`` bytes."""
        cdef Py_ssize_t needed = self.offsets[self.table.used] + size
        if needed > self.text.shape[0]:
            self.text = _grown(self.text, 2 * needed)
        if self.table.used + 1 == self.offsets.shape[0]:
            self.offsets = _grown(self.offsets, 2 * self.offsets.shape[0])
        return 0

    cdef bytes text_of(self, Py_ssize_t number):
        cdef Py_ssize_t begin = self.offsets[number], size = self.offsets[number + 1] - begin
        return PyBytes_FromStringAndSize(<const char*> &self.text[begin], size) if size else b""


@cython.final
cdef class Rows:
    """Messages as rows of (number of a token, occurrences), tokens as first met.

    Where in the rows a token was last put tells whether the row at hand has it: a sparse set (Briggs and Torczon
    1993), that needs no clearing and half the time of a hash table of the row's tokens.
    """

    cdef int32_t[:, ::1] cells  # until they are taken
    cdef int32_t[::1] places  # by number of a token: where in the cells it was last put, if ever
    cdef Py_ssize_t start, used  # of the row at hand

    def __init__(self):
        self.cells = np.zeros((1 << 12, 2), np.int32)
        self.places = np.zeros(1 << 9, np.int32)

    cdef int expect(self, Py_ssize_t number) except -1:
        """Begin to fetch what adding this token reads."""
        if number < self.places.shape[0]:
            prefetch(&self.places[number])
        return 0

    cdef int add(self, Py_ssize_t number) except -1:
        """One more occurrence of a token."""
        cdef Py_ssize_t place
        if number >= self.places.shape[0]:
            self.places = _grown(self.places, 2 * number)
        place = self.places[number]
        if self.start <= place < self.used and self.cells[place, 0] == number:
            self.cells[place, 1] += 1
            return 0
        if self.used == self.cells.shape[0]:
            self.cells = _grown(self.cells, 2 * self.used)
        self.cells[self.used, 0] = <int32_t> number
        self.cells[self.used, 1] = 1
        self.places[number] = <int32_t> self.used
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
        taken = np.array(self.cells[: self.start])
        self.start = self.used = 0
        return taken
