# cython: language_level=3, annotation_typing=False, boundscheck=True, wraparound=False, initializedcheck=False
"""What a tokenizer finds in a message goes here: fields, words and texts become tokens, and these are counted.

Compiled or not, this file is the same (``token_sink.pxd`` has its C types).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from spamnb.tokens.ascii_bytes import IS_PUNCTUATION, LOWER_CASE
from spamnb.tokens.header_rules import HeaderRule, HeaderRules
from spamnb.tokens.token_counter import Prefix, TokenCounter
from spamnb.tokens.word_scanner import Normalization, WordScanner, non_ascii_stretch
from spamnb.tokens.words import MAX_PUNCTUATION, punctuation, word_text

# The first words of a text say what it is. Pairs of all its words would triple the vocabulary and gain little:
# docs/experiments.md#pairs-of-words.
BIGRAM_WORDS = 75
# Later words are not read: a novel pasted under a spam would drown it (docs/experiments.md#words-of-a-text). The texts
# of a message share these, and the words that are joined: see shares().
MAX_WORDS = 1000
MAX_VALUE = 2000  # characters of a header value that are read
MAX_LAYOUT = 20_000  # characters of text whose layout is read
CONTINUATION = bytes(range(0x80, 0xC0))  # bytes of characters behind their first
NOT_ASCII = bytes(range(0x80, 0x100))
NO_BREAK = "\xa0".encode()  # a space; half of the HTML that is not ASCII has no other such character


class TokenSink:
    """Makes tokens of what stands in a message, and counts them: one row of the counter a message.

    >>> from spamnb.tokens.token_counter import TokenCounter
    >>> from spamnb.tokens.vocabulary import Vocabulary
    >>> from spamnb.tokens.word_scanner import Normalization
    >>> sink = TokenSink(TokenCounter(Vocabulary()))
    >>> sink.add_words(Normalization(prefix="subject:"), "Lunch today, today")
    >>> sink.counter.end(), sink.counter.take_cells().tolist(), list(sink.counter.vocabulary.tokens())
    (2, [[0, 1], [1, 2]], ['subject:lunch', 'subject:today'])
    """

    def __init__(self, counter: TokenCounter) -> None:
        self.counter = counter
        self.scanner = WordScanner(counter)
        self.plain = Prefix("")
        self.prefixes: dict[str, Prefix] = {}  # of punctuation, by what stands before it

    def add(self, tokens: Iterable[str]) -> None:
        """Tokens as they are."""
        self.counter.add(tokens)

    def add_headers(self, rules: HeaderRules, headers: Iterable[tuple[str, str]]) -> None:
        """The tokens of header fields (name, value), as the rules tell to read them."""
        for name, value in headers:
            rule = rules[name]
            if rule is not None:
                self.add_presence(rule)
                self.add_value(rule, value)

    def add_presence(self, rule: HeaderRule) -> None:
        """That a field is there."""
        self.counter.put(rule.presence, b"", 0, 0, LOWER_CASE)
        self.counter.flush()

    def add_value(self, rule: HeaderRule, value: str) -> None:
        """What a field says; MAX_VALUE characters of it are read."""
        value = value[:MAX_VALUE]
        if rule.shorten is not None:
            value = rule.shorten(value)
        if rule.normalization is not None:
            self.add_words(rule.normalization, value)
        if rule.extra_tokens is not None:
            rule.extra_tokens(value, self)

    def add_words(self, normalization: Normalization, value: str) -> None:
        """The words of a header value or of hidden text."""
        raw = self.read_text(value, None)
        self.scanner.scan(normalization, raw, 0, len(raw), 0, 0, False)

    def add_bytes(
        self, normalization: Normalization, raw: bytes, start: int, stop: int
    ) -> None:
        """The words of a header value of ASCII where it stands."""
        self.scanner.scan(normalization, raw, start, min(stop, start + MAX_VALUE), 0, 0, False)

    def add_text(
        self,
        normalization: Normalization,
        texts: Sequence[str],
        split: Callable[[str], list[str]] | None,
        ngrams: int,
        prefix: str = "",
    ) -> None:
        """The words of the texts together, which ``split`` finds, or the scanner where that is None; those whose
        letters stand apart; n-grams of the first words; their punctuation, a run once a message; how many words there
        are, and how many in capitals, as bit lengths. ``prefix`` stands before the tokens of the last three kinds.

        The texts share MAX_WORDS words that are read, and BIGRAM_WORDS that are joined.
        """
        scanner = self.scanner
        signs = self.prefix_of(prefix)
        scanner.begin_text()
        found = [self.read_text(text, signs) for text in texts]
        words: list[list[str]] = []
        if split is not None:
            words = list(map(split, texts))
            counts = list(map(len, words))
        else:
            counts = [scanner.count_words(raw) for raw in found] if len(found) != 1 else [MAX_WORDS]
        n_words = 0
        for i, n_read, n_joined in zip(range(len(found)), shares(counts, MAX_WORDS), shares(counts, BIGRAM_WORDS)):
            raw = found[i]
            if split is not None:
                scanner.add_found(normalization, words[i][:n_read], n_joined)
                n_read = n_joined = 0  # the scan finds those whose letters stand apart
                n_words += counts[i]
            scanner.scan(normalization, raw, 0, len(raw), n_read, n_joined, True)
        self.counter.join(self.plain, ngrams)
        self.add_counts(prefix, n_words if split is not None else scanner.count)

    def add_raw_text(self, normalization: Normalization, raw: bytes, start: int, ngrams: int) -> None:
        """``add_text`` of the one text of ASCII that is ``raw[start:]``."""
        self.scanner.begin_text()
        self.add_punctuation(self.prefix_of(""), raw, start, len(raw))
        self.scanner.scan(normalization, raw, start, len(raw), MAX_WORDS, BIGRAM_WORDS, True)
        self.counter.join(self.plain, ngrams)
        self.add_counts("", self.scanner.count)

    def add_counts(self, prefix: str, n_words: int) -> None:
        """How many words a text has, and how many in capitals.

        Capitals are counted once a text. As words of their own (FREE beside free) they would say it once a word:
        docs/experiments.md#capitals-and-length.
        """
        capitals = self.scanner.capitals
        self.counter.add((f"{prefix}length:{n_words.bit_length()}", f"{prefix}caps:{capitals.bit_length()}"))

    def prefix_of(self, place: str) -> Prefix:
        """What stands before the punctuation of a text."""
        found = self.prefixes.get(place)
        if found is None:
            found = self.prefixes[place] = Prefix(place + "p:")
        return found

    def add_layout(self, texts: Iterable[str]) -> None:
        """The mean length of lines that are not empty, and capitals in 64 ASCII characters, both as bit lengths.

        Line ends behind the last line are not read: mailboxes add and remove them, and a message that was learned with
        one more could not be forgotten (docs/experiments.md#layout).

        >>> from spamnb.tokens.token_counter import TokenCounter
        >>> from spamnb.tokens.vocabulary import Vocabulary
        >>> sink = TokenSink(TokenCounter(Vocabulary()))
        >>> sink.add_layout(["Buy NOW\\n\\nand here"])
        >>> sink.counter.end(), list(sink.counter.vocabulary.tokens())
        (2, ['line:3', 'capitals:4'])
        """
        self.add_raw_layout("\n".join(texts).rstrip("\n")[:MAX_LAYOUT].encode())

    def add_raw_layout(self, raw: bytes) -> None:
        """``add_layout`` of a text that does not end with a line end."""
        data = raw
        size = n_ascii = len(raw)
        if not raw.isascii():
            size -= len(raw) - len(raw.translate(None, CONTINUATION))
            n_ascii = len(raw.translate(None, NOT_ASCII))
        n_ends = n_empty = n_capitals = 0
        after_end = False
        for i in range(len(raw)):
            byte = data[i]
            if byte == 10:
                n_ends += 1
                after_end = not after_end
                n_empty += not after_end
            else:
                after_end = False
                n_capitals += 65 <= byte <= 90
        line = (size - n_ends) // (n_ends + 1 - n_empty)
        share = 64 * n_capitals // max(n_ascii, 1)
        self.counter.add((f"line:{line.bit_length()}", f"capitals:{share.bit_length()}"))

    def read_text(self, text: str, signs: Prefix | None) -> bytes:
        """``text`` in UTF-8, in which of what is not ASCII only words are left; with ``signs`` the punctuation of both
        becomes tokens."""
        raw = text.encode()
        if not raw.isascii():
            raw = raw.replace(NO_BREAK, b" ")
        size = len(raw)
        if raw.isascii():
            if signs is not None:
                self.add_punctuation(signs, raw, 0, size)
            return raw
        pieces: list[bytes] = []
        i = 0
        while i < size:
            start, stop = non_ascii_stretch(raw, i, size)
            pieces.append(raw[i:start])
            other = raw[start:stop].decode()
            pieces.append(word_text(other).encode())
            if signs is not None:
                self.add_punctuation(signs, raw, i, start)
                for run in punctuation(other):
                    said = run.encode()
                    self.counter.put_once(signs, said, 0, len(said))
            i = stop
        return b"".join(pieces)

    def add_punctuation(self, signs: Prefix, raw: bytes, i: int, stop: int) -> None:
        """The runs of punctuation of ASCII in ``raw[i:stop]``; of a long run its beginning."""
        data = raw
        while i < stop:
            if not IS_PUNCTUATION[data[i]]:
                i += 1
                continue
            start = i
            while i < stop and IS_PUNCTUATION[data[i]]:
                i += 1
            self.counter.put_once(signs, raw, start, min(i, start + MAX_PUNCTUATION))


def shares(counts: Sequence[int], allowance: int) -> list[int]:
    """How many words of each text are read, of texts with so many words: ``allowance`` in all.

    Half of the allowance is for all texts evenly, so that each is heard; the rest goes to the first ones, which a
    reader sees first, so that a hundred attached texts do not outvote the letter. What a text leaves goes to others.

    >>> shares([3000], 1000), shares([3000, 9, 3000], 1000), shares([400, 600], 1000), shares([700] * 4, 1000)
    ([1000], [745, 9, 246], [400, 600], [625, 125, 125, 125])
    """
    if len(counts) == 1:
        return [min(counts[0], allowance)]
    read = [0] * len(counts)
    left = allowance // 2
    for n_longer, i in zip(range(len(counts), 0, -1), sorted(range(len(counts)), key=counts.__getitem__)):
        read[i] = min(counts[i], left // n_longer)
        left -= read[i]
    left += allowance - allowance // 2
    for i, count in enumerate(counts):
        more = min(count - read[i], left)
        read[i] += more
        left -= more
    return read
