"""``MailVectorizer``: messages as rows of token counts, a replacement for scikit-learn's ``CountVectorizer``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from spamnb.api.arguments import check_least
from spamnb.api.message_estimators import MessageEstimator, name_errors, set_parameters
from spamnb.errors import check_type
from spamnb.estimators.base import check_fitted
from spamnb.estimators.interface import TransformerMixin, has_scikit_learn
from spamnb.model.training_set import TrainingSet
from spamnb.reader.tokens import TokenArray
from spamnb.settings import TOKEN_SETTINGS, Settings

if TYPE_CHECKING:
    from scipy.sparse import csr_array


WRAPPING = ("part:", "charset:", "encoding:")  # beginnings of tokens that are the same for all texts without headers


class MailVectorizer(TransformerMixin, MessageEstimator):
    """Convert messages to a sparse array of token counts.

    A token is one piece of evidence in a message: a word, a pair of words, a header field, the host of a link, or the
    kind of a part. The columns are sorted by the tokens' 64-bit hashes, so they do not depend on the order of the
    messages.

    Parameters
    ----------
    min_df, max_df : int or float, default=1 and 1.0
        Minimum and maximum number of messages with a token. A float is a share of the messages, from 0 to 1. Other
        tokens have no column.
    max_features : int, default=None
        Maximum number of columns. The tokens that most messages have are preferred. None means no maximum.
    stop_words : collection of str or "english", default=None
        Words without a column. Pairs that contain such a word have no column, either. "english" are the words of
        scikit-learn's list, which it needs.
    ngram_range : tuple of int, default=None
        Least and most words of a token, in place of ``ngrams``, the most. With (2, 2) only pairs have a column.
    binary : bool, default=False
        Whether a token counts only once per message.
    mail, n_jobs, progress : bool, int or "auto"
        How messages are read, as in ``SpamClassifier``. With ``mail=False`` there are no columns for the kind of part,
        its charset and its encoding, which are the same for all texts.
    tokenizer, stem, ngrams, body_only, ignore_headers : str, int, bool, None or iterable of str
        How messages become tokens, as in ``Settings``.

    Attributes
    ----------
    tokens_ : TokenArray
        Tokens of the columns.
    vocabulary_ : dict
        Column of each token.

    See Also
    --------
    SpamClassifier : The filter, for lists of messages.

    Notes
    -----
    The rows have the shape (n_messages, n_tokens), and contain the number of occurrences of each token, or 1 if
    ``binary``.

    A wrong parameter raises an error that is both a SpamnbError and a ValueError. TypeError is raised for an X that is
    not a list of messages, and ValueError if no token is left for a column.

    Examples
    --------
    >>> vectorizer = MailVectorizer(ngrams=1, body_only=True)
    >>> X = vectorizer.fit_transform(["lunch at noon", "cheap cheap pills"])
    >>> X.shape, X[:, [vectorizer.vocabulary_["cheap"]]].toarray().ravel()
    ((2, 10), array([0, 2]))
    >>> sorted(vectorizer.get_feature_names_out()[X[[0]].indices])
    ['at', 'capitals:0', 'caps:0', 'length:2', 'line:4', 'lunch', 'noon']
    >>> vectorizer.set_output(transform="default").fit(["lunch at noon"]).transform(["lunch at eight"]).nnz
    6
    >>> X = MailVectorizer(stop_words=["at"], body_only=True).fit(["tea at noon"]).inverse_transform([[1] * 6])
    >>> sorted(X[0])
    ['capitals:0', 'caps:0', 'length:2', 'line:4', 'noon', 'tea']
    """

    min_df: float
    max_df: float
    max_features: int | None
    stop_words: Collection[str] | None
    ngram_range: tuple[int, int] | None
    binary: bool
    tokens_: TokenArray  # (V,) ascending by hash

    def __init__(
        self,
        *,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        stop_words: Collection[str] | None = None,
        ngram_range: tuple[int, int] | None = None,
        binary: bool = False,
        mail: bool | str = "auto",
        n_jobs: int | None = -1,
        progress: bool = False,
        tokenizer: str = Settings.tokenizer,
        stem: str | None = Settings.stem,
        ngrams: int = Settings.ngrams,
        body_only: bool = Settings.body_only,
        ignore_headers: Iterable[str] = Settings.ignore_headers,
    ) -> None:
        set_parameters(self, locals())

    def fit(self, X: Iterable[str | bytes], y: object = None) -> Self:
        """Select the tokens of the columns.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.
        y : object, default=None
            Ignored.

        Returns
        -------
        Self
            The fitted vectorizer.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[str | bytes], y: object = None) -> Any:
        with name_errors(self):
            bounds: dict[str, Any] = {"min_df": self.min_df, "max_df": self.max_df}
            integer_bounds = {name: x for name, x in bounds.items() if not (isinstance(x, float) and 0 <= x <= 1)}
            check_least(1, max_features=self.max_features, **integer_bounds)
            check_type("stop_words", self.stop_words, Collection | None, "a list of words")
            stop_words = self._get_stop_words()
        training_set = self._count(X, self._make_token_settings())
        training_set = training_set.select_columns(self._select_columns(training_set, stop_words))
        if not len(training_set.tokens):
            raise ValueError(f"no token of X is left: min_df is {self.min_df}, max_df is {self.max_df}")
        # A copy, because ``training_set.tokens`` also contains the texts of the tokens without a column.
        self.tokens_ = TokenArray.of_packed(training_set.tokens.packed(), training_set.tokens.lengths)
        self.__dict__.pop("vocabulary_", None)
        return self._format_output(self._make_matrix(training_set, np.arange(len(self.tokens_))), X)

    def transform(self, X: Iterable[str | bytes]) -> Any:
        """Count the tokens of the columns. Other tokens are ignored.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.

        Returns
        -------
        csr_array of shape (n_messages, n_tokens)
            Occurrences of each token, or 1 if ``binary``.
        """
        check_fitted(self, "tokens_")
        messages, hashes = self._count(X, self._make_token_settings()), self.tokens_.hashes
        columns = np.minimum(np.searchsorted(hashes, messages.tokens.hashes), len(hashes) - 1)
        has_column = hashes[columns] == messages.tokens.hashes
        training_set = messages.select_columns(np.flatnonzero(has_column))
        return self._format_output(self._make_matrix(training_set, columns[has_column]), X)

    def _format_output(self, rows: Any, X: Any) -> Any:
        """Return the rows, as a sparse data frame if this was set, because those of scikit-learn are dense."""
        if not has_scikit_learn:
            return rows
        from sklearn import get_config

        config = getattr(self, "_sklearn_output_config", {}).get("transform") or get_config()["transform_output"]
        if config != "pandas":
            return rows
        from pandas import DataFrame

        frame = DataFrame.sparse.from_spmatrix(rows, columns=self.get_feature_names_out())
        return frame.set_axis(X.index) if hasattr(X, "iloc") else frame

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the tokens of the columns.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        array of shape (n_columns,)
            Tokens.
        """
        check_fitted(self, "tokens_")
        return np.array(list(self.tokens_), dtype=object)

    @cached_property
    def vocabulary_(self) -> dict[str, int]:
        """Column of each token: dict."""
        return {token: column for column, token in enumerate(self.get_feature_names_out().tolist())}

    def inverse_transform(self, X: Any) -> list[NDArray[np.object_]]:
        """Return the tokens of each row, in the order of the columns.

        Parameters
        ----------
        X : array or sparse array of shape (n_messages, n_tokens)
            Rows.

        Returns
        -------
        list of arrays
            Tokens of each row.
        """
        from scipy.sparse import csr_array

        names, rows = self.get_feature_names_out(), csr_array(X)
        return [names[np.sort(rows.indices[a:b][rows.data[a:b] != 0])] for a, b in pairwise(rows.indptr)]

    def _make_token_settings(self) -> Settings:
        if self.ngram_range is None:
            return self._make_settings(TOKEN_SETTINGS)
        with name_errors(self):
            is_pair = isinstance(self.ngram_range, Sequence) and len(self.ngram_range) == 2
            if not is_pair or not 1 <= self.ngram_range[0] <= self.ngram_range[1]:
                raise ValueError(
                    f"ngram_range is {self.ngram_range!r:.60}: give the least and the most words, as (1, 2)"
                )
        return self._make_settings(TOKEN_SETTINGS, ngrams=self.ngram_range[1])

    def _get_stop_words(self) -> Collection[str] | None:
        if not isinstance(self.stop_words, str):
            return self.stop_words
        if self.stop_words != "english":  # a str is a collection of letters
            raise ValueError(f"stop_words is {self.stop_words!r:.60}: give a list of words, or 'english'")
        if not has_scikit_learn:
            raise ValueError(
                "stop_words='english' needs scikit-learn: pip install scikit-learn, or give a list of words"
            )
        from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

        return ENGLISH_STOP_WORDS

    def _select_columns(self, training_set: TrainingSet, stop_words: Collection[str] | None) -> NDArray[np.int64]:
        """Return the columns to keep, ascending by hash. Of equally frequent tokens lower hashes are preferred."""
        n, columns = len(training_set.rows), training_set.columns_by_hash()
        minimum, maximum = (bound * n if isinstance(bound, float) else bound for bound in (self.min_df, self.max_df))
        frequency = training_set.document_frequency()
        columns = columns[(minimum <= frequency[columns]) & (frequency[columns] <= maximum)]
        if self.mail is False:
            tokens = list(training_set.tokens)
            columns = columns[[not tokens[j].startswith(WRAPPING) for j in columns.tolist()]]
        least = 1 if self.ngram_range is None else self.ngram_range[0]
        if stop_words is not None or least > 1:
            stopped, tokens = {word.lower() for word in stop_words or ()}, list(training_set.tokens)
            # A token is one or more words, with or without a prefix that ends with a colon.
            words = [tokens[j].rpartition(":")[2].split() for j in columns.tolist()]
            columns = columns[[stopped.isdisjoint(each) and (least == 1 or len(each) >= least) for each in words]]
        if self.max_features is not None:
            columns = columns[np.sort(np.argsort(-frequency[columns], kind="stable")[: self.max_features])]
        return columns

    def _make_matrix(self, training_set: TrainingSet, columns: NDArray[np.int64]) -> csr_array:
        """Return rows (n, V) of the messages, in which token i of the training set has the column ``columns[i]``."""
        from scipy.sparse import csr_array

        rows = training_set.rows.take(np.argsort(training_set.rows.positions)).matrix()
        X = csr_array((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], len(self.tokens_)))
        X.sum_duplicates()
        if X.nnz < 2**31 - 1:  # because liblinear does not accept indices of 64 bits
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        if self.binary:
            X.data[:] = 1
        return X
