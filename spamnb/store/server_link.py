"""A connection to a PostgreSQL server: made when it is needed, made anew when the server let it go.

What a change writes is held back until something is read, or the change ends, and then sent at once (libpq's pipeline):
nine statements that were waited for one by one took twice the processor time.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import psycopg

# Of a connection that is lost in a pipeline it tells standard error too, beside the error that it raises.
logging.getLogger("psycopg").addHandler(logging.NullHandler())

# Unless the URL or libpq's own variables say otherwise: a server that is gone must not hold mail up for minutes.
_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class Write:
    """A statement that is held back."""

    def __init__(self, link: ServerLink, statement: bytes, values: Sequence[Any] | None) -> None:
        self._link, self.statement, self.values = link, statement, values
        self.done: psycopg.Cursor[tuple[Any, ...]] | None = None

    @property
    def rowcount(self) -> int:
        """How many rows it changed; it is sent now."""
        self._link.in_use()
        assert self.done is not None
        return self.done.rowcount


class ServerLink:
    """One connection, for one model or for many that are asked in turn, such as those of users: a server has room for
    a hundred connections, and each takes it 9 ms of processor time to make."""

    def __init__(self, conninfo: str) -> None:
        self.conninfo = conninfo
        self._server: psycopg.Connection[tuple[Any, ...]] | None = None
        self._unread = False  # the answer to a COMMIT
        self._held: list[Write] = []

    def connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        """The connection, ready for a question."""
        server = self.alive()
        if server is None:
            given = psycopg.conninfo.conninfo_to_dict(self.conninfo)
            patience: Any = {name: value for name, value in _PATIENCE.items() if name not in given}
            server = psycopg.connect(self.conninfo, autocommit=True, prepare_threshold=None, **patience)
            self._server = server
        return server

    def in_use(self) -> psycopg.Connection[tuple[Any, ...]]:
        """The connection inside a transaction, all writes sent: another one would know nothing of it."""
        server = self.alive()
        if server is None:
            raise psycopg.OperationalError("the connection was lost")
        held, self._held = self._held, []
        if len(held) == 1:
            held[0].done = server.execute(held[0].statement, held[0].values)
        elif held:
            with server.pipeline():
                for write in held:
                    write.done = server.execute(write.statement, write.values)
        return server

    def write(self, statement: bytes, values: Sequence[Any] | None) -> Write:
        """Hold a statement back."""
        self._held.append(Write(self, statement, values))
        return self._held[-1]

    def commit(self) -> None:
        """Send what is held back, and end the transaction."""
        self.write(b"COMMIT", None)
        self.in_use()

    def forget_writes(self) -> None:
        """What was held back is not written: the change failed."""
        self._held = []

    def alive(self) -> psycopg.Connection[tuple[Any, ...]] | None:
        """The connection, ready for a question; None where there is none, or the server let it go."""
        if self._server is not None and self._unread:
            self._unread = False
            while self._server.pgconn.get_result() is not None:
                pass
        return None if self._server is None or self._server.closed else self._server

    def commit_unread(self) -> None:
        """End a transaction that wrote nothing. The answer is read before the next question: it says nothing, and
        waiting for it would be half of what a message waits for whose tokens are all in memory."""
        server = self.alive()
        if server is not None:
            server.pgconn.send_query(b"COMMIT")
            self._unread = True

    def close(self) -> None:
        """Let the server go; the next question makes a connection anew."""
        server = self.alive()
        if server is not None:
            server.close()
        self._server = None
