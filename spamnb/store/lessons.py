"""Table ``kept_lessons``: lessons, whole, so that a new model can learn them again.

A row has one compressed message. If the rows take more than a bound, the oldest are deleted. ``position`` is the byte
at which a row would begin in a file of all rows that were ever written. So sizes have to be added up only if the bytes
from the first position to the end, which include deleted rows, are more than the bound.
"""

from __future__ import annotations

import os
import stat
import time
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from spamnb.errors import Damaged
from spamnb.sources.formats import MAX_MESSAGE
from spamnb.store.database import MAX_SUM, checked_rows, int_up_to, is_class_name, is_digest
from spamnb.store.store import Store

if TYPE_CHECKING:  # the import would slow down the listing of lessons
    from spamnb.model.learner import NewMessage

DEFAULT_MB = 64  # 4,400 messages like modern phishing, 26,000 like SpamAssassin's: docs/experiments.md#kept-lessons
MAX_MB = 100_000  # megabytes of the bound
MAX_SHARE = 1 / 16  # of the bound: a larger message is not stored, because it would replace hundreds of messages
LEVEL = 1  # of zlib: half the time of level 6, and 6 % more bytes
ROW_BYTES = 100  # of a row beside its message: digest, its index, class and time
_SELECT = (
    "SELECT position, digest, name, taught_at, CASE WHEN length(message) <= ? THEN message END"
    " FROM kept_lessons LEFT JOIN classes ON classes.id = class ORDER BY position"
)


class Lesson(NamedTuple):
    """A lesson as it is kept."""

    digest: bytes  # by the version of spamnb that learned the message; other versions may compute another one
    label: str
    taught_at: int  # seconds since 1970, UTC
    message: bytes  # compressed


class LessonStorage(NamedTuple):
    """The number and size of the kept lessons."""

    messages: int
    bytes: int
    bound: int  # bytes


def compress(raw: bytes) -> bytes:
    """Return a raw message compressed."""
    return zlib.compress(raw, LEVEL)


def decompress(message: bytes) -> bytes:
    """Return the raw message; raise Damaged if the bytes are damaged, or it has more than MAX_MESSAGE bytes.

    >>> decompress(compress(b"Subject: tea"))
    b'Subject: tea'
    """
    reader = zlib.decompressobj()
    try:
        raw = reader.decompress(message, MAX_MESSAGE + 1)
    except zlib.error:
        raise Damaged("a kept lesson that is damaged") from None
    if len(raw) > MAX_MESSAGE or not reader.eof or reader.unused_data:
        raise Damaged("a kept lesson that is cut short, or too long")
    return raw


def read_lessons_bound(store: Store) -> int:
    """Return the bound of the kept lessons in this model, in bytes."""
    with store.reading():
        megabytes = store.model.meta.get("keep_lessons", DEFAULT_MB)
        if type(megabytes) not in (int, float) or not 0 <= megabytes <= MAX_MB:
            raise Damaged(f"keep_lessons in table meta: {megabytes!a:.40}")
        return int(megabytes * 1_000_000)


def write_lessons_bound(store: Store, megabytes: float) -> None:
    """Set the bound of the kept lessons, and delete the oldest that exceed it."""
    with store.writing():
        store.put_meta({"keep_lessons": int(megabytes) if megabytes == int(megabytes) else megabytes})
        _delete_oldest(store, _find_end(store))


def store_lessons(store: Store, messages: Iterable[NewMessage]) -> None:
    """Store the lessons among messages that were learned, in place of those with their digests.

    A lesson is not stored if the bound is 0, if the message is empty or too large (``MAX_SHARE``), or if everybody can
    read the file. A model in memory stores messages only until they have a score.
    """
    with store.writing():
        most, now, lessons = MAX_SHARE * read_lessons_bound(store), int(time.time()), []
        is_stored = not is_public(store)
        for each in messages:
            if store.file == ":memory:" and each.scores:
                continue
            digest, raw = each.message.digest, each.message.raw
            delete_lesson(store, digest)
            if is_stored and each.is_lesson and 0 < len(raw) <= most:
                taught_at = now if each.taught_at is None else each.taught_at
                lessons.append(Lesson(digest, each.label, taught_at, compress(raw)))
        _append(store, lessons)


def is_public(store: Store) -> bool:
    """Return whether everybody on this machine can read the file, which then must not have whole messages."""
    return store.file != ":memory:" and bool(os.stat(store.file).st_mode & stat.S_IROTH)


def add_lessons(store: Store, messages: Iterable[Lesson]) -> None:
    """Store messages of another file, which must come oldest first."""
    with store.writing():
        bound = read_lessons_bound(store)
        for message in messages:
            delete_lesson(store, message.digest)
            if len(message.message) + ROW_BYTES <= bound:
                _append(store, [message])


def delete_lesson(store: Store, digest: bytes) -> None:
    """Delete a kept lesson; its bytes are overwritten."""
    with store.writing():
        store.execute("DELETE FROM kept_lessons WHERE digest = ?", (digest,))


def read_lessons(store: Store) -> Iterator[Lesson]:
    """Yield all kept lessons, the oldest first."""
    with store.reading():
        number = int_up_to(MAX_SUM)
        for row in store.execute(_SELECT, (MAX_MESSAGE,)):
            ((_, *message),) = checked_rows(
                "kept_lessons", [row], position=number, digest=is_digest, **{"class": is_class_name}, taught_at=number,
                message=bytes,
            )  # fmt: skip
            yield Lesson(*message)


def read_lesson(store: Store, digest: bytes) -> bytes | None:
    """Return the bytes of a lesson, or None if it is not kept."""
    with store.reading():
        select = "SELECT message FROM kept_lessons WHERE digest = ? AND length(message) <= ?"
        rows = checked_rows("kept_lessons", store.execute(select, (digest, MAX_MESSAGE)), message=bytes)
        return decompress(rows[0][0]) if rows else None


def measure_lessons(store: Store) -> LessonStorage:
    """Return how many lessons are kept, their bytes, and the bound."""
    with store.reading():
        statement = "SELECT count(*), coalesce(sum(length(message) + ?), 0) FROM kept_lessons"
        messages, size = store.execute(statement, (ROW_BYTES,)).fetchone()
        return LessonStorage(messages, size, read_lessons_bound(store))


def count_lessons(store: Store) -> dict[str, int]:
    """Return by class how many different lessons there are.

    Messages that were learned before the last training are counted if they are stored. A message that several models
    learned counts once in the sum of these models.
    """
    with store.reading():
        rows = store.execute(
            "SELECT name, count(*) FROM messages LEFT JOIN classes ON classes.id = class"
            " WHERE json_type(facts, '$.bins') NOT NULL OR digest IN (SELECT digest FROM kept_lessons)"
            " GROUP BY class, name ORDER BY name"
        )
        return dict(checked_rows("messages", rows, **{"class": is_class_name}, messages=int_up_to(MAX_SUM)))


def count_unkept_lessons(store: Store) -> int:
    """Return how many lessons since the last training are not kept."""
    with store.reading():
        stored = "SELECT digest FROM kept_lessons"
        learned = (
            f"SELECT count(*) FROM messages WHERE json_type(facts, '$.bins') NOT NULL AND digest NOT IN ({stored})"  # noqa: S608
        )
        return store.execute(learned).fetchone()[0]


def count_outdated(path: Path) -> int:
    """Return how many lessons a model of an older format has; 0 if its table has another form."""
    with Store.connect(path, writable=False) as old, old.reading():
        columns = [name for (name,) in old.execute("SELECT name FROM pragma_table_xinfo('messages')")]
        # Only tables are read, because a view could compute without end.
        is_table = old.execute("SELECT 1 FROM sqlite_schema WHERE name = 'messages' AND type = 'table'").fetchone()
        if not is_table or not {"taught", "facts"}.intersection(columns):
            return 0
        is_learned = "taught" if "taught" in columns else "json_type(facts, '$.bins') NOT NULL"
        return old.execute(f"SELECT count(*) FROM messages WHERE {is_learned}").fetchone()[0]  # noqa: S608 (constants)


def _append(store: Store, messages: Iterable[Lesson]) -> None:
    """Write messages after the last one, and delete the oldest that exceed the bound."""
    end, rows = _find_end(store), []
    for message in messages:
        rows.append((end, message.digest, store.class_id(message.label), message.taught_at, message.message))
        end += len(message.message) + ROW_BYTES
    store.executemany("INSERT INTO kept_lessons VALUES (?, ?, ?, ?, ?)", rows)
    _delete_oldest(store, end)


def _find_end(store: Store) -> int:
    """Return the position at which the last message ends."""
    last = store.execute("SELECT position, length(message) FROM kept_lessons ORDER BY position DESC LIMIT 1")
    fits = int_up_to(MAX_SUM)
    rows = checked_rows("kept_lessons", last, position=fits, message=fits)
    return rows[0][0] + rows[0][1] + ROW_BYTES if rows else 0


def _delete_oldest(store: Store, end: int) -> None:
    """Delete the oldest messages if they may exceed the bound, until the others take at most 15/16 of it.

    ``end`` is the position at which the last message ends.
    """
    bound = read_lessons_bound(store)
    (first,) = store.execute("SELECT coalesce(min(position), 0) FROM kept_lessons").fetchone()
    if end - first > bound:
        sizes = "SELECT position, sum(length(message) + ?) OVER (ORDER BY position DESC) AS size FROM kept_lessons"
        delete = f"DELETE FROM kept_lessons WHERE position IN (SELECT position FROM ({sizes}) WHERE size > ?)"  # noqa: S608
        store.execute(delete, (ROW_BYTES, bound - bound // 16))  # in steps of 1/16, because the sum takes milliseconds
