"""Addresses → pages, lessons and refusals. Every change is a POST with a token; every reply forbids what it can."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from spamnb.errors import SpamnbError
from spamnb.journal.journal import Journal
from spamnb.journal.whereabouts import INBOX, JUNK
from spamnb.naming import is_loopback, pluralize
from spamnb.review import pages, tables
from spamnb.review.lessons import Taught, Teacher, missing
from spamnb.review.passwords import ADMIN, Passwords
from spamnb.review.sessions import HOURS, Attempts, Sessions
from spamnb.review.words import MAX_TYPED
from spamnb.serve.users import is_name

COOKIE = "spamnb_session"
MAX_BODY = 65_536  # bytes of a form: a page has 50 boxes
MAX_FIELDS = 300
#: What a browser may do with a page, told with each reply.
HEADERS = [
    (
        b"content-security-policy",
        b"default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none';"
        b" frame-ancestors 'none'",
    ),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]
Fields = dict[str, list[str]]  # of a form, as they were sent


class Refused(Exception):
    """What is answered instead: a status and a line for a person."""

    def __init__(self, status: int, line: str, heading: str = "That was not done") -> None:
        super().__init__(line)
        self.status, self.heading = status, heading


@dataclass(frozen=True)
class Review:
    """What the pages are about; ``secure`` where the browser is to send the cookie over TLS alone.

    ``proxy_user`` is the header field in which a proxy on this machine names the user, who then needs no password; that
    is believed of who connects over loopback or a Unix socket, and of nobody else.
    """

    journal: Path
    teacher: Teacher
    passwords: Passwords | None
    secure: bool = False
    proxy_user: str = ""
    sessions: Sessions = field(default_factory=Sessions)
    attempts: Attempts = field(default_factory=Attempts)

    def app(self) -> ASGIApp:
        """The application, for any server of ASGI."""
        routes = [
            Route("/", self._page(self._doubtful), name="doubtful"),
            Route("/message/{position:int}", self._page(self._message)),
            Route("/words", self._page(self._words)),
            Route("/figures", self._page(self._figures)),
            Route("/login", self._log_in_page),
            Route("/login", self._form(self._log_in), methods=["POST"]),
            Route("/logout", self._form(self._log_out), methods=["POST"]),
            Route("/teach", self._form(self._teach), methods=["POST"]),
            Route("/undo", self._form(self._undo), methods=["POST"]),
            Route("/move", self._form(self._move), methods=["POST"]),
            Mount("/static", StaticFiles(packages=[("spamnb.review", "static")])),
        ]
        handlers: dict[Any, Any] = {Refused: self._refuse, SpamnbError: self._refuse}
        return WithPolicy(Starlette(routes=routes, exception_handlers=handlers))

    # -- who asks --------------------------------------------------------------------------------------------

    def _user(self, request: Request) -> str | None:
        if not self.proxy_user:
            return self.sessions.user(request.cookies.get(COOKIE, ""))
        named = request.headers.getlist(self.proxy_user)  # two would be a client's own beside the proxy's
        trusted = request.client is None or is_loopback(request.client.host)
        if not trusted or len(named) != 1 or not is_name(named[0]):
            raise Refused(403, f"The proxy did not say who you are: it has to set {self.proxy_user}, once.")
        return named[0]

    def _cookie(self, request: Request) -> str:
        """The cookie that the tokens of forms go with; behind a proxy, where nobody logs in, a page makes it."""
        known = request.cookies.get(COOKIE, "")
        if not known and self.proxy_user:
            known = request.state.cookie = getattr(request.state, "cookie", None) or secrets.token_urlsafe(32)
        return known

    def _page(self, make: Callable[[Request, str], Response]) -> Callable[[Request], Awaitable[Response]]:
        """A page for who is logged in, made in a thread: SQLite may wait."""

        async def answer(request: Request) -> Response:
            user = self._user(request)
            if user is None:
                return RedirectResponse("/login", 303)
            response = await run_in_threadpool(make, request, user)
            fresh = getattr(request.state, "cookie", None)
            return response if fresh is None else self._with_cookie(response, fresh, 3600 * HOURS)

        return answer

    def _form(self, act: Callable[[Request, Fields], Response]) -> Callable[[Request], Awaitable[Response]]:
        """A form that holds the token of its cookie, acted on in a thread."""

        async def answer(request: Request) -> Response:
            body = b""
            async for part in request.stream():
                body += part
                if len(body) > MAX_BODY:
                    raise Refused(413, "That is too much for a form.")
            try:
                fields = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=MAX_FIELDS)
            except ValueError:
                raise Refused(400, "That form has too many fields.") from None
            if not self.sessions.is_ours(request.cookies.get(COOKIE, ""), _first(fields, "token")):
                raise Refused(403, "This page was too old, or not ours. Go back, load it again and repeat.")
            return await run_in_threadpool(act, request, fields)

        return answer

    def _logged_in(self, request: Request) -> str:
        user = self._user(request)
        if user is None:
            raise Refused(403, "You are no longer logged in.")
        return user

    def _render(self, request: Request, template: str, status: int = 200, cookie: str = "", **values: Any) -> Response:
        cookie = cookie or self._cookie(request)
        try:
            user = self._user(request) or ""
        except Refused:  # what is rendered says so
            user = ""
        shared = {"user": user, "admin": user == ADMIN, "proxied": bool(self.proxy_user)}
        shared["token"] = self.sessions.token(cookie)
        return HTMLResponse(pages.render(template, here=request.url.path, **shared, **values), status)

    def _with_cookie(self, response: Response, cookie: str, seconds: int) -> Response:
        secure = self.secure
        response.set_cookie(COOKIE, cookie, max_age=seconds, secure=secure, httponly=True, samesite="strict")
        return response

    async def _refuse(self, request: Request, error: Exception) -> Response:
        refused = error if isinstance(error, Refused) else Refused(409, str(error))
        line = pages.displayed(str(refused), 500)
        return self._render(request, "refused.html", refused.status, line=line, heading=refused.heading)

    # -- logging in and out ----------------------------------------------------------------------------------

    async def _log_in_page(self, request: Request) -> Response:
        if self._user(request) is not None:
            return RedirectResponse("/", 303)
        return self._log_in_form(request, "")

    def _log_in_form(self, request: Request, line: str, status: int = 200) -> Response:
        cookie = request.cookies.get(COOKIE, "") or secrets.token_urlsafe(32)  # nobody's session, but the form's token
        return self._with_cookie(self._render(request, "login.html", status, cookie, line=line), cookie, 3600 * HOURS)

    def _log_in(self, request: Request, fields: Fields) -> Response:
        if self.passwords is None:
            raise Refused(403, "The proxy logs in, not this page.")
        address = request.client.host if request.client else ""
        if not self.attempts.may_try(address):
            return self._log_in_form(request, "Too many wrong passwords. Try again in a quarter of an hour.", 429)
        user = _first(fields, "user").strip()
        if not self.passwords.check(user, _first(fields, "password")):
            self.attempts.failed(address)
            return self._log_in_form(request, "That name and password do not belong together.", 403)
        self.sessions.end(request.cookies.get(COOKIE, ""))
        return self._with_cookie(RedirectResponse("/", 303), self.sessions.begin(user), 3600 * HOURS)

    def _log_out(self, request: Request, fields: Fields) -> Response:
        self.sessions.end(request.cookies.get(COOKIE, ""))
        response = RedirectResponse("/login", 303)
        response.delete_cookie(COOKIE)
        return response

    # -- pages -----------------------------------------------------------------------------------------------

    def _doubtful(self, request: Request, user: str) -> Response:
        page, undone = (_number(request.query_params.get(name, "0")) for name in ("page", "undone"))
        batch = request.query_params.get("done", "")
        with Journal.at(self.journal) as journal:
            values = pages.doubtful_mail(journal, _viewer(user), page, batch, undone)
        values["begins"] = self._spam_begins(user)
        values["stay"] = request.query_params.get("stay", "") == "1"
        return self._render(request, "doubtful.html", **values)

    def _message(self, request: Request, user: str) -> Response:
        with Journal.at(self.journal) as journal:
            row = journal.row(min(request.path_params["position"], 1 << 62), _viewer(user))
            if row is None:
                raise Refused(404, missing(request.path_params["position"]))
            values = pages.message(journal, row, _viewer(user), self.teacher.mail(journal, row))
        values["begins"] = self._spam_begins(user)
        return self._render(request, "message.html", **values)

    def _spam_begins(self, user: str) -> str:
        """The probability from which on mail is called spam."""
        with self.teacher.model_of(_viewer(user)) as model:
            return pages.in_percent(model.settings.loss.threshold)

    def _words(self, request: Request, user: str) -> Response:
        begin = request.query_params.get("begin", "")[:MAX_TYPED]
        with self.teacher.model_of(_viewer(user)) as model:
            values = tables.word_search(model, begin)
        return self._render(request, "words.html", **values)

    def _figures(self, request: Request, user: str) -> Response:
        with Journal.at(self.journal) as journal, self.teacher.model_of(_viewer(user)) as model:
            values = tables.how_it_does(journal, _viewer(user), model)
        return self._render(request, "figures.html", **values)

    # -- lessons ---------------------------------------------------------------------------------------------

    def _teach(self, request: Request, fields: Fields) -> Response:
        viewer = _viewer(self._logged_in(request))
        one, _, position = _first(fields, "one").partition(":")
        as_what = one or _first(fields, "as")
        chosen = [position] if one else fields.get("entry", [])
        if as_what not in ("spam", "good"):
            raise Refused(400, "Say whether it is spam or good.")
        if not chosen:
            raise Refused(400, "No message was chosen. Go back and tick some first.")
        if not all(map(_is_position, chosen)):
            raise Refused(400, "That is no message of the journal.")
        with Journal.at(self.journal) as journal:
            rows = list(dict.fromkeys(map(int, chosen)))
            taught = self.teacher.teach(journal, rows, as_what == "spam", viewer, "move" in fields)
        return self._answered(taught, "" if "move" in fields or "movable" not in fields else "stay=1")

    def _undo(self, request: Request, fields: Fields) -> Response:
        viewer = _viewer(self._logged_in(request))
        with Journal.at(self.journal) as journal:
            taught = self.teacher.undo(journal, _first(fields, "batch"), viewer)
        if not (taught.changed or taught.problems):
            raise Refused(404, "Nothing was taken back: that lesson was taken back before, or has left the journal.")
        return self._answered(taught, f"undone={taught.changed}")

    def _move(self, request: Request, fields: Fields) -> Response:
        viewer = _viewer(self._logged_in(request))
        role, _, position = _first(fields, "to").partition(":")
        if role not in (INBOX, JUNK) or not _is_position(position):
            raise Refused(400, "Say which message goes where.")
        with Journal.at(self.journal) as journal:
            self.teacher.move(journal, int(position), role, viewer)
        return RedirectResponse(f"/message/{int(position)}", 303)

    def _answered(self, taught: Taught, more: str = "") -> Response:
        if taught.problems:
            if not taught.changed:
                raise Refused(409, "; ".join(taught.problems))
            learned = f"{pluralize(taught.changed, 'lesson')} learned; "
            raise Refused(409, learned + "; ".join(taught.problems), "Not all of that was done")
        query = "&".join(filter(None, [f"done={taught.batch}" if taught.batch.isalnum() else "", more]))
        return RedirectResponse(f"/?{query}" if query else "/", 303)


class WithPolicy:
    """The same application, each of its replies with HEADERS."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *HEADERS]
            await send(message)

        await self._app(scope, receive, sending if scope["type"] == "http" else send)


def _viewer(user: str) -> str | None:
    """Whose mail a user sees: None is everybody's."""
    return None if user == ADMIN else user


def _number(text: str) -> int:
    """A small number of an address; 0 where it is none."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 5 else 0


def _is_position(text: str) -> bool:
    """Can that be where a verdict stands in the journal?"""
    return text.isascii() and text.isdigit() and len(text) < 19


def _first(fields: Fields, name: str) -> str:
    return fields.get(name, [""])[0]
