"""What the journal and the model hold → pages.

Everything in the journal was written by strangers. The templates escape all of it, and the filter ``displayed`` shows
its beginning, as `printable` does.
"""

from __future__ import annotations

import time
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from spamnb.journal.entries import Verdict
from spamnb.journal.journal import Journal
from spamnb.reader.meaning import meaning
from spamnb.settings import origin
from spamnb.shown_text import pluralize, to_printable
from spamnb.sources.entries import attempt

if TYPE_CHECKING:
    from jinja2 import Environment

    from spamnb.classifier import Classifier

DAY = 86_400
WEEK, HALF_YEAR = 7 * DAY, 183 * DAY
PER_PAGE = 50
MAX_SHOWN = 20_000  # characters of a message's text


def in_percent(p: float) -> str:
    """A probability, rounded down: what is below the one from which mail is spam stays below it. Never 0 or 100 %,
    which nobody can know.

    >>> in_percent(0.5), in_percent(0.899), in_percent(0.99999)
    ('50 %', '89 %', 'over 99 %')
    """
    return "over 99 %" if p > 0.99 else "under 1 %" if p < 0.01 else f"{int(100 * p + 1e-9)} %"


def mail_list(journal: Journal, doubtful: bool, page: int, batch: str) -> dict[str, Any]:
    """The pages *Doubtful* and *Filtered*: such mail of this week, and what was taught, by ``batch`` just now."""
    week_ago = time.time() - WEEK
    found = journal.uncorrected(week_ago, doubtful=doubtful, most=PER_PAGE + 1, skip=page * PER_PAGE)
    recent = [made for made in journal.corrections(week_ago, most=20) if made.source == "page"]
    return {
        "doubtful": doubtful,
        "entries": found[:PER_PAGE],
        "page": page,
        "more": len(found) > PER_PAGE,
        "just": journal.corrections(batch=batch) if batch else [],
        "recent": [(made, journal.of_message(made.digest, made.user)) for made in recent],
    }


def message(journal: Journal, entry: Verdict, raw: bytes | None) -> dict[str, Any]:
    """The page *Message*: evidence, and the text as the filter read it beside what it hid. ``raw`` is the mail where it
    is still there."""
    from spamnb.reader.evidence import TRUNCATIONS
    from spamnb.reader.message import Message, parse

    read = None if raw is None else attempt(partial(parse, raw))
    is_there = isinstance(read, Message)
    shown = {"entry": entry, "taught": journal.corrections(digest=entry.digest), "is_there": is_there}
    if isinstance(read, Message):
        shown["text"] = _paragraphs("\n\n".join(read.texts))
        shown["hidden"] = _paragraphs(read.hidden)
        shown["left_out"] = [TRUNCATIONS[name] for name in read.truncations]
    return shown


def how_it_does(journal: Journal, model: Classifier) -> dict[str, Any]:
    """The page *How it does*: thirty days, and the model as it is now."""
    rescued, caught = journal.wrong(time.time() - 30 * DAY)
    with model.store.reading():
        totals, meta = model.store.totals(), origin(model.store.meta())
    return {
        "days": journal.days(30),
        "rescued": rescued,
        "caught": caught,
        "trained_at": str(meta.get("trained_at") or ""),
        "megabytes": model.store.size() / 1e6,
        "words": totals.vocabulary_size,
        "learned": list(zip(totals.classes, totals.documents.tolist())),
    }


def render(template: str, **values: Any) -> str:
    """A page as HTML."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    loader = PackageLoader("spamnb.review")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters |= {
        "pluralize": pluralize,
        "displayed": lambda text, most=200: to_printable(text, most),
        "meaning": lambda token: meaning(token) or token,
        "percent": in_percent,
        "nats": lambda weight: f"{weight:+.2f}".replace("-", "−"),
        "when": when,
    }
    return made


def _paragraphs(text: str) -> str:
    """The beginning of a text as it is displayed, with at most one empty line between its paragraphs."""
    lines = [line.rstrip() for line in to_printable(text, MAX_SHOWN, lines=True).strip().split("\n")]
    return "\n".join(line for number, line in enumerate(lines) if line or (number and lines[number - 1]))


def when(at: float) -> str:
    """A time of this half year to the minute, any other to the day; whoever wrote a Date field may have written any.

    >>> when(1_030_016_183), when(1 << 62)
    ('22 Aug 2002', 'no time')
    """
    try:
        return time.strftime("%a %d %b %H:%M" if abs(time.time() - at) < HALF_YEAR else "%d %b %Y", time.localtime(at))
    except (OverflowError, ValueError, OSError):
        return "no time"
