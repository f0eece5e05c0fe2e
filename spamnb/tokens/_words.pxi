# What a byte is, where characters beyond ASCII stand, and how fields become tokens. A part of _kernel.pyx.

cdef enum:
    NEAR = 64  # bytes of ASCII that are read with the other characters around them; 8 and 24 take the same time
    # What a byte is: what it may be in a word, and what becomes of it there.
    UPPER = 1
    LOWER = 2
    DIGIT = 4
    INSIDE = 8
    BEYOND = 16  # ASCII
    LEFT = 32  # trimmed there
    RIGHT = 64
    CUT = 128
    # Who folds the words of a field.
    PARTS = 0  # words.fold
    WHOLE = 1  # words.fold_whole
    HOST = 2  # hosts.fold_received
    PYTHON = 3

cdef Py_ssize_t LONGEST = words.MAX_WORD
cdef bytes NO_BREAK = words.NO_BREAK.encode()
cdef Py_ssize_t MAX_HOST = hosts.MAX_HOST
cdef Py_ssize_t READ = 64 * words.MAX_WORD  # of a word that is cut
cdef Py_ssize_t MAX_PUNCTUATION = words.MAX_PUNCTUATION
# By byte: what it is, whether it is punctuation, and what becomes of it.
cdef uint8_t[256] KIND, SIGN, LOW, SHAPE, SAME


def _prepare():
    cdef int i
    for i in range(256):
        char = chr(i)
        ascii_letter = i < 128 and char.isalpha()
        SAME[i] = LOW[i] = SHAPE[i] = <uint8_t> i
        KIND[i] = (
            (UPPER if ascii_letter and char.isupper() else 0) | (LOWER if ascii_letter and char.islower() else 0)
            | (DIGIT if i < 128 and char.isdigit() else 0) | (INSIDE if char in words.INSIDE else 0)
            | (BEYOND if i > 127 else 0) | (LEFT if char in words._LEFT else 0) | (RIGHT if char in words._RIGHT else 0)
            | (CUT if i in words._CUT else 0)
        )
        if i < 128:
            SIGN[i] = words._PUNCTUATION_ASCII[i] != " "
            LOW[i] = <uint8_t> ord(char.lower())
            SHAPE[i] = <uint8_t> words._NUMBER_SHAPE.get(LOW[i], LOW[i])


_prepare()


cdef tuple segment(bytes data, Py_ssize_t i):
    """Where the next stretch begins and ends that has other characters than ASCII: from a space to a space, with no
    NEAR bytes of ASCII in it. No character joins a space before it or ASCII behind it, so that what NFKC makes of the
    stretch alone is what it makes of it in the text.
    """
    cdef Py_ssize_t size = len(data), start, last
    start = i
    while i < size and not KIND[<uint8_t> data[i]] & BEYOND:
        if <uint8_t> data[i] == c" " or <uint8_t> data[i] == c"\n":
            start = i
        i += 1
    if i == size:
        return size, size
    last = i
    while i < size and (i - last < NEAR or (<uint8_t> data[i] != c" " and <uint8_t> data[i] != c"\n")):
        if KIND[<uint8_t> data[i]] & BEYOND:
            last = i
        i += 1
    return start, i


cdef Py_ssize_t bits(Py_ssize_t value):
    """int.bit_length of what is not negative."""
    cdef Py_ssize_t found = 0
    while value:
        value >>= 1
        found += 1
    return found


@cython.final
cdef class Prefix:
    """What tokens begin with."""

    cdef bytes text
    cdef uint64_t state  # its hash

    def __init__(self, str text):
        self.text = text.encode()
        self.state = hashed(OFFSET, self.text, 0, len(self.text), SAME)


@cython.final
cdef class Place:
    """What is told of a text besides its words, under the name of its place."""

    cdef Prefix sign, length, caps

    def __init__(self, str name):
        self.sign, self.length, self.caps = Prefix(name + "p:"), Prefix(name + "length:"), Prefix(name + "caps:")


@cython.final
cdef class Field:
    """How the words of one place of a message become tokens: a words.Folded."""

    cdef object folded  # kept, as it is known by its identity
    cdef int how
    cdef bytes prefix, sharp  # sharp: before the shape of a word
    cdef uint64_t state, sharp_state  # the hashes of these
    cdef uint64_t salt

    def __init__(self, folded, uint64_t salt):
        self.folded = folded
        known = {words.fold: PARTS, words.fold_whole: WHOLE, hosts.fold_received: HOST}
        self.how = known.get(folded.fold, PYTHON)
        self.prefix = folded.prefix.encode()
        self.sharp = self.prefix + b"#"
        self.state = hashed(OFFSET, self.prefix, 0, len(self.prefix), SAME)
        self.sharp_state = (self.state ^ 0x23) * PRIME
        self.salt = salt


@cython.final
cdef class Header:
    """How a header field is read: a fields.Field."""

    cdef object field  # kept, as it is known by its identity
    cdef Py_ssize_t presence
    cdef object shorten, more
    cdef Field words

    def __init__(self, field, Py_ssize_t presence, Field words):
        self.field, self.presence, self.words = field, presence, words
        self.shorten, self.more = field.shorten, field.more
