"""An id for every token, kept in dictionaries; where vocabulary.pyx is compiled, that is the module of this name.

A token's id is the order in which it was first seen, so a vocabulary only grows at its end, and rows of ids that were
made earlier stay valid.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from spamnb.reader.token_array import TokenArray


class Vocabulary:
    """Tokens and their ids, both ways; a token that has no id gets the next one.

    >>> vocabulary = Vocabulary()
    >>> vocabulary.ids(["a", "b", "a"]), vocabulary.ids(["c"]), vocabulary.take(np.array([2, 0]))
    (array([0, 1, 0]), array([2]), ['c', 'a'])
    """

    def __init__(self) -> None:
        self._tokens: list[str] = []
        self._id_of: dict[str, int] = {}
        self._id_of_hash: dict[int, int] = {}  # two tokens with the same hash are one token

    def __len__(self) -> int:
        return len(self._tokens)

    def ids(self, tokens: Iterable[str]) -> np.ndarray:
        """The id of each of the k ``tokens``, (k,)."""
        tokens = list(tokens)
        if new := [token for token in dict.fromkeys(tokens) if token not in self._id_of]:
            for token, hash_ in zip(new, TokenArray.of(new).hashes.tolist()):
                id_ = self._id_of[token] = self._id_of_hash.setdefault(hash_, len(self._tokens))
                if id_ == len(self._tokens):
                    self._tokens.append(token)
        return np.fromiter(map(self._id_of.__getitem__, tokens), np.intp, len(tokens))

    def take(self, ids: np.ndarray) -> list[str]:
        """The tokens with these ids."""
        return list(map(self._tokens.__getitem__, ids.tolist()))

    def joined(self, ids: np.ndarray) -> bytes:
        """The tokens with these ids as UTF-8, each but the last with a NUL behind it.

        >>> vocabulary = Vocabulary()
        >>> vocabulary.joined(vocabulary.ids(["tea", "cup"]))
        b'tea\\x00cup'
        """
        return "\0".join(self.take(ids)).encode()

    def hashes(self, ids: np.ndarray) -> np.ndarray:
        """The 64-bit hash of each token with these ids, (k,) int64."""
        return TokenArray.of(self.take(ids)).hashes

    def groups(self, ids: np.ndarray) -> np.ndarray:
        """The group of each token with these ids, (k,) int8."""
        return TokenArray.of(self.take(ids)).groups

    def tokens(self) -> TokenArray:
        """All tokens, in the order of their ids."""
        return TokenArray.of(self._tokens)
