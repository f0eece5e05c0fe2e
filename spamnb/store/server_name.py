"""What names a model on a PostgreSQL server: ``postgresql://[user@]host[:port]/database[?schema=NAME&sslmode=...]``.

All of it but ``schema`` is libpq's: several hosts, sslmode, sockets, ~/.pgpass. A password is refused in it, since a
command line is for every user of the machine to read.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qsl, urlencode, urlsplit

from spamnb.errors import SpamnbError
from spamnb.naming import escape
from spamnb.settings import COUNT_MODELS

SERVER_MODELS = (*COUNT_MODELS, "corrected")  # types of models that a server keeps
DEFAULT_SCHEMA = "spamnb"
MAX_SCHEMA = 50  # characters: PostgreSQL cuts names off after 63, and one that is being made has 13 more
# A model's own name, and behind a colon the user whose model beside it that is.
_SCHEMA = re.compile(r"(?!pg_)[A-Za-z0-9_][A-Za-z0-9_.-]{0,39}(:[A-Za-z0-9_#][A-Za-z0-9_.@+-]*)?")
_SECRETS = ("password", "sslpassword")


class ServerName(NamedTuple):
    """A model on a server."""

    conninfo: str  # for libpq
    schema: str

    @classmethod
    def of(cls, url: str) -> ServerName:
        """The parts of a URL. SpamnbError where it holds a password, or names no schema that a model can have.

        >>> ServerName.of("postgresql://mail@db.example.org/spam?schema=office&sslmode=verify-full")
        ServerName(conninfo='postgresql://mail@db.example.org/spam?sslmode=verify-full', schema='office')
        >>> ServerName.of("postgresql://mail:secret@db.example.org/spam")
        Traceback (most recent call last):
        ...
        spamnb.errors.SpamnbError: postgresql://mail@...: a password in a model's name is for all users of this machine
        to read; write it into ~/.pgpass, as HOST:PORT:DATABASE:USER:PASSWORD
        """
        scheme, _, rest = url.partition("://")
        authority = re.split("[/?#]", rest, maxsplit=1)[0]
        user = authority.rpartition("@")[0]
        try:
            given = parse_qsl(urlsplit(url).query, keep_blank_values=True)
        except ValueError as error:
            raise SpamnbError(f"{escape(scheme)}://...: no name of a server ({escape(str(error))})") from None
        if ":" in user or any(name in _SECRETS for name, _ in given):
            shown = f"{scheme}://{user.partition(':')[0] + '@' if user else ''}..."
            raise SpamnbError(
                f"{escape(shown)}: a password in a model's name is for all users of this machine to read; write it into"
                " ~/.pgpass, as HOST:PORT:DATABASE:USER:PASSWORD"
            )
        schema = dict(given).get("schema", DEFAULT_SCHEMA)
        if not _SCHEMA.fullmatch(schema) or len(schema) > MAX_SCHEMA:
            raise SpamnbError(
                f"{escape(url)}: schema={escape(schema)} names no model; letters, digits, '_', '.' and '-' do, at most"
                " 40, and not pg_ in front"
            )
        kept = urlencode([pair for pair in given if pair[0] != "schema"], safe="/,:")
        return cls(url.partition("?")[0] + ("?" + kept if kept else ""), schema)


def user_schema(shared: str, user: str) -> str:
    """The schema of a user's model beside the model with schema ``shared``: never that of another user, however long
    the name. ``user`` is a name as ``serve.users.is_name`` says.

    >>> user_schema("spamnb", "ann@example.org"), user_schema("spamnb", 30 * "long")
    ('spamnb:ann@example.org', 'spamnb:#96474b4ea24ff498b9d24e1690d95523')
    """
    schema = f"{shared}:{user}"
    if len(schema) <= MAX_SCHEMA:
        return schema
    digest = hashlib.blake2b(schema.encode(), digest_size=16).hexdigest()
    return f"{shared[: MAX_SCHEMA - 2 - len(digest)]}:#{digest}"


def user_model(shared: str, user: str) -> str:
    """The name of a user's model beside the model ``shared``.

    >>> user_model("postgresql://db/mail?schema=office&sslmode=require", "ann@example.org")
    'postgresql://db/mail?sslmode=require&schema=office%3Aann%40example.org'
    """
    conninfo, schema = ServerName.of(shared)
    return f"{conninfo}{'&' if '?' in conninfo else '?'}{urlencode({'schema': user_schema(schema, user)})}"


class ServerModel(type(Path())):  # type: ignore[misc]  # what it is depends on the system
    """The name of a model on a server where a command takes the path of a file: its text is the URL, unchanged.

    Whether the URL is right says whoever opens it: 'filter' passes mail on all the same.
    """

    url: str

    def __new__(cls, url: str) -> ServerModel:
        made: ServerModel = super().__new__(cls, url)
        made.url = url
        return made

    def __str__(self) -> str:
        return self.url

    def __reduce__(self) -> tuple[type, tuple[str]]:
        return type(self), (self.url,)

    def exists(self, *, follow_symlinks: bool = True) -> bool:
        """Is the model there? SpamnbError where the server cannot be asked."""
        from spamnb.store.server_models import is_there

        return is_there(self.url)


def refusal(kind: str) -> str:
    """Why a model of this kind is not kept on a server."""
    types = ", ".join(SERVER_MODELS)
    return f"a server holds sums, models of type {types} without an embedding; {kind} needs a file"
