"""Lessons: the messages that a person taught one by one, whole, so that a model made anew can learn them again.

They lie compressed in table ``kept_lessons``, one row a message, as long as they take no more than ``bound``; then the
oldest leave. ``position`` is where a message's bytes begin if all were written one behind the other: the last row's
end, less the bound, says which rows leave, and nobody has to add up sizes.
"""

from __future__ import annotations

import os
import stat
import time
import zlib
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from spamnb.errors import Damaged
from spamnb.sources.formats import MAX_MESSAGE
from spamnb.store.database import MAX_SUM, checked_rows, int_between, is_class_name, is_digest
from spamnb.store.store import Store

DEFAULT_MB = 64  # 4,400 messages like modern phishing, 26,000 like SpamAssassin's: docs/experiments.md#kept-lessons
MAX_MB = 100_000
MAX_SHARE = 16  # a message larger than this part of the bound is not kept: it would drive out hundreds of others
LEVEL = 1  # of zlib: half the time of level 6, for 6 % more bytes
ROW_BYTES = 100  # what a row takes beside its message: digest, its index, class and time
_SELECT = (
    "SELECT position, digest, name, taught_at, CASE WHEN length(message) <= ? THEN message END"
    " FROM kept_lessons LEFT JOIN classes ON classes.id = class ORDER BY position"
)


class KeptLesson(NamedTuple):
    """A message as it is kept."""

    digest: bytes  # as it was when the message was taught
    label: str
    taught_at: int  # seconds since 1970, UTC
    message: bytes  # compressed


class Holding(NamedTuple):
    """How many lessons a model keeps, and how large they are."""

    lessons: int
    bytes: int
    bound: int  # bytes


def pack(raw: bytes) -> bytes:
    """A raw message compressed."""
    return zlib.compress(raw, LEVEL)


def unpack(message: bytes) -> bytes:
    """The raw message of ``pack``; never more than MAX_MESSAGE bytes. ValueError where it is none, or longer.

    >>> unpack(pack(b"Subject: tea"))
    b'Subject: tea'
    """
    reader = zlib.decompressobj()
    try:
        raw = reader.decompress(message, MAX_MESSAGE + 1)
    except zlib.error:
        raise ValueError("a kept message that is damaged") from None
    if len(raw) > MAX_MESSAGE or not reader.eof or reader.unused_data:
        raise ValueError("a kept message that is cut short, or too long")
    return raw


def bound(store: Store) -> int:
    """The most bytes that kept lessons take in this model."""
    with store.reading():
        most = store.meta().get("keep_lessons", DEFAULT_MB)
        if type(most) not in (int, float) or not 0 <= most <= MAX_MB:
            raise Damaged(f"keep_lessons in table meta: {most!a:.40}")
        return int(most * 1_000_000)


def set_bound(store: Store, megabytes: float) -> None:
    """Keep at most so much from now on; what is over it leaves at once."""
    with store.writing():
        store.put_meta({"keep_lessons": int(megabytes) if megabytes == int(megabytes) else megabytes})
        _make_room(store)


def keep(store: Store, digest: bytes, label: str, raw: bytes, taught_at: int | None = None) -> bool:
    """Keep a message that was taught as ``label``, in place of what was kept of it; False where it is not kept: the
    bound is 0, the message empty or larger than its share, the file for everybody to read, or the model in memory."""
    if store.file == ":memory:":
        return False
    with store.writing():
        drop(store, digest)
        if not raw or len(raw) * MAX_SHARE > bound(store) or is_public(store):
            return False
        _put(store, KeptLesson(digest, label, int(time.time()) if taught_at is None else taught_at, pack(raw)))
        return True


def is_public(store: Store) -> bool:
    """May everybody on this machine read the file? As 0.1.0 made them, and as a model for many users has to be; whole
    letters do not belong there."""
    return store.file != ":memory:" and bool(os.stat(store.file).st_mode & stat.S_IROTH)


def add_lessons(store: Store, lessons: Iterable[KeptLesson]) -> None:
    """Keep lessons of another file, the oldest first."""
    with store.writing():
        most = bound(store)
        for lesson in lessons:
            drop(store, lesson.digest)
            if len(lesson.message) + ROW_BYTES <= most:
                _put(store, lesson)


def drop(store: Store, digest: bytes) -> None:
    """Keep a message no longer; its bytes are overwritten."""
    with store.writing():
        store.execute("DELETE FROM kept_lessons WHERE digest = ?", (digest,))


def kept_lessons(store: Store) -> Iterator[KeptLesson]:
    """Yield all lessons that are kept, the oldest first."""
    with store.reading():
        number = int_between(MAX_SUM)
        for row in store.execute(_SELECT, (MAX_MESSAGE,)):
            ((_, *lesson),) = checked_rows(
                "kept_lessons", [row], position=number, digest=is_digest, **{"class": is_class_name}, taught_at=number,
                message=bytes,
            )  # fmt: skip
            yield KeptLesson(*lesson)


def holding(store: Store) -> Holding:
    """How many lessons are kept, how large they are, and how large they may be."""
    with store.reading():
        statement = "SELECT count(*), coalesce(sum(length(message) + ?), 0) FROM kept_lessons"
        lessons, size = store.execute(statement, (ROW_BYTES,)).fetchone()
        return Holding(lessons, size, bound(store))


def taught(store: Store) -> dict[str, int]:
    """How many different messages were learned one by one, by class: each once, in a sum of models too that all learned
    it. Before the last training too, where the file keeps them."""
    with store.reading():
        rows = store.execute(
            "SELECT name, count(*) FROM messages LEFT JOIN classes ON classes.id = class"
            " WHERE json_type(facts, '$.bins') NOT NULL OR digest IN (SELECT digest FROM kept_lessons)"
            " GROUP BY class, name ORDER BY name"
        )
        return dict(checked_rows("messages", rows, **{"class": is_class_name}, messages=int_between(MAX_SUM)))


def learned_and_not_kept(store: Store) -> int:
    """How many messages were learned one by one, by a person or by the filter itself, and are not kept."""
    with store.reading():
        kept = "SELECT digest FROM kept_lessons"
        learned = f"SELECT count(*) FROM messages WHERE json_type(facts, '$.bins') NOT NULL AND digest NOT IN ({kept})"  # noqa: S608
        return store.execute(learned).fetchone()[0]


def _put(store: Store, lesson: KeptLesson) -> None:
    """Write a lesson behind the last."""
    row = _end(store), lesson.digest, store.class_id(lesson.label), lesson.taught_at, lesson.message
    store.execute("INSERT INTO kept_lessons VALUES (?, ?, ?, ?, ?)", row)
    _make_room(store)


def _end(store: Store) -> int:
    """Where the last lesson ends."""
    last = store.execute("SELECT position, length(message) FROM kept_lessons ORDER BY position DESC LIMIT 1")
    fits = int_between(MAX_SUM)
    found = checked_rows("kept_lessons", last, position=fits, message=fits)
    return found[0][0] + found[0][1] + ROW_BYTES if found else 0


def _make_room(store: Store) -> None:
    """Let go of the oldest, until what is left fits the bound."""
    store.execute("DELETE FROM kept_lessons WHERE position < ?", (_end(store) - bound(store),))
