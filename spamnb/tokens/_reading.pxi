# Words of a field → numbers in the row of the message at hand. A part of _kernel.pyx.

cdef Py_ssize_t PAIRED = tokens.PAIRED
cdef Py_ssize_t MAX_WORDS = tokens.MAX_WORDS

cdef enum:
    WAITING = 32  # tokens looked up together; 16 and 64 take the same time


cdef struct Word:  # that waits for its number
    uint64_t hash
    Py_ssize_t start, stop  # in the data
    const uint8_t* become


@cython.final
cdef class Reader:
    """Finds words where they stand, folds those of ASCII, and asks Python once for what becomes of any other."""

    cdef Vocabulary vocabulary
    cdef Rows rows
    cdef Field plain
    # What Python made of a word: the numbers of its tokens, and whether it is in capitals.
    cdef Table asked
    cdef int64_t[::1] firsts
    cdef uint8_t[::1] capital
    cdef int32_t[::1] values
    # Words that wait.
    cdef Word[WAITING] queue
    cdef Py_ssize_t waiting
    # Of the text at hand how many words there are, and how many are in capitals.
    cdef Py_ssize_t count, capitals
    # Its first words: their text with a space behind each, where each ends, and its hash.
    cdef uint8_t[::1] opening
    cdef int64_t[::1] ends
    cdef uint64_t[::1] hashes
    cdef Py_ssize_t opened

    def __init__(self, Vocabulary vocabulary not None):
        self.vocabulary = vocabulary
        self.rows = Rows()
        self.plain = Field(words.Folded(), 0)
        self.opening = np.zeros(1 << 12, np.uint8)
        self.ends = np.zeros(1 << 9, np.int64)
        self.hashes = np.zeros(1 << 9, np.uint64)
        self.forget()

    cdef int forget(self) except -1:
        """Start afresh with what Python made of words."""
        self.asked = Table()
        self.firsts = np.zeros(1 << 9, np.int64)
        self.capital = np.zeros(1 << 9, np.uint8)
        self.values = np.zeros(1 << 9, np.int32)
        return 0

    cdef Py_ssize_t remembered(self) except -1:
        """How much room that takes."""
        return self.asked.used + self.firsts[self.asked.used]

    cdef int begin_text(self) except -1:
        self.opened = self.count = self.capitals = 0
        return 0

    cdef int push(
        self, Field field, bytes data, Py_ssize_t start, Py_ssize_t stop, uint64_t h, const uint8_t* become, bint opens
    ) except -1:
        """One more occurrence of the token of this hash: of the field's prefix and what becomes of these bytes.

        It waits for others, so that the memory that looking them up needs is fetched for all of them at once: a
        quarter less time for a message.
        """
        if self.waiting == WAITING:
            self.flush(field, data)
        self.queue[self.waiting] = Word(h, start, stop, become)
        self.waiting += 1
        self.vocabulary.table.expect(h)
        return self.open(data, start, stop, h, become) if opens else 0

    cdef int flush(self, Field field, bytes data) except -1:
        """Look up what waits; to be called before the field or the data change."""
        cdef Py_ssize_t i, number
        cdef Word* word
        cdef bytes prefix
        for i in range(self.waiting):
            number = self.vocabulary.table.expect_more(self.queue[i].hash)
            if number >= 0:
                self.rows.expect(number)
        for i in range(self.waiting):
            word = &self.queue[i]
            number = self.vocabulary.table.find(word.hash)
            if number < 0:
                prefix = field.sharp if word.become == SHAPE else field.prefix
                number = self.vocabulary.number(word.hash, prefix, data, word.start, word.stop, word.become)
            self.rows.add(number)
        self.waiting = 0
        return 0

    cdef int open(self, bytes data, Py_ssize_t start, Py_ssize_t stop, uint64_t h, const uint8_t* become) except -1:
        """A token that is one of the first words."""
        cdef Py_ssize_t i, end = self.ends[self.opened - 1] + 1 if self.opened else 0
        if end + stop - start + 1 > self.opening.shape[0]:
            self.opening = _grown(self.opening, 2 * (end + stop - start + 1))
        if self.opened == self.ends.shape[0]:
            self.ends, self.hashes = _grown(self.ends, 2 * self.opened), _grown(self.hashes, 2 * self.opened)
        for i in range(start, stop):
            self.opening[end] = become[<uint8_t> data[i]]
            end += 1
        self.opening[end] = 0x20
        self.ends[self.opened] = end
        self.hashes[self.opened] = h
        self.opened += 1
        return 0

    cdef int pairs(self) except -1:
        """Each two neighbours of the first words as one token."""
        cdef Py_ssize_t i, start = 0
        cdef uint64_t h
        cdef bytes data = PyBytes_FromStringAndSize(<const char*> &self.opening[0], self.ends[self.opened - 1])
        for i in range(self.opened - 1):
            h = hashed(self.hashes[i], data, self.ends[i], self.ends[i + 1], SAME)
            self.push(self.plain, data, start, self.ends[i + 1], h, SAME, False)
            start = self.ends[i] + 1
        return self.flush(self.plain, data)

    cdef int read_text(self, Field field, bytes data, Py_ssize_t i, Py_ssize_t size) except -1:
        """The words of a text, or of one more of them."""
        return self.read(field, data, i, size, max(MAX_WORDS - self.count, 0), max(PAIRED - self.opened, 0), True)

    cdef int read(
        self, Field field, bytes data, Py_ssize_t i, Py_ssize_t size, Py_ssize_t most, Py_ssize_t opening, bint is_text
    ) except -1:
        """The words of a field, from ``i`` on; of a text no more than ``most``, the first ``opening`` of which open it."""
        cdef Py_ssize_t start, found = 0
        cdef uint8_t byte, kind, kinds
        cdef uint64_t h
        cdef bint opens
        while i < size:
            byte = <uint8_t> data[i]
            kind = KIND[byte]
            if not kind:
                i += 1
                continue
            start = i
            kinds = 0
            h = field.state
            while kind:
                kinds |= kind
                h = (h ^ LOW[byte]) * PRIME
                i += 1
                if i == size:
                    break
                byte = <uint8_t> data[i]
                kind = KIND[byte]
            found += 1
            if is_text and found > most:
                continue
            opens = found <= opening
            if field.how == PYTHON or kinds & BEYOND:
                self.flush(field, data)
                self.ask(field, data, start, i, opens, is_text)
                continue
            if field.how == HOST:
                self.host(field, data, start, i, kinds & DIGIT)
                continue
            if is_text and kinds & (UPPER | LOWER) == UPPER and i - start > 1:
                self.capitals += 1
            if not kinds & (DIGIT | INSIDE) and i - start <= LONGEST:
                self.push(field, data, start, i, h, LOW, opens)
            elif field.how == WHOLE or kinds & DIGIT:
                self.whole(field, data, start, i, kinds & DIGIT, opens, True)
            else:
                self.parts(field, data, start, i, opens)
        if is_text:
            self.count += found
        return self.flush(field, data)

    cdef int whole(
        self, Field field, bytes data, Py_ssize_t start, Py_ssize_t stop, bint digits, bint opens, bint itself
    ) except -1:
        """words.fold_whole, of ASCII; of a word with digits only the last token where it is not wanted ``itself``."""
        cdef uint64_t h
        while start < stop and KIND[<uint8_t> data[start]] & LEFT:
            start += 1
        while start < stop and KIND[<uint8_t> data[stop - 1]] & RIGHT:
            stop -= 1
        if itself or stop - start > LONGEST:
            self.word(field, data, start, stop, opens)
        if digits and stop - start <= LONGEST:
            h = hashed(field.sharp_state, data, start, stop, SHAPE)
            self.push(field, data, start, stop, h, SHAPE, False)
        return 0

    cdef int host(self, Field field, bytes data, Py_ssize_t start, Py_ssize_t stop, bint digits) except -1:
        """hosts.fold_received, of ASCII: 3 µs a message less than asking Python for each new host and id."""
        cdef Py_ssize_t i, dots = 0, leading, first = start, last = stop, begin
        cdef bint address, number
        while first < last and KIND[<uint8_t> data[first]] & INSIDE:
            first += 1
        while first < last and KIND[<uint8_t> data[last - 1]] & INSIDE:
            last -= 1
        if not 0 < last - first <= MAX_HOST:
            return 0
        for i in range(first, last):
            dots += <uint8_t> data[i] == c"."
        i = last
        while i > first and KIND[<uint8_t> data[i - 1]] & DIGIT:
            i -= 1
        address = dots == 3 and <uint8_t> data[i - 1] == c"."  # digits behind the last dot: its networks, and itself
        leading = first
        while leading < last and KIND[<uint8_t> data[leading]] & DIGIT:
            leading += 1
        number = leading == last or (address and <uint8_t> data[leading] == c".")
        if number or not digits or (dots and not address):
            begin = first
            for i in range(first, last + 1):
                if i < last and <uint8_t> data[i] != c".":
                    continue
                if address:
                    self.name(field, data, first, i)
                else:  # the host with the domains above it, of four labels at most and of two at least
                    if dots < 4 and (dots > 0 or begin == first):
                        self.name(field, data, begin, last)
                    begin = i + 1
                    dots -= 1
        return self.whole(field, data, start, stop, True, False, False) if digits and not number else 0

    cdef int name(self, Field field, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        """A word of any length."""
        return self.push(field, data, start, stop, hashed(field.state, data, start, stop, LOW), LOW, False)

    cdef int parts(self, Field field, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens) except -1:
        """words.fold, of ASCII without digits."""
        cdef Py_ssize_t i = start, end
        stop = min(stop, start + READ)
        while i < stop:
            start = i
            while i < stop and not KIND[<uint8_t> data[i]] & CUT:
                i += 1
            end = i
            while start < end and <uint8_t> data[start] in (c"'", c"%"):
                start += 1
            while start < end and <uint8_t> data[end - 1] in (c"'", c"%"):
                end -= 1
            if end - start != 1 or <uint8_t> data[start] != c"$":
                self.word(field, data, start, end, opens)
            i += 1
        return 0

    cdef int word(self, Field field, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens) except -1:
        """A word as it is, or that it is long; nothing where it is empty."""
        cdef uint64_t h
        cdef bint long = stop - start > LONGEST
        if long:
            self.flush(field, data)
            data = words._long(data[start:stop].decode().lower()).encode()
            start, stop = 0, len(data)
        if start < stop:
            h = hashed(field.state, data, start, stop, LOW)
            self.push(field, data, start, stop, h, LOW, opens)
        return self.flush(field, data) if long else 0

    cdef int ask(self, Field field, bytes data, Py_ssize_t start, Py_ssize_t stop, bint opens, bint is_text) except -1:
        """The tokens of a word that Python folds, or has folded before."""
        cdef uint64_t h = field.salt
        cdef Py_ssize_t entry, i
        cdef bytes token
        for i in range(start, stop):  # not hashed(), by which two words can be made to have one hash whatever the salt
            h = (h ^ <uint8_t> data[i]) * FIRST
            h ^= h >> 32
        entry = self.asked.find(h)
        if entry < 0:
            entry = self.remember(h, field, data[start:stop].decode())
        for i in range(self.firsts[entry], self.firsts[entry + 1]):
            self.rows.add(self.values[i])
            if opens:
                token = self.vocabulary.text_of(self.values[i])
                if token[:1] != b"#":  # the shape of a word
                    self.open(token, 0, len(token), self.vocabulary.table.keys[self.values[i]], SAME)
        if is_text:
            self.capitals += self.capital[entry]
        return 0

    cdef Py_ssize_t remember(self, uint64_t h, Field field, str raw) except -1:
        cdef Py_ssize_t entry = self.asked.used, end = self.firsts[entry]
        cdef list found = [self.vocabulary.named(token) for token in field.folded.made(raw)]
        if entry + 1 == self.firsts.shape[0]:
            self.firsts, self.capital = _grown(self.firsts, 2 * entry + 2), _grown(self.capital, 2 * entry + 2)
        if end + len(found) > self.values.shape[0]:
            self.values = _grown(self.values, 2 * (end + len(found)))
        for number in found:
            self.values[end] = number
            end += 1
        self.firsts[entry + 1] = end
        self.capital[entry] = len(raw) > 1 and raw.isupper()
        return self.asked.place(h)
