"""The web application of ``spamnb review``: check requests, show pages, and make the change of each POST."""

from __future__ import annotations

import hmac
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any
from urllib.parse import parse_qs, parse_qsl

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from spamnb.api.teaching import Teacher
from spamnb.api.words import word_of
from spamnb.errors import SpamnbError, in_options
from spamnb.filter import Classifier
from spamnb.ledger.ledger import Batch, Ledger, NotInLedger
from spamnb.ledger.verdicts import INBOX, JUNK
from spamnb.mailbox.places import OpenMailboxes
from spamnb.model.decision import Loss
from spamnb.review import pages
from spamnb.serve.http_wire import LOCAL_HOSTS
from spamnb.shown_text import pluralize, to_printable
from spamnb.user_models import Models

MAX_BODY = 65_536  # bytes of a form; a page has 50 check boxes of about 20 bytes
MAX_FIELDS = 300  # fields of a form; a page has 50 check boxes and a few buttons
#: Header fields of each reply, which forbid scripts, frames and other sites.
HEADERS = {
    "content-security-policy": "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self';"
    " base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",  # the path contains the key
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
}
Fields = dict[str, list[str]]  # the values of a form by name


@dataclass(frozen=True)
class Review:
    """The pages of a ledger and of the models that learn.

    The models stay open, because closing an SQLite file takes longer than learning a message.

    The path of each page begins with ``key``, which only the user knows. The key is not in a cookie, because browsers
    send a cookie to all ports of this machine, and a program of another user can listen on one of them.
    """

    ledger: Path
    models: Models
    key: str
    _lock: Lock = field(default_factory=Lock)  # only one request at a time changes models

    def app(self) -> Starlette:
        """Return the application for an ASGI server."""
        page_routes = [
            Route("/", self._page(self._list)),
            Route("/message/{position}", self._page(self._message)),
            Route("/words", self._page(self._words)),
            Route("/statistics", self._page(self._statistics)),
            Route("/teach", self._form(self._teach), methods=["POST"]),
            Route("/undo", self._form(self._undo), methods=["POST"]),
            Route("/move", self._form(self._move), methods=["POST"]),
        ]
        static = Mount("/static", StaticFiles(packages=[("spamnb.review", "static")]))
        routes = [static, Mount("/{key}", routes=page_routes), Route("/", self._page(self._list))]
        handlers: dict[Any, Any] = {HTTPException: self._refuse, SpamnbError: self._refuse}
        policy = Middleware(BaseHTTPMiddleware, dispatch=_with_policy)
        hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[*LOCAL_HOSTS], www_redirect=False)
        return Starlette(routes=routes, exception_handlers=handlers, middleware=[policy, hosts])

    def finish_last_request(self) -> list[str]:
        """Learn the corrections of the last request that a killed process did not learn, and return the problems."""
        with Ledger.open(self.ledger) as ledger:
            batch = ledger.last_batch(command="review", model=os.path.abspath(self.models.path))
            if batch is None:
                return []
            corrections = ledger.corrections(last=True, batch=batch.batch)
            with Teacher(self.models, ledger, batch) as teacher:
                teacher.relearn(corrections)
        return teacher.problems

    def _check(self, request: Request) -> None:
        if not self._has_key(request):
            raise HTTPException(403, "Open the address that 'spamnb review' printed: it contains a key.")

    def _has_key(self, request: Request) -> bool:
        key = request.path_params.get("key", "")
        return bool(self.key) and hmac.compare_digest(key.encode("utf-8", "replace"), self.key.encode())

    def _page(self, make: Callable[[Request], Response]) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a page. A thread calls ``make``, because SQLite may wait for a lock."""

        async def answer(request: Request) -> Response:
            self._check(request)
            return await run_in_threadpool(make, request)

        return answer

    def _form(self, act: Callable[[Fields], Response]) -> Callable[[Request], Awaitable[Response]]:
        """Return the endpoint of a form. Forms of other sites are refused. A thread calls ``act``."""

        async def answer(request: Request) -> Response:
            self._check(request)
            if request.headers.get("sec-fetch-site", "same-origin") != "same-origin":
                raise HTTPException(403, "A page of another site sent this form.")
            body = b""
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY:
                    raise HTTPException(413, f"The form has more than {MAX_BODY:,} bytes.")
            try:
                fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
            except ValueError:
                raise HTTPException(400, f"The form has more than {MAX_FIELDS} fields.") from None
            return await run_in_threadpool(act, fields)

        return answer

    def _render(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        has_key = self._has_key(request)
        base = f"/{self.key}" if has_key else ""
        values |= {"path": request.url.path.removeprefix(base), "has_key": has_key, "base": base}
        return HTMLResponse(pages.render(template, **values), status)

    async def _refuse(self, request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException):
            status, line = error.status_code, error.detail
        else:
            status, line = 404 if isinstance(error, NotInLedger) else 409, in_options(error)
        return self._render(request, "refusal.html", status, line=to_printable(line, 500))

    def _list(self, request: Request) -> Response:
        query = request.query_params
        with Ledger.open(self.ledger) as ledger:
            values = pages.list_values(ledger, pages.ListQuery.of(query), query.get("done", ""))
        values["undone"] = query.get("undone", "")[:9]
        return self._render(request, "list.html", threshold=self._threshold(), **values)

    def _message(self, request: Request) -> Response:
        position = request.path_params["position"]
        with Ledger.open(self.ledger) as ledger, OpenMailboxes(ledger) as mailboxes:
            row = ledger.verdict(_to_position(position))
            values = pages.message_values(row, mailboxes.read(row))
        values["list_query"] = pages.ListQuery.of(request.query_params)
        return self._render(request, "message.html", threshold=self._threshold(), **values)

    def _threshold(self) -> float:
        """Return the probability above which mail is called spam."""
        with Classifier.open(self.models.path) as model:
            return Loss.of(model.settings).threshold

    def _words(self, request: Request) -> Response:
        word = request.query_params.get("word", "")[: pages.MAX_TYPED].strip()
        with Classifier.open(self.models.path) as model:
            report, top_words = word_of(model.store, word), [] if word else pages.informative_words(model)
        return self._render(request, "words.html", word=word, report=report, top_words=top_words)

    def _statistics(self, request: Request) -> Response:
        with Ledger.open(self.ledger) as ledger, Classifier.open(self.models.path) as model:
            values = pages.statistics_values(ledger, model, request.query_params.get("user", "")[: pages.MAX_TYPED])
        return self._render(request, "statistics.html", **values)

    def _teach(self, fields: Fields) -> Response:
        label_of_one, _, position = _first(fields, "one").partition(":")
        label = label_of_one or _first(fields, "as")
        texts = [position] if label_of_one else fields.get("ticked", [])
        if label not in ("spam", "good"):
            raise HTTPException(
                400, "The form does not say whether the messages are spam or good. Press one of the buttons."
            )
        if not texts:
            raise HTTPException(400, "No message is ticked. Go back and tick at least one.")
        positions = dict.fromkeys(map(_to_position, texts))
        with Ledger.open(self.ledger) as ledger, self._teacher(ledger) as teacher:
            teacher.teach(positions, label == "spam", move="move" in fields)
        stay = "1" if "movable" in fields and "move" not in fields else ""
        return self._back(fields, teacher, done=teacher.batch.batch, stay=stay)

    def _undo(self, fields: Fields) -> Response:
        batch, position = _first(fields, "batch"), _first(fields, "position")
        with Ledger.open(self.ledger) as ledger, self._teacher(ledger) as teacher:
            if batch:
                corrections = ledger.corrections(batch=batch)
            else:
                correction = ledger.correction_of(ledger.verdict(_to_position(position)))
                corrections = [correction] if correction else []
            teacher.undo(corrections)
        if not (teacher.n_changed or teacher.problems):
            raise HTTPException(
                404, "Nothing was undone: the correction was undone before, or is no longer in the ledger."
            )
        return self._back(fields, teacher, undone=teacher.n_changed)

    def _move(self, fields: Fields) -> Response:
        role, _, position = _first(fields, "to").partition(":")
        if role not in (INBOX, JUNK):
            raise HTTPException(400, "The form does not say where to move the message. Press one of the buttons.")
        with Ledger.open(self.ledger) as ledger, OpenMailboxes(ledger) as mailboxes:
            mailboxes.move_to(ledger.verdict(_to_position(position)), role)
        return RedirectResponse(f"/{self.key}/message/{int(position)}{_list_query(fields).format()}", 303)

    @contextmanager
    def _teacher(self, ledger: Ledger) -> Iterator[Teacher]:
        with self._lock:
            batch = Batch.begin("review", self.models.for_classifying("").store)
            with Teacher(self.models, ledger, batch) as teacher:
                yield teacher

    def _back(self, fields: Fields, teacher: Teacher, **parameters: str | int) -> Response:
        """Redirect to the list that the form was on, or raise HTTPException if there are problems."""
        if teacher.problems:
            changed = [f"{pluralize(teacher.n_changed, 'message')} changed"] if teacher.n_changed else []
            raise HTTPException(409, "; ".join([*changed, *teacher.problems]))
        return RedirectResponse(f"/{self.key}/{_list_query(fields).format(**parameters)}", 303)


async def _with_policy(request: Request, call_next: RequestResponseEndpoint) -> Response:
    response = await call_next(request)
    response.headers.update(HEADERS)
    return response


def _list_query(fields: Fields) -> pages.ListQuery:
    """Return the query parameters of the list that the form was on."""
    return pages.ListQuery.of(dict(parse_qsl(_first(fields, "list").removeprefix("?"))))


def _to_position(text: str) -> int:
    """Return the position of a verdict, an integer of 64 bits. Raise NotInLedger for any other text."""
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise NotInLedger("The page names a message that is not in the ledger. Load the list again.")
    return int(text)


def _first(fields: Fields, name: str) -> str:
    return fields.get(name, [""])[0]
