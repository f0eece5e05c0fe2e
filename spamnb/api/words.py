"""``spamnb.words``: the likeliest words of each class, and the words that separate the classes best."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, zip_longest
from typing import TYPE_CHECKING, Any

from spamnb.api.arguments import FilePath, Tell, check_least, file_path, warn
from spamnb.api.report import Report
from spamnb.errors import SpamnbError, Wording
from spamnb.model.top_words import InformativeWord, Word
from spamnb.reader.meaning import describe
from spamnb.report.table import Table, render_text
from spamnb.shown_text import align_columns, escape, format_share, format_share_heads

if TYPE_CHECKING:
    from spamnb.store.store import Store

TABLES_A_ROW = 4  # in a notebook; with two classes there are three tables


@dataclass(frozen=True, repr=False)
class WordsReport(Report):
    """The words of a model. ``print`` shows the table of 'spamnb words'.

    Parameters
    ----------
    likeliest : dict of list of Word
        The likeliest tokens of each class. Their value is θ_jc, the probability that a message of the class has the
        token.
    informative : list of InformativeWord
        The tokens with the highest mutual information with the class. Their value is this information in bits, and
        their label is the class about which the token says most, after "not" if it speaks against this class. For a
        single class the list is empty.

    See Also
    --------
    WordsDisplay : Draws ``informative`` as bars.

    Examples
    --------
    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> report = spamnb.words("model.spamnb", top=2)
    >>> report
    <WordsReport: ham ... spam ... highest MI ...>
    >>> report.informative
    [InformativeWord(token='...', value=0..., label='...'), InformativeWord(token='...', value=0..., label='...')]
    >>> list(report.to_dict())
    ['likeliest', 'informative']
    """

    likeliest: dict[str, list[Word]]
    informative: list[InformativeWord]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as values of JSON.

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
        from rich.console import Console

        return self.text(Console().width)

    def text(self, width: int) -> str:
        """Return the table that ``print`` shows.

        Parameters
        ----------
        width : int
            Maximum number of characters of a line. Columns that do not fit are below the others.

        Returns
        -------
        str
            The table.

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
            table.add_row()  # an empty row before the table below
        lines = render_text(Columns(tables, padding=(0, 2)), width=width).rstrip().splitlines()
        return "\n".join(line.rstrip() for line in lines) + "\n"

    def _tables(self) -> list[Table]:
        """Return a table of the likeliest words per class, and a table of the most informative words."""
        tables = [
            Table("", (escape(name), "p"), [(escape(word.token), f"{word.value:.3f}") for word in words])
            for name, words in self.likeliest.items()
        ]
        if self.informative:
            rows = [(escape(word.token), f"{word.value:.3f}", escape(word.label)) for word in self.informative]
            tables.append(Table("", ("highest MI", "bits", "speaks for"), rows))
        return tables

    def _repr_html_(self) -> str:
        """Return the tables side by side, a few in a row, because a notebook cuts off what is wider than its page."""
        tables, parts = self._tables(), []
        for first in range(0, len(tables), TABLES_A_ROW):
            group = tables[first : first + TABLES_A_ROW]
            rows = [
                tuple(chain.from_iterable(row or ("",) * len(table.head) for table, row in zip(group, side_by_side)))
                for side_by_side in zip_longest(*(table.rows for table in group))
            ]
            parts.append(Table("", tuple(chain.from_iterable(table.head for table in group)), rows).html())
        return "".join(parts)


def words(model: FilePath, top: int = 15, *, everything: bool = False, tell: Tell = warn) -> WordsReport:
    """Return the likeliest words of each class, and the words with the highest mutual information with the class.

    Parameters
    ----------
    model : str or path
        Model file.
    top : int, default=15
        Number of words in each list.
    everything : bool, default=False
        Whether to show all kinds of tokens (headers, hosts, structure), not only words of body and subject.
    tell : callable, default=warnings.warn
        Called with a line if no token is a word.

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
    The probability of word j in class c is θ_jc = (N_jc + 1)/(N_c + 2), if N_jc of the N_c messages of the class have
    the word. The mutual information with the class is the information that the presence of the word gives about the
    class of a message, in bits (Manning, Raghavan, Schütze 2008, section 13.5.1).

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
    """Return the report of ``words`` for an open model."""
    from spamnb.model.class_counts import DOCUMENTS
    from spamnb.model.top_words import top_words, words_of_text
    from spamnb.store.merging import read_block

    with store.reading():
        (tokens, cells, _), model = read_block(store), store.model
    classes = model.totals.classes
    if not classes:
        raise SpamnbError(f"{store.path}: has learned nothing yet; 'spamnb learn' adds messages")
    counts = cells.matrix(DOCUMENTS, len(tokens), len(model.class_ids))[model.nonempty_classes]
    if not everything:
        columns = words_of_text(tokens)
        counts, tokens = counts[:, columns], tokens.take(columns)
        if not len(tokens):
            template = "{path}: no token is a word of text; {option.everything} shows all kinds of evidence"
            tell(Wording(template, path=store.path))
    return WordsReport(*top_words(classes, model.totals.documents, counts, tokens, top))


@dataclass(frozen=True, repr=False)
class WordShares(Report):
    """The share of each class's messages that have a word. ``print`` shows the table of 'spamnb words WORD'.

    Parameters
    ----------
    word : str
        The word.
    messages : dict
        Number of messages of each class, with those of the model to which this one adds.
    shares : dict of dict
        Share of each class's messages that have a token, for each token with the word. The most common token is first.
        A lesson of a model that adds to another counts several times, as it does when mail is classified.

    Examples
    --------
    >>> import spamnb
    >>> _ = spamnb.train("corpora/mail", "model.spamnb")
    >>> print(word("model.spamnb", "meeting"))
      ham     spam
    ...
    """

    word: str
    messages: dict[str, int]
    shares: dict[str, dict[str, float]]

    def to_dict(self) -> dict[str, Any]:
        """Return the shares as values of JSON."""
        return {"word": self.word, "messages": self.messages, "shares": self.shares}

    def __str__(self) -> str:
        if not self.shares:
            return f"no message that the model learned has {escape(self.word)!r}\n"
        rows = [[*format_share_heads(self.messages), ""]]
        rows += [[*map(format_share, shares.values()), describe(token)] for token, shares in self.shares.items()]
        return "\n".join(align_columns(rows, range(len(self.messages)))) + "\n"


def word(model: FilePath, word: str) -> WordShares:
    """Return how many messages of each class have a word: in the body, in the subject and in other places."""
    from spamnb.store.store import Store

    with Store.open(file_path(model)) as store:
        return word_of(store, word)


def word_of(store: Store, word: str) -> WordShares:
    """Return the shares of ``word`` for an open model."""
    from spamnb.store.buckets import read_tokens

    encoded = word.lower().encode("utf-8", "replace")
    with store.reading():
        files = [store] if store.shared is None else [store, store.shared]
        parts = [part for file in files for part, *_ in read_tokens(file, len(file.own.class_ids), file.own.dimensions)]
        tokens = sorted({token for part in parts for token in part.ending_in(encoded)})
        counts, totals, messages = store.look_up(tokens).document_counts, store.model.totals, store.count_messages()
    sums, shares = counts.sum(axis=1).tolist(), (counts / totals.documents).tolist()
    order = sorted((-n, token, row) for token, n, row in zip(tokens, sums, shares) if n)
    return WordShares(word, messages, {token: dict(zip(totals.classes, row)) for _, token, row in order})
