"""``spamnb.words``: what each class is made of."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from spamnb.api.arguments import FilePath, Tell, check_least, model_path, warn
from spamnb.api.report import Report
from spamnb.counts.top_words import TellingWord, Word
from spamnb.errors import SpamnbError
from spamnb.naming import escape, pluralize
from spamnb.reader.meaning import meaning

if TYPE_CHECKING:
    from spamnb.store.store import Store


SHOWN = 3  # words at a prompt
GAP = "  "


@dataclass(frozen=True)
class WordsReport(Report):
    """The words of a model: ``print`` shows the command line's table.

    - ``likeliest``: of each class the likeliest tokens, each with θ_jc, the probability that a message of the class
      holds it
    - ``informative``: the tokens with the highest mutual information with the class, in bits, and the class that each
      speaks for; none where there is one class

    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> found = spamnb.words("model.spamnb", top=2)
    >>> found
    WordsReport(2 words each of ham, spam; the most telling: ..., ...)
    >>> found.informative
    [TellingWord(token='...', value=0..., label='...'), TellingWord(token='...', value=0..., label='...')]
    >>> list(found.to_dict()), found.to_csv().splitlines()[0]
    (['likeliest', 'informative'], 'list,rank,token,value,class')
    """

    likeliest: dict[str, list[Word]]
    informative: list[TellingWord]

    def __repr__(self) -> str:
        most = max(map(len, self.likeliest.values()), default=0)
        words = f"{pluralize(most, 'word')} each of {', '.join(self.likeliest)}"
        telling = ", ".join(escape(word.token) for word in self.informative[:SHOWN])
        return f"WordsReport({words}{telling and f'; the most telling: {telling}'})"

    def to_dict(self) -> dict[str, Any]:
        """The report as what json can hold: likeliest {class: [{token, probability}]}, informative [{token, bits,
        class}]."""
        return {
            "likeliest": {
                name: [{"token": word.token, "probability": word.value} for word in words]
                for name, words in self.likeliest.items()
            },
            "informative": [
                {"token": word.token, "bits": word.value, "class": word.label} for word in self.informative
            ],
        }

    def to_csv(self) -> str:
        """A line for each word: its list (a class or "mutual information"), rank, token, value and class, which is the
        one that an informative word speaks for. Unprintable characters are escaped."""
        lists = {name: [TellingWord(*word, name) for word in words] for name, words in self.likeliest.items()}
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["list", "rank", "token", "value", "class"])
        for name, words in {**lists, "mutual information": self.informative}.items():
            for rank, word in enumerate(words, 1):
                writer.writerow([name, rank, escape(word.token), f"{word.value:.6g}", word.label])
        return text.getvalue()

    def __str__(self) -> str:
        from rich.console import Console

        return self.text(Console().width)

    def text(self, width: int) -> str:
        """A table: a pair of columns per class, and three for mutual information, the last the class that the word
        speaks for. Columns that do not fit into ``width`` go below the others.

        >>> report = WordsReport({"ham": [Word("lunch", 0.5)], "spam": [Word("pills", 0.75)]}, [])
        >>> print(report.text(80))
        ham        p  spam       p
        lunch  0.500  pills  0.750
        """
        blocks = [
            _block((escape(name), "p"), [(escape(word.token), f"{word.value:.3f}") for word in words])
            for name, words in self.likeliest.items()
        ]
        if self.informative:
            told = [(escape(word.token), f"{word.value:.3f}", escape(word.label)) for word in self.informative]
            blocks.append(_block(("highest MI", "bits", "speaks for"), told))
        return "\n".join(line.rstrip() for line in _side_by_side(blocks, width)) + "\n"


def _block(headings: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Lines of equal width: headings and cells, of which the second column holds numbers."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(headings, *rows)]
    return [
        GAP.join(
            " " * (width - cell_len(cell)) + cell if place == 1 else cell + " " * (width - cell_len(cell))
            for place, (cell, width) in enumerate(zip(row, widths))
        )
        for row in (headings, *rows)
    ]


def _side_by_side(blocks: Sequence[list[str]], width: int) -> list[str]:
    """The blocks beside one another as far as ``width`` allows, and the others below."""
    from rich.cells import cell_len

    lines: list[str] = []
    band: list[list[str]] = []
    for block in [*blocks, None]:
        used = sum(cell_len(each[0]) + len(GAP) for each in band)
        if band and (block is None or used + cell_len(block[0]) > width):
            blank = [" " * cell_len(each[0]) for each in band]
            rows = zip_longest(*band)
            lines += [""] * bool(lines)
            lines += [GAP.join(cell or gap for cell, gap in zip(row, blank)) for row in rows]
            band = []
        band += [block] if block else []
    return lines


def words(model: FilePath, top: int = 15, *, everything: bool = False, tell: Tell = warn) -> WordsReport:
    """The ``top`` likeliest words of each class of a model, and the ``top`` with the highest mutual information.

    A word is likely when many messages of a class hold it: θ_jc = (N_jc + 1)/(N_c + 2), of N_c messages of class c the
    N_jc that hold word j. Its mutual information with the class, in bits, is how much knowing whether a message holds
    it tells about the message's class (Manning, Raghavan, Schütze 2008, section 13.5.1). ``everything`` shows all kinds
    of evidence, of headers, hosts and structure too, instead of words of body and subject alone. ``tell`` is given a
    line where no token is a word of text; by default this is a warning.

    Raises SpamnbError if there is no such model, or it has learned nothing.

    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> report = spamnb.words("model.spamnb", top=3)
    >>> [word.token for word in report.likeliest["ham"]]
    ['...', '...', '...']
    """
    from spamnb.store.store import Store

    check_least(1, top=top)
    with Store.open(model_path(model)) as store:
        return words_of(store, top, everything, tell)


def words_of(store: Store, top: int, everything: bool, tell: Tell) -> WordsReport:
    """The words of a model that is open."""
    from spamnb.counts.top_words import top_words, words_of_text
    from spamnb.store.snapshot import read_sums

    sums = read_sums(store)
    tokens, counts = sums.tokens, sums.counts
    if not counts.classes:
        raise SpamnbError(f"{store.path}: has learned nothing yet; 'spamnb learn' adds messages")
    if not everything:
        counts, tokens = words_of_text(counts, tokens)
        if not len(tokens):
            tell(f"{store.path}: no token is a word of text; --all (everything=True) shows all kinds of evidence")
    return WordsReport(*top_words(counts, tokens, top))


@dataclass(frozen=True)
class WordReport(Report):
    """A word in a model: ``print`` shows what 'spamnb words WORD' does.

    - ``word``: as it was asked for
    - ``documents``: by class, its messages
    - ``held``: by token that holds the word, by class, the messages that have it; the most common token first

    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> print(word("model.spamnb", "meeting"))
      ham     spam
    ...
    """

    word: str
    documents: dict[str, int]
    held: dict[str, dict[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """The report as what json can hold."""
        return {"word": self.word, "messages": self.documents, "tokens": self.held}

    def to_csv(self) -> str:
        """A line for each token: itself and, for each class, the messages that have it."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["token", *self.documents])
        writer.writerows([escape(token), *counts.values()] for token, counts in self.held.items())
        return text.getvalue()

    def __str__(self) -> str:
        if not self.held:
            return f"no message that the model learned has {escape(self.word)!r}\n"
        lines = ["  ".join(f"{name:>7}" for name in self.documents)]
        for token, counts in self.held.items():
            shares = [100 * count / max(1, self.documents[name]) for name, count in counts.items()]
            meant = meaning(token)
            what = f"{escape(token)}{meant and f'  ({escape(meant)})'}"
            lines.append("  ".join([*(f"{share:>5.3g} %" for share in shares), what]))
        return "\n".join(lines) + "\n"


def word(model: FilePath, word: str) -> WordReport:
    """A word in a model: which share of each class's messages has it, in the body, in the subject and in other places.

    Raises SpamnbError where there is no such model.
    """
    from spamnb.store.store import Store

    with Store.open(model_path(model)) as store, store.reading():
        asked = word.lower().encode("utf-8", "replace")
        ending = "substr(CAST(token AS BLOB), -length(?1) - 1)"  # bytes: all of a text stands before its first NUL
        which = f"SELECT token FROM tokens WHERE CAST(token AS BLOB) = ?1 OR {ending} = ?2"  # noqa: S608
        rows = store.execute(which, (asked, b":" + asked))
        tokens = [token for (token,) in rows] if asked else []
        counts, totals = store.look_up(tokens), store.totals()
    known = [tokens[place] for place in counts.positions.tolist()]
    of_class = {
        token: dict(zip(totals.classes, of_token.tolist())) for token, of_token in zip(known, counts.document_counts.T)
    }
    common = sorted(of_class, key=lambda token: (-sum(of_class[token].values()), token))
    documents = dict(zip(totals.classes, totals.documents.tolist()))
    return WordReport(word, documents, {token: of_class[token] for token in common})
