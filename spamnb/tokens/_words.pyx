# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""words.py, compiled: what each byte of ASCII is, where other characters stand, and which words Python normalises."""

from spamnb.tokens._made_for cimport KERNEL_VERSION, TOKENS_VERSION
from spamnb.tokens._token_array cimport FNV_OFFSET, FNV_PRIME, fnv1a

from spamnb.tokens import hosts, words

MADE_FOR = TOKENS_VERSION, KERNEL_VERSION

cdef enum:
    MIN_ASCII_GAP = 64  # bytes; 8 and 24 take the same time

cdef Py_ssize_t MIN_SPACED = words.MIN_SPACED
cdef Py_ssize_t MAX_SPACED_WORDS = words.MAX_SPACED_WORDS


def _fill_tables():
    cdef int i
    for i in range(256):
        char = chr(i)
        ascii_letter = i < 128 and char.isalpha()
        IDENTITY[i] = LOWER_CASE[i] = NUMBER_SHAPE[i] = <uint8_t> i
        BYTE_KIND[i] = (
            (UPPER if ascii_letter and char.isupper() else 0)
            | (LOWER if ascii_letter and char.islower() else 0)
            | (DIGIT if i < 128 and char.isdigit() else 0)
            | (INNER if char in words.INNER_PUNCTUATION else 0)
            | (NOT_ASCII if i > 127 else 0)
            | (LEFT_TRIMMED if char in words._LEFT_TRIMMED else 0)
            | (RIGHT_TRIMMED if char in words._RIGHT_TRIMMED else 0)
            | (CUTS if i in words._CUTS else 0)
        )
        if i < 128:
            IS_PUNCTUATION[i] = words._PUNCTUATION_ASCII[i] != " "
            LOWER_CASE[i] = <uint8_t> ord(char.lower())
            NUMBER_SHAPE[i] = <uint8_t> words._NUMBER_SHAPE.get(LOWER_CASE[i], LOWER_CASE[i])


_fill_tables()


cdef tuple non_ascii_stretch(bytes data, Py_ssize_t i):
    """Where the next stretch begins and ends that has other characters than ASCII, from a space to a space.

    It ends where MIN_ASCII_GAP bytes of ASCII follow. No character joins a space before it or ASCII behind it, so NFKC
    makes of the stretch alone what it makes of it in the text.
    """
    cdef Py_ssize_t size = len(data), start, last
    start = i
    while i < size and not BYTE_KIND[<uint8_t> data[i]] & NOT_ASCII:
        if <uint8_t> data[i] == c" " or <uint8_t> data[i] == c"\n":
            start = i
        i += 1
    if i == size:
        return size, size
    last = i
    while i < size and (i - last < MIN_ASCII_GAP or (<uint8_t> data[i] != c" " and <uint8_t> data[i] != c"\n")):
        if BYTE_KIND[<uint8_t> data[i]] & NOT_ASCII:
            last = i
        i += 1
    return start, i


cdef Py_ssize_t bit_length(Py_ssize_t value) noexcept:
    """int.bit_length of what is not negative."""
    cdef Py_ssize_t length = 0
    while value:
        value >>= 1
        length += 1
    return length


cdef bint letters_apart(bytes data, Py_ssize_t start, Py_ssize_t stop) noexcept:
    """Whether a word of ASCII may be spelt by single letters: enough of them, and no two side by side."""
    cdef Py_ssize_t i, letters = 0
    cdef bint before = False, letter
    for i in range(start, stop):
        letter = BYTE_KIND[<uint8_t> data[i]] & (UPPER | LOWER) != 0
        if letter and before:
            return False
        letters += letter
        before = letter
    return letters >= MIN_SPACED


cdef class SpacedWords:
    """words.spaced_words of a text, piece by piece."""

    def __init__(self):
        self.found = []

    cdef int add(self, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        """A word of one byte, or of a few beyond ASCII."""
        cdef uint8_t first = <uint8_t> data[start]
        if stop - start > 1 and stop - start != (4 if first >= 0xF0 else 3 if first >= 0xE0 else 2):
            return 0
        if not self.singles or start != self.stop + 1 or <uint8_t> data[self.stop] == c"\n":
            self.close(data)
            self.start = start
        self.singles += 1
        self.stop = stop
        return 0

    cdef int close(self, bytes data) except -1:
        """End a run of words of one character."""
        if self.singles >= MIN_SPACED and self.count < MAX_SPACED_WORDS:
            joined = words.spaced_words(data[self.start : self.stop].decode())[: MAX_SPACED_WORDS - self.count]
            self.count += len(joined)
            self.found += joined
        self.singles = 0
        return 0

    cdef list take_tokens(self, bytes data, twin):
        """The tokens of a piece of text that ends, as a words.NormalizationCache makes them."""
        self.close(data)
        cdef list found = [token for word in self.found for token in twin.of_spaced(word)]
        self.found = []
        return found


cdef class Prefix:
    """What tokens begin with."""

    def __init__(self, str text):
        self.text = text.encode()
        self.state = fnv1a(FNV_OFFSET, self.text, 0, len(self.text), IDENTITY)


cdef class NormalizationCache:
    """How the words of one place of a message become tokens: what is fixed of a words.NormalizationCache."""

    def __init__(self, twin, uint64_t salt):
        self.twin = twin
        known = {
            words.normalize_word: PARTS, words.normalize_whole_word: WHOLE, hosts.normalize_received: HOST
        }
        self.method = known.get(twin.normalize, PYTHON)
        self.prefix = twin.prefix.encode()
        self.shape_prefix = self.prefix + b"#"
        self.state = fnv1a(FNV_OFFSET, self.prefix, 0, len(self.prefix), IDENTITY)
        self.shape_state = (self.state ^ 0x23) * FNV_PRIME
        self.salt = salt
