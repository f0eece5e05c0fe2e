"""``spamnb.words``: the likeliest words of each class, and the words that tell classes apart."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from spamnb.api.arguments import FilePath, Tell, check_least, file_path, warn
from spamnb.api.report import Report
from spamnb.counts.top_words import TellingWord, Word
from spamnb.errors import SpamnbError, Wording
from spamnb.reader.meaning import meaning
from spamnb.report.table import Table, render_text
from spamnb.shown_text import escape

if TYPE_CHECKING:
    from spamnb.store.store import Store


@dataclass(frozen=True, repr=False)
class WordsReport(Report):
    """The words of a model; ``print`` shows the command line's table.

    Parameters
    ----------
    likeliest : dict of list of Word
        The likeliest tokens of each class, each with θ_jc, the probability that a message of the class has it.
    informative : list of TellingWord
        Tokens with the highest mutual information with the class, in bits, and the class that each speaks for; empty
        for a single class.

    See Also
    --------
    words : Makes the report of a model file.
    WordsDisplay : Draws ``informative`` as bars.

    Examples
    --------
    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> report = spamnb.words("model.spamnb", top=2)
    >>> report
    <WordsReport: ham ... spam ... speaks for>
    >>> report.informative
    [TellingWord(token='...', value=0..., label='...'), TellingWord(token='...', value=0..., label='...')]
    >>> list(report.to_dict())
    ['likeliest', 'informative']
    """

    likeliest: dict[str, list[Word]]
    informative: list[TellingWord]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict that json can write.

        Returns
        -------
        dict
            ``likeliest`` {class: [{token, probability}]} and ``informative`` [{token, bits, class}].
        """
        return {
            "likeliest": {
                name: [{"token": word.token, "probability": word.value} for word in words]
                for name, words in self.likeliest.items()
            },
            "informative": [
                {"token": word.token, "bits": word.value, "class": word.label} for word in self.informative
            ],
        }

    def __str__(self) -> str:
        """Return what ``print`` shows."""
        from rich.console import Console

        return self.text(Console().width)

    def text(self, width: int) -> str:
        """Return the table that ``print`` shows: two columns per class, and three for mutual information.

        Parameters
        ----------
        width : int
            Characters of a line. Columns that do not fit go below the others.

        Returns
        -------
        str
            Lines.

        Examples
        --------
        >>> report = WordsReport({"ham": [Word("lunch", 0.5)], "spam": [Word("pills", 0.75)]}, [])
        >>> print(report.text(80))
        ham        p  spam       p
        lunch  0.500  pills  0.750
        """
        from rich.columns import Columns

        tables = [table.rich([1], box=None, padding=(0, 2, 0, 0), pad_edge=False) for table in self._tables()]
        for table in tables:
            table.add_row()  # an empty row, which separates the table from the table below it
        lines = render_text(Columns(tables, padding=(0, 2)), width=width).rstrip().splitlines()
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _tables(self) -> list[Table]:
        """Return a table of the words of each class, and one of the words that tell classes apart."""
        tables = [
            Table("", (escape(name), "p"), [(escape(word.token), f"{word.value:.3f}") for word in words])
            for name, words in self.likeliest.items()
        ]
        if self.informative:
            rows = [(escape(word.token), f"{word.value:.3f}", escape(word.label)) for word in self.informative]
            tables.append(Table("", ("highest MI", "bits", "speaks for"), rows))
        return tables

    def _repr_html_(self) -> str:
        """Return the tables side by side, as a notebook shows them."""
        tables = self._tables()
        rows = [
            tuple(chain.from_iterable(row or ("",) * len(table.head) for table, row in zip(tables, side_by_side)))
            for side_by_side in zip_longest(*(table.rows for table in tables))
        ]
        return Table("", tuple(chain.from_iterable(table.head for table in tables)), rows).html()


def words(model: FilePath, top: int = 15, *, everything: bool = False, tell: Tell = warn) -> WordsReport:
    """Return the likeliest words of each class of a model, and those with the highest mutual information.

    Parameters
    ----------
    model : str or path
        Model file.
    top : int, default=15
        Number of words of each list.
    everything : bool, default=False
        Whether to show all kinds of tokens (headers, hosts, structure), not only words of body and subject.
    tell : callable, default=warnings.warn
        Gets a line if no token is a word.

    Returns
    -------
    WordsReport
        The words.

    Raises
    ------
    SpamnbError
        If there is no such model, or it has learned nothing.

    See Also
    --------
    explain : The tokens that decided one message.

    Notes
    -----
    A word is likely if many messages of a class have it: θ_jc = (N_jc + 1)/(N_c + 2), if N_jc of the N_c messages of
    class c have word j. Its mutual information with the class, in bits, says how much its presence tells about the
    class of a message (Manning, Raghavan, Schütze 2008, section 13.5.1).

    Examples
    --------
    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> report = spamnb.words("model.spamnb", top=3)
    >>> [word.token for word in report.likeliest["ham"]]
    ['...', '...', '...']
    """
    from spamnb.store.store import Store

    check_least(1, top=top)
    with Store.open(file_path(model)) as store:
        return words_of(store, top, everything, tell)


def words_of(store: Store, top: int, everything: bool, tell: Tell) -> WordsReport:
    """Return the report of ``words`` from an open model."""
    from spamnb.counts.top_words import top_words, words_of_text
    from spamnb.store.snapshot import read_sums

    sums = read_sums(store)
    tokens, counts = sums.tokens, sums.counts
    if not counts.classes:
        raise SpamnbError(f"{store.path}: has learned nothing yet; 'spamnb learn' adds messages")
    if not everything:
        counts, tokens = words_of_text(counts, tokens)
        if not len(tokens):
            all_kinds = "{path}: no token is a word of text; {option.everything} shows all kinds of evidence"
            tell(Wording(all_kinds, path=store.path))
    return WordsReport(*top_words(counts, tokens, top))


@dataclass(frozen=True, repr=False)
class WordReport(Report):
    """The share of messages that have a word, by class; ``print`` shows the table of 'spamnb words WORD'.

    Parameters
    ----------
    word : str
        The word.
    documents : dict
        Number of learned messages of each class.
    tokens : dict of dict
        For each token that contains the word, the number of messages of each class that have the token; the most common
        token first.

    Examples
    --------
    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> print(word("model.spamnb", "meeting"))
      ham     spam
    ...
    """

    word: str
    documents: dict[str, int]
    tokens: dict[str, dict[str, int]]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a dict that json can write."""
        return {"word": self.word, "messages": self.documents, "tokens": self.tokens}

    def __str__(self) -> str:
        """Return what ``print`` shows."""
        if not self.tokens:
            return f"no message that the model learned has {escape(self.word)!r}\n"
        lines = ["  ".join(f"{name:>7}" for name in self.documents)]
        for token, counts in self.tokens.items():
            shares = [100 * count / max(1, self.documents[name]) for name, count in counts.items()]
            explanation = meaning(token)
            description = f"{escape(token)}{explanation and f'  ({escape(explanation)})'}"
            lines.append("  ".join([*(f"{share:>5.3g} %" for share in shares), description]))
        return "\n".join(lines) + "\n"


def word(model: FilePath, word: str) -> WordReport:
    """Return how many messages of each class have a word: in the body, in the subject and in other places.

    Raises SpamnbError if there is no such model.
    """
    from spamnb.store.store import Store

    with Store.open(file_path(model)) as store:
        return word_of(store, word)


def word_of(store: Store, word: str) -> WordReport:
    """Return the report of ``word`` for a model that is open."""
    with store.reading():
        encoded = word.lower().encode("utf-8", "replace")
        ending = "substr(CAST(token AS BLOB), -length(?1) - 1)"  # of bytes: substr of a text ends at its first NUL
        query = f"SELECT token FROM tokens WHERE CAST(token AS BLOB) = ?1 OR {ending} = ?2"  # noqa: S608
        rows = store.execute(query, (encoded, b":" + encoded))
        tokens = [token for (token,) in rows] if encoded else []
        counts, totals = store.look_up(tokens), store.totals()
    in_model = [tokens[place] for place in counts.positions.tolist()]
    counts_by_token = {
        token: dict(zip(totals.classes, token_counts.tolist()))
        for token, token_counts in zip(in_model, counts.document_counts.T)
    }
    common = sorted(counts_by_token, key=lambda token: (-sum(counts_by_token[token].values()), token))
    documents = dict(zip(totals.classes, totals.documents.tolist()))
    return WordReport(word, documents, {token: counts_by_token[token] for token in common})
