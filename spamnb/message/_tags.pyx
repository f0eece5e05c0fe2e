# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
"""What tags.py says in Python, compiled: one pass from tag to tag, in which a name is looked up when it is new."""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr

from spamnb.message import tags

MADE_FOR = 1  # TAGS_VERSION of tags.py

cdef enum:
    LONGEST = 10  # letters and digits of a name that is a number, of six bits each
    NAMES = 128  # that are remembered, by their numbers' last bits; a document has 14 in the mean

cdef set BLOCK = set(tags.BLOCK)
cdef Py_ssize_t MAX_TAG = tags.MAX_TAG
cdef uint8_t[256] CODE  # 1 to 26: letters, capital or not; then digits; 0: nothing that stands in a name


def _prepare():
    cdef int i
    for i in range(256):
        CODE[i] = <uint8_t> (b"abcdefghijklmnopqrstuvwxyz0123456789".find(bytes([i]).lower()) + 1)


_prepare()


cdef inline bint letter(const uint8_t[::1] data, Py_ssize_t at):
    return 0 <= at < data.shape[0] and 1 <= CODE[data[at]] <= 26


cdef inline bint space(uint8_t byte) noexcept:
    return byte == c" " or 9 <= byte <= 13


def scan(bytes html not None):
    """See tags.tags_of."""
    cdef const uint8_t[::1] data = html
    cdef const uint8_t* found
    cdef uint64_t[NAMES] known
    cdef bint[NAMES] ends_word, listed
    cdef Py_ssize_t size = len(html), at = 0, before = -1, line = 0, comment = 0, start, stop, i
    cdef uint64_t number
    cdef bint closing, comment_split = False, tag_split = False
    cdef int slot
    cdef list lines = []
    cdef set names = set()
    for slot in range(NAMES):
        known[slot] = 0
    while at < size:
        found = <const uint8_t*> memchr(&data[at], c"<", size - at)
        if found == NULL:
            break
        at = found - &data[0]
        i = at + 1
        if i < size and data[i] == c"!" and at >= comment:
            closing = html.startswith(b"--", i + 1)
            stop = html.find(b"-->" if closing else b">", i + 1)
            comment = size if stop < 0 else stop + (3 if closing else 1)
            if stop >= 0 and letter(data, at - 1) and letter(data, comment):
                comment_split, comment = True, size
        closing = i < size and data[i] == c"/"
        i += closing
        if letter(data, i):
            start, number = i, 0
            while i < size and CODE[data[i]]:
                number = number << 6 | CODE[data[i]]
                i += 1
            if i - start > LONGEST:
                number = 0
            slot = (number ^ number >> 6) % NAMES
            if not number or known[slot] != number:
                known[slot], listed[slot] = number, False
                ends_word[slot] = html[start:i].lower() in BLOCK
            if not closing and not listed[slot]:
                names.add(html[start:i].lower())
                listed[slot] = True
            if ends_word[slot] and i < size and (space(data[i]) or data[i] == c"/" or data[i] == c">"):
                if at == 0 or not space(data[at - 1]):
                    lines.append(html[line:at])
                    line = at
            if closing and before > 0 and data[at - 1] == c">" and i < size and data[i] == c">":
                if not tag_split and at - 1 - before <= MAX_TAG and letter(data, before - 1) and letter(data, i + 1):
                    tag_split = html[before + 1 : before + 1 + i - start].lower() == html[start:i].lower()
        before, at = at, i
    if lines:
        lines.append(html[line:])
        html = b"\n".join(lines)
    return html, names, ["comment-split"] * comment_split + ["tag-split"] * tag_split
