"""Messages → a sparse matrix, in the place of scikit-learn's CountVectorizer and HashingVectorizer."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple, Self, Unpack

import numpy as np
from numpy.typing import DTypeLike, NDArray

from spamnb.api.arguments import settings_of, threads_of
from spamnb.api.configured import with_settings
from spamnb.api.given import entries_of, tell_unreadable
from spamnb.api.rows import SignedColumns, matrix_of, rows_by_hash
from spamnb.engines.counting import count_parallel
from spamnb.errors import SpamnbError
from spamnb.estimators.parameters import Parameters
from spamnb.estimators.validation import not_fitted
from spamnb.reader.options import TokenOptions
from spamnb.reader.rows import CsrRows
from spamnb.reader.token_array import TokenArray
from spamnb.setting_fields import settings_in
from spamnb.settings import TokenSettings

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MAX_COLUMNS = 2**31 - 1


class _Transformer(Parameters):
    """What both share: the options of tokens, and scikit-learn's tags."""

    input: str
    n_jobs: int | None
    _requires_fit = True

    def _options(self) -> TokenOptions:
        """The options of tokens; ValueError where they cannot be."""
        try:
            return settings_of({name: getattr(self, name) for name in settings_in(TokenOptions)}).tokens
        except SpamnbError as error:
            raise ValueError(str(error)) from None

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(),
            input_tags=InputTags(string=True, two_d_array=False),
            requires_fit=self._requires_fit,
        )


def _columns_in(hashes: NDArray[np.int64], asked: NDArray[np.int64]) -> SignedColumns:
    """The columns of the tokens with the hashes ``asked`` (k,), where column j is the token of ``hashes[j]``,
    ascending."""
    if not len(hashes):
        return SignedColumns(np.full(len(asked), -1), np.ones(len(asked), np.int64))
    places = np.minimum(np.searchsorted(hashes, asked), len(hashes) - 1)
    return SignedColumns(np.where(hashes[places] == asked, places, -1), np.ones(len(asked), np.int64))


@with_settings(TokenOptions)
class MailVectorizer(_Transformer):
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
        """Learn the tokens of the messages X; ``y`` is not looked at."""
        self._fit(X, rows=False)
        return self

    def fit_transform(self, X: Iterable[str | bytes], y: object = None) -> csr_array:
        """``fit`` and ``transform`` in one, which reads each message once: (n, V)."""
        return matrix_of(iter([self._fit(X, rows=True)]), len(self.tokens_), self.dtype, self.binary)

    def transform(self, X: Iterable[str | bytes]) -> csr_array:
        """How often the messages X hold each token of the fit, (n, V); other tokens are left out."""
        if not hasattr(self, "tokens_"):
            raise not_fitted(self)
        columns_of = partial(_columns_in, self.tokens_.hashes)
        parts = rows_by_hash(entries_of(X, self.input), self._options(), columns_of, threads_of(self.n_jobs))
        return matrix_of(parts, len(self.tokens_), self.dtype, self.binary)

    def _fit(self, X: Iterable[str | bytes], rows: bool) -> CsrRows:
        """Set the tokens; returns the messages' rows in their order, where these are wanted."""
        options, entries = self._options(), entries_of(X, self.input)
        if self.min_df < 1:
            raise ValueError(f"min_df is {self.min_df}: give a number of messages, at least 1")
        with TemporaryDirectory(prefix="spamnb-") as folder:
            workers = threads_of(self.n_jobs)
            counted = count_parallel(entries, options, Path(folder), tell_unreadable, workers=workers)
            held = counted.counts.document_frequency()
            counted = counted.select_columns(np.flatnonzero(held >= self.min_df))
            if not len(counted.tokens):
                raise ValueError(f"no token that at least {self.min_df} of the messages of X hold")
            # The text of those left out goes, and of the shards' buffers.
            tokens = counted.tokens
            self.tokens_ = TokenArray(tokens.packed(), _starts(tokens.lengths), tokens.lengths, tokens.hashes)
            self.__dict__.pop("vocabulary_", None)
            if not rows:
                return CsrRows(*np.zeros((3, 0), np.int64))
            parts = list(counted.batches())
        positions = np.concatenate([part.positions for part in parts])
        lengths = np.concatenate([np.diff(part.rows.indptr) for part in parts])
        ids = np.concatenate([part.rows.ids for part in parts]).astype(np.int32)
        counts = np.concatenate([part.rows.counts for part in parts]).astype(np.int32)
        order = np.argsort(positions)
        ends = np.cumsum(lengths[order])
        # Where in the processes' rows each cell of the ordered ones stands.
        shift = (np.cumsum(lengths) - lengths)[order] - (ends - lengths[order])
        cells = np.repeat(shift, lengths[order]) + np.arange(len(ids))
        return CsrRows(np.concatenate([[0], ends]), ids[cells], counts[cells])

    def get_feature_names_out(self, input_features: object = None) -> NDArray[np.object_]:
        """The token of each column, (V,); ``input_features`` is not looked at."""
        if not hasattr(self, "tokens_"):
            raise not_fitted(self)
        return np.array(list(self.tokens_), dtype=object)

    @cached_property
    def vocabulary_(self) -> dict[str, int]:
        """The column of each token."""
        return {token: column for column, token in enumerate(self.get_feature_names_out().tolist())}


def _starts(lengths: NDArray[Any]) -> NDArray[np.int64]:
    starts: NDArray[np.int64] = np.cumsum(lengths, dtype=np.int64) - lengths
    return starts


def _columns_by_hash(n_features: int, alternate_sign: bool, hashes: NDArray[np.int64]) -> SignedColumns:
    """The columns of tokens with these hashes (k,): the upper half says which, the last bit the sign."""
    bits = hashes.view(np.uint64)
    columns = ((bits >> np.uint64(32)) * np.uint64(n_features)) >> np.uint64(32)
    signs = 1 - 2 * (hashes & 1) if alternate_sign else np.ones(len(hashes), np.int64)
    return SignedColumns(columns.astype(np.int64), signs)


class Collisions(NamedTuple):
    """How many tokens share a column with another one."""

    tokens: int  # different tokens of the messages
    columns: int  # columns that they fall into
    shared: int  # tokens that are not alone in theirs


@with_settings(TokenOptions)
class HashingMailVectorizer(_Transformer):
    """``MailVectorizer`` without a vocabulary: a token's column follows from its hash, (messages, n_features).

    There is nothing to fit, so it reads a stream of any length in the same memory, and any number of machines agree on
    the columns. Several tokens may share a column, and which they are cannot be told: of n different tokens about
    1 - exp(-n / n_features) do, which ``collisions`` counts. With ``alternate_sign`` half of the tokens are subtracted,
    so that those of one column cancel on average; models of counts need it False.

    The other parameters are those of ``MailVectorizer``. Raises ValueError for one that cannot be.

    >>> X = HashingMailVectorizer(n_features=2**18).transform(["lunch at noon", b"Subject: pills\\n\\nbuy cheap pills"])
    >>> X.shape
    (2, 262144)
    >>> HashingMailVectorizer().fit().partial_fit().fit_transform(["lunch"]).nnz
    8
    """

    _requires_fit = False

    def __init__(
        self,
        n_features: int = 2**20,
        *,
        input: str = "auto",
        alternate_sign: bool = True,
        binary: bool = False,
        dtype: DTypeLike = np.int64,
        n_jobs: int | None = -1,
        **tokens: Unpack[TokenSettings],
    ) -> None:
        self.n_features = n_features
        self.input = input
        self.alternate_sign = alternate_sign
        self.binary = binary
        self.dtype = dtype
        self.n_jobs = n_jobs

    def fit(self, X: object = None, y: object = None) -> Self:
        """Check the parameters; neither X nor y is looked at."""
        self._columns_of()
        self._options()
        return self

    def partial_fit(self, X: object = None, y: object = None) -> Self:
        """``fit``, under the name that streams call it by."""
        return self.fit(X, y)

    def fit_transform(self, X: Iterable[str | bytes], y: object = None) -> csr_array:
        """``transform``, since there is nothing to fit."""
        return self.fit(X, y).transform(X)

    def transform(self, X: Iterable[str | bytes]) -> csr_array:
        """How often the messages X hold tokens of each column, (n, n_features)."""
        columns_of = self._columns_of()
        parts = rows_by_hash(entries_of(X, self.input), self._options(), columns_of, threads_of(self.n_jobs))
        return matrix_of(parts, self.n_features, self.dtype, self.binary)

    def _columns_of(self) -> partial[SignedColumns]:
        if not 1 <= self.n_features <= MAX_COLUMNS:
            raise ValueError(f"n_features is {self.n_features}: give a number of columns from 1 to {MAX_COLUMNS}")
        return partial(_columns_by_hash, self.n_features, self.alternate_sign)

    def collisions(self, X: Iterable[str | bytes]) -> Collisions:
        """How many of the tokens of the messages X share a column: a vocabulary is made of them, to count.

        >>> HashingMailVectorizer(n_features=4, ngrams=1, body_only=True).collisions(["lunch at noon"])
        Collisions(tokens=7, columns=4, shared=5)
        """
        own = {name: value for name, value in self.get_params().items() if name in MailVectorizer().get_params()}
        columns = self._columns_of()(MailVectorizer(**own).fit(X).tokens_.hashes).columns
        tokens_in = np.unique(columns, return_counts=True)[1]
        return Collisions(len(columns), len(tokens_in), int(tokens_in[tokens_in > 1].sum()))
