"""What the journal holds → pages. Everything in it was written by strangers: the templates escape all of it, and what
is not printable, or turns the direction of writing, is shown as an escape."""

from __future__ import annotations

import time
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple
from unicodedata import combining

from spamnb.formulas.decision import UNSURE
from spamnb.journal import figures
from spamnb.journal.entries import Verdict
from spamnb.journal.journal import Journal, Noted, Teaching
from spamnb.journal.whereabouts import INBOX, JUNK, folder_noted
from spamnb.review.words import MAX_TYPED, MOST, PER_WEEK, KnownWord, Week, WordLists, weeks_of_word, words_of_model

if TYPE_CHECKING:
    from jinja2 import Environment

    from spamnb.classifier import Classifier

WEEK = 7 * 86_400
PER_PAGE = 50
MAX_SHOWN = 20_000  # characters of a message's text
MAX_BAR = 100.0  # width of the longest bar
CHART_HEIGHT = 120.0
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
    """A message in a list."""

    position: int
    when: str
    user: str
    sender: str
    subject: str
    verdict: str
    points: str
    percent: str
    tokens: list[tuple[str, str]]


def line_of(row: Noted) -> Line:
    """A message as a line, with the five tokens that decided."""
    entry = row.entry
    tokens = [(displayed(token, 40), "spam" if weight > 0 else "good") for token, weight in entry.heaviest(5)]
    return Line(
        row.position,
        _when(entry.at),
        displayed(entry.user, 60),
        displayed(entry.sender) or "nobody",
        displayed(entry.subject) or "no subject",
        called(entry.verdict),
        f"{entry.points:.1f}",
        in_percent(entry.probability),
        tokens,
    )


def called(verdict: str) -> str:
    """A verdict in words of every day.

    >>> called("spam"), called("ham"), called("unsure")
    ('spam', 'good', 'unsure')
    """
    return verdict if verdict in ("spam", UNSURE) else "good"


def in_percent(p: float) -> str:
    """A probability; never 0 or 100 %, which nobody can know.

    >>> in_percent(0.5), in_percent(0.99999)
    ('50 %', 'over 99 %')
    """
    return "over 99 %" if p > 0.99 else "under 1 %" if p < 0.01 else f"{100 * p:.0f} %"


def bars(entry: Verdict) -> list[Bar]:
    """The evidence as bars, to the right towards spam."""
    found = entry.heaviest()
    most = max([abs(weight) for _, weight in found], default=0.0) or 1.0
    return [
        Bar(
            displayed(token, 60),
            _nats(weight),
            round(MAX_BAR + min(0.0, weight) / most * MAX_BAR, 1),
            round(abs(weight) / most * MAX_BAR, 1),
            "spam" if weight > 0 else "good",
        )
        for token, weight in found
    ]


def doubtful_mail(journal: Journal, viewer: str | None, page: int, batch: str) -> dict[str, Any]:
    """The page *Doubtful*: this week's, and what was just corrected."""
    now = time.time()
    found = journal.doubtful(now - WEEK, viewer, PER_PAGE + 1, page * PER_PAGE)
    recent = [each for each in journal.corrections(now - WEEK, viewer) if each.source == "page"]
    just = journal.batch(batch, viewer) if batch else []
    return {
        "lines": [line_of(row) for row in found[:PER_PAGE]],
        "movable": any(folder_noted(journal, row.entry.place) is not None for row in found[:PER_PAGE]),
        "page": page,
        "more": len(found) > PER_PAGE,
        "just": _told(just),
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
        from spamnb.message.parse import parse

        read = parse(raw)
        texts, hidden, left_out = "\n\n".join(read.texts), read.hidden, read.truncations
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


def word_search(
    journal: Journal, model: Classifier, lists: WordLists, begin: str, word: str, viewer: str | None
) -> dict[str, Any]:
    """The page *Words*: those that begin as was typed, and one of them over the weeks."""
    begin, tokens = begin.strip().lower(), []
    if begin:
        tokens = lists.beginning(model, begin)
        if begin not in tokens:  # it may have been learned since the list was made
            tokens = [begin, *tokens]
    found = words_of_model(model, list(dict.fromkeys(tokens))[:MOST])
    of_word = words_of_model(model, [word]) if word else []
    classes = list(found[0].held) if found else []
    return {
        "begin": displayed(begin, MAX_TYPED),
        "classes": [displayed(name, 40) for name in classes],
        "found": [_word_line(each) for each in found],
        "word": displayed(word, MAX_TYPED),
        "of_word": [(displayed(name, 40), held) for each in of_word for name, held in each.held.items()],
        "nats": _nats(of_word[0].weight) if of_word else "",
        "weeks": _weeks(weeks_of_word(journal, word, viewer)) if word else [],
        "per_week": PER_WEEK,
    }


def _word_line(word: KnownWord) -> tuple[str, str, list[str], str, str]:
    """(what it links to, the word, messages by class, nats, towards)."""
    towards = "spam" if word.weight > 0 else "good"
    held = [f"{number:,}" for number in word.held.values()]
    return word.token, displayed(word.token, 60), held, _nats(word.weight), towards


def _weeks(weeks: list[Week]) -> list[tuple[str, list[tuple[str, str, float]]]]:
    """For each week its first day, and for each verdict (kind, share in words, its part of a bar)."""
    lines = []
    for week in weeks:
        shares = []
        for verdict in ("ham", UNSURE, "spam"):
            seen, holding = week.seen[verdict], week.holding[verdict]
            told = f"{holding} of {seen} ({in_percent_of(holding, seen)})" if seen else "none"
            shares.append((called(verdict), told, round(100 * holding / seen, 1) if seen else 0.0))
        lines.append((time.strftime("%d %b", time.localtime(week.begins)), shares))
    return lines


def in_percent_of(part: int, whole: int) -> str:
    """A share that was counted.

    >>> in_percent_of(1, 8), in_percent_of(0, 8)
    ('12 %', '0 %')
    """
    return f"{100 * part / whole:.0f} %"


def how_it_does(journal: Journal, viewer: str | None) -> dict[str, Any]:
    """The page *How it does*: thirty days."""
    counted = figures.days(journal, 30, viewer)
    total = sum(day.total for day in counted)
    most = max(day.total for day in counted) or 1
    columns = []
    for number, day in enumerate(counted):
        top, parts = CHART_HEIGHT, []
        for kind, count in (("good", day.good), ("unsure", day.unsure), ("spam", day.spam)):
            height = round(count / most * CHART_HEIGHT, 1)
            top -= height
            parts.append((kind, round(top, 1), height))
        columns.append((10 * number, day, parts))
    made = figures.directions(journal, time.time() - 30 * 86_400, viewer)
    wrong = made.rescued + made.caught
    return {
        "columns": columns,
        "height": CHART_HEIGHT,
        "most": most,
        "total": total,
        "sums": [(kind, sum(getattr(day, kind) for day in counted)) for kind in ("good", "unsure", "spam")],
        "doubtful_share": in_percent(sum(day.doubtful for day in counted) / total) if total else "–",
        "made": made,
        "wrong_share": f"{100 * wrong / total:.2f} %" if total else "–",
    }


def _nats(weight: float) -> str:
    return f"{weight:+.2f}".replace("-", "−")


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
    return time.strftime("%a %d %b %H:%M", time.localtime(at))


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
    return f"{len(made)} message{'s' if len(made) > 1 else ''} taught as {as_what}."
