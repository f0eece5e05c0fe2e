"""Who is logged in, tokens against forged requests, and how often a password may be tried. All of it is in memory."""

from __future__ import annotations

import hmac
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import NamedTuple

HOURS = 12  # after which one logs in again
MAX_SESSIONS = 1_000
MAX_FAILURES, WINDOW = 10, 900.0  # wrong passwords from one address, in so many seconds
MAX_FAILURES_OF_ALL = 200  # from all addresses together
MAX_ADDRESSES = 10_000


class Session(NamedTuple):
    """Somebody who is logged in until a time."""

    user: str
    until: float


class Sessions:
    """The sessions of one process; who restarts it logs in again.

    >>> sessions = Sessions()
    >>> cookie = sessions.begin("ann")
    >>> sessions.user(cookie), sessions.user("other"), sessions.is_ours(cookie, sessions.token(cookie))
    ('ann', None, True)
    >>> sessions.end(cookie), sessions.user(cookie)
    (None, None)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._secret = secrets.token_bytes(32)
        self._open: OrderedDict[str, Session] = OrderedDict()

    def begin(self, user: str) -> str:
        """A new session's cookie."""
        cookie = secrets.token_urlsafe(32)
        self._open[cookie] = Session(user, self._clock() + 3600 * HOURS)
        if len(self._open) > MAX_SESSIONS:
            self._open.popitem(last=False)
        return cookie

    def end(self, cookie: str) -> None:
        """Log out."""
        self._open.pop(cookie, None)

    def user(self, cookie: str) -> str | None:
        """Who is logged in with this cookie."""
        found = self._open.get(cookie)
        return found.user if found is not None and self._clock() < found.until else None

    def token(self, cookie: str) -> str:
        """What a form sent with this cookie must hold: another site's page cannot know it."""
        return hmac.new(self._secret, cookie.encode(), "sha256").hexdigest()

    def is_ours(self, cookie: str, token: str) -> bool:
        """Whether a form holds what it must."""
        return bool(cookie) and hmac.compare_digest(self.token(cookie), token.encode("ascii", "replace").decode())


class Attempts:
    """Wrong passwords of the last quarter of an hour, by address.

    >>> attempts = Attempts(lambda: 0.0)
    >>> [attempts.failed("::1") for _ in range(MAX_FAILURES)][-1], attempts.may_try("::1"), attempts.may_try("::2")
    (None, False, True)
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures: OrderedDict[str, list[float]] = OrderedDict()

    def may_try(self, address: str) -> bool:
        """Whether a password from there is looked at."""
        now = self._clock()
        for known in list(self._failures):
            self._failures[known] = [at for at in self._failures[known] if now - at < WINDOW]
            if not self._failures[known]:
                del self._failures[known]
        all_failures = sum(map(len, self._failures.values()))
        return len(self._failures.get(address, ())) < MAX_FAILURES and all_failures < MAX_FAILURES_OF_ALL

    def failed(self, address: str) -> None:
        """Note a wrong password."""
        self._failures.setdefault(address, []).append(self._clock())
        if len(self._failures) > MAX_ADDRESSES:
            self._failures.popitem(last=False)
