"""The pages of counted things: *Words*, and *How it does*."""

from __future__ import annotations

import time
from datetime import datetime
from typing import TYPE_CHECKING, Any

from spamnb.journal import figures
from spamnb.journal.journal import Journal
from spamnb.review.pages import displayed, in_nats, in_percent
from spamnb.review.words import MAX_TYPED, KnownWord, words_beginning
from spamnb.store.facts import origin

if TYPE_CHECKING:
    from spamnb.classifier import Classifier

CHART_HEIGHT = 120.0


def word_search(model: Classifier, begin: str) -> dict[str, Any]:
    """The page *Words*: those that begin as was typed."""
    begin = begin.strip().lower()
    found = words_beginning(model, begin)
    classes = list(found[0].held) if found else []
    return {
        "begin": displayed(begin, MAX_TYPED),
        "classes": [displayed(name, 40) for name in classes],
        "found": [_word_line(each) for each in found],
    }


def _word_line(word: KnownWord) -> tuple[str, list[str], str, str]:
    """(the word, messages by class, nats, towards)."""
    towards = "spam" if word.weight > 0 else "good"
    held = [f"{number:,}" for number in word.held.values()]
    return displayed(word.token, 60), held, in_nats(word.weight), towards


def how_it_does(journal: Journal, viewer: str | None, model: Classifier) -> dict[str, Any]:
    """The page *How it does*: thirty days, and the model as it is now."""
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
    store = model.store
    with store.reading():
        totals, meta = store.totals(), origin(store)
    size = store.size() if store.file != ":memory:" else 0
    return {
        "columns": columns,
        "height": CHART_HEIGHT,
        "most": most,
        "total": total,
        "sums": [(kind, sum(getattr(day, kind) for day in counted)) for kind in ("good", "unsure", "spam")],
        "doubtful_share": in_percent(sum(day.doubtful for day in counted) / total) if total else "–",
        "made": made,
        "wrong_share": f"{100 * wrong / total:.2f} %" if total else "–",
        "wrong": wrong,
        "expected": f"{sum(day.expected for day in counted):,.1f}",
        "age": _age(meta.get("trained_at")),
        "size": f"{size / 1e6:,.1f} MB",
        "known_tokens": f"{totals.vocabulary_size:,}",
        "learned": [
            (displayed(name, 40), f"{number:,}") for name, number in zip(totals.classes, totals.documents.tolist())
        ],
    }


def _age(trained_at: object) -> str:
    """How old a model is, in words. Anybody may have written the time into the model's file.

    >>> _age(None), _age("no time at all"), _age(datetime.fromtimestamp(time.time() - 90_000).isoformat())
    ('never trained', 'never trained', '1 day')
    """
    try:
        seconds = time.time() - datetime.fromisoformat(str(trained_at)).timestamp()
    except (ValueError, OverflowError, OSError):
        return "never trained"
    days = max(0, int(seconds / 86_400))
    return "today" if days == 0 else f"{days:,} day{'s' if days > 1 else ''}"
