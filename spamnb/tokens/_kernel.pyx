# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""Text → numbers of tokens, compiled: what words.py, numbers.py and vectorizer.py say in Python, to the last token.

A word of ASCII is folded, hashed and looked up where it stands in the message; no Python object is made of it, nor of
a pair of neighbours. The rest Python folds, once, and what it made is remembered. A message that is a plain letter is
read in its raw bytes; all others message.parse takes apart.
"""

cimport cython
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int8_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memset

import secrets

import numpy as np

from spamnb.message import charsets, headers as message_headers, mime, parse as message
from spamnb.tokens import groups, hosts, token_array, tokenizer as tokens, words

include "_groups.pxi"
include "_vocabulary.pxi"
include "_words.pxi"
include "_reading.pxi"
include "_letters.pxi"

MADE_FOR = 5, 5  # TOKENS_VERSION of tokens.py, KERNEL_VERSION of vectorizer.py

cdef Py_ssize_t MAX_VALUE = tokens.MAX_VALUE
cdef Py_ssize_t MAX_LAID_OUT = tokens.MAX_LAID_OUT
cdef list DIGITS = [str(i).encode() for i in range(65)]


@cython.final
cdef class Kernel:
    """A tokens.Found that counts: rows of (token number, occurrences), one row a message.

    ``room`` bounds the words and tokens remembered of Python's folding, ``most_fields`` the fields remembered.
    """

    cdef readonly Vocabulary vocabulary
    cdef Rows rows
    cdef Reader reader
    cdef Letter letter
    cdef Py_ssize_t room, most_fields
    cdef dict fields, known_headers, places
    cdef uint64_t salt
    cdef Prefix line, share
    # The text at hand: where it stands, and the runs of punctuation that are ASCII, and that are not.
    cdef Place place
    cdef Table runs
    cdef set signs

    def __init__(self, Vocabulary vocabulary not None, Py_ssize_t room=1 << 20, Py_ssize_t most_fields=2000):
        self.vocabulary = vocabulary
        self.room = room
        self.most_fields = most_fields
        self.reader = Reader(vocabulary)
        self.rows = self.reader.rows
        self.letter = Letter(most_fields)
        self.runs = Table()
        self.places = {}
        self.line, self.share = Prefix("line:"), Prefix("capitals:")
        self.forget()

    cdef int forget(self) except -1:
        """Start afresh with fields and with what Python made of words."""
        self.fields, self.known_headers = {}, {}
        self.salt = secrets.randbits(64)
        return self.reader.forget()

    def begin(self):
        """Begin a message."""
        if self.reader.remembered() > self.room or len(self.fields) + len(self.known_headers) > self.most_fields:
            self.forget()
        self.rows.begin()
        self.reader.waiting = 0

    def end(self):
        """The number of different tokens that the message has."""
        return self.rows.end()

    def take_cells(self):
        """(k, 2) token numbers and occurrences of all messages since the last call, row after row."""
        return self.rows.take_cells()

    def add(self, tokens):
        """Tokens that need no folding."""
        for token in tokens:
            self.rows.add(self.vocabulary.named(token))

    def read_letter(self, bytes raw, folded, fields, int ngrams, bint body_only, bint identify):
        """See tokens.Tokenizer.read_letter."""
        cdef Letter letter = self.letter
        cdef bytes data
        cdef Py_ssize_t i, begin, stop, size
        cdef Field field = self.field(folded)
        cdef Header header
        if not letter.read(raw, identify):
            return None
        data = letter.data
        size = len(data)
        self.open_text("")
        self.punctuation(data, letter.body, size)
        self.reader.read_text(field, data, letter.body, size)
        self.close_text(ngrams)
        self.lay_out(data, letter.body, min(max(letter.end, letter.body), letter.body + MAX_LAID_OUT))
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
                self.reader.read(header.words, data, begin, min(stop, begin + MAX_VALUE), 0, 0, False)
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
            found = self.known_headers[id(field)] = Header(field, self.vocabulary.named(field.presence), words)
        return <Header> found

    def words(self, folded, str value):
        """The words of a header or of what is hidden."""
        self.some_words(self.field(folded), value)

    cdef int some_words(self, Field field, str value) except -1:
        cdef bytes data = self.word_text(value, False)
        return self.reader.read(field, data, 0, len(data), 0, 0, False)

    def text(self, folded, texts, split, int ngrams, str place=""):
        """See tokens.Found."""
        cdef Field field = self.field(folded)
        cdef bytes data
        self.open_text(place)
        for text in texts:
            data = self.word_text(text, True)
            self.reader.read_text(field, data, 0, len(data))
        self.close_text(ngrams)

    cdef int open_text(self, str name) except -1:
        place = self.places.get(name)
        if place is None:
            place = self.places[name] = Place(name)
        self.place = place
        self.runs.clear()
        self.signs = set()
        return self.reader.begin_text()

    cdef int close_text(self, int ngrams) except -1:
        if ngrams == 2 and self.reader.opened:
            self.reader.pairs()
        self.fact(self.place.length, bits(self.reader.count))
        return self.fact(self.place.caps, bits(self.reader.capitals))

    cdef int fact(self, Prefix name, Py_ssize_t value) except -1:
        """A token that ends with a number."""
        cdef bytes digits = DIGITS[value]
        return self.told(name, digits, 0, len(digits))

    cdef int told(self, Prefix name, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef uint64_t h = hashed(name.state, data, start, stop, SAME)
        return self.rows.add(self.vocabulary.number(h, name.text, data, start, stop, SAME))

    def layout(self, texts):
        """See tokens.Found: 2 µs a message where Python takes 4."""
        cdef bytes data = "\n".join(texts).rstrip("\n")[:MAX_LAID_OUT].encode()
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
        """words.word_text, in which ASCII stays as it is; where it ``is_text`` its punctuation becomes tokens."""
        cdef bytes data = text.encode()
        cdef Py_ssize_t size, i = 0, start, stop
        cdef list parts
        if not data.isascii():
            data = data.replace(NO_BREAK, b" ")
        size = len(data)
        if data.isascii():
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
                        self.told(self.place.sign, sign.encode(), 0, len(sign.encode()))
            i = stop
        return b"".join(parts)

    cdef Field field(self, folded):
        found = self.fields.get(id(folded))
        if found is None:
            self.salt += PRIME
            found = self.fields[id(folded)] = Field(folded, self.salt)
        return <Field> found

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
                self.told(self.place.sign, data, start, min(i, start + MAX_PUNCTUATION))
        return 0
