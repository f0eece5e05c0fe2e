"""Tables as data frames, of pandas or polars: whichever is there."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from spamnb.errors import SpamnbError

LIBRARIES = ("pandas", "polars")  # the first where both are there, and neither is in use


def frame(columns: Mapping[str, Sequence[Any]]) -> Any:
    """A data frame of these columns: of the library that the program uses already, or else of the one that is there.

    Raises SpamnbError where neither is.

    >>> frame({"token": ["pills", "lunch"], "bits": [0.25, 0.12]})
       token  bits
    0  pills  0.25
    1  lunch  0.12
    """
    used = [name for name in LIBRARIES if sys.modules.get(name) is not None]
    for name in used or LIBRARIES:
        try:
            library = import_module(name)
        except ImportError:
            continue
        return library.DataFrame(dict(columns))
    raise SpamnbError("a data frame needs pandas or polars: pip install pandas; to_dict() needs neither")
