"""A connection to a PostgreSQL server: made when it is needed, made anew when the server let it go."""

from __future__ import annotations

from typing import Any

import psycopg

# Unless the URL or libpq's own variables say otherwise: a server that is gone must not hold mail up for minutes.
_PATIENCE = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class ServerLink:
    """One connection, for one model or for many that are asked in turn, such as those of users: a server has room for
    a hundred connections, and each takes it 9 ms of processor time to make."""

    def __init__(self, conninfo: str) -> None:
        self.conninfo = conninfo
        self._server: psycopg.Connection[tuple[Any, ...]] | None = None
        self._unread = False  # the answer to a COMMIT

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
        """The connection inside a transaction: another one would know nothing of it."""
        server = self.alive()
        if server is None:
            raise psycopg.OperationalError("the connection was lost")
        return server

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
