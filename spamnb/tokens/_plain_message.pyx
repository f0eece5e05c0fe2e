# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""A message that is one text of ASCII, and where in its bytes the pieces stand: message/parse.py for plain messages."""

from libc.stdint cimport int32_t, uint8_t

from spamnb.tokens._made_for cimport KERNEL_VERSION, TOKENS_VERSION

import numpy as np

from spamnb.message import charsets, encodings, headers as message_headers, mime, parse
from spamnb.tokens import tokenizer

MADE_FOR = TOKENS_VERSION, KERNEL_VERSION

cdef enum:
    MAX_FIELDS = 250  # of a header section that is read here
    MAX_NAME = 100  # bytes: what is remembered is bounded in size and number
    MAX_DESCRIPTION = 500  # of the body, by all fields together

cdef Py_ssize_t MAX_HEADER_BYTES = message_headers.MAX_HEADER_BYTES
cdef Py_ssize_t MAX_TEXT = mime.MAX_TEXT
cdef Py_ssize_t MAX_PLAIN_MESSAGE = 2 * (MAX_HEADER_BYTES + MAX_TEXT)  # with CRLF line ends
cdef frozenset DECODED = encodings.UU_NAMES | {"base64", "quoted-printable"}
cdef list UNDESCRIBED = tokenizer.part_tokens(mime.Part("text/plain", "", "", "", "", 0))


cdef class FieldName:
    """A header field's name."""

    def __init__(self, bytes name):
        self.text = name.decode()
        low = self.text.lower()
        self.volatile = message_headers.is_volatile(low)
        self.describes = low in ("content-type", "content-transfer-encoding", "content-disposition")


cdef class PlainMessage:
    """A message that is one text of ASCII, as nine of ten of SpamAssassin and 20news are.

    Its words never become Python objects. All others parse.parse takes apart.
    """

    def __init__(self, Py_ssize_t max_fields):
        self.max_fields = max_fields
        self.name_cache, self.part_cache = {}, {}
        self.spans = np.zeros((MAX_FIELDS, 3), np.int32)

    cdef bint read(self, bytes raw, bint identify) except -1:
        """Read a message; False where it is no plain message: parse.parse takes it apart."""
        cdef bytes data
        cdef Py_ssize_t size, stop
        if len(raw) > MAX_PLAIN_MESSAGE:  # is neither copied nor kept
            return False
        data = message_headers.normalise(raw)
        size = len(data)
        if not data.isascii() or data.find(b"\0") >= 0:
            return False
        self.data = data
        self.header_start = message_headers.skip_envelope(data, 0, size) if data[:1] in (b"F", b">") else 0
        stop = self.scan_section(min(size, self.header_start + MAX_HEADER_BYTES))
        if stop < 0 or size - stop > MAX_TEXT or data.find(b"=?", self.header_start, stop) >= 0:
            return False
        if data.find(b"\nbegin", stop) >= 0:  # perhaps a uuencoded file
            return False
        self.body = stop + 1
        while size > stop and <uint8_t> data[size - 1] == c"\n":
            size -= 1
        self.end = size
        self.part_tokens = self.describe_body()
        if self.part_tokens is None:
            return False
        self.digest = self.compute_digest(stop) if identify else b""
        return True

    cdef Py_ssize_t scan_section(self, Py_ssize_t limit) except -2:
        """Where the empty line behind a section of nothing but fields begins, −1 where there is none."""
        cdef bytes data = self.data
        cdef Py_ssize_t i = self.header_start, begin
        cdef bint later
        self.n_fields = 0
        self.fields = []
        if len(self.name_cache) > self.max_fields:
            self.name_cache = {}
        while i < limit and <uint8_t> data[i] != c"\n":
            begin = i
            while i < limit and c"!" <= <uint8_t> data[i] <= c"~" and <uint8_t> data[i] != c":":
                i += 1
            if i == limit or <uint8_t> data[i] != c":" or not 0 < i - begin <= MAX_NAME or self.n_fields == MAX_FIELDS:
                return -1
            self.fields.append(self.field_name(data[begin:i]))
            i += 1
            while i < limit and (<uint8_t> data[i] == c" " or <uint8_t> data[i] == c"\t"):
                i += 1
            begin = i
            later = False
            while i < limit:
                if <uint8_t> data[i] == c"\n":
                    if i + 1 == limit or (<uint8_t> data[i + 1] != c" " and <uint8_t> data[i + 1] != c"\t"):
                        break
                    later = True
                i += 1
            self.spans[self.n_fields, 0], self.spans[self.n_fields, 1], self.spans[self.n_fields, 2] = begin, i, later
            self.n_fields += 1
            i += 1
        return i if i < limit and self.n_fields else -1

    cdef FieldName field_name(self, bytes name):
        found = self.name_cache.get(name)
        if found is None:
            found = self.name_cache[name] = FieldName(name)
        return <FieldName> found

    cdef str value(self, Py_ssize_t field):
        """The value of a field, unfolded."""
        cdef bytes value = self.data[self.spans[field, 0] : self.spans[field, 1]]
        return (value.replace(b"\n", b"") if self.spans[field, 2] else value).decode()

    cdef list describe_body(self):
        """The tokens of the one part there is, None where its text is not the body as it stands."""
        cdef Py_ssize_t i, length = 0
        cdef list description = []
        for i in range(self.n_fields):
            if (<FieldName> self.fields[i]).describes:
                length += len((<FieldName> self.fields[i]).text) + self.spans[i, 1] - self.spans[i, 0]
                if length > MAX_DESCRIPTION:
                    return None
                description.append(((<FieldName> self.fields[i]).text, self.value(i)))
        if not description:
            return UNDESCRIBED
        key = tuple(description)
        if key not in self.part_cache:
            if len(self.part_cache) > self.max_fields:
                self.part_cache = {}
            part, _ = mime.describe(description, "text/plain", 0)
            plain = mime.read_as(part.content_type, "") == "text/plain"
            plain = plain and part.encoding not in DECODED and (not part.charset or charsets.resolve(part.charset)[1])
            self.part_cache[key] = tokenizer.part_tokens(part) if plain else None
        return self.part_cache[key]

    cdef bytes compute_digest(self, Py_ssize_t stop):
        """parse.Message.digest, of the section that ends at ``stop``."""
        cdef bytes data = self.data
        cdef Py_ssize_t i, end = self.end, begin = self.header_start
        cdef list kept
        for i in range(self.n_fields):
            if (<FieldName> self.fields[i]).volatile:
                break
        else:
            if end > stop:
                return parse.digest_of(data[begin:end])
        kept = []
        for i in range(self.n_fields):
            if not (<FieldName> self.fields[i]).volatile:
                kept.append(data[begin : self.spans[i, 1]])
            begin = self.spans[i, 1] + 1
        return parse.digest_of(b"\n".join(kept) + b"\n\n" + data[self.body : end])
