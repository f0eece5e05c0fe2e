"""Make pages from the ledger and the models. Each ``…_values`` function returns the variables of a template.

Texts in the ledger are written by strangers. The templates escape them. The filter ``displayed`` truncates them and
escapes unprintable characters.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlencode

from spamnb.api.words import words_of
from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.ledger.ledger import DAYS, ORDERS, SHOWN, Ledger
from spamnb.ledger.verdicts import VerdictRow
from spamnb.model.top_words import InformativeWord
from spamnb.reader.meaning import meaning
from spamnb.settings import origin
from spamnb.shown_text import (
    format_probability,
    format_share,
    format_time,
    make_environment,
    pluralize,
    to_printable,
)
from spamnb.sources.entries import attempt

if TYPE_CHECKING:
    from jinja2 import Environment

PER_PAGE = 50  # messages of a list on one page; nobody reads a longer page
MAX_SHOWN = 20_000  # characters of a message that are shown, about ten screens
MAX_TYPED = 80  # characters of a word or a search
MAX_USERS = 200  # names of users that a page offers; any other name can be typed
MAX_PAGE = 9_999  # pages of a list; a full ledger has about 1,400
TOP_WORDS = 30  # informative words that are shown, about one screen


class ListQuery(NamedTuple):
    """The query parameters of a list of mail."""

    show: str = "all"
    q: str = ""
    user: str = ""
    order: str = "newest"
    page: int = 0
    stay: str = ""  # "1" if taught messages are not moved

    @classmethod
    def of(cls, query: Mapping[str, str]) -> Self:
        """Return the parameters of a query. A missing or wrong parameter has its default value."""
        show, order, page = query.get("show", ""), query.get("order", ""), query.get("page", "")
        return cls(
            show if show in SHOWN else "all",
            query.get("q", "")[:MAX_TYPED].strip(),
            query.get("user", "")[:MAX_TYPED],
            order if order in ORDERS else "newest",
            min(int(page), MAX_PAGE) if page.isascii() and page.isdigit() and len(page) < 9 else 0,
            "1" if query.get("stay") == "1" else "",
        )

    def format(self, **changes: str | int) -> str:
        """Return the query with some changes and without default values. A query is empty or begins with "?".

        >>> ListQuery("spam", page=2).format(page=3), ListQuery().format()
        ('?show=spam&page=3', '')
        """
        parts = {name: value for name, value in (self._asdict() | changes).items() if value != DEFAULT.get(name, "")}
        return "?" + urlencode(parts) if parts else ""


DEFAULT = ListQuery()._asdict()


def list_values(ledger: Ledger, query: ListQuery, batch: str) -> dict[str, Any]:
    """Return the values of a list of mail. ``batch`` identifies the corrections of the last request."""
    verdict_rows = ledger.list_verdicts(
        query.show, query.q, user=query.user, order=query.order, limit=PER_PAGE + 1, skip=query.page * PER_PAGE
    )
    return {
        "list_query": query,
        "rows": verdict_rows[:PER_PAGE],
        "has_next_page": len(verdict_rows) > PER_PAGE,
        "users": ledger.users(MAX_USERS),
        "corrections": ledger.corrections(batch=batch) if batch else [],
        "days": DAYS,
    }


def message_values(row: VerdictRow, raw: bytes | None) -> dict[str, Any]:
    """Return the values of the page of a message. ``raw`` is None if the mailbox no longer has the message."""
    from spamnb.reader.evidence import TRUNCATIONS
    from spamnb.reader.message import Message, parse

    message = None if raw is None else attempt(partial(parse, raw))
    evidence = row.heaviest_tokens()
    values = {
        "row": row,
        "is_readable": isinstance(message, Message),
        "evidence": evidence,
        "max_weight": max((abs(weight) for _, weight in evidence), default=0) or 1,
        "total_weight": sum(abs(weight) for _, weight in evidence) or 1,
    }
    if isinstance(message, Message):
        values["text"] = _paragraphs("\n\n".join(message.texts))
        values["hidden"] = _paragraphs(message.doubtful)
        values["attachments"] = message.attachments
        values["truncations"] = [TRUNCATIONS[name] for name in message.truncations]
    return values


def informative_words(model: Classifier) -> list[InformativeWord]:
    """Return the words with the highest mutual information. They are computed once after each training."""
    trained_at = str(origin(model.model.meta).get("trained_at"))
    return _informative_words(model.store.file, trained_at) if model.model.totals.classes else []


@lru_cache(1)  # reading all words of a model takes a second or two
def _informative_words(path: str, _trained_at: str) -> list[InformativeWord]:
    with Classifier.open(path) as model:
        return words_of(model.store, TOP_WORDS, False, lambda _: None).informative


def preload_informative_words(path: Path) -> None:
    """Compute the informative words of a model before the first request. An error is shown by the page, not here."""
    with suppress(SpamnbError), Classifier.open(path) as model:
        informative_words(model)


def statistics_values(ledger: Ledger, model: Classifier, user: str) -> dict[str, Any]:
    """Return the values of the page of statistics: the verdicts of a user, or of all users, and the model."""
    with model.store.reading():
        n_messages, meta, shared = model.store.count_messages(), model.store.own.meta, model.store.shared
        n_shared = sum(shared.count_messages().values()) if shared is not None else 0
    return {
        "days": ledger.statistics(30, user),
        "user": user,
        "users": ledger.users(MAX_USERS),
        "trained_on": str(meta.get("trained_at") or "")[: len("2026-11-24")],
        "megabytes": model.store.size() / 1e6,
        "words": model.model.totals.vocabulary_size,
        "class_messages": list(n_messages.items()),
        "n_shared": n_shared,
    }


def render(template: str, **values: Any) -> str:
    """Return a page as HTML."""
    return _environment().get_template(template).render(**values)


@cache
def _environment() -> Environment:
    return make_environment(
        "spamnb.review",
        pluralize=pluralize,
        displayed=lambda text, most=200: to_printable(text, most),
        meaning=meaning,
        percent=format_probability,
        share=format_share,
        time=format_time,
    )


def _paragraphs(text: str) -> str:
    """Return the beginning of a text in printable characters, with at most one empty line between paragraphs."""
    lines = [line.rstrip() for line in to_printable(text, MAX_SHOWN, lines=True).strip().split("\n")]
    return "\n".join(line for number, line in enumerate(lines) if line or (number and lines[number - 1]))
