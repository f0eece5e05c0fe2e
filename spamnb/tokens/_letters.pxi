# A message that is one text of ASCII, and where in its bytes the pieces stand. A part of _kernel.pyx.

cdef enum:
    MOST_FIELDS = 250  # of a header section that is read here
    LONGEST_NAME = 100  # bytes: what is remembered is bounded in size and number
    LONGEST_SAID = 500  # of the body, by all fields together

cdef Py_ssize_t MAX_HEADER_BYTES = message_headers.MAX_HEADER_BYTES
cdef Py_ssize_t MAX_TEXT = mime.MAX_TEXT
cdef Py_ssize_t LONGEST_LETTER = 2 * (MAX_HEADER_BYTES + MAX_TEXT)  # with CRLF line ends
cdef frozenset DECODED = mime.UU_NAMES | {"base64", "quoted-printable"}


@cython.final
cdef class Name:
    """A header field's name."""

    cdef str text
    cdef bint volatile, describes  # is no part of the digest; says what the body is

    def __init__(self, bytes name):
        self.text = name.decode()
        low = self.text.lower()
        self.volatile = message.is_volatile(low)
        self.describes = low in ("content-type", "content-transfer-encoding", "content-disposition")


@cython.final
cdef class Letter:
    """A plain letter, as nine of ten messages of SpamAssassin and 20news are: its words never become Python objects."""

    cdef bytes data
    # Where the header section and the body begin, and from where on only line ends follow; how many fields there are.
    cdef Py_ssize_t start, body, end, used
    cdef list fields  # their names
    cdef int32_t[:, ::1] spans  # where the value of each begins and ends, and whether on a later line
    cdef list part  # tokens of what the body is said to be
    cdef bytes digest
    cdef dict names, parts  # that were met
    cdef Py_ssize_t room

    def __init__(self, Py_ssize_t room):
        self.room = room
        self.names, self.parts = {}, {}
        self.spans = np.zeros((MOST_FIELDS, 3), np.int32)

    cdef bint read(self, bytes raw, bint identify) except -1:
        """Read a message; False where it is no plain letter: message.parse takes it apart."""
        cdef bytes data
        cdef Py_ssize_t size, stop
        if len(raw) > LONGEST_LETTER:  # is neither copied nor kept
            return False
        data = mime.normalise(raw)
        size = len(data)
        if not data.isascii():
            return False
        self.data = data
        self.start = message_headers.skip_envelope(data, 0, size) if data[:1] in (b"F", b">") else 0
        stop = self.section(min(size, self.start + MAX_HEADER_BYTES))
        if stop < 0 or size - stop > MAX_TEXT or data.find(b"=?", self.start, stop) >= 0:
            return False
        if data.find(b"\nbegin", stop) >= 0:  # perhaps a uuencoded file
            return False
        self.body = stop + 1
        while size > stop and <uint8_t> data[size - 1] == c"\n":
            size -= 1
        self.end = size
        self.part = self.described()
        if self.part is None:
            return False
        self.digest = self.digested(stop) if identify else b""
        return True

    cdef Py_ssize_t section(self, Py_ssize_t limit) except -2:
        """Where the empty line behind a section of nothing but fields begins, −1 where there is none."""
        cdef bytes data = self.data
        cdef Py_ssize_t i = self.start, begin
        cdef bint later
        self.used = 0
        self.fields = []
        if len(self.names) > self.room:
            self.names = {}
        while i < limit and <uint8_t> data[i] != c"\n":
            begin = i
            while i < limit and c"!" <= <uint8_t> data[i] <= c"~" and <uint8_t> data[i] != c":":
                i += 1
            if i == limit or <uint8_t> data[i] != c":" or not 0 < i - begin <= LONGEST_NAME or self.used == MOST_FIELDS:
                return -1
            self.fields.append(self.name(data[begin:i]))
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
            self.spans[self.used, 0], self.spans[self.used, 1], self.spans[self.used, 2] = begin, i, later
            self.used += 1
            i += 1
        return i if i < limit and self.used else -1

    cdef Name name(self, bytes name):
        found = self.names.get(name)
        if found is None:
            found = self.names[name] = Name(name)
        return <Name> found

    cdef str value(self, Py_ssize_t field):
        """The value of a field, unfolded."""
        cdef bytes value = self.data[self.spans[field, 0] : self.spans[field, 1]]
        return (value.replace(b"\n", b"") if self.spans[field, 2] else value).decode()

    cdef list described(self):
        """The tokens of the one part there is, None where its text is not the body as it stands."""
        cdef Py_ssize_t i, length = 0
        cdef list said = []
        for i in range(self.used):
            if (<Name> self.fields[i]).describes:
                length += len((<Name> self.fields[i]).text) + self.spans[i, 1] - self.spans[i, 0]
                if length > LONGEST_SAID:
                    return None
                said.append(((<Name> self.fields[i]).text, self.value(i)))
        key = tuple(said)
        if key not in self.parts:
            if len(self.parts) > self.room:
                self.parts = {}
            part, _ = mime.describe(said, "text/plain", 0)
            plain = part.content_type.startswith("text") and part.content_type != "text/html"
            plain = plain and part.encoding not in DECODED and charsets.is_ascii(b"", part.charset)
            self.parts[key] = tokens.part_tokens(part) if plain else None
        return self.parts[key]

    cdef bytes digested(self, Py_ssize_t stop):
        """message.Message.digest, of the section that ends at ``stop``."""
        cdef bytes data = self.data
        cdef Py_ssize_t i, end = self.end, begin = self.start
        cdef list kept
        for i in range(self.used):
            if (<Name> self.fields[i]).volatile:
                break
        else:
            if end > stop:
                return message.digest_of(data[begin:end])
        kept = []
        for i in range(self.used):
            if not (<Name> self.fields[i]).volatile:
                kept.append(data[begin : self.spans[i, 1]])
            begin = self.spans[i, 1] + 1
        return message.digest_of(b"\n".join(kept) + b"\n\n" + data[self.body : end])
