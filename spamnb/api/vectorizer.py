"""``MailVectorizer``: messages as rows of token counts, in the place of scikit-learn's CountVectorizer."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from spamnb.api.arguments import check_least
from spamnb.api.message_estimators import MessageEstimator, name_errors, set_parameters
from spamnb.counts.training_set import TrainingSet
from spamnb.errors import check_type
from spamnb.estimators.base import Transformer
from spamnb.reader.options import TokenOptions
from spamnb.reader.tokens import TokenArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


class MailVectorizer(MessageEstimator, Transformer):
    """Turn messages into a sparse array of token counts.

    A token is one piece of evidence in a message: a word of its text, a pair of words, a header field, the host of a
    link, a kind of part. Column j is the j-th token by its 64-bit hash, whatever the order of the messages.

    Parameters
    ----------
    min_df, max_df : int or float, default=1 and 1.0
        Tokens in fewer than ``min_df`` or more than ``max_df`` messages are left out. A float is a share of the
        messages, from 0 to 1.
    max_features : int, default=None
        Number of tokens to keep; tokens that more messages have come first. None keeps all.
    stop_words : collection of str, default=None
        Words to leave out, and all pairs with one of them.
    binary : bool, default=False
        Whether a token counts once per message.
    mail : bool or "auto", default="auto"
        Whether messages are raw mail or texts without headers, as in ``SpamClassifier``.
    n_jobs : int, default=-1
        Threads that share the work; -1 is one per core. The results do not depend on it.
    progress : bool, default=False
        Whether to show progress, in a terminal or a notebook.
    tokenizer, stem, ngrams, body_only, ignore_headers : str, int, bool, None or iterable of str
        How messages become tokens, as in ``TokenOptions``.

    Attributes
    ----------
    tokens_ : TokenArray
        Tokens of the columns.
    vocabulary_ : dict
        Column of each token.

    See Also
    --------
    SpamClassifier : The whole filter, for lists of messages.

    Notes
    -----
    A wrong parameter raises an error that is a SpamnbError and a ValueError. ValueError is also raised for messages
    without any token, and TypeError for an X that holds no messages.

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
    binary: bool
    _fitted_attribute = "tokens_"
    tokens_: TokenArray  # (V,) the token of each column, ascending by hash

    def __init__(
        self,
        *,
        min_df: float = 1,
        max_df: float = 1.0,
        max_features: int | None = None,
        stop_words: Collection[str] | None = None,
        binary: bool = False,
        mail: bool | str = "auto",
        n_jobs: int | None = -1,
        progress: bool = False,
        tokenizer: str = "own",
        stem: str | None = None,
        ngrams: int = 2,
        body_only: bool = False,
        ignore_headers: Iterable[str] = ("newsgroups", "xref", "path"),
    ) -> None:
        set_parameters(self, locals())

    def fit(self, X: Iterable[str | bytes], y: object = None) -> Self:
        """Choose the tokens of the columns.

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
        """Choose the tokens and count them: ``fit``, then ``transform``, with every message read once.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.
        y : object, default=None
            Ignored.

        Returns
        -------
        csr_array of shape (n_messages, n_tokens)
            Occurrences of each token, or 1 if ``binary``.
        """
        with name_errors(self):
            bounds: dict[str, Any] = {"min_df": self.min_df, "max_df": self.max_df}
            integer_bounds = {name: x for name, x in bounds.items() if not (isinstance(x, float) and 0 <= x <= 1)}
            check_least(1, max_features=self.max_features, **integer_bounds)
            check_type("stop_words", self.stop_words, Collection | None, "a list of words")
            if isinstance(self.stop_words, str):  # a str is a collection too, of its letters
                raise ValueError(f"stop_words is {self.stop_words!r:.60}: give a list of words")
        counted = self._count(X, self._make_settings(TokenOptions).tokens)
        counted = counted.select_columns(self._chosen_columns(counted))
        if not len(counted.tokens):
            raise ValueError(f"no token of X is left: min_df is {self.min_df}, max_df is {self.max_df}")
        # A copy, because ``counted.tokens`` also holds the text of the tokens that are left out.
        self.tokens_ = TokenArray.of_packed(counted.tokens.packed(), counted.tokens.lengths)
        self.__dict__.pop("vocabulary_", None)
        return self._format_output(self._matrix(counted, np.arange(len(self.tokens_))), X)

    def transform(self, X: Iterable[str | bytes]) -> Any:
        """Count the tokens of the columns; others are left out.

        Parameters
        ----------
        X : iterable of str or bytes
            Messages.

        Returns
        -------
        csr_array of shape (n_messages, n_tokens)
            Occurrences of each token, or 1 if ``binary``.
        """
        self._check_fitted()
        counted, hashes = self._count(X, self._make_settings(TokenOptions).tokens), self.tokens_.hashes
        columns = np.minimum(np.searchsorted(hashes, counted.tokens.hashes), len(hashes) - 1)
        is_known = hashes[columns] == counted.tokens.hashes
        return self._format_output(self._matrix(counted.select_columns(np.flatnonzero(is_known)), columns[is_known]), X)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """Return the token of each column.

        Parameters
        ----------
        input_features : object, default=None
            Ignored.

        Returns
        -------
        array of shape (n_tokens,)
            Tokens.
        """
        self._check_fitted()
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

    def _chosen_columns(self, counted: TrainingSet) -> NDArray[np.int64]:
        """Return the columns to keep, ascending by hash; of equally frequent tokens, those with lower hashes."""
        n, columns = len(counted.included_positions()), counted.by_hash()
        least, most = (bound * n if isinstance(bound, float) else bound for bound in (self.min_df, self.max_df))
        frequency = counted.counts.document_frequency()
        columns = columns[(least <= frequency[columns]) & (frequency[columns] <= most)]
        if self.stop_words is not None:
            stopped, tokens = {word.lower() for word in self.stop_words}, list(counted.tokens)
            # A token is a word, a run of words, or has a prefix that ends with a colon.
            has_none = [stopped.isdisjoint(tokens[j].rpartition(":")[2].split()) for j in columns.tolist()]
            columns = columns[has_none]
        if self.max_features is not None:
            columns = columns[np.sort(np.argsort(-frequency[columns], kind="stable")[: self.max_features])]
        return columns

    def _matrix(self, counted: TrainingSet, columns: NDArray[np.int64]) -> csr_array:
        """Return rows (n, V) of the messages, indices ascending; token i of ``counted`` is in column ``columns[i]``."""
        from scipy.sparse import csr_array

        rows = counted.matrix()[np.argsort(counted.included_positions())]
        X = csr_array((rows.data, columns[rows.indices], rows.indptr), shape=(rows.shape[0], len(self.tokens_)))
        X.sum_duplicates()
        if X.nnz < 2**31 - 1:  # liblinear takes no indices of 64 bits
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        if self.binary:
            X.data[:] = 1
        return X
