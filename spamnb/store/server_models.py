"""Models on a PostgreSQL server, made and replaced whole: a new schema takes the old one's name in one transaction."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from spamnb.errors import InTheWay, SpamnbError
from spamnb.store.postgresql import PostgresStore
from spamnb.store.schema import SERVER_FORMAT, SERVER_STORAGE, SERVER_TABLES
from spamnb.store.server import quoted
from spamnb.store.server_link import ServerLink
from spamnb.store.server_name import SERVER_MODELS, refusal


def is_there(path: str) -> bool:
    """Is there a model at this URL? SpamnbError where the server cannot be asked, or something else is there."""
    with PostgresStore.connect(path, writable=False) as store:
        return _is_there(store)


def has_model(path: str, link: ServerLink) -> bool:
    """Is there a model at this URL, on the server of this connection?"""
    with PostgresStore.connect(path, writable=False, link=link) as store, store.told():
        table = quoted(store.schema, "spamnb")
        return bool(store.ask_rows("SELECT to_regclass(?) IS NOT NULL", (table,))[0][0])


def _is_there(store: PostgresStore) -> bool:
    with store.told():
        schema = store.schema
        tables = store.ask_rows(
            "SELECT relname FROM pg_namespace AS n LEFT JOIN pg_class ON relnamespace = n.oid AND relkind = 'r'"
            " WHERE nspname = ?",
            (schema,),
        )
        names = {name for (name,) in tables}
    if names and "spamnb" not in names:
        raise SpamnbError(f"{store.path}: schema {schema!r} is there and no model; ?schema= names another")
    return bool(names)


def check_in_the_way(path: str, *, force: bool) -> None:
    """As snapshot.check_replaceable."""
    if is_there(path) and not force:
        raise InTheWay(f"{path}: exists already; --force replaces it, 'spamnb learn' adds to it")


@contextlib.contextmanager
def replace_model(
    path: str, meta: Mapping[str, Any], *, force: bool, catch_up: Callable[[PostgresStore], None]
) -> Iterator[PostgresStore]:
    """As snapshot.atomic_replace. All of it is one transaction: of what is ended on the way nothing stays, and the old
    model is read and taught until the last moment."""
    kind = "one with an embedding" if meta.get("embedding") else f"a {meta.get('model_type')} model"
    if meta.get("embedding") or meta.get("model_type") not in SERVER_MODELS:
        raise SpamnbError(f"{path}: {refusal(kind)}")
    check_in_the_way(path, force=force)
    with PostgresStore.connect(path, writable=True) as store:
        fresh = f"{store.schema} new {os.urandom(4).hex()}"
        with store.making(fresh):
            _make_tables(store, meta)
            yield store
            store.finish()
            store.lock("writer")
            if there := _is_there(store):
                if not force:  # one that appeared meanwhile
                    raise InTheWay(f"{path}: exists already; --force replaces it, 'spamnb learn' adds to it")
                store.read_anew()
                catch_up(store)
                store.finish()
            store.execute("ANALYZE tokens")
            store.lock("whole")
            if there:
                store.run(f"DROP TABLE IF EXISTS {', '.join(quoted(store.schema, name) for name in SERVER_TABLES)}")
                store.run(f"DROP SCHEMA {quoted(store.schema)}")  # not where something else is in it
            store.run(f"ALTER SCHEMA {quoted(fresh)} RENAME TO {quoted(store.schema)}")


def _make_tables(store: PostgresStore, meta: Mapping[str, Any]) -> None:
    for statement in (*SERVER_TABLES.values(), *SERVER_STORAGE):
        store.execute(statement)
    store.execute("INSERT INTO spamnb VALUES (?)", (SERVER_FORMAT,))
    store.begin()
    store.put_meta({**meta, "vocabulary_size": 0})
