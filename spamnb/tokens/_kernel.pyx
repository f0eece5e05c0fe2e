# cython: language_level=3, boundscheck=True, wraparound=False, initializedcheck=False, cdivision=True
"""Text → token ids, compiled: what the Python files of this package say, to the last token.

A word of ASCII is normalised, hashed and looked up where it stands in the message; no Python object is made of it, nor
of a pair of neighbours. The rest Python normalises, once, and the result is kept. A plain message (one text of ASCII)
is read in its raw bytes; all others parse.parse takes apart.

Modules have the names of their Python twins. What runs once a word is inline in their .pxd files, so that reading mail
takes no longer than in one module (11,314 posts 0.51 s and 0.52 s); importing them takes 5.6 ms, one module 3.8 ms.
"""

cimport cython
from libc.stdint cimport uint8_t, uint64_t

from spamnb.tokens._csr_rows cimport CsrRowBuilder
from spamnb.tokens._header_rules cimport HeaderRule
from spamnb.tokens._made_for cimport KERNEL_VERSION, TOKENS_VERSION
from spamnb.tokens._plain_message cimport FieldName, PlainMessage
from spamnb.tokens._token_array cimport FNV_PRIME, fnv1a
from spamnb.tokens._vocabulary cimport HashIndex, Vocabulary
from spamnb.tokens._word_scanner cimport WordScanner
from spamnb.tokens._words cimport (
    BYTE_KIND, IDENTITY, IS_PUNCTUATION, UPPER, NormalizationCache, Prefix, bit_length, non_ascii_stretch,
)

import secrets

from spamnb.tokens import _csr_rows, _groups, _header_rules, _plain_message, _vocabulary, _word_scanner, _words
from spamnb.tokens import token_sink, tokenizer, words
from spamnb.tokens._groups import token_groups

MADE_FOR = TOKENS_VERSION, KERNEL_VERSION
for _module in (_csr_rows, _groups, _header_rules, _plain_message, _vocabulary, _word_scanner, _words):
    if _module.MADE_FOR != MADE_FOR:
        raise ImportError(f"{_module.__name__} is made for {_module.MADE_FOR}, {__name__} for {MADE_FOR}")
globals()["Vocabulary"] = _vocabulary.Vocabulary  # a cimported name is no attribute of the module

cdef Py_ssize_t MAX_PUNCTUATION = words.MAX_PUNCTUATION
cdef Py_ssize_t MAX_WORDS = token_sink.MAX_WORDS, BIGRAM_WORDS = token_sink.BIGRAM_WORDS
cdef Py_ssize_t MAX_VALUE = token_sink.MAX_VALUE
cdef Py_ssize_t MAX_LAYOUT = token_sink.MAX_LAYOUT
cdef bytes NO_BREAK = words.NO_BREAK.encode()
cdef list DIGITS = [str(i).encode() for i in range(65)]


@cython.final
cdef class TextPrefixes:
    """What the tokens of a text other than its words begin with."""

    cdef Prefix punctuation, length, caps

    def __init__(self, str prefix):
        self.punctuation, self.length = Prefix(prefix + "p:"), Prefix(prefix + "length:")
        self.caps = Prefix(prefix + "caps:")


@cython.final
cdef class Kernel:
    """A token_sink.TokenSink that counts: rows of (token id, occurrences), one row a message.

    ``max_words`` bounds the words and tokens kept of what Python normalised, ``max_fields`` the header fields kept.
    """

    cdef readonly Vocabulary vocabulary
    cdef CsrRowBuilder rows
    cdef WordScanner scanner
    cdef PlainMessage plain_message
    cdef Py_ssize_t max_words, max_fields
    # By id of their Python twins: NormalizationCache, HeaderRule; by prefix: TextPrefixes.
    cdef dict normalization_caches, header_rules, text_prefixes
    cdef uint64_t salt
    cdef Prefix line_prefix, capitals_prefix
    # Of the text at hand: its prefixes, and the runs of punctuation met, those of ASCII and the others.
    cdef TextPrefixes prefixes
    cdef HashIndex ascii_runs
    cdef set other_runs

    def __init__(self, Vocabulary vocabulary not None, Py_ssize_t max_words=1 << 20, Py_ssize_t max_fields=2000):
        self.vocabulary, self.max_words, self.max_fields = vocabulary, max_words, max_fields
        self.scanner = WordScanner(vocabulary)
        self.rows = self.scanner.rows
        self.plain_message = PlainMessage(max_fields)
        self.ascii_runs, self.text_prefixes = HashIndex(), {}
        self.line_prefix, self.capitals_prefix = Prefix("line:"), Prefix("capitals:")
        self.clear_caches()

    cdef int clear_caches(self) except -1:
        """Forget header fields and what Python made of words."""
        self.normalization_caches, self.header_rules = {}, {}
        self.salt = secrets.randbits(64)
        return self.scanner.clear_cache()

    def begin(self):
        """Begin a message."""
        cdef Py_ssize_t n_fields = len(self.normalization_caches) + len(self.header_rules)
        if self.scanner.cache_size() > self.max_words or n_fields > self.max_fields:
            self.clear_caches()
        self.rows.begin()
        self.scanner.queued = 0

    def end(self):
        """End the message; returns how many different tokens it has."""
        return self.rows.end()

    def take_cells(self):
        """(k, 2) int32, token ids and occurrences of all messages since the last call, row after row."""
        return self.rows.take_cells()

    def add(self, tokens):
        """See TokenSink."""
        for token in tokens:
            self.rows.add(self.vocabulary.id_of(token))

    def read_plain_message(self, bytes raw, normalization, rules, int ngrams, bint body_only, bint identify):
        """See tokenizer.Tokenizer."""
        cdef PlainMessage message = self.plain_message
        cdef bytes data
        cdef Py_ssize_t i, begin, stop, size
        cdef NormalizationCache cache = self.normalization_cache(normalization)
        cdef HeaderRule rule
        if not message.read(raw, identify):
            return None
        data = message.data
        size = len(data)
        self.open_text("")
        self.add_ascii_punctuation(data, message.body, size)
        self.scanner.scan(cache, data, message.body, size, MAX_WORDS, BIGRAM_WORDS, True)
        self.close_text(ngrams)
        self.add_layout_of(data, message.body, min(max(message.end, message.body), message.body + MAX_LAYOUT))
        if body_only:
            return message.digest
        for i in range(message.n_fields):
            twin = rules[(<FieldName> message.fields[i]).text]
            if twin is None:
                continue
            rule = self.header_rule(twin)
            self.rows.add(rule.presence)
            if rule.shorten is not None or rule.extra_tokens is not None or message.spans[i, 2]:
                self.add_value(rule, message.value(i))
            elif rule.normalization is not None:
                begin, stop = message.spans[i, 0], message.spans[i, 1]
                self.scanner.scan(rule.normalization, data, begin, min(stop, begin + MAX_VALUE), 0, 0, False)
        if tokenizer.may_show_urls(data, message.body):
            self.add(tokenizer.link_tokens([tokenizer.visible_urls(data[message.body :].decode())]))
        self.add(message.part_tokens)
        return message.digest

    def add_headers(self, rules, headers):
        """See TokenSink."""
        cdef HeaderRule rule
        for name, value in headers:
            twin = rules[name]
            if twin is not None:
                rule = self.header_rule(twin)
                self.rows.add(rule.presence)
                self.add_value(rule, value)

    cdef int add_value(self, HeaderRule rule, str value) except -1:
        """The tokens of a header's value."""
        value = value[:MAX_VALUE]
        if rule.shorten is not None:
            value = rule.shorten(value)
        if rule.normalization is not None:
            self.add_words_of(rule.normalization, value)
        if rule.extra_tokens is not None:
            rule.extra_tokens(value, self)
        return 0

    cdef HeaderRule header_rule(self, twin):
        found = self.header_rules.get(id(twin))
        if found is None:
            cache = None if twin.normalization is None else self.normalization_cache(twin.normalization)
            found = self.header_rules[id(twin)] = HeaderRule(twin, self.vocabulary.id_of(twin.presence), cache)
        return <HeaderRule> found

    cdef NormalizationCache normalization_cache(self, twin):
        found = self.normalization_caches.get(id(twin))
        if found is None:
            self.salt += FNV_PRIME
            found = self.normalization_caches[id(twin)] = NormalizationCache(twin, self.salt)
        return <NormalizationCache> found

    def add_words(self, normalization, str value):
        """See TokenSink."""
        self.add_words_of(self.normalization_cache(normalization), value)

    cdef int add_words_of(self, NormalizationCache cache, str value) except -1:
        cdef bytes data = self.word_text(value, False)
        return self.scanner.scan(cache, data, 0, len(data), 0, 0, False)

    def add_text(self, normalization, texts, split, int ngrams, str prefix=""):
        """See TokenSink."""
        cdef NormalizationCache cache = self.normalization_cache(normalization)
        cdef list found, counts
        cdef bytes data
        self.open_text(prefix)
        found = [self.word_text(text, True) for text in texts]
        counts = [self.scanner.count_words(data) for data in found] if len(found) > 1 else [MAX_WORDS]
        read, joined = words.shares(counts, MAX_WORDS), words.shares(counts, BIGRAM_WORDS)
        for data, n_read, n_joined in zip(found, read, joined):
            self.scanner.scan(cache, data, 0, len(data), n_read, n_joined, True)
        self.close_text(ngrams)

    cdef int open_text(self, str prefix) except -1:
        prefixes = self.text_prefixes.get(prefix)
        if prefixes is None:
            prefixes = self.text_prefixes[prefix] = TextPrefixes(prefix)
        self.prefixes = prefixes
        self.ascii_runs.clear()
        self.other_runs = set()
        return self.scanner.begin_text()

    cdef int close_text(self, int ngrams) except -1:
        if ngrams == 2 and self.scanner.opened:
            self.scanner.add_bigrams()
        self.add_number(self.prefixes.length, bit_length(self.scanner.count))
        return self.add_number(self.prefixes.caps, bit_length(self.scanner.capitals))

    cdef int add_number(self, Prefix prefix, Py_ssize_t number) except -1:
        """A token that ends with a number up to 64."""
        cdef bytes digits = DIGITS[number]
        return self.add_bytes(prefix, digits, 0, len(digits))

    cdef int add_bytes(self, Prefix prefix, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef uint64_t h = fnv1a(prefix.state, data, start, stop, IDENTITY)
        return self.rows.add(self.vocabulary.id_of_hash(h, prefix.text, data, start, stop, IDENTITY))

    def add_layout(self, texts):
        """See TokenSink: 2 µs a message where Python takes 4."""
        cdef bytes data = "\n".join(texts).rstrip("\n")[:MAX_LAYOUT].encode()
        self.add_layout_of(data, 0, len(data))

    cdef int add_layout_of(self, bytes data, Py_ssize_t start, Py_ssize_t stop) except -1:
        cdef Py_ssize_t i, n_ends = 0, n_empty = 0, n_not_ascii = 0, n_continuation = 0, n_capitals = 0, n_ascii
        cdef uint8_t byte
        cdef bint ended = False
        for i in range(start, stop):
            byte = <uint8_t> data[i]
            if byte == c"\n":
                n_ends += 1
                n_empty += ended
                ended = not ended
                continue
            ended = False
            n_capitals += BYTE_KIND[byte] & UPPER
            n_not_ascii += byte >> 7
            n_continuation += byte >> 6 == 2  # a byte of a character behind its first
        n_ascii = stop - start - n_not_ascii
        self.add_number(
            self.line_prefix, bit_length((stop - start - n_continuation - n_ends) // (n_ends + 1 - n_empty))
        )
        return self.add_number(self.capitals_prefix, bit_length(64 * n_capitals // max(n_ascii, 1)))

    cdef bytes word_text(self, str text, bint is_text):
        """words.word_text, in which ASCII stays as it is; the punctuation of what ``is_text`` becomes tokens."""
        cdef bytes data = text.encode()
        cdef Py_ssize_t size, i = 0, start, stop
        cdef list parts
        if not data.isascii():
            data = data.replace(NO_BREAK, b" ")
        size = len(data)
        if data.isascii():
            if is_text:
                self.add_ascii_punctuation(data, 0, size)
            return data
        parts = []
        while i < size:
            start, stop = non_ascii_stretch(data, i)
            parts.append(data[i:start])
            other = data[start:stop].decode()
            parts.append((<str> words.word_text(other)).encode())
            if is_text:
                self.add_ascii_punctuation(data, i, start)
                for run in words.punctuation(other):
                    if run.isascii():
                        self.add_ascii_punctuation(run.encode(), 0, len(run))
                    elif run not in self.other_runs:
                        self.other_runs.add(run)
                        self.add_bytes(self.prefixes.punctuation, run.encode(), 0, len(run.encode()))
            i = stop
        return b"".join(parts)

    cdef int add_ascii_punctuation(self, bytes data, Py_ssize_t i, Py_ssize_t size) except -1:
        """The runs of words.punctuation, of ASCII from ``i`` on, that are new to the text."""
        cdef Py_ssize_t start, known
        cdef uint64_t key
        while i < size:
            if not IS_PUNCTUATION[<uint8_t> data[i]]:
                i += 1
                continue
            start = i
            key = 0
            while i < size and IS_PUNCTUATION[<uint8_t> data[i]]:
                if i - start < MAX_PUNCTUATION:
                    key = (key << 8) | <uint8_t> data[i]
                i += 1
            known = self.ascii_runs.used
            if self.ascii_runs.insert(key) == known:
                self.add_bytes(self.prefixes.punctuation, data, start, min(i, start + MAX_PUNCTUATION))
        return 0
