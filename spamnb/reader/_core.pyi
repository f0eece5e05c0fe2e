"""The compiled core: arrays come and go as bytes."""

from collections.abc import Callable
from typing import Any

class Vocabulary:
    def __len__(self) -> int: ...
    def ids(self, text: Any, lengths: Any, /) -> bytes: ...
    def take(self, ids: Any, /) -> tuple[bytes, bytes]: ...
    def describe(self, ids: Any, /) -> tuple[bytes, bytes]: ...

class Reader:
    def __new__(
        cls, rules: tuple[tuple[bytes, bool, bool, int, int, bytes], ...], program: object, ngrams: int,
        body_only: bool, stems: bool, splits: bool, /,
    ) -> Reader: ...  # fmt: skip
    def read(
        self, messages: tuple[bytes, ...], vocabulary: Vocabulary, identify: bool, /
    ) -> tuple[bytes, bytes | None, bytes, bytes, bytes]: ...
    def parse(self, raw: bytes, wants: int, /) -> dict[str, Any]: ...

def set_tables(
    references: dict[str, str], make_page: Callable[[int], bytes], kinds: dict[str, int],
    groups: tuple[int, int, int], secret: bytes, /,
) -> None: ...  # fmt: skip
def pack_numbers(numbers: Any, /) -> tuple[bytes, bytes]: ...
def unpack_numbers(packed: bytes, /) -> tuple[bytes, bytes] | None: ...

# The loops of formulas/correction.py; arrays of other types or shapes raise ValueError.
def ascend(
    indptr: Any, columns: Any, values: Any, offsets: Any, labels: Any, order: Any, brought: Any, weights: Any,
    penalty: float, noise: float, unit: float, tolerance: float, least: float, passes: int, /,
) -> int: ...  # fmt: skip
def solve(scores: Any, y: int, penalty: float, /) -> list[float]: ...
