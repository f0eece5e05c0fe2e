"""Tables as data frames of pandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from spamnb.errors import SpamnbError


def frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A data frame of these columns. Raises SpamnbError where pandas is lacking.

    >>> frame({"token": ["pills", "lunch"], "bits": [0.25, 0.12]})
       token  bits
    0  pills  0.25
    1  lunch  0.12
    """
    try:
        import pandas
    except ImportError:
        raise SpamnbError("a data frame needs pandas: pip install pandas; to_dict() needs nothing") from None
    return pandas.DataFrame(columns)
