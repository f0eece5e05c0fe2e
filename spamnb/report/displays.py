"""Pictures of words by matplotlib (extra ``plot``), made as scikit-learn's displays are.

Words come out of hostile mail: they are escaped, and never read as formulas. ROC, confusion and calibration are
scikit-learn's own displays, which take these estimators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.counts.top_words import TellingWord
from spamnb.errors import SpamnbError
from spamnb.formulas.mutual_information import mutual_information_from_counts, top_columns
from spamnb.reader.meaning import meaning
from spamnb.shown_text import escape

COLOURS = ("#1f6f8b", "#b5532d", "#2a8a4a", "#5b3e8f", "#d08a00", "#7a7a7a")  # of classes, again from the first
LONGEST = 40  # characters of a word


class _Bars:
    """Words as bars, the first on top, in the colour of the class that each speaks for.

    ``plot`` draws them, and sets ``ax_`` and ``figure_``.
    """

    x_label: str
    ax_: Any
    figure_: Any

    def __init__(self, words: Sequence[TellingWord]) -> None:
        self.words = list(words)

    def plot(self, ax: Any = None) -> Self:
        """Draw into matplotlib's axes ``ax``, or into a new figure. SpamnbError without matplotlib."""
        try:
            from matplotlib import pyplot
        except ImportError:
            raise SpamnbError("pictures need matplotlib: pip install matplotlib") from None
        self.ax_ = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        for number, name in enumerate(sorted({word.label for word in self.words})):
            rows = [row for row, word in enumerate(self.words) if word.label == name]
            values = [self.words[row].value for row in rows]
            # A name that begins with "_" would be no label; a dollar sign would begin a formula.
            label = escape(name).replace("$", r"\$")
            self.ax_.barh(rows, values, color=COLOURS[number % len(COLOURS)], label=f" {label}")
        tokens = [escape(word.token[:LONGEST]) for word in self.words]
        self.ax_.set_yticks(range(len(tokens)), tokens, parse_math=False)
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel(self.x_label)
        self.ax_.legend(title="speaks for")
        return self


class WordsDisplay(_Bars):
    """The words that tell classes apart: their mutual information with the class, and the class that each speaks for.

    >>> import spamnb
    >>> model = spamnb.BernoulliNB().fit([[1, 1], [1, 0], [0, 1], [0, 0]], ["ham", "ham", "spam", "spam"])
    >>> display = spamnb.WordsDisplay.from_estimator(model, 1, feature_names=["lunch", "the"])
    >>> display.words[0].token, display.plot().ax_.get_xlabel()
    ('lunch', 'mutual information with the class, bits')
    """

    x_label = "mutual information with the class, bits"

    @classmethod
    def from_estimator(
        cls, estimator: Any, top: int = 15, *, feature_names: ArrayLike | None = None, ax: Any = None
    ) -> Self:
        """Draw the ``top`` words of a fitted ``SpamClassifier``, or of a ``BernoulliNB`` whose columns are these."""
        if hasattr(estimator, "words"):
            return cls(estimator.words(top).informative).plot(ax)
        sums, names = estimator.sums_, feature_names
        names = getattr(estimator, "feature_names_in_", range(sums.n_features)) if names is None else names
        tokens = [str(name) for name in np.asarray(names).tolist()]
        bits = mutual_information_from_counts(sums.columns, sums.documents)
        speaks_for = estimator.classes_[estimator.feature_log_prob_.argmax(axis=0)]
        chosen = top_columns(bits, top, tokens)
        return cls([TellingWord(tokens[j], float(bits[j]), str(speaks_for[j])) for j in chosen]).plot(ax)


class ExplanationDisplay(_Bars):
    """What decided one message: the weight of each token for the likeliest class, in nats.

    >>> import spamnb
    >>> model = spamnb.SpamClassifier().fit(["lunch at noon", "cheap pills"], ["ham", "spam"])
    >>> spamnb.ExplanationDisplay.from_estimator(model, "cheap lunch", top=2).plot().ax_.get_xlabel()
    'weight for the likeliest class, nats'
    """

    x_label = "weight for the likeliest class, nats"

    @classmethod
    def from_estimator(cls, estimator: Any, message: str | bytes, top: int = 15, *, ax: Any = None) -> Self:
        """Draw the ``top`` tokens that weighed most in what a fitted ``SpamClassifier`` says of one message."""
        classification = estimator.explain(message, top).classification
        best, second = sorted(classification.probabilities, key=lambda name: -classification.probabilities[name])[:2]
        evidence = classification.evidence[:top]
        words = [TellingWord(meaning(token) or token, w, best if w > 0 else second) for token, w in evidence]
        return cls(words).plot(ax)
