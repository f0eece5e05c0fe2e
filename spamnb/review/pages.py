"""What the journal holds → pages. Everything in it was written by strangers: the templates escape all of it, and what
is not printable, or turns the direction of writing, is shown as an escape."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import combining

from spamnb.formulas.decision import UNSURE
from spamnb.journal.entries import DOUBTFUL, Verdict
from spamnb.journal.journal import Journal, Noted, Teaching
from spamnb.journal.whereabouts import INBOX, JUNK, folder_noted
from spamnb.naming import pluralize
from spamnb.reader.meaning import meaning

if TYPE_CHECKING:
    from jinja2 import Environment

WEEK = 7 * 86_400
HALF_YEAR = 183 * 86_400
PER_PAGE = 50
MAX_SHOWN = 20_000  # characters of a message's text
MAX_BAR = 100.0  # width of the longest bar
MAX_MARKS = 3  # combining marks on one letter: heaps of them cover the lines above


def displayed(text: str, most: int = 200, lines: bool = False) -> str:
    r"""The beginning of a text, what is not printable as escapes.

    >>> displayed("a\u202eb\x1b[2J"), displayed("one\ntwo", lines=True)
    ('a\\u202eb\\x1b[2J', 'one\ntwo')
    """
    kept, marks = [], 0
    for letter in text[:most]:
        marks = marks + 1 if combining(letter) else 0
        if marks <= MAX_MARKS:
            fine = letter.isprintable() or (lines and letter in "\n\t")
            kept.append(letter if fine else " " if letter.isspace() else ascii(letter)[1:-1])
    return "".join(kept) + ("…" if len(text) > most else "")


class Bar(NamedTuple):
    """A token and its bar: from ``left``, so ``wide``, out of 2 MAX_BAR; the middle is 0."""

    token: str
    nats: str
    left: float
    wide: float
    towards: str


class Line(NamedTuple):
    """A message in a list.

    - ``when``: the mail's own date; of one that has none when it was judged, which is ``judged``
    - ``sure``: whether the verdict is far from another one
    """

    position: int
    when: str
    judged: str
    user: str
    sender: str
    subject: str
    verdict: str
    points: str
    percent: str
    sure: bool
    tokens: list[tuple[str, str]]


def line_of(row: Noted) -> Line:
    """A message as a line, with the five tokens that decided."""
    entry = row.entry
    tokens = [
        (displayed(meaning(token) or token, 40), "spam" if weight > 0 else "good")
        for token, weight in entry.heaviest(5)
    ]
    return Line(
        row.position,
        _when(entry.sent or entry.at),
        _when(entry.at),
        displayed(entry.user, 60),
        displayed(entry.sender) or "nobody",
        displayed(entry.subject) or "no subject",
        called(entry.verdict),
        f"{entry.points:.1f}",
        in_percent(entry.probability),
        entry.doubt >= DOUBTFUL,
        tokens,
    )


def called(verdict: str) -> str:
    """A verdict in words of every day.

    >>> called("spam"), called("ham"), called("unsure")
    ('spam', 'good', 'unsure')
    """
    return verdict if verdict in ("spam", UNSURE) else "good"


def in_percent(p: float) -> str:
    """A probability, rounded down: what is below the one from which mail is spam stays below it. Never 0 or 100 %,
    which nobody can know.

    >>> in_percent(0.5), in_percent(0.899), in_percent(0.99999)
    ('50 %', '89 %', 'over 99 %')
    """
    return "over 99 %" if p > 0.99 else "under 1 %" if p < 0.01 else f"{int(100 * p + 1e-9)} %"


def in_nats(weight: float) -> str:
    """A weight with its sign.

    >>> in_nats(-1.5)
    '−1.50'
    """
    return f"{weight:+.2f}".replace("-", "−")


def bars(entry: Verdict) -> list[Bar]:
    """The evidence as bars, to the right towards spam."""
    found = entry.heaviest()
    most = max([abs(weight) for _, weight in found], default=0.0) or 1.0
    return [
        Bar(
            displayed(meaning(token) or token, 60),
            in_nats(weight),
            round(MAX_BAR + min(0.0, weight) / most * MAX_BAR, 1),
            round(abs(weight) / most * MAX_BAR, 1),
            "spam" if weight > 0 else "good",
        )
        for token, weight in found
    ]


def doubtful_mail(journal: Journal, viewer: str | None, page: int, batch: str, undone: int) -> dict[str, Any]:
    """The page *Doubtful*: this week's, and what was just taught, or taken back."""
    now = time.time()
    found = journal.doubtful(now - WEEK, viewer, PER_PAGE + 1, page * PER_PAGE)
    recent = [each for each in journal.corrections(now - WEEK, viewer) if each.source == "page"]
    just = journal.batch(batch, viewer) if batch else []
    return {
        "lines": [line_of(row) for row in found[:PER_PAGE]],
        "movable": any(folder_noted(journal, row.entry.place) is not None for row in found[:PER_PAGE]),
        "page": page,
        "more": len(found) > PER_PAGE,
        "just": _told(just) or (f"{pluralize(undone, 'lesson')} taken back." if undone else ""),
        "batch": batch if just else "",
        "recent": [
            (made.batch, "spam" if made.spam else "good", _when(made.at), _name(journal, made)) for made in recent
        ],
    }


def message(journal: Journal, row: Noted, viewer: str | None, raw: bytes | None) -> dict[str, Any]:
    """The page *Message*: evidence, and the text as the filter read it beside what it hid. ``raw`` is the mail where it
    is still there."""
    entry = row.entry
    texts, hidden = "", ""
    left_out: tuple[str, ...] = ()
    if raw is not None:
        from spamnb.reader.evidence import CUTS
        from spamnb.reader.message import parse

        read = parse(raw)
        texts, hidden, left_out = "\n\n".join(read.texts), read.hidden, tuple([CUTS[name] for name in read.cuts])
    standing = [made for made in journal.corrections(0, viewer, 500) if made.digest == entry.digest]
    return {
        "line": line_of(row),
        "lies": _lies(journal, row),
        "message_id": displayed(entry.message_id),
        "bars": bars(entry),
        "middle": MAX_BAR,
        "is_there": raw is not None,
        "text": _without_gaps(displayed(texts, MAX_SHOWN, lines=True)),
        "hidden": _without_gaps(displayed(hidden, MAX_SHOWN, lines=True)),
        "left_out": [displayed(what) for what in left_out],
        "taught": [(made.batch, "spam" if made.spam else "good", made.source == "page") for made in standing],
    }


def render(template: str, **values: Any) -> str:
    """A page as HTML."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("spamnb.review")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


def _without_gaps(text: str) -> str:
    """A text with at most one empty line between its paragraphs."""
    lines = [line.rstrip() for line in text.strip().split("\n")]
    return "\n".join(line for number, line in enumerate(lines) if line or (number and lines[number - 1]))


def _when(at: float) -> str:
    """A time of this half year to the minute, any other to the day; whoever wrote a Date field may have written any.

    >>> _when(1_030_016_183), _when(1 << 62)
    ('22 Aug 2002', 'no time')
    """
    try:
        return time.strftime("%a %d %b %H:%M" if abs(time.time() - at) < HALF_YEAR else "%d %b %Y", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return "no time"


def _lies(journal: Journal, row: Noted) -> tuple[str, list[tuple[str, str]]]:
    """Where a message lies, for people, and where it can be moved: (role, what a button says)."""
    known = folder_noted(journal, row.entry.place)
    if known is None:
        return "", []
    name = "the inbox" if known.role == INBOX else displayed(known.name, 80)
    others = [(INBOX, "Move to the inbox"), (JUNK, "Move to Junk")]
    return f"{name} of {displayed(known.mailbox, 120)}", [other for other in others if other[0] != known.role]


def _name(journal: Journal, made: Teaching) -> str:
    row = journal.of_message(made.digest, made.user)
    return displayed(row.entry.subject, 80) or "no subject" if row else "a message"


def _told(made: list[Teaching]) -> str:
    if not made:
        return ""
    as_what = "spam" if made[0].spam else "good mail"
    return f"{pluralize(len(made), 'message')} taught as {as_what}."
