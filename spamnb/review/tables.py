"""The pages of counted things: *Words*, and *How it does*."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from spamnb.formulas.decision import UNSURE
from spamnb.journal import figures
from spamnb.journal.journal import Journal
from spamnb.review.pages import called, displayed, in_nats, in_percent
from spamnb.review.words import MAX_TYPED, MOST, PER_WEEK, KnownWord, Week, WordLists, weeks_of_word, words_of_model
from spamnb.serve.drift import ModelState, columns, scores_of

if TYPE_CHECKING:
    from spamnb.classifier import Classifier

CHART_HEIGHT = 120.0


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
        "nats": in_nats(of_word[0].weight) if of_word else "",
        "weeks": _weeks(weeks_of_word(journal, word, viewer)) if word else [],
        "per_week": PER_WEEK,
    }


def _word_line(word: KnownWord) -> tuple[str, str, list[str], str, str]:
    """(what it links to, the word, messages by class, nats, towards)."""
    towards = "spam" if word.weight > 0 else "good"
    held = [f"{number:,}" for number in word.held.values()]
    return word.token, displayed(word.token, 60), held, in_nats(word.weight), towards


def _weeks(weeks: list[Week]) -> list[tuple[str, list[tuple[str, str, float]]]]:
    """For each week its first day, and for each verdict (kind, share in words, its part of a bar)."""
    lines: list[tuple[str, list[tuple[str, str, float]]]] = []
    for week in weeks:
        if not lines and not any(week.seen.values()):
            continue  # before the journal was begun
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


def how_it_does(journal: Journal, viewer: str | None, model: ModelState) -> dict[str, Any]:
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
        "unknown": _unknown(counted),
        "scores": _scores(scores_of(journal, time.time() - 30 * 86_400, viewer), model.at_training),
        "has_training": bool(model.at_training and sum(model.at_training)),
        "age": _age(model.trained_at),
        "size": f"{model.bytes / 1e6:,.1f} MB",
        "known_tokens": f"{model.tokens:,}",
        "learned": [(displayed(name, 40), f"{number:,}") for name, number in model.messages.items()],
    }


def _unknown(counted: list[figures.Day]) -> tuple[str, str]:
    """The mean share of unknown tokens, in the last seven days and in those before."""
    told = []
    for part in (counted[-7:], counted[:-7]):
        known = [day for day in part if day.unknown is not None]
        total = sum(day.total for day in known)
        told.append(f"{100 * sum((day.unknown or 0.0) * day.total for day in known) / total:.1f} %" if total else "–")
    return told[0], told[1]


def _scores(now: list[int], before: list[int] | None) -> list[tuple[str, str, float, str, float]]:
    """For each column of points: its bounds, and the share of mail now and at training, in words and in percent."""
    lines = []
    for name, *parts in zip(columns(), now, before or [0] * len(now)):
        shares = [100 * part / max(sum(every), 1) for part, every in zip(parts, (now, before or [0]))]
        now_told, before_told = (f"{share:.1f} %" for share in shares)
        lines.append((name.replace("-", "−"), now_told, round(shares[0], 1), before_told, round(shares[1], 1)))
    return lines


def _age(trained_at: float | None) -> str:
    """How old a model is, in words.

    >>> _age(None), _age(time.time() - 90_000)
    ('never trained', '1 day')
    """
    if trained_at is None:
        return "never trained"
    old = max(0, int((time.time() - trained_at) / 86_400))
    return "today" if old == 0 else f"{old:,} day{'s' if old > 1 else ''}"
