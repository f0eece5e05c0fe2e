"""The whole content of a model file in memory: reading it from a file, and writing it to a new file.

``atomic_replace`` puts a new file in the place of the old one in one step.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spamnb.errors import ArgumentError, Damaged, ModelExists, Outdated, SpamnbError
from spamnb.model.class_counts import DOCUMENTS
from spamnb.model.delta import MessageRecord
from spamnb.model.model import SIZE, Model
from spamnb.settings import TOKENS_VERSION
from spamnb.store.buckets import Block, check_texts, write_blocks
from spamnb.store.lessons import Lesson, add_lessons, read_lessons
from spamnb.store.messages import put_learned, read_all_learned
from spamnb.store.store import Store

MESSAGES_AT_ONCE = 1 << 14  # rows of table messages in memory: some 10 MB
COPIED_PAGES = 8  # in one step of the backup: fewer than any model has, so that the first step is never the last
STALE_SECONDS = 86_400  # an unfinished file that did not change for a day is of a killed process


class Snapshot(NamedTuple):
    """The content of a model file."""

    model: Model
    block: Block  # all tokens: sums of training and of the messages learned since
    messages: Sequence[tuple[bytes, MessageRecord]] = ()  # by digest
    lessons: Sequence[Lesson] = ()  # lessons, whole; the oldest first


def write_snapshot(store: Store, snapshot: Snapshot) -> None:
    """Write the content into a new, empty store."""
    write_sums(store, snapshot.model, [snapshot.block])
    with store.writing():
        write_messages(store, snapshot.messages)
        add_lessons(store, snapshot.lessons)


def write_sums(store: Store, model: Model, blocks: Iterable[Block]) -> None:
    """Write a model and its tokens into a new, empty store.

    All tokens come in several blocks, ascending by hash, because all cells at once may not fit the memory.
    """
    with store.writing():
        write_blocks(store, blocks, len(model.class_ids))
        store.put_model(model)


def write_messages(store: Store, messages: Iterable[tuple[bytes, MessageRecord]]) -> None:
    """Write how messages were learned, by digest, in batches."""
    messages = iter(messages)
    while batch := list(islice(messages, MESSAGES_AT_ONCE)):
        put_learned(store, batch)


def read_sums(store: Store) -> Snapshot:
    """Read the sums of a store, without records of messages and lessons.

    Raise Damaged if the tokens do not add up to the sums of their classes.
    """
    with store.reading():
        own, block = store.own, store.block()
        check_texts(block)
        cells, documents = block.cells, own.sums[:, 0]
        is_equal = np.array_equal(cells.sum_classes(documents), own.sums) and len(block.tokens) == own.meta[SIZE]
        if not is_equal or (cells.figures[DOCUMENTS] > documents[cells.label]).any():
            raise Damaged("sums of tokens that differ from the sums in table classes")
        return Snapshot(own, block)


def read_snapshot(store: Store) -> Snapshot:
    """Read the whole content of a store."""
    with store.reading():
        store.own.check_calibration()
        lessons = read_all_learned(store), list(read_lessons(store))
        return Snapshot(*read_sums(store)[:2], *lessons)


def check_replaceable(path: str | Path, *, force: bool) -> None:
    """Raise SpamnbError if a new model may not replace the file at ``path``.

    A model may be replaced with ``force``. Without ``force`` the error is ModelExists. Other files are never replaced.

    >>> check_replaceable("/", force=True)
    Traceback (most recent call last):
    ...
    spamnb.errors.ArgumentError: /: a folder; model names the file to make in it, as /model.spamnb
    """
    target = Path(path)
    if not os.path.exists(target):  # Path.exists raises OSError if the name is too long
        return
    if target.is_dir():
        inside = target / "model.spamnb"
        raise ArgumentError(
            "{at}: a folder; {option.model} names the file to make in it, as {inside}", at=target, inside=inside
        )
    if not target.is_file() or not target.stat().st_size:
        raise ArgumentError("{at}: no model, and only a model is replaced; {option.model} names another", at=target)
    try:
        Store.open(target).close()
    except Outdated:
        pass
    except SpamnbError as error:
        problem = str(error).removesuffix(f"; {Store.REMEDY}").removesuffix("; name another file")
        raise ArgumentError(
            "{problem}; only a model is replaced; {option.model} names another", problem=problem
        ) from None
    if not force:
        raise ModelExists("{at}: exists already; {option.force} replaces it, 'spamnb learn' adds to it", at=target)


@contextlib.contextmanager
def atomic_replace(
    path: str | Path,
    meta: dict[str, Any],
    *,
    force: bool = False,
    catch_up: Callable[[Store], None] = lambda store: None,
) -> Iterator[Store]:
    """Yield a new store to fill, which becomes the model at ``path`` in one step when the block ends without an error.

    While the block runs, other processes may add messages to the old model. ``catch_up`` is called with the new store
    when the old model is locked, to add these messages. If this process is killed, the old model stays.

    Raise ModelExists if there is a model at the start or at the end of the block (unless ``force``), and SpamnbError if
    the file is no model.
    """
    target = Path(path)
    check_replaceable(target, force=force)
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        try:
            _remove_unfinished(target)
            fresh.unlink(missing_ok=True)
            store = Store.create(fresh, meta)
        except (OSError, SpamnbError) as error:
            raise cannot_be_written(target, error) from None
        store.path = str(target)  # in error messages
        with store:
            # Nobody else sees this file before it is complete, so it needs no journal and no syncs until then.
            store.execute("PRAGMA journal_mode = OFF")
            store.execute("PRAGMA synchronous = OFF")
            yield store
            store.use_log()
        try:
            _link(fresh, target)
        except FileExistsError:
            check_replaceable(target, force=force)
            kept = _copy_beside(target)
            _replace(fresh, target, catch_up)
            kept.replace(previous_model(target))
    finally:
        remove_file(fresh)


def remove_file(path: Path) -> None:
    """Remove a database and its log, if they exist."""
    for name in (f"{path}{suffix}" for suffix in ("", "-wal", "-shm")):
        if os.path.lexists(name):  # False, too, if the folder is a file or the name is too long
            os.unlink(name)


def _link(fresh: Path, target: Path) -> None:
    """Give a new file its name. Raise FileExistsError if there is a file, which a rename would replace.

    If a model was removed while it was in use, its log is still there, and SQLite would write the log into the new
    file. So the log is removed. The folder is locked, because the log of a model that was just made must stay.
    """
    with open(fresh, "rb") as file:  # the file must be on the disk before it becomes the model
        os.fsync(file.fileno())
    folder = os.open(target.parent, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX)
        if not target.exists():
            for suffix in ("-wal", "-shm"):
                Path(f"{target}{suffix}").unlink(missing_ok=True)
        os.link(fresh, target)
    finally:
        os.close(folder)


def _remove_unfinished(target: Path) -> None:
    """Remove unfinished files beside the model, of processes that were killed."""
    unfinished = re.compile(rf"\.{re.escape(target.name)}\.\d+(\.old|\.read)?\.new(-wal|-shm)?")
    for path in target.parent.glob(".*.new*"):
        if unfinished.fullmatch(path.name):
            with contextlib.suppress(OSError):  # another process removed it, or it is another user's
                if time.time() - path.lstat().st_mtime > STALE_SECONDS:
                    path.unlink()


def cannot_be_written(path: Path, error: Exception) -> ArgumentError:
    """Return the error that a model file could not be made."""
    template = "{at}: cannot be written ({why}); {option.model} names another place"
    return ArgumentError(template, at=path, why=describe_failure(error))


def describe_failure(error: Exception) -> str:
    """Return why a model file could not be made."""
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return "its folder is a file"
    if "disk is full" in str(error):
        return "the disk is full"
    return getattr(error, "strerror", None) or "its folder takes no new files"


def previous_model(path: str | Path) -> Path:
    """Return the path of the model that the model at ``path`` replaced; there may be none."""
    return Path(f"{path}.previous")


def is_restorable(path: Path) -> bool:
    """Return whether the previous model has the present format and the present tokens, so that it can filter."""
    try:
        with Store.open(previous_model(path)) as previous:
            return previous.own.meta.get("tokens_version") == TOKENS_VERSION
    except Outdated:
        return False


def restore_previous(path: Path) -> None:
    """Put the previous model in the place of the model at ``path``, which becomes the previous one.

    Raise SpamnbError if the previous model is of an older version of spamnb.
    """
    previous = previous_model(path)
    if not path.exists():
        raise SpamnbError(f"{path}: no model there; 'spamnb backup -m {previous} {path}' copies the one before it")
    if not is_restorable(path):
        remedy = "it stays there for that version; remove it, and 'undo' takes back what was done before the training"
        raise SpamnbError(f"{previous}: the model before the last training is of an older version of spamnb; {remedy}")
    replaced = _copy_beside(path)
    _replace(previous, path, lambda store: None)
    replaced.replace(previous)


def _copy_beside(target: Path) -> Path:
    """Copy a model to a hidden file beside it, which `_remove_unfinished` removes if this process is killed."""
    copy = target.with_name(f".{target.name}.{os.getpid()}.old.new")
    copy.unlink(missing_ok=True)
    with (
        Store.connect(target, writable=False) as model,
        Store.connect(copy, writable=True) as store,
        store._translate_errors(),
    ):
        model.copy_to(store)
        store.execute("PRAGMA journal_mode = DELETE")  # the file has no log beside it when it is renamed
    return copy


def copy_model(path: Path, copy: Path) -> int:
    """Copy a model that may be in use to a new file, and return the size of the copy in bytes."""
    fresh = copy.with_name(f".{copy.name}.{os.getpid()}.new")
    try:
        with Store.open(path) as model, Store.connect(fresh, writable=True) as target, target._translate_errors():
            target.path = str(copy)  # in error messages
            model.copy_to(target)
        _link(fresh, copy)
    except FileExistsError:
        raise SpamnbError(f"{copy}: exists already; name a new file") from None
    except OSError as error:
        raise SpamnbError(f"{copy}: cannot be written: {describe_failure(error)}") from None
    finally:
        remove_file(fresh)
    return copy.stat().st_size


def create_empty(path: str | Path, meta: dict[str, Any]) -> None:
    """Create an empty model at ``path``, unless there is one or another process creates one first."""
    with contextlib.suppress(ModelExists), atomic_replace(path, meta):
        pass


def _replace(fresh: Path, target: Path, catch_up: Callable[[Store], None]) -> None:
    # A rename would leave the write-ahead log of an open model beside the new file. So SQLite's backup replaces the
    # content in one transaction. Readers have the old state until it ends, and other writers wait from its first pages
    # on. ``catch_up`` may change the new file after the first pages; then the backup begins again.
    is_up_to_date = False

    def report_progress(status: int, remaining: int, pages: int) -> None:
        nonlocal is_up_to_date
        if not is_up_to_date and status == sqlite3.SQLITE_OK:
            is_up_to_date = True
            with Store.open(fresh, writable=True) as store:
                store.path = str(target)
                catch_up(store)

    with (
        Store.connect(fresh, writable=False) as source,
        Store.connect(target, writable=True) as store,
        store._translate_errors(),
    ):
        sizes = [database.execute("PRAGMA page_size").fetchone() for database in (source, store)]
        # Without write-ahead mode, readers and ``catch_up`` would wait. Files of older formats have pages of another
        # size, which SQLite cannot change in this mode.
        if sizes[0] == sizes[1]:
            store.use_log()
        else:
            store.execute("PRAGMA journal_mode = DELETE")
        source.copy_to(store, pages=COPIED_PAGES, progress=report_progress)
        store.use_log()
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
