# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""Text → numbers of tokens, compiled. What numbering.py does with dictionaries, to the last token, is its specification.

A raw word is looked up once, by its bytes and the field it stands in; what tokens it makes Python tells the first time.
"""

from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint8_t, uint32_t, uint64_t

import secrets

import numpy as np

cdef extern from "Python.h":
    PyObject* PyDict_SetDefault(object mapping, object key, object default) except NULL

cdef enum:
    PROBES = 48  # slots looked at before a word counts as unknown: hostile words that collide cost no more than Python
    REMEMBERED = 60  # bytes of the longest word that is remembered
    SEEN = 1024

cdef uint64_t PRIME = 0x100000001B3
cdef uint64_t ODD = <uint64_t> 0x9E3779B97F4A7C15


cdef class Kernel:
    """Rows of (token number, occurrences), one row a message.

    ``numbers`` is the dictionary of tokens, numbered as they come; ``word`` and ``sign`` hold for each byte whether it
    belongs to words and to punctuation.
    """

    cdef object numbers
    cdef list folds
    cdef list names
    cdef bytes word, sign
    cdef Py_ssize_t room
    cdef uint64_t seed
    # Words: slots of an open hash hold 1 + the number of an entry.
    cdef uint32_t[::1] slots
    cdef uint64_t[::1] hashes
    cdef int64_t[::1] begins, firsts
    cdef int32_t[::1] lengths, fields, counts
    cdef uint8_t[::1] capital
    cdef Py_ssize_t entries
    cdef uint8_t[::1] arena
    cdef Py_ssize_t arena_used
    cdef int32_t[::1] values
    cdef uint8_t[::1] shapes
    cdef Py_ssize_t values_used
    # Pairs of token numbers.
    cdef uint64_t[::1] pair_keys
    cdef int32_t[::1] pair_numbers
    cdef Py_ssize_t pairs
    # The message at hand: which numbers it has, and where in the cells.
    cdef int32_t[::1] last, place
    cdef int32_t stamp
    cdef int32_t[:, ::1] cells
    cdef Py_ssize_t used, begun
    cdef int32_t[::1] opening
    cdef Py_ssize_t opened
    cdef uint64_t[::1] seen
    cdef readonly Py_ssize_t count, capitals
    cdef readonly set signs

    def __init__(self, numbers, bytes word, bytes sign, Py_ssize_t room=1 << 20):
        if len(word) != 256 or len(sign) != 256:
            raise ValueError("a table has 256 entries")
        self.numbers = numbers
        self.folds = []
        self.word = word
        self.sign = sign
        self.room = room
        self.seed = secrets.randbits(64)
        self.last = np.zeros(1024, np.int32)
        self.place = np.zeros(1024, np.int32)
        self.cells = np.zeros((4096, 2), np.int32)
        self.opening = np.zeros(1024, np.int32)
        self.seen = np.zeros(SEEN, np.uint64)
        self.stamp = 0
        self.used = self.begun = 0
        self.signs = set()
        self.forget()

    def forget(self):
        """Start afresh with words and pairs."""
        self.names = []
        self.slots = np.zeros(1 << 12, np.uint32)
        self.hashes = np.zeros(1 << 11, np.uint64)
        self.begins = np.zeros(1 << 11, np.int64)
        self.firsts = np.zeros(1 << 11, np.int64)
        self.lengths = np.zeros(1 << 11, np.int32)
        self.fields = np.zeros(1 << 11, np.int32)
        self.counts = np.zeros(1 << 11, np.int32)
        self.capital = np.zeros(1 << 11, np.uint8)
        self.arena = np.zeros(1 << 14, np.uint8)
        self.values = np.zeros(1 << 12, np.int32)
        self.shapes = np.zeros(1 << 12, np.uint8)
        self.pair_keys = np.zeros(1 << 12, np.uint64)
        self.pair_numbers = np.zeros(1 << 12, np.int32)
        self.entries = self.arena_used = self.values_used = self.pairs = 0

    def forget_fields(self):
        """Start afresh with fields too; not within a message."""
        self.folds = []
        self.forget()

    def field(self, fold):
        """The number of a new field, whose raw words ``fold`` makes tokens of."""
        self.folds.append(fold)
        return len(self.folds) - 1

    def begin(self):
        """Begin a message."""
        if self.entries > self.room or self.pairs > 4 * self.room:
            self.forget()
        self.stamp += 1
        if self.stamp == 0x7FFFFFFF:
            self.last[:] = 0
            self.stamp = 1
        self.begun = self.used
        self.opened = 0
        self.count = self.capitals = 0
        self.signs = set()
        self.seen[:] = 0

    def end(self):
        """The number of different tokens that the message has."""
        return self.used - self.begun

    def take(self):
        """(k, 2) the token numbers and occurrences of all messages since the last call, row after row."""
        taken = np.array(self.cells[: self.used])
        self.used = self.begun = 0
        return taken

    def tokens(self, found):
        """Tokens that need no folding."""
        for token in found:
            self._emit(self._number(token))

    cdef int32_t _number(self, token) except -1:
        """What numbers[token] is, with one search instead of two where the token is new."""
        return <object> PyDict_SetDefault(self.numbers, token, len(self.numbers))

    cdef int _name(self, int32_t number, token) except -1:
        while len(self.names) <= number:
            self.names.append(None)
        self.names[number] = token
        return 0

    cdef int _emit(self, int32_t number) except -1:
        cdef Py_ssize_t size = self.last.shape[0]
        if number >= size:
            while size <= number:
                size *= 2
            self.last = _grown(self.last, size)
            self.place = _grown(self.place, size)
        if self.last[number] == self.stamp:
            self.cells[self.place[number], 1] += 1
            return 0
        self.last[number] = self.stamp
        if self.used == self.cells.shape[0]:
            self.cells = _grown(self.cells, 2 * self.used)
        self.place[number] = <int32_t> self.used
        self.cells[self.used, 0] = number
        self.cells[self.used, 1] = 1
        self.used += 1
        return 0

    def words(self, int field, bytes data):
        """The words of a field."""
        self._read(field, data, len(data), 0, False)

    def text(self, int field, bytes data, Py_ssize_t most, Py_ssize_t opening, bint signs):
        """The words of a text, no more than ``most``; the tokens of the first ``opening`` are kept for ``join``.

        ``count`` and ``capitals`` grow by the words there are, and those read that are in capitals; ``signs`` says that
        the punctuation is wanted too.
        """
        self._read(field, data, most, opening, True)
        if signs:
            self._signs(data)

    @property
    def openings(self):
        """How many tokens are kept for ``join``."""
        return self.opened

    cdef int _read(self, int field, bytes data, Py_ssize_t most, Py_ssize_t opening, bint counting) except -1:
        cdef Py_ssize_t size = len(data), i = 0, start, entry, found = 0, j
        cdef uint64_t h, salt = self.seed ^ (<uint64_t> field * ODD)
        cdef bytes word = self.word
        while i < size:
            if not word[<uint8_t> data[i]]:
                i += 1
                continue
            start = i
            h = salt
            while i < size and word[<uint8_t> data[i]]:
                h = (h ^ <uint8_t> data[i]) * PRIME
                i += 1
            found += 1
            if found > most:
                continue
            entry = self._entry(field, data, start, i, h ^ (h >> 29))
            if entry < 0:
                self._once(field, data, start, i, found <= opening, counting)
                continue
            for j in range(self.firsts[entry], self.firsts[entry] + self.counts[entry]):
                self._emit(self.values[j])
                if found <= opening and not self.shapes[j]:
                    self._open(self.values[j])
            self.capitals += counting and self.capital[entry]
        if counting:
            self.count += found
        return 0

    cdef int _open(self, int32_t number) except -1:
        if self.opened == self.opening.shape[0]:
            self.opening = _grown(self.opening, 2 * self.opened)
        self.opening[self.opened] = number
        self.opened += 1
        return 0

    cdef Py_ssize_t _entry(self, int field, bytes data, Py_ssize_t start, Py_ssize_t stop, uint64_t h) except -2:
        """The entry of a word, made when it is new; −1 for one that is not remembered."""
        cdef Py_ssize_t length = stop - start, mask = self.slots.shape[0] - 1, slot, entry, j, at
        cdef int probe
        if length > REMEMBERED:
            return -1
        slot = <Py_ssize_t> (h & <uint64_t> mask)
        for probe in range(PROBES):
            entry = <Py_ssize_t> self.slots[slot] - 1
            if entry < 0:
                return self._new(field, data, start, stop, h)
            if self.hashes[entry] == h and self.lengths[entry] == length and self.fields[entry] == field:
                at = self.begins[entry]
                for j in range(length):
                    if self.arena[at + j] != <uint8_t> data[start + j]:
                        break
                else:
                    return entry
            slot = (slot + 1) & mask
        return -1

    cdef Py_ssize_t _new(self, int field, bytes data, Py_ssize_t start, Py_ssize_t stop, uint64_t h) except -2:
        cdef Py_ssize_t entry, mask, slot, j, k, length = stop - start
        cdef str raw = data[start:stop].decode("utf-8")
        cdef tuple tokens = self.folds[field](raw)
        cdef int32_t number
        entry = self.entries
        if entry == self.hashes.shape[0]:
            self.hashes = _grown(self.hashes, 2 * entry)
            self.begins = _grown(self.begins, 2 * entry)
            self.firsts = _grown(self.firsts, 2 * entry)
            self.lengths = _grown(self.lengths, 2 * entry)
            self.fields = _grown(self.fields, 2 * entry)
            self.counts = _grown(self.counts, 2 * entry)
            self.capital = _grown(self.capital, 2 * entry)
        while self.arena_used + length > self.arena.shape[0]:
            self.arena = _grown(self.arena, 2 * self.arena.shape[0])
        while self.values_used + len(tokens) > self.values.shape[0]:
            self.values = _grown(self.values, 2 * self.values.shape[0])
            self.shapes = _grown(self.shapes, 2 * self.shapes.shape[0])
        self.hashes[entry] = h
        self.begins[entry] = self.arena_used
        self.lengths[entry] = <int32_t> length
        self.fields[entry] = field
        for j in range(length):
            self.arena[self.arena_used + j] = <uint8_t> data[start + j]
        self.arena_used += length
        self.firsts[entry] = self.values_used
        self.counts[entry] = <int32_t> len(tokens)
        for token in tokens:
            number = self._number(token)
            self._name(number, token)
            self.values[self.values_used] = number
            self.shapes[self.values_used] = token[:1] == "#"
            self.values_used += 1
        self.capital[entry] = len(raw) > 1 and raw.isupper()
        self.entries += 1
        if 2 * self.entries > self.slots.shape[0]:
            self.slots = np.zeros(2 * self.slots.shape[0], np.uint32)
            for k in range(self.entries):
                self._settle(k)
        else:
            self._settle(entry)
        return entry

    cdef int _settle(self, Py_ssize_t entry) except -1:
        """Take the first free slot; an entry that finds none within PROBES is not found again, which costs time alone."""
        cdef Py_ssize_t mask = self.slots.shape[0] - 1
        cdef Py_ssize_t slot = <Py_ssize_t> (self.hashes[entry] & <uint64_t> mask)
        cdef int probe
        for probe in range(PROBES):
            if self.slots[slot] == 0:
                self.slots[slot] = <uint32_t> (entry + 1)
                return 0
            slot = (slot + 1) & mask
        return 0

    cdef int _once(self, int field, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opening, bint counting) except -1:
        cdef str raw = data[start:stop].decode("utf-8")
        cdef int32_t number
        for token in self.folds[field](raw):
            number = self._number(token)
            self._emit(number)
            if opening and token[:1] != "#":
                self._name(number, token)
                self._open(number)
        self.capitals += counting and len(raw) > 1 and raw.isupper()
        return 0

    cdef int _signs(self, bytes data) except -1:
        """Runs of punctuation, of a long run the first four."""
        cdef Py_ssize_t size = len(data), i = 0, start, slot
        cdef uint64_t key
        cdef bytes sign = self.sign
        while i < size:
            if not sign[<uint8_t> data[i]]:
                i += 1
                continue
            start = i
            key = 0
            while i < size and sign[<uint8_t> data[i]]:
                if i - start < 4:
                    key = (key << 8) | <uint8_t> data[i]
                i += 1
            slot = <Py_ssize_t> ((key * ODD) >> 54)
            if self.seen[slot] != key:
                self.seen[slot] = key
                self.signs.add(data[start : min(i, start + 4)].decode("ascii"))
        return 0

    def join(self):
        """Each two neighbours of the opening as one token."""
        cdef Py_ssize_t i, slot, mask
        cdef int32_t a, b, number
        cdef uint64_t key
        cdef int probe
        for i in range(self.opened - 1):
            a, b = self.opening[i], self.opening[i + 1]
            key = ((<uint64_t> a << 32) | <uint64_t> b) + 1
            mask = self.pair_keys.shape[0] - 1
            slot = <Py_ssize_t> (((key ^ self.seed) * ODD >> 20) & <uint64_t> mask)
            number = -1
            for probe in range(PROBES):
                if self.pair_keys[slot] == key:
                    number = self.pair_numbers[slot]
                    break
                if self.pair_keys[slot] == 0:
                    number = self._number(f"{self.names[a]} {self.names[b]}")
                    self.pair_keys[slot] = key
                    self.pair_numbers[slot] = number
                    self.pairs += 1
                    break
                slot = (slot + 1) & mask
            if number < 0:
                number = self._number(f"{self.names[a]} {self.names[b]}")
            self._emit(number)
            if 2 * self.pairs > self.pair_keys.shape[0]:
                self._more_pairs()

    cdef int _more_pairs(self) except -1:
        cdef uint64_t[::1] keys = self.pair_keys
        cdef int32_t[::1] numbers = self.pair_numbers
        cdef Py_ssize_t i, slot, mask = 2 * keys.shape[0] - 1
        cdef int probe
        self.pair_keys = np.zeros(mask + 1, np.uint64)
        self.pair_numbers = np.zeros(mask + 1, np.int32)
        self.pairs = 0
        for i in range(keys.shape[0]):
            if keys[i]:
                slot = <Py_ssize_t> (((keys[i] ^ self.seed) * ODD >> 20) & <uint64_t> mask)
                for probe in range(PROBES):
                    if self.pair_keys[slot] == 0:
                        self.pair_keys[slot] = keys[i]
                        self.pair_numbers[slot] = numbers[i]
                        self.pairs += 1
                        break
                    slot = (slot + 1) & mask
        return 0


def _grown(old, Py_ssize_t size):
    """A copy with ``size`` rows, those that are new 0."""
    before = np.asarray(old)
    after = np.zeros((size, *before.shape[1:]), before.dtype)
    after[: len(before)] = before
    return after
