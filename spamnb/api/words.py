"""``spamnb.words``: what each class is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spamnb.api.notices import Tell, warn
from spamnb.api.options import FilePath, check_least, model_path
from spamnb.counts.top_words import TellingWord, TopWords, Word
from spamnb.naming import escape, pluralize

if TYPE_CHECKING:
    from spamnb.store.store import Store


SHOWN = 3  # words at a prompt


@dataclass(frozen=True)
class WordsReport:
    """The words of a model: ``print`` shows the command line's table, a notebook a wider one.

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
    """

    likeliest: dict[str, list[Word]]
    informative: list[TellingWord]

    def __repr__(self) -> str:
        most = max(map(len, self.likeliest.values()), default=0)
        words = f"{pluralize(most, 'word')} each of {', '.join(self.likeliest)}"
        telling = ", ".join(escape(word.token) for word in self.informative[:SHOWN])
        return f"WordsReport({words}{telling and f'; the most telling: {telling}'})"

    def _table(self) -> TopWords:
        return TopWords(self.likeliest, self.informative)

    def to_dict(self) -> dict[str, Any]:
        """The report as what json can hold: likeliest {class: [{token, probability}]}, informative [{token, bits,
        class}].

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> list(spamnb.words("model.spamnb").to_dict())
        ['likeliest', 'informative']
        """
        from spamnb.report.words import words_record

        return words_record(self._table())

    def to_frame(self) -> Any:
        """A data frame of pandas, a row for each word: its list (a class or "mutual information"), rank,
        token, value and class, which is the one that an informative word speaks for. Raises SpamnbError without pandas.

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> spamnb.words("model.spamnb", top=3).to_frame().columns.tolist()
        ['list', 'rank', 'token', 'value', 'class']
        """
        from spamnb.report.frames import frame
        from spamnb.report.words import COLUMNS, words_rows

        rows = words_rows(self._table())
        return frame({name: [row[i] for row in rows] for i, name in enumerate(COLUMNS)})

    def to_csv(self) -> str:
        """The same rows as CSV text, which needs no other library; unprintable characters are escaped.

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> spamnb.words("model.spamnb", top=1).to_csv().splitlines()[0]
        'list,rank,token,value,class'
        """
        from spamnb.report.words import words_csv

        return words_csv(self._table())

    def __str__(self) -> str:
        from spamnb.report.words import words_text

        return words_text(self._table())

    def _repr_html_(self) -> str:
        from spamnb.report.notebook import words_html

        return words_html(self._table())


def words(model: FilePath, top: int = 15, *, everything: bool = False, tell: Tell = warn) -> WordsReport:
    """The ``top`` likeliest words of each class of a model, and the ``top`` with the highest mutual information.

    A word is likely when many messages of a class hold it: θ_jc = (N_jc + 1)/(N_c + 2), of N_c messages of class c the
    N_jc that hold word j. Its mutual information with the class, in bits, is how much knowing whether a message holds
    it tells about the message's class (Manning, Raghavan, Schütze 2008, section 13.5.1). ``everything`` shows all kinds
    of evidence, of headers, hosts and structure too, instead of words of body and subject alone. ``tell`` is given a
    line where no token is a word of text; by default this is a warning.

    Raises SpamnbError where there is no such model, or it has learned nothing.

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
    from spamnb.errors import SpamnbError
    from spamnb.store.snapshot import read_counts

    tokens, counts = read_counts(store)
    if not counts.classes:
        raise SpamnbError(f"{store.path}: has learned nothing yet; 'spamnb learn' adds messages")
    if not everything:
        counts, tokens = words_of_text(counts, tokens)
        if not len(tokens):
            tell(
                f"{store.path}: no token is a word of text; --all (in Python: everything=True) shows all kinds of"
                " evidence"
            )
    return WordsReport(*top_words(counts, tokens, top))
