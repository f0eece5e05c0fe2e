"""Messages → a sparse matrix, in the place of scikit-learn's CountVectorizer and HashingVectorizer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spamnb.api.arguments import settings_of, threads_of
from spamnb.api.given import entries_of, tell_unreadable, with_settings
from spamnb.counts.training_set import TrainingSet
from spamnb.engines.counting import count_parallel
from spamnb.errors import SpamnbError
from spamnb.estimators.parameters import Parameters
from spamnb.estimators.validation import not_fitted
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.setting_fields import settings_in
from spamnb.settings import TokenSettings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_COLUMNS = 2**31 - 1


class _Vectorizer(Parameters):
    """What both share: messages are counted, and the columns of their tokens are those of the vectorizer."""

    input: str
    binary: bool
    dtype: DTypeLike
    n_jobs: int | None
    _requires_fit = True

    def _options(self) -> TokenOptions:
        """The options of tokens; ValueError where they cannot be."""
        try:
            return settings_of({name: getattr(self, name) for name in settings_in(TokenOptions)}).tokens
        except SpamnbError as error:
            raise ValueError(str(error)) from None

    def _count(self, X: Iterable[str | bytes]) -> TrainingSet:
        """The messages X, counted by threads."""
        options, entries = self._options(), entries_of(X, self.input)
        return count_parallel(entries, options, tell_unreadable, workers=threads_of(self.n_jobs))

    def _matrix(self, counted: TrainingSet, columns: NDArray[np.int64], n_columns: int) -> csr_array:
        """The messages as rows (n, n_columns), where ``columns`` (k,) has the column of each counted token. Columns are
        ascending in each row, none twice."""
        from scipy.sparse import csr_array

        found = counted.matrix()
        X = csr_array((found.data, columns[found.indices], found.indptr), shape=(found.shape[0], n_columns))
        X.sum_duplicates()
        if X.nnz < MAX_COLUMNS:  # liblinear takes no indices of 64 bits
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        if self.binary:
            X.data[:] = 1
        return X.astype(self.dtype)

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
            requires_fit=self._requires_fit,
        )


@with_settings(TokenOptions)
class MailVectorizer(_Vectorizer):
    """Messages → how often each holds which token, as a CSR array (messages, tokens).

    A token is what spamnb reads in a message: words of its text and pairs of them, headers, hosts of links, what its
    HTML and its parts are. X is a list of messages: bytes are raw mail and a str is a text without headers, unless
    ``input`` is "mail" or "text" for both. Column j is the j-th token by its 64-bit hash, whatever the order of the
    messages and the number of threads.

    ``tokenizer``, ``stem``, ``ngrams``, ``body_only`` and ``ignore_headers`` are those of ``TokenOptions``. ``min_df``
    leaves out tokens that fewer messages hold, ``binary`` counts a token once per message, ``dtype`` is the type of the
    counts, and ``n_jobs`` threads (-1: one per core) share the work.

    Raises ValueError for a wrong parameter and for mail without any token, TypeError for an X that holds no messages.

    >>> vectorizer = MailVectorizer(ngrams=1, body_only=True)
    >>> X = vectorizer.fit_transform(["lunch at noon", "cheap cheap pills"])
    >>> X.shape, X[:, [vectorizer.vocabulary_["cheap"]]].toarray().ravel()
    ((2, 10), array([0, 2]))
    >>> sorted(vectorizer.get_feature_names_out()[X[[0]].indices])
    ['at', 'capitals:0', 'caps:0', 'length:2', 'line:4', 'lunch', 'noon']
    >>> vectorizer.fit(["lunch at noon"]).transform(["lunch at eight"]).nnz
    6
    """

    tokens_: TokenArray  # (V,) those of the columns, ascending by hash

    def __init__(
        self,
        *,
        input: str = "auto",
        min_df: int = 1,
        binary: bool = False,
        dtype: DTypeLike = np.int64,
        n_jobs: int | None = -1,
        **tokens: Unpack[TokenSettings],
    ) -> None:
        self.input = input
        self.min_df = min_df
        self.binary = binary
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: Iterable[str | bytes], y: object = None) -> Self:
        """Set the columns: a token each that ``min_df`` of the messages X hold; y is not looked at."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Iterable[str | bytes], y: object = None) -> csr_array:
        """``fit`` and then ``transform``, (n, V), with every message read once."""
        if self.min_df < 1:
            raise ValueError(f"min_df is {self.min_df}: give a number of messages, at least 1")
        counted = self._count(X)
        counted = counted.select_columns(np.flatnonzero(counted.counts.document_frequency() >= self.min_df))
        if not len(counted.tokens):
            raise ValueError(f"no token that at least {self.min_df} of the messages of X hold")
        # A copy: the text of those left out goes.
        self.tokens_ = TokenArray.packed_in(counted.tokens.packed(), counted.tokens.lengths)
        self.__dict__.pop("vocabulary_", None)
        return self._matrix(counted, np.arange(len(self.tokens_)), len(self.tokens_))

    def transform(self, X: Iterable[str | bytes]) -> csr_array:
        """How often the messages X hold each token of the fit, (n, V); other tokens are left out."""
        self._check_fitted()
        counted, known = self._count(X), self.tokens_.hashes
        columns = np.minimum(np.searchsorted(known, counted.tokens.hashes), len(known) - 1)
        is_known = known[columns] == counted.tokens.hashes
        return self._matrix(counted.select_columns(np.flatnonzero(is_known)), columns[is_known], len(known))

    def _check_fitted(self) -> None:
        if not hasattr(self, "tokens_"):
            raise not_fitted(self)

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The token of each column, (V,); ``input_features`` is not looked at."""
        self._check_fitted()
        return np.array(list(self.tokens_), dtype=object)

    @cached_property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each token."""
        return {token: column for column, token in enumerate(self.get_feature_names_out().tolist())}


@with_settings(TokenOptions)
class HashingMailVectorizer(_Vectorizer):
    """``MailVectorizer`` without a vocabulary: a token's column follows from its hash, (messages, n_features).

    There is nothing to fit, so the parts of a stream can be read one after the other, on any number of machines.
    Several tokens may share a column, and columns have no names: of k different tokens about 1 - exp(-k / n_features)
    share one.

    The other parameters are those of ``MailVectorizer``. Raises ValueError for a wrong one.

    >>> X = HashingMailVectorizer(n_features=2**18).transform(["lunch at noon", b"Subject: pills\\n\\nbuy cheap pills"])
    >>> X.shape
    (2, 262144)
    >>> HashingMailVectorizer().fit().fit_transform(["lunch"]).nnz
    8
    """

    _requires_fit = False

    def __init__(
        self,
        n_features: int = 2**20,
        *,
        input: str = "auto",
        binary: bool = False,
        dtype: DTypeLike = np.int64,
        n_jobs: int | None = -1,
        **tokens: Unpack[TokenSettings],
    ) -> None:
        self.n_features = n_features
        self.input = input
        self.binary = binary
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: object = None, y: object = None) -> Self:
        """Check the parameters; neither X nor y is looked at."""
        if not 1 <= self.n_features <= MAX_COLUMNS:
            raise ValueError(f"n_features is {self.n_features}: give a number of columns from 1 to {MAX_COLUMNS}")
        self._options()
        return self

    def transform(self, X: Iterable[str | bytes]) -> csr_array:
        """How often the messages X hold tokens of each column, (n, n_features)."""
        counted = self.fit()._count(X)
        upper = counted.tokens.hashes.view(np.uint64) >> np.uint64(32)
        columns = ((upper * np.uint64(self.n_features)) >> np.uint64(32)).astype(np.int64)
        return self._matrix(counted, columns, self.n_features)

    def fit_transform(self, X: Iterable[str | bytes], y: object = None) -> csr_array:
        """``transform``, since there is nothing to fit."""
        return self.transform(X)
