"""The web application: show pages, teach and move messages, and refuse requests. Every change is a POST of a page."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from spamnb.api.words import word_of
from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError, in_options
from spamnb.journal.entries import INBOX, JUNK
from spamnb.journal.journal import Journal
from spamnb.review import pages
from spamnb.review.lessons import Outcome, Teacher, describe_missing
from spamnb.review.moving import Moving
from spamnb.shown_text import pluralize, to_printable

HOSTS = ["127.0.0.1", "localhost"]  # a hostile site may give its own name the address of this machine
MAX_BODY = 65_536  # bytes of a form: a page has 50 boxes, of some 20 bytes each
MAX_FIELDS = 300  # of a form: a page has 50 boxes and a few buttons
#: Header fields of each reply, which restrict what a browser does with the page.
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",  # the path holds the key
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
Fields = dict[str, list[str]]  # values of a form by name, as they were sent


class Refused(Exception):
    """A refusal of a request: an HTTP status, and a line and a heading for a person."""

    def __init__(self, status: int, line: str, heading: str = "The request was refused") -> None:
        super().__init__(line)
        self.status, self.heading = status, heading


@dataclass(frozen=True)
class Review:
    """The pages of a journal and of the models that learn.

    A browser needs ``key``, the first part of each page's path. The key is not in a cookie, because browsers send
    cookies to every port of this machine, and another user's program may listen there.
    """

    journal: Path
    teacher: Teacher
    key: str

    def app(self) -> Starlette:
        """Return the application for an ASGI server."""
        pages = [
            Route("/", self._page(self._list)),
            Route("/message/{position}", self._page(self._message)),
            Route("/words", self._page(self._words)),
            Route("/figures", self._page(self._figures)),
            Route("/teach", self._form(self._teach), methods=["POST"]),
            Route("/undo", self._form(self._undo), methods=["POST"]),
            Route("/move", self._form(self._move), methods=["POST"]),
        ]
        static = Mount("/static", StaticFiles(packages=[("spamnb.review", "static")]))
        routes = [static, Mount("/{key}", routes=pages), Route("/", self._page(self._list))]
        handlers: dict[Any, Any] = {Refused: self._refuse, SpamnbError: self._refuse}
        policy = Middleware(BaseHTTPMiddleware, dispatch=_with_policy)
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=HOSTS, www_redirect=False)
        return Starlette(routes=routes, exception_handlers=handlers, middleware=[policy, hosts])

    # -- checks of requests ----------------------------------------------------------------------------------

    def _check(self, request: Request) -> None:
        if not self._has_key(request):
            raise Refused(403, "Open the address that 'spamnb review' printed: it contains a key.")

    def _has_key(self, request: Request) -> bool:
        key = request.path_params.get("key", "")
        return bool(self.key) and hmac.compare_digest(key.encode("utf-8", "replace"), self.key.encode())

    def _page(self, make: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a page. A thread makes the page, because SQLite may wait for a lock."""

        async def answer(request: Request) -> Response:
            self._check(request)
            return await run_in_threadpool(make, request)

        return answer

    def _form(self, act: Callable[[Fields], Response]) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a form, which is accepted from these pages only. A thread calls ``act``."""

        async def answer(request: Request) -> Response:
            self._check(request)
            if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
                raise Refused(403, "A page of another site sent this form.")
            body = b""
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY:
                    raise Refused(413, f"The form has more than {MAX_BODY:,} bytes.")
            try:
                fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
            except ValueError:
                raise Refused(400, f"The form has more than {MAX_FIELDS} fields.") from None
            return await run_in_threadpool(act, fields)

        return answer

    def _render(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        has_key = self._has_key(request)
        base = f"/{self.key}" if has_key else ""
        values |= {"path": request.url.path.removeprefix(base), "has_key": has_key, "base": base}
        return HTMLResponse(pages.render(template, **values), status)

    async def _refuse(self, request: Request, error: Exception) -> Response:
        refused = error if isinstance(error, Refused) else Refused(409, in_options(error))
        line = to_printable(str(refused), 500)
        return self._render(request, "refused.html", refused.status, line=line, heading=refused.heading)

    # -- pages -----------------------------------------------------------------------------------------------

    def _list(self, request: Request) -> Response:
        query = request.query_params
        with Journal.open(self.journal) as journal:
            values = pages.list_values(journal, pages.Choice.of(query), query.get("done", ""))
        values["undone"] = query.get("undone", "") if _is_position(query.get("undone", "")) else ""
        return self._render(request, "list.html", threshold=self._threshold(), **values)

    def _message(self, request: Request) -> Response:
        position = request.path_params["position"]
        with Journal.open(self.journal) as journal, Moving(journal) as moving:
            entry = journal.verdict_at(int(position)) if _is_position(position) else None
            if entry is None:
                raise Refused(404, describe_missing(position[:20]))
            values = pages.message_values(journal, entry, moving.read(entry))
        values["choice"] = pages.Choice.of(request.query_params)
        return self._render(request, "message.html", threshold=self._threshold(), **values)

    def _threshold(self) -> float:
        """Return the probability above which mail is called spam."""
        with Classifier.open(self.teacher.shared) as model:
            return model.settings.loss.threshold

    def _words(self, request: Request) -> Response:
        word = request.query_params.get("word", "")[: pages.MAX_TYPED].strip()
        with Classifier.open(self.teacher.shared) as model:
            report, top = word_of(model.store, word), [] if word else pages.top_words(model)
        return self._render(request, "words.html", word=word, documents=report.documents, held=report.tokens, top=top)

    def _figures(self, request: Request) -> Response:
        with Journal.open(self.journal) as journal, Classifier.open(self.teacher.shared) as model:
            values = pages.figures_values(journal, model)
        return self._render(request, "figures.html", **values)

    # -- lessons ---------------------------------------------------------------------------------------------

    def _teach(self, fields: Fields) -> Response:
        one, _, position = _first(fields, "one").partition(":")
        as_what = one or _first(fields, "as")
        chosen = [position] if one else fields.get("entry", [])
        if as_what not in ("spam", "good"):
            raise Refused(400, "The form does not say whether the messages are spam or good. Press one of the buttons.")
        if not chosen:
            raise Refused(400, "No message is ticked. Go back and tick at least one.")
        if not all(map(_is_position, chosen)):
            raise Refused(400, "The form names a message that is not in the journal. Load the list again.")
        with Journal.open(self.journal) as journal:
            positions = list(dict.fromkeys(map(int, chosen)))
            outcome = self.teacher.teach(journal, positions, as_what == "spam", move="move" in fields)
        stay = "1" if "movable" in fields and "move" not in fields else ""
        return self._back(fields, outcome, done=outcome.batch, stay=stay)

    def _undo(self, fields: Fields) -> Response:
        batch, position = _first(fields, "batch"), _first(fields, "position")
        with Journal.open(self.journal) as journal:
            entry = journal.verdict_at(int(position)) if _is_position(position) else None
            of_entry = journal.correction_of(entry.digest, entry.user) if entry else None
            corrections = journal.corrections(batch) if batch else [of_entry] if of_entry else []
            outcome = self.teacher.undo(journal, corrections)
        if not (outcome.changed or outcome.problems):
            raise Refused(404, "Nothing was undone: the lesson was undone before, or is no longer in the journal.")
        return self._back(fields, outcome, undone=outcome.changed)

    def _move(self, fields: Fields) -> Response:
        role, _, position = _first(fields, "to").partition(":")
        if role not in (INBOX, JUNK) or not _is_position(position):
            raise Refused(400, "The form does not say which message to move, and where. Press one of the buttons.")
        with Journal.open(self.journal) as journal:
            self.teacher.move(journal, int(position), role)
        return RedirectResponse(f"/{self.key}/message/{int(position)}{_choice(fields).query()}", 303)

    def _back(self, fields: Fields, outcome: Outcome, **news: str | int) -> Response:
        """Redirect to the list that the form was on. Raise Refused with the problems, if there are any."""
        if outcome.problems:
            if not outcome.changed:
                raise Refused(409, "; ".join(outcome.problems))
            learned = f"{pluralize(outcome.changed, 'lesson')} learned; "
            raise Refused(409, learned + "; ".join(outcome.problems), "Some messages were not changed")
        return RedirectResponse(f"/{self.key}/{_choice(fields).query(**news)}", 303)


async def _with_policy(request: Request, call_next: RequestResponseEndpoint) -> Response:
    response = await call_next(request)
    response.headers.update(HEADERS)
    return response


def _choice(fields: Fields) -> pages.Choice:
    """Return the list that the form was on."""
    return pages.Choice.of(dict(parse_qsl(_first(fields, "list").removeprefix("?"))))


def _is_position(text: str) -> bool:
    """Return whether a text can be the position of a verdict."""
    return text.isascii() and text.isdigit() and len(text) < 19


def _first(fields: Fields, name: str) -> str:
    return fields.get(name, [""])[0]
