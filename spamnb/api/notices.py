"""What a verb tells on the way: a file that was left out, a folder that may not be what was meant."""

from __future__ import annotations

import warnings
from collections.abc import Callable

from spamnb.errors import SpamnbWarning

Tell = Callable[[str], None]  # is given a line of text


def warn(line: str) -> None:
    """Tell it as Python tells of such things: as a ``SpamnbWarning``, which warnings.filterwarnings can turn off.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn("inbox#3: broken gzip data; left out")
    >>> told[0].category.__name__, str(told[0].message)
    ('SpamnbWarning', 'inbox#3: broken gzip data; left out')
    """
    warnings.warn(line, SpamnbWarning, stacklevel=3)
