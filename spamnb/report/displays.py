"""Charts of words by matplotlib (extra ``plot``), with the interface of scikit-learn's displays.

The words come from hostile mail. They are escaped, and matplotlib does not read them as formulas. For ROC curves,
confusion matrices and calibration curves use the displays of scikit-learn, which accept spamnb's estimators.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from spamnb.errors import SpamnbError
from spamnb.estimators.base import check_fitted
from spamnb.estimators.discrete import BernoulliNB
from spamnb.model.top_words import InformativeWord, top_words
from spamnb.reader.meaning import meaning
from spamnb.shown_text import escape

COLOURS = ("#1f6f8b", "#b5532d", "#2a8a4a", "#5b3e8f", "#d08a00", "#7a7a7a")  # of the classes, in turn
ALL_TOKENS = 10**6  # more than a message has
MAX_WORD_LENGTH = 40  # characters of a word that are shown, so that there is room for the bars


class _Bars:
    """A chart with a bar for each word, in the colour of the class that the word speaks for."""

    x_label: str
    ax_: Any
    figure_: Any

    def __init__(self, words: Sequence[InformativeWord]) -> None:
        self.words = list(words)

    def plot(self, ax: Any = None) -> Self:
        """Draw the bars, and set ``ax_`` and ``figure_``.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None makes a new figure.

        Returns
        -------
        Self
            The display.

        Raises
        ------
        SpamnbError
            If matplotlib is not installed.
        """
        try:
            from matplotlib import pyplot
        except ImportError:
            raise SpamnbError("charts need matplotlib: pip install matplotlib") from None
        self.ax_ = pyplot.subplots(layout="constrained")[1] if ax is None else ax
        self.figure_ = self.ax_.figure
        for number, name in enumerate(sorted({word.label for word in self.words})):
            rows = [row for row, word in enumerate(self.words) if word.label == name]
            values = [self.words[row].value for row in rows]
            # matplotlib reads the text after a dollar sign as a formula, and the legend leaves out a label that begins
            # with "_". The label therefore begins with a blank.
            label = escape(name).replace("$", r"\$")
            self.ax_.barh(rows, values, color=COLOURS[number % len(COLOURS)], label=f" {label}")
        tokens = [escape(word.token[:MAX_WORD_LENGTH]) for word in self.words]
        self.ax_.set_yticks(range(len(tokens)), tokens, parse_math=False)
        self.ax_.invert_yaxis()
        self.ax_.set_xlabel(self.x_label)
        self.ax_.legend(title="speaks for")
        return self


class WordsDisplay(_Bars):
    """The most informative words: their mutual information with the class, and the class that each word speaks for.

    Parameters
    ----------
    words : sequence of InformativeWord
        Words with their mutual information in bits and their classes, such as ``WordsReport.informative``.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the bars; set by ``plot``.
    figure_ : matplotlib.figure.Figure
        Figure of the axes; set by ``plot``.

    See Also
    --------
    ExplanationDisplay : The evidence of one classification.

    Examples
    --------
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
        """Draw the words of a fitted model.

        Parameters
        ----------
        estimator : SpamClassifier or BernoulliNB
            Fitted model.
        top : int, default=15
            Number of words.
        feature_names : array of shape (n_features,), default=None
            Words of the columns of a BernoulliNB. None uses the column names of its data frame, or column numbers.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None makes a new figure.

        Returns
        -------
        Self
            The display, drawn.

        Raises
        ------
        ValueError
            If the estimator is not fitted, or the number of names is not the number of columns.
        TypeError
            If the estimator is of another type.
        """
        if hasattr(estimator, "words"):
            return cls(estimator.words(top).informative).plot(ax)
        if not isinstance(estimator, BernoulliNB):
            raise TypeError(f"{type(estimator).__name__} has no words: give a SpamClassifier or a BernoulliNB")
        check_fitted(estimator)
        from scipy.sparse import csr_array

        sums, names = estimator.sums_, feature_names
        names = getattr(estimator, "feature_names_in_", range(sums.n_features)) if names is None else names
        tokens = [str(name) for name in np.asarray(names).tolist()]
        if len(tokens) != sums.n_features:
            raise ValueError(f"feature_names has {len(tokens)} names for {sums.n_features} columns")
        counts = csr_array(sums.columns)
        _, words = top_words(estimator.classes_.tolist(), sums.documents, counts, tokens, top)
        return cls(words).plot(ax)


class ExplanationDisplay(_Bars):
    """The evidence of one classification: the weight of each token for the likeliest class, in nats.

    Parameters
    ----------
    words : sequence of InformativeWord
        Tokens with their weights and classes.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        Axes with the bars; set by ``plot``.
    figure_ : matplotlib.figure.Figure
        Figure of the axes; set by ``plot``.

    See Also
    --------
    WordsDisplay : The most informative words of a model.

    Examples
    --------
    >>> import spamnb
    >>> model = spamnb.SpamClassifier().fit(["lunch at noon", "cheap pills"], ["ham", "spam"])
    >>> spamnb.ExplanationDisplay.from_estimator(model, "cheap lunch", top=2).plot().ax_.get_xlabel()
    'weight for the likeliest class, nats'
    """

    x_label = "weight for the likeliest class, nats"

    @classmethod
    def from_estimator(cls, estimator: Any, message: str | bytes, top: int = 15, *, ax: Any = None) -> Self:
        """Draw the tokens with the largest weights in the classification of one message.

        Tokens that all training messages have are left out, as in ``explain``.

        Parameters
        ----------
        estimator : SpamClassifier
            Fitted model.
        message : str or bytes
            Message to classify.
        top : int, default=15
            Number of tokens.
        ax : matplotlib.axes.Axes, default=None
            Axes to draw into; None makes a new figure.

        Returns
        -------
        Self
            The display, drawn.

        Raises
        ------
        TypeError
            If the estimator is of another type.
        """
        if not hasattr(estimator, "explain"):
            raise TypeError(f"{type(estimator).__name__} explains no message: give a SpamClassifier")
        explanation = estimator.explain(message, ALL_TOKENS)
        best, second, *_ = explanation.ranked_classes
        evidence = explanation.classification.evidence
        rare = [each for each, is_common in zip(evidence, explanation.is_common.tolist()) if not is_common][:top]
        return cls([InformativeWord(meaning(t), w, best if w > 0 else second) for t, w in rare]).plot(ax)
