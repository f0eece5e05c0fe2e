"""Names, numbers and values as text that is safe for a terminal, and templates of pages that escape it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

MAX_SHOWN = 1_000  # characters; terminals have fewer columns
MAX_MARKS = 3  # combining marks on one letter; no script needs more, and more of them cover the lines above
HALF_YEAR = 183 * 86_400  # seconds; a date that is further away is shown with its year


def escape(text: str) -> str:
    r"""Return a path or token as it is if it is printable, and otherwise with escapes for all but printable ASCII.

    >>> escape("caf\x1b[2J")
    'caf\\x1b[2J'
    """
    return text if text.isprintable() else ascii(text)[1:-1]


def to_printable(text: str, max_length: int = MAX_SHOWN, lines: bool = False) -> str:
    r"""Return at most ``max_length`` characters of a hostile text, in one line unless ``lines``.

    Characters that are not printable, or that change the direction of writing, become escapes. Combining marks beyond
    MAX_MARKS are dropped.

    >>> to_printable(" a\tb\x1b[2J\u202e\u4e2d\u3000\u6587 "), to_printable("one\ntwo", 5, lines=True)
    ('a b\\x1b[2J\\u202e中 文', 'one\nt…')
    """
    from unicodedata import combining  # imported here because most commands do not need it

    letters: list[str] = []
    marks = 0
    for letter in text[:max_length] if lines else " ".join(text[:max_length].split()):
        marks = marks + 1 if combining(letter) else 0
        if marks <= MAX_MARKS:
            is_printable = letter.isprintable() or letter in "\n\t"
            letters.append(letter if is_printable else " " if letter.isspace() else ascii(letter)[1:-1])
    return "".join(letters) + ("…" if len(text) > max_length else "")


def pluralize(number: int, noun: str) -> str:
    """Return a number and a noun.

    >>> pluralize(1, "message"), pluralize(1200, "message")
    ('1 message', '1,200 messages')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_probability(p: float) -> str:
    """Return a probability in percent, never as 0 or 100 %.

    The probability is rounded down, so that a probability below a threshold is not printed as the threshold.

    >>> [format_probability(p) for p in (0.5, 0.8999, 0.90001, 0.99999, 0.0001)]
    ['50 %', '89.9 %', '90 %', 'over 99.9 %', 'under 0.1 %']
    """
    return "over 99.9 %" if p > 0.999 else "under 0.1 %" if p < 0.001 else f"{int(1000 * p + 1e-9) / 10:g} %"


def format_share(share: float) -> str:
    """Return the share of messages that have a token, in percent and at most 7 characters; 0 % only of no message.

    >>> [format_share(share) for share in (0.0, 0.00005, 0.0005, 0.00182, 0.4531, 1.0)]
    ['0 %', '<0.01 %', '0.05 %', '0.182 %', '45.3 %', '100 %']
    """
    percent = 100 * share
    if 0 < percent < 0.01:
        return "<0.01 %"
    return f"{percent:.2f} %" if 0 < percent < 0.1 else f"{percent:.3g} %"


def format_share_heads(classes: Iterable[str]) -> list[str]:
    """Return the heads of columns of `format_share`, so wide that the columns of most tables have one width."""
    return [f"{name:>{len('0.123 %')}}" for name in classes]


def align_columns(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> list[str]:
    """Return the rows of a table as lines. The columns at the positions ``numbers`` are aligned to the right.

    >>> align_columns([("for", "newsletters", ""), ("ham", "0 %", "free"), ("spam", "14.5 %", "pills")], [1])
    ['for   newsletters', 'ham           0 %  free', 'spam       14.5 %  pills']
    """
    columns = []
    for position, cells in enumerate(zip(*rows)):
        width = max(map(len, cells))
        columns.append([cell.rjust(width) if position in numbers else cell.ljust(width) for cell in cells])
    return ["  ".join(row).rstrip() for row in zip(*columns)]


def escape_json(value: Any) -> str:
    r"""Return a value as one line of JSON, in pure ASCII if the line would not be printable otherwise.

    >>> escape_json("café"), escape_json("\x9b2J")
    ('"café"', '"\\u009b2J"')
    """
    import json  # imported here because --help does not need it

    line = json.dumps(value, ensure_ascii=False)
    return line if line.isprintable() else json.dumps(value)


def make_environment(package: str, **filters: Callable[..., str]) -> Environment:
    """Return the environment of a package's templates. It escapes all values, and an undefined value is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined  # imported here because it takes 45 ms

    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= filters
    return environment


def format_time(at: float) -> str:
    """Return a time to the minute if it is within half a year, or else the date.

    >>> format_time(1_030_016_183), format_time(1 << 62)
    ('22 Aug 2002', 'no time')
    """
    try:
        return time.strftime("%a %d %b %H:%M" if abs(time.time() - at) < HALF_YEAR else "%d %b %Y", time.localtime(at))
    except (OverflowError, ValueError, OSError):  # a sender can write an impossible time
        return "no time"
