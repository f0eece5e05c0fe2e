# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False
"""What tags.py says in Python, compiled.

``scan`` goes from tag to tag and looks a name up when it is new. ``words_of`` takes each byte once and has a bit for
each letter of each word that is looked for: whether the word is found up to there.
"""

from libc.stdint cimport uint8_t, uint64_t
from libc.string cimport memchr

from spamnb.message import tags

MADE_FOR = 4  # TAGS_VERSION of tags.py

cdef enum:
    LONGEST = 10  # letters and digits of a name that is a number, of six bits each
    NAMES = 128  # that are remembered, by their numbers' last bits; a document has 14 on average

cdef set BLOCK = set(tags.BLOCK), FORMATTING = set(tags.FORMATTING)
cdef Py_ssize_t MAX_TAG = tags.MAX_TAG, ATTRIBUTE_WEIGHT = tags.ATTRIBUTE_WEIGHT
cdef uint8_t[256] CODE  # 1 to 26: letters, capital or not; then digits; 0: nothing that stands in a name
cdef uint64_t[256] FITS  # as which letters of the words, one behind another, a byte may stand
cdef uint64_t FIRST = 0, LAST = 0, COLOR = 0
cdef list WORDS = []  # and the bits of their last letters


def _prepare():
    global FIRST, LAST, COLOR
    cdef int i
    cdef uint64_t bit = 1
    for i in range(256):
        CODE[i] = <uint8_t> (b"abcdefghijklmnopqrstuvwxyz0123456789".find(bytes([i]).lower()) + 1)
    assert sum(map(len, tags.WORDS)) <= 64
    for word in tags.WORDS:
        FIRST |= bit
        for i in range(len(word)):
            for byte in {*word[i : i + 1], *word[i : i + 1].upper()}:
                FITS[byte] |= bit
            COLOR, bit = bit, bit << 1  # "color" is the last of them
        LAST |= COLOR
        WORDS.append((COLOR, word))


_prepare()


cdef inline bint letter(const uint8_t[::1] data, Py_ssize_t at):
    return 0 <= at < data.shape[0] and 1 <= CODE[data[at]] <= 26


cdef inline bint space(uint8_t byte) noexcept:
    return byte == c" " or 9 <= byte <= 13


cdef inline bint blank(uint8_t byte) noexcept:
    return byte == c" " or 9 <= byte <= 13 and byte != 11


cdef Py_ssize_t behind(const uint8_t[::1] data, Py_ssize_t i, Py_ssize_t* attributes) except -1:
    """Where the last attribute ends of a tag whose name ends there; see tags.ATTRIBUTE."""
    cdef Py_ssize_t size = data.shape[0], stop = i
    cdef uint8_t quote
    while True:
        while i < size and (blank(data[i]) or data[i] == c"/"):
            i += 1
        if i == size or data[i] == c">":
            return stop
        attributes[0] += 1
        i += 1
        while i < size and not (blank(data[i]) or data[i] in b"/>="):
            i += 1
        stop = i
        while i < size and blank(data[i]):
            i += 1
        if i < size and data[i] == c"=":
            i += 1
            while i < size and blank(data[i]):
                i += 1
            if i < size and data[i] in b"\"'":
                quote = data[i]
                i += 1
                while i < size and data[i] != quote:
                    i += 1
                i += i < size
            else:
                while i < size and not blank(data[i]) and data[i] != c">":
                    i += 1
            stop = i


def scan(bytes html not None):
    """See tags.tags_of."""
    cdef const uint8_t[::1] data = html
    cdef const uint8_t* found
    cdef uint64_t[NAMES] known
    cdef bint[NAMES] ends_word, formats, links, listed
    cdef Py_ssize_t size = len(html), at = 0, before = -1, line = 0, comment = 0, count = 0, formatting = 0
    cdef Py_ssize_t start, stop, i, attributes, weight = 0, link = 0, looked = 0
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
        count += 1
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
                name = html[start:i].lower()
                ends_word[slot], formats[slot], links[slot] = name in BLOCK, name in FORMATTING, name == b"a"
            if not closing:
                formatting += formats[slot]
                if (formats[slot] or links[slot]) and looked <= size and i < size and (blank(data[i]) or data[i] == c"/"):
                    attributes = 0
                    stop = behind(data, i, &attributes)
                    looked += stop - i
                    attributes = stop - i + ATTRIBUTE_WEIGHT * attributes
                    if formats[slot]:
                        weight += attributes
                    elif attributes > link:
                        link = attributes
                if not listed[slot]:
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
    found_splits = ["comment-split"] * comment_split + ["tag-split"] * tag_split
    return tags.Tags(
        html, names, found_splits, count, formatting, ATTRIBUTE_WEIGHT * size if looked > size else weight + link
    )


cdef Py_ssize_t colour(const uint8_t[::1] data, Py_ssize_t start):
    """Where a colour ends that starts there, or -1: #?[a-z0-9]{3,20}(?:\\([0-9,. ]{3,30})?"""
    cdef Py_ssize_t size = data.shape[0], i, stop
    if start < size and data[start] == c"#":
        start += 1
    i = start
    while i < size and i - start < 20 and CODE[data[i]]:
        i += 1
    if i - start < 3:
        return -1
    stop = i + 1
    if i < size and data[i] == c"(":
        while stop < size and stop - i <= 30 and (c"0" <= data[stop] <= c"9" or data[stop] in b",. "):
            stop += 1
    return stop if stop - i > 3 else i


def words_of(bytes html not None):
    """See tags.find_words."""
    cdef const uint8_t[::1] data = html
    cdef uint64_t state = 0, found = 0
    cdef Py_ssize_t size = data.shape[0], at, start, stop, color = 0, background = 0
    cdef bint is_background
    cdef set colors = set(), backgrounds = set()
    for at in range(size):
        state = (state << 1 | FIRST) & FITS[data[at]]
        if not state & LAST:
            continue
        found |= state
        is_background = at > 4 and (data[at - 5] == c"-" or data[at - 5] | 32 == c"g")
        if not state & COLOR or at - 4 < (background if is_background else color):  # inside the color before
            continue
        start = at + 1
        while start < size and start - at < 10 and (space(data[start]) or data[start] in b"=:\"'"):
            start += 1
        stop = colour(data, start) if start > at + 1 else -1
        if stop < 0:
            continue
        if is_background:
            backgrounds.add(html[start:stop].lower())
            background = stop
        else:
            colors.add(html[start:stop].lower())
            color = stop
    return {word for last, word in WORDS if found & <uint64_t> last}, colors, backgrounds
