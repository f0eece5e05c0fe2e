"""Messages → a sparse matrix, in the place of scikit-learn's CountVectorizer and HashingVectorizer."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from functools import cached_property, partial
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spamnb.api.arguments import settings_of, threads_of
from spamnb.api.given import entries_of, tell_unreadable, with_settings
from spamnb.engines.counting import count_parallel
from spamnb.engines.executor import of_chunks
from spamnb.errors import SpamnbError
from spamnb.estimators.parameters import Parameters
from spamnb.estimators.validation import not_fitted
from spamnb.reader.message import Reader
from spamnb.reader.options import TokenOptions
from spamnb.reader.token_array import TokenArray
from spamnb.reader.vocabulary import Vocabulary
from spamnb.setting_fields import settings_in
from spamnb.settings import TokenSettings
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_COLUMNS = 2**31 - 1
MAX_TOKENS = 1 << 20  # different tokens that a thread remembers: a stream may bring any number


class _Vectorizer(Parameters, ABC):
    """What both share: messages become rows whose columns follow from the hashes of their tokens."""

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

    @abstractmethod
    def _columns(self, hashes: NDArray[np.int64]) -> NDArray[np.int64]:
        """The column of each of the tokens with these hashes (k,); −1 for one that has none."""

    def _rows(self, X: Iterable[str | bytes], n_columns: int) -> csr_array:
        """How often the messages X hold the tokens of each column, (n, n_columns)."""
        from scipy.sparse import csr_array, vstack

        options = self._options()
        make = partial(_reading, options, self._columns, n_columns)
        parts = list(of_chunks(entries_of(X, self.input), make, threads_of(self.n_jobs)))
        return self._finished(vstack([csr_array((0, n_columns), dtype=np.int32), *parts], format="csr"))

    def _finished(self, X: csr_array) -> csr_array:
        """The matrix as it was asked for: columns ascending in each row, none twice; indices of 32 bits where these do,
        since liblinear takes no others."""
        X.sum_duplicates()
        if max(X.nnz, *X.shape) < MAX_COLUMNS:
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


def _reading(
    options: TokenOptions, columns_of: Callable[[NDArray[np.int64]], NDArray[np.int64]], n_columns: int
) -> Callable[[list[Entry]], csr_array]:
    """What reads some messages at a time as rows, (n, n_columns), for one thread."""
    from scipy.sparse import csr_array

    reader, vocabulary, columns = Reader(options), Vocabulary(), np.zeros(0, np.int64)

    def read(chunk: list[Entry]) -> csr_array:
        nonlocal vocabulary, columns
        if len(vocabulary) > MAX_TOKENS:
            vocabulary, columns = Vocabulary(), columns[:0]
        rows = reader.read([entry.read() for entry in chunk], vocabulary, identify=False).rows
        new = vocabulary.named(np.arange(len(columns), len(vocabulary)))
        columns = np.concatenate([columns, columns_of(new.hashes)])
        found = columns[rows.ids]
        ends = np.concatenate([[0], np.cumsum(found >= 0)])[rows.indptr]
        return csr_array((rows.counts[found >= 0], found[found >= 0], ends), shape=(len(chunk), n_columns))

    return read


@with_settings(TokenOptions)
class MailVectorizer(_Vectorizer):
    """Messages → how often each holds which token, as a CSR array (messages, tokens).

    A token is what spamnb reads in a message: words of its text and pairs of them, headers, hosts of links, what its
    HTML and its parts are. X is a list of messages: bytes are raw mail and a str is a text without headers, unless
    ``input`` is "mail" or "text" for both. Column j is the j-th token by its 64-bit hash, whatever the order of the
    messages and the number of threads.

    ``tokenizer``, ``stem``, ``ngrams``, ``body_only`` and ``ignore_headers`` are those of ``TokenOptions``. ``min_df``
    leaves out tokens that fewer messages hold, ``binary`` tells presence only, ``dtype`` is that of the counts, and
    ``n_jobs`` threads (-1: one a core) share more than 300 messages.

    Raises ValueError for a parameter that cannot be and for mail without any token, TypeError for what is no message.

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
        options, entries = self._options(), entries_of(X, self.input)
        if self.min_df < 1:
            raise ValueError(f"min_df is {self.min_df}: give a number of messages, at least 1")
        workers, folder = threads_of(self.n_jobs), Path(gettempdir())
        counted = count_parallel(entries, options, folder, tell_unreadable, workers=workers)
        counted = counted.select_columns(np.flatnonzero(counted.counts.document_frequency() >= self.min_df))
        if not len(counted.tokens):
            raise ValueError(f"no token that at least {self.min_df} of the messages of X hold")
        # A copy: the text of those left out goes.
        self.tokens_ = TokenArray.packed_in(counted.tokens.packed(), counted.tokens.lengths)
        self.__dict__.pop("vocabulary_", None)
        return self._finished(counted.matrix())

    def transform(self, X: Iterable[str | bytes]) -> csr_array:
        """How often the messages X hold each token of the fit, (n, V); other tokens are left out."""
        self._check_fitted()
        return self._rows(X, len(self.tokens_))

    def _check_fitted(self) -> None:
        if not hasattr(self, "tokens_"):
            raise not_fitted(self)

    def _columns(self, hashes: NDArray[np.int64]) -> NDArray[np.int64]:
        known = self.tokens_.hashes
        places = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        return np.where(known[places] == hashes, places, -1)

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

    There is nothing to fit, so it reads a stream of any length in the same memory, and any number of machines agree on
    the columns. Several tokens may share a column, and columns have no names: of k different tokens about
    1 - exp(-k / n_features) share one.

    The other parameters are those of ``MailVectorizer``. Raises ValueError for one that cannot be.

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
        return self.fit()._rows(X, self.n_features)

    def fit_transform(self, X: Iterable[str | bytes], y: object = None) -> csr_array:
        """``transform``, since there is nothing to fit."""
        return self.transform(X)

    def _columns(self, hashes: NDArray[np.int64]) -> NDArray[np.int64]:
        upper = hashes.view(np.uint64) >> np.uint64(32)
        return ((upper * np.uint64(self.n_features)) >> np.uint64(32)).astype(np.int64)
