# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""The words of a text or a field → their tokens, counted in the row of the message at hand.

words.normalize_word, words.normalize_whole_word and hosts.normalize_received of ASCII, and token_sink.TokenList's pairs.
"""

from cpython.bytes cimport PyBytes_FromStringAndSize

from spamnb.tokens._made_for cimport KERNEL_VERSION, TOKENS_VERSION
from spamnb.tokens._token_array cimport FNV_PRIME, fnv1a
from spamnb.tokens._words cimport (
    BYTE_KIND, CUTS, DIGIT, HOST, IDENTITY, INNER, LEFT_TRIMMED, LOWER, LOWER_CASE, NOT_ASCII, NUMBER_SHAPE, PYTHON,
    RIGHT_TRIMMED, UPPER, WHOLE, SpacedWords, letters_apart)

import numpy as np

from spamnb.tokens import hosts, words
from spamnb.tokens._vocabulary import enlarged

MADE_FOR = TOKENS_VERSION, KERNEL_VERSION

cdef Py_ssize_t MAX_WORD = words.MAX_WORD
cdef Py_ssize_t MAX_CUT_WORD = 64 * words.MAX_WORD
cdef Py_ssize_t MAX_HOST = hosts.MAX_HOST


cdef class WordScanner:
    """Finds words where they stand in the bytes, normalises those of ASCII, and asks Python once for the others.

    Their tokens are counted in the row of the message at hand.
    """

    def __init__(self, Vocabulary vocabulary not None):
        self.vocabulary = vocabulary
        self.rows, self.spaced = CsrRowBuilder(), SpacedWords()
        self.plain = NormalizationCache(words.NormalizationCache(), 0)
        self.opening = np.zeros(1 << 12, np.uint8)
        self.ends = np.zeros(1 << 9, np.int64)
        self.hashes = np.zeros(1 << 9, np.uint64)
        self.clear_cache()

    cdef int clear_cache(self) except -1:
        """Forget what Python made of words."""
        self.word_cache = HashIndex()
        self.cached_ends = np.zeros(1 << 9, np.int64)
        self.cached_capitals = np.zeros(1 << 9, np.uint8)
        self.cached_ids = np.zeros(1 << 9, np.int32)
        return 0

    cdef Py_ssize_t cache_size(self) except -1:
        """How many words and tokens of theirs are kept."""
        return self.word_cache.used + self.cached_ends[self.word_cache.used]

    cdef int begin_text(self) except -1:
        self.opened = self.count = self.capitals = self.spaced.count = self.spaced.singles = 0
        return 0

    cdef int enqueue(self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, uint64_t h,
                     const uint8_t* byte_map, bint opens) except -1:
        """One more occurrence of the token of this hash: of the cache's prefix and of these bytes as the map has them.

        It waits for others, so that the memory that looking them up needs is fetched for all of them at once: a
        quarter less time for a message.
        """
        if self.queued == MAX_QUEUED:
            self.flush(cache, data)
        self.queue[self.queued] = QueuedToken(h, start, stop, byte_map)
        self.queued += 1
        self.vocabulary.index.prefetch_slot(h)
        return self.append_opening(data, start, stop, h, byte_map) if opens else 0

    cdef int flush(self, NormalizationCache cache, bytes data) except -1:
        """Look up what waits; to be called before the cache or the data change."""
        cdef Py_ssize_t i, id_
        cdef QueuedToken* token
        cdef bytes prefix
        for i in range(self.queued):
            id_ = self.vocabulary.index.prefetch_key(self.queue[i].hash)
            if id_ >= 0:
                self.rows.prefetch_id(id_)
        for i in range(self.queued):
            token = &self.queue[i]
            id_ = self.vocabulary.index.find(token.hash)
            if id_ < 0:
                prefix = cache.shape_prefix if token.byte_map == NUMBER_SHAPE else cache.prefix
                id_ = self.vocabulary.id_of_hash(token.hash, prefix, data, token.start, token.stop, token.byte_map)
            self.rows.add(id_)
        self.queued = 0
        return 0

    cdef int append_opening(self, bytes data, Py_ssize_t start, Py_ssize_t stop, uint64_t h, const uint8_t* byte_map) except -1:
        """A token that is one of the first words."""
        cdef Py_ssize_t i, end = self.ends[self.opened - 1] + 1 if self.opened else 0
        if end + stop - start + 1 > self.opening.shape[0]:
            self.opening = enlarged(self.opening, 2 * (end + stop - start + 1))
        if self.opened == self.ends.shape[0]:
            self.ends, self.hashes = enlarged(self.ends, 2 * self.opened), enlarged(self.hashes, 2 * self.opened)
        for i in range(start, stop):
            self.opening[end] = byte_map[<uint8_t> data[i]]
            end += 1
        self.opening[end] = 0x20
        self.ends[self.opened] = end
        self.hashes[self.opened] = h
        self.opened += 1
        return 0

    cdef int add_bigrams(self) except -1:
        """Each two neighbours of the first words as one token."""
        cdef Py_ssize_t i, start = 0
        cdef uint64_t h
        cdef bytes data = PyBytes_FromStringAndSize(<const char*> &self.opening[0], self.ends[self.opened - 1])
        for i in range(self.opened - 1):
            h = fnv1a(self.hashes[i], data, self.ends[i], self.ends[i + 1], IDENTITY)
            self.enqueue(self.plain, data, start, self.ends[i + 1], h, IDENTITY, False)
            start = self.ends[i] + 1
        return self.flush(self.plain, data)

    cdef Py_ssize_t count_words(self, bytes data) except -1:
        """How many words scan() finds."""
        cdef Py_ssize_t i, found = 0
        for i in range(len(data)):
            found += BYTE_KIND[<uint8_t> data[i]] and not (i and BYTE_KIND[<uint8_t> data[i - 1]])
        return found

    cdef int scan(self, NormalizationCache cache, bytes data, Py_ssize_t i, Py_ssize_t size, Py_ssize_t max_words,
                  Py_ssize_t max_opening, bint is_text) except -1:
        """The words from ``i`` on. Of a text ``max_words`` are read, and the first ``max_opening`` of them joined."""
        cdef Py_ssize_t start, found = 0
        cdef uint8_t byte, kind, kinds
        cdef uint64_t h
        cdef bint opens
        while i < size:
            byte = <uint8_t> data[i]
            kind = BYTE_KIND[byte]
            if not kind:
                i += 1
                continue
            start = i
            kinds = 0
            h = cache.state
            while kind:
                kinds |= kind
                h = (h ^ LOWER_CASE[byte]) * FNV_PRIME
                i += 1
                if i == size:
                    break
                byte = <uint8_t> data[i]
                kind = BYTE_KIND[byte]
            found += 1
            if is_text and (i - start == 1 or kinds & NOT_ASCII):
                self.spaced.add(data, start, i)
            if is_text and found > max_words:
                continue
            opens = found <= max_opening
            if cache.method == PYTHON or kinds & NOT_ASCII:
                self.flush(cache, data)
                self.add_by_python(cache, data, start, i, opens, is_text)
                continue
            if cache.method == HOST:
                self.add_received(cache, data, start, i, kinds & DIGIT)
                continue
            if is_text and kinds & (UPPER | LOWER) == UPPER and i - start > 1:
                self.capitals += 1
            if not kinds & (DIGIT | INNER) and i - start <= MAX_WORD:
                self.enqueue(cache, data, start, i, h, LOWER_CASE, opens)
            elif cache.method == WHOLE or kinds & DIGIT:
                self.add_whole_word(cache, data, start, i, kinds & DIGIT, opens, True)
            elif letters_apart(data, start, min(i, start + MAX_CUT_WORD)):
                self.flush(cache, data)
                self.add_by_python(cache, data, start, i, opens, False)
            else:
                self.add_parts(cache, data, start, i, opens)
        self.flush(cache, data)
        if is_text:
            self.count += found
            for token in self.spaced.take_tokens(data, cache.twin):
                self.rows.add(self.vocabulary.id_of(token))
        return 0

    cdef int add_whole_word(self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, bint digits,
                            bint opens, bint itself) except -1:
        """words.normalize_whole_word, of ASCII; without ``itself`` only the shape of a word with digits."""
        cdef uint64_t h
        while start < stop and BYTE_KIND[<uint8_t> data[start]] & LEFT_TRIMMED:
            start += 1
        while start < stop and BYTE_KIND[<uint8_t> data[stop - 1]] & RIGHT_TRIMMED:
            stop -= 1
        if itself or stop - start > MAX_WORD:
            self.add_word(cache, data, start, stop, opens)
        if digits and stop - start <= MAX_WORD:
            h = fnv1a(cache.shape_state, data, start, stop, NUMBER_SHAPE)
            self.enqueue(cache, data, start, stop, h, NUMBER_SHAPE, False)
        return 0

    cdef int add_received(self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, bint digits) except -1:
        """hosts.normalize_received, of ASCII: 3 µs a message less than asking Python for each new host and id."""
        cdef Py_ssize_t i, dots = 0, leading, first = start, last = stop, begin
        cdef bint address, number
        while first < last and BYTE_KIND[<uint8_t> data[first]] & INNER:
            first += 1
        while first < last and BYTE_KIND[<uint8_t> data[last - 1]] & INNER:
            last -= 1
        if not 0 < last - first <= MAX_HOST:
            return 0
        for i in range(first, last):
            dots += <uint8_t> data[i] == c"."
        i = last
        while i > first and BYTE_KIND[<uint8_t> data[i - 1]] & DIGIT:
            i -= 1
        address = dots == 3 and <uint8_t> data[i - 1] == c"."  # digits behind the last dot: its networks, and itself
        leading = first
        while leading < last and BYTE_KIND[<uint8_t> data[leading]] & DIGIT:
            leading += 1
        number = leading == last or (address and <uint8_t> data[leading] == c".")
        if number or not digits or (dots and not address):
            begin = first
            for i in range(first, last + 1):
                if i < last and <uint8_t> data[i] != c".":
                    continue
                if address:
                    self.add_any_length(cache, data, first, i)
                else:  # the host with the domains above it, of four labels at most and of two at least
                    if dots < 4 and (dots > 0 or begin == first):
                        self.add_any_length(cache, data, begin, last)
                    begin = i + 1
                    dots -= 1
        return self.add_whole_word(cache, data, start, stop, True, False, False) if digits and not number else 0

    cdef int add_any_length(self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        """A word of any length."""
        return self.enqueue(cache, data, start, stop, fnv1a(cache.state, data, start, stop, LOWER_CASE), LOWER_CASE, False)

    cdef int add_parts(self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens) except -1:
        """words.normalize_word, of ASCII without digits."""
        cdef Py_ssize_t i = start, end
        stop = min(stop, start + MAX_CUT_WORD)
        while i < stop:
            start = i
            while i < stop and not BYTE_KIND[<uint8_t> data[i]] & CUTS:
                i += 1
            end = i
            while start < end and <uint8_t> data[start] in (c"'", c"%"):
                start += 1
            while start < end and <uint8_t> data[end - 1] in (c"'", c"%"):
                end -= 1
            if end - start != 1 or <uint8_t> data[start] != c"$":
                self.add_word(cache, data, start, end, opens)
            i += 1
        return 0

    cdef int add_word(self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens) except -1:
        """A word as it is, or that it is long; nothing where it is empty."""
        cdef uint64_t h
        cdef bint long = stop - start > MAX_WORD
        if long:
            self.flush(cache, data)
            data = words.long_token(data[start:stop].decode().lower()).encode()
            start, stop = 0, len(data)
        if start < stop:
            h = fnv1a(cache.state, data, start, stop, LOWER_CASE)
            self.enqueue(cache, data, start, stop, h, LOWER_CASE, opens)
        return self.flush(cache, data) if long else 0

    cdef int add_by_python(
        self, NormalizationCache cache, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens, bint is_text
    ) except -1:
        """The tokens of a word that Python normalises, or has normalised before."""
        cdef uint64_t h = cache.salt
        cdef Py_ssize_t entry, i
        cdef bytes token
        for i in range(start, stop):  # not fnv1a(), by which two words can be made to have one hash whatever the salt
            h = (h ^ <uint8_t> data[i]) * self.word_cache.first_factor
            h ^= h >> 32
        entry = self.word_cache.find(h)
        if entry < 0:
            entry = self.cache_word(h, cache, data[start:stop].decode())
        for i in range(self.cached_ends[entry], self.cached_ends[entry + 1]):
            self.rows.add(self.cached_ids[i])
            if opens:
                token = self.vocabulary.text_of(self.cached_ids[i])
                if token[:1] != b"#":  # the shape of a word
                    self.append_opening(token, 0, len(token), self.vocabulary.index.keys[self.cached_ids[i]], IDENTITY)
        if is_text:
            self.capitals += self.cached_capitals[entry]
        return 0

    cdef Py_ssize_t cache_word(self, uint64_t h, NormalizationCache cache, str raw) except -1:
        cdef Py_ssize_t entry = self.word_cache.used, end = self.cached_ends[entry]
        cdef list ids = [self.vocabulary.id_of(token) for token in cache.twin.compute(raw)]
        if entry + 1 == self.cached_ends.shape[0]:
            self.cached_ends = enlarged(self.cached_ends, 2 * entry + 2)
            self.cached_capitals = enlarged(self.cached_capitals, 2 * entry + 2)
        if end + len(ids) > self.cached_ids.shape[0]:
            self.cached_ids = enlarged(self.cached_ids, 2 * (end + len(ids)))
        for id_ in ids:
            self.cached_ids[end] = id_
            end += 1
        self.cached_ends[entry + 1] = end
        self.cached_capitals[entry] = len(raw) > 1 and raw.isupper()
        return self.word_cache.insert(h)
