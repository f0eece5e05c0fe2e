# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""Text → numbers of tokens, compiled: what words.py, numbers.py and numbering.py say in Python, to the last token.

A word of ASCII is folded, hashed and looked up where it stands in the message; no Python object is made of it, nor of
a pair of neighbours. The rest Python folds, once, and what it made is remembered.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

import secrets

import numpy as np

from spamnb import hosts, message, numbers, tokens, views, words
from spamnb.message import charsets, headers as message_headers, mime

include "_views.pxi"
include "_numbers.pxi"
include "_words.pxi"
include "_letters.pxi"

MADE_FOR = 4, 4  # TOKENS_VERSION of tokens.py, KERNEL_VERSION of numbering.py

cdef enum:
    WAITING = 32  # tokens looked up together; 16 and 64 take the same time

cdef Py_ssize_t PAIRED = tokens.PAIRED
cdef Py_ssize_t MAX_WORDS = tokens.MAX_WORDS
cdef Py_ssize_t MAX_VALUE = tokens.MAX_VALUE
cdef Py_ssize_t MAX_LAID_OUT = tokens.MAX_LAID_OUT
cdef list DIGITS = [str(i).encode() for i in range(65)]


cdef struct Word:  # that waits for its number
    uint64_t hash
    Py_ssize_t start, stop  # in the data
    const uint8_t* become


@cython.final
cdef class Kernel:
    """A tokens.Found that counts: rows of (token number, occurrences), one row a message.

    ``room`` is for how many tokens of Python's folding, ``most_fields`` how many fields are remembered.
    """

    cdef readonly Numbers numbers
    cdef Py_ssize_t room, most_fields
    cdef dict fields, known_headers, places
    cdef Field plain
    cdef Prefix line, share
    cdef Letter letter
    cdef uint64_t salt
    # What Python made of a word: the numbers of its tokens, and whether it is in capitals.
    cdef Table asked
    cdef int64_t[::1] firsts
    cdef uint8_t[::1] capital
    cdef int32_t[::1] values
    # The message at hand: its tokens and their occurrences, the text that is being read, and words that wait.
    cdef Rows rows
    cdef Place place
    cdef Table runs  # of punctuation that is ASCII
    cdef set signs  # … that is not
    cdef Py_ssize_t count, capitals
    cdef Word[WAITING] queue
    cdef Py_ssize_t waiting
    # The first words: their text with a space behind each, where each ends, and its hash.
    cdef uint8_t[::1] opening
    cdef int64_t[::1] ends
    cdef uint64_t[::1] hashes
    cdef Py_ssize_t opened

    def __init__(self, Numbers numbers not None, Py_ssize_t room=1 << 20, Py_ssize_t most_fields=2000):
        self.numbers = numbers
        self.room = room
        self.most_fields = most_fields
        self.plain = Field(words.Folded(), 0)
        self.places = {}
        self.line, self.share = Prefix("line:"), Prefix("capitals:")
        self.letter = Letter(most_fields)
        self.rows = Rows()
        self.runs = Table()
        self.opening = np.zeros(1 << 12, np.uint8)
        self.ends = np.zeros(1 << 9, np.int64)
        self.hashes = np.zeros(1 << 9, np.uint64)
        self.forget()

    def forget(self):
        """Start afresh with fields and with what Python made of words."""
        self.fields, self.known_headers = {}, {}
        self.salt = secrets.randbits(64)
        self.asked = Table()
        self.firsts = np.zeros(1 << 9, np.int64)
        self.capital = np.zeros(1 << 9, np.uint8)
        self.values = np.zeros(1 << 9, np.int32)

    def begin(self):
        """Begin a message."""
        cdef Py_ssize_t asked = self.asked.used + self.firsts[self.asked.used]
        if asked > self.room or len(self.fields) + len(self.known_headers) > self.most_fields:
            self.forget()
        self.rows.begin()
        self.waiting = 0

    def end(self):
        """The number of different tokens that the message has."""
        return self.rows.end()

    def take(self):
        """(k, 2) token numbers and occurrences of all messages since the last call, row after row."""
        return self.rows.take()

    def add(self, tokens):
        """Tokens that need no folding."""
        for token in tokens:
            self.rows.add(self.numbers.named(token))

    def read_letter(self, bytes raw, folded, fields, int ngrams, bint body_only):
        """Of a plain letter all tokens, as tokens.Tokenizer.read tells them, and the digest; None of other messages."""
        cdef Letter letter = self.letter
        cdef bytes data
        cdef Py_ssize_t i, begin, stop, size
        cdef Field field = self.field(folded)
        cdef Header header
        if not letter.read(raw):
            return None
        data = letter.data
        size = len(data)
        self.open_text("")
        self.punctuation(data, letter.body, size)
        self.read(field, data, letter.body, size, MAX_WORDS, PAIRED, True)
        self.close_text(ngrams)
        self.lay_out(data, letter.body, min(size, letter.body + MAX_LAID_OUT))
        if body_only:
            return letter.digest
        for i in range(letter.used):
            value = fields[(<Name> letter.fields[i]).text]
            if value is None:
                continue
            header = self.header(value)
            self.rows.add(header.presence)
            if header.shorten is not None or header.more is not None or letter.spans[i, 2]:
                self.tell(header, letter.value(i))
            elif header.words is not None:
                begin, stop = letter.spans[i, 0], letter.spans[i, 1]
                self.read(header.words, data, begin, min(stop, begin + MAX_VALUE), 0, 0, False)
        if data.find(b"://", letter.body) >= 0:
            self.add(hosts.url_tokens(tokens.shown_urls(data[letter.body :].decode())))
        self.add(letter.part)
        return letter.digest

    def headers(self, fields, headers):
        """See tokens.Found."""
        cdef Header header
        for name, value in headers:
            field = fields[name]
            if field is not None:
                header = self.header(field)
                self.rows.add(header.presence)
                self.tell(header, value)

    cdef int tell(self, Header header, str value) except -1:
        """What a header's value says."""
        value = value[:MAX_VALUE]
        if header.shorten is not None:
            value = header.shorten(value)
        if header.words is not None:
            self.some_words(header.words, value)
        if header.more is not None:
            header.more(value, self)
        return 0

    cdef Header header(self, field):
        found = self.known_headers.get(id(field))
        if found is None:
            words = None if field.folded is None else self.field(field.folded)
            found = self.known_headers[id(field)] = Header(field, self.numbers.named(field.presence), words)
        return <Header> found

    def words(self, folded, str value):
        """The words of a header or of what is hidden."""
        self.some_words(self.field(folded), value)

    cdef int some_words(self, Field field, str value) except -1:
        cdef bytes data = self.word_text(value, False)
        return self.read(field, data, 0, len(data), 0, 0, False)

    def text(self, folded, texts, split, int ngrams, str place=""):
        """See tokens.Found."""
        cdef Field field = self.field(folded)
        cdef bytes data
        self.open_text(place)
        for text in texts:
            data = self.word_text(text, True)
            self.read(field, data, 0, len(data), MAX_WORDS - self.count, PAIRED - self.opened, True)
        self.close_text(ngrams)

    cdef int open_text(self, str name) except -1:
        place = self.places.get(name)
        if place is None:
            place = self.places[name] = Place(name)
        self.place = place
        self.runs.clear()
        self.signs = set()
        self.opened = self.count = self.capitals = 0
        return 0

    cdef int close_text(self, int ngrams) except -1:
        if ngrams == 2 and self.opened:
            self.pairs()
        self.fact(self.place.length, bits(self.count))
        return self.fact(self.place.caps, bits(self.capitals))

    cdef int fact(self, Prefix name, Py_ssize_t value) except -1:
        """A token that ends with a number."""
        cdef bytes digits = DIGITS[value]
        return self.place_of(name, digits, 0, len(digits))

    cdef int place_of(self, Prefix name, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef uint64_t h = hashed(name.state, data, start, stop, SAME)
        return self.rows.add(self.numbers.number(h, name.text, data, start, stop, SAME))

    def layout(self, texts):
        """See tokens.Found: 2 µs a message where Python takes 4."""
        cdef bytes data = "\n".join(texts)[:MAX_LAID_OUT].encode()
        self.lay_out(data, 0, len(data))

    cdef int lay_out(self, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef Py_ssize_t i, ends = 0, empty = 0, beyond = 0, within = 0, capitals = 0, octets
        cdef uint8_t byte
        cdef bint ended = False
        for i in range(start, stop):
            byte = <uint8_t> data[i]
            if byte == c"\n":
                ends += 1
                empty += ended
                ended = not ended
                continue
            ended = False
            capitals += KIND[byte] & UPPER
            beyond += byte >> 7
            within += byte >> 6 == 2  # a byte of a character behind its first
        octets = stop - start - beyond
        self.fact(self.line, bits((stop - start - within - ends) // (ends + 1 - empty)))
        return self.fact(self.share, bits(64 * capitals // max(octets, 1)))

    cdef bytes word_text(self, str text, bint is_text):
        """words.word_text, in which ASCII stays as it is; of a text the punctuation is told."""
        cdef bytes data = text.encode()
        cdef Py_ssize_t size = len(data), i = 0, start, stop
        cdef list parts
        if size == len(text):  # ASCII
            if is_text:
                self.punctuation(data, 0, size)
            return data
        parts = []
        while i < size:
            start, stop = segment(data, i)
            parts.append(data[i:start])
            beyond = data[start:stop].decode()
            parts.append((<str> words.word_text(beyond)).encode())
            if is_text:
                self.punctuation(data, i, start)
                for sign in words.punctuation(beyond):
                    if sign.isascii():
                        self.punctuation(sign.encode(), 0, len(sign))
                    elif sign not in self.signs:
                        self.signs.add(sign)
                        self.place_of(self.place.sign, sign.encode(), 0, len(sign.encode()))
            i = stop
        return b"".join(parts)

    cdef Field field(self, folded):
        found = self.fields.get(id(folded))
        if found is None:
            self.salt += PRIME
            found = self.fields[id(folded)] = Field(folded, self.salt)
        return <Field> found

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
        self.numbers.table.expect(h)
        return self.open(data, start, stop, h, become) if opens else 0

    cdef int flush(self, Field field, bytes data) except -1:
        """Look up what waits; before the field or the data are others."""
        cdef Py_ssize_t i, number
        cdef Word* word
        cdef bytes prefix
        for i in range(self.waiting):
            number = self.numbers.table.expect_more(self.queue[i].hash)
            if number >= 0:
                self.rows.expect(number)
        for i in range(self.waiting):
            word = &self.queue[i]
            number = self.numbers.table.find(word.hash)
            if number < 0:
                prefix = field.sharp if word.become == SHAPE else field.prefix
                number = self.numbers.number(word.hash, prefix, data, word.start, word.stop, word.become)
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
        """A word that is as long as it likes."""
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
        """Python folds a word, or has done so."""
        cdef uint64_t h = field.salt
        cdef Py_ssize_t entry, i
        cdef bytes token
        for i in range(start, stop):  # not hashed(): anybody can make two words that have one hash of it with any salt
            h = (h ^ <uint8_t> data[i]) * FIRST
            h ^= h >> 32
        entry = self.asked.find(h)
        if entry < 0:
            entry = self.remember(h, field, data[start:stop].decode())
        for i in range(self.firsts[entry], self.firsts[entry + 1]):
            self.rows.add(self.values[i])
            if opens:
                token = self.numbers.text_of(self.values[i])
                if token[:1] != b"#":  # the shape of a word
                    self.open(token, 0, len(token), self.numbers.table.keys[self.values[i]], SAME)
        if is_text:
            self.capitals += self.capital[entry]
        return 0

    cdef Py_ssize_t remember(self, uint64_t h, Field field, str raw) except -1:
        cdef Py_ssize_t entry = self.asked.used, end = self.firsts[entry]
        cdef list found = [self.numbers.named(token) for token in field.folded.made(raw)]
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

    cdef int punctuation(self, bytes data, Py_ssize_t i, Py_ssize_t size) except -1:
        """The runs of words.punctuation, of ASCII from ``i`` on, that are new to the text."""
        cdef Py_ssize_t start, known
        cdef uint64_t key
        while i < size:
            if not SIGN[<uint8_t> data[i]]:
                i += 1
                continue
            start = i
            key = 0
            while i < size and SIGN[<uint8_t> data[i]]:
                if i - start < MAX_PUNCTUATION:
                    key = (key << 8) | <uint8_t> data[i]
                i += 1
            known = self.runs.used
            if self.runs.place(key) == known:
                self.place_of(self.place.sign, data, start, min(i, start + MAX_PUNCTUATION))
        return 0
