"""The whole content of a model file in memory: written to a new file, which takes its place at once, and read back."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts
from spamnb.errors import ArgumentError, Damaged, InTheWay, Outdated, SpamnbError
from spamnb.formulas.trust import PRIOR_NOISE
from spamnb.reader.tokens import TokenArray
from spamnb.store.arrays import all_vectors, put_arrays, put_vectors, read_arrays
from spamnb.store.lessons import KeptLesson, add_lessons, kept_lessons
from spamnb.store.pruning import months_taught
from spamnb.store.records import LearnedMessage, learned_messages, put_learned
from spamnb.store.rows import DOCUMENTS, OCCURRENCES, Cells, tokens_of
from spamnb.store.state import HISTOGRAM, NOISE, SIZE
from spamnb.store.store import Store

MESSAGES_AT_ONCE = 1 << 14  # rows of messages in memory: some 10 MB
ROWS_AT_ONCE = 256  # of tokens, written by one statement: 0.68 µs a row, and 0.95 with a statement each
COPIED_PAGES = 8  # at a time: fewer than the tables that a model has, so that the first are never all
STALE_SECONDS = 86_400  # seconds: nobody is still writing a file that has not changed for so long


class Snapshot(NamedTuple):
    """All that a model file holds."""

    meta: dict[str, Any]
    classes: Sequence[str]  # in the order of their numbers
    documents: np.ndarray  # (C,) N_c
    tokens: TokenArray  # ascending by hash
    cells: Cells  # what training wrote and what was learned since, in one sum
    messages: Sequence[tuple[bytes, LearnedMessage]]  # by digest
    histogram: np.ndarray  # (C, 2, BINS) of the calibration: messages of each class, and of others
    arrays: Mapping[str, np.ndarray] = MappingProxyType({})
    vectors: np.ndarray | None = None  # (V, d) one vector a token
    kept: Sequence[KeptLesson] = ()  # what a person taught, whole; oldest first
    months: Mapping[int, int] = MappingProxyType({})  # by hash of those tokens that a lesson held, the last one's month

    @property
    def counts(self) -> ClassCounts:
        """Sums of the classes that hold a message."""
        return self.cells.counts(self.classes, self.documents, len(self.tokens)).nonempty_classes()


def write_snapshot(store: Store, snapshot: Snapshot) -> None:
    """Write everything into a new, empty store."""
    with store.writing():
        tokens = [(snapshot.tokens, snapshot.cells)]
        write_sums(store, snapshot.meta, snapshot.classes, snapshot.documents, snapshot.histogram, tokens)
        months = zip(snapshot.months.values(), snapshot.months)
        store.executemany("UPDATE tokens SET month = ? WHERE hash = ?", months)
        if snapshot.vectors is not None:
            put_vectors(store, snapshot.tokens, snapshot.vectors)
        write_messages(store, snapshot.messages)
        put_arrays(store, snapshot.arrays)
        add_lessons(store, snapshot.kept)
        store.recalibrate()


def write_sums(
    store: Store,
    meta: Mapping[str, Any],
    classes: Sequence[str],
    documents: np.ndarray,
    histogram: np.ndarray,
    tokens: Iterable[tuple[TokenArray, Cells]],
) -> None:
    """Write the classes and their sums into a new, empty store. ``tokens``, ascending by hash, come with their cells
    some at a time, because those of all at once may not fit the memory; the other parameters are as in ``Snapshot``."""
    numbers = list(map(store.class_id, classes))
    sums, size = np.zeros((2, len(classes)), np.int64), 0
    for some, cells in tokens:
        size += len(some)
        _put_tokens(store, some, cells.pack(len(some), store.path))
        sums += np.stack([cells.sums(figure, cells.label, len(classes)) for figure in (DOCUMENTS, OCCURRENCES)])
    blobs = [of_class.tobytes() for of_class in histogram.astype(HISTOGRAM)]
    put = "UPDATE classes SET documents = ?, document_counts = ?, occurrences = ?, calibration = ? WHERE id = ?"
    store.executemany(put, zip(documents.tolist(), *sums.tolist(), blobs, numbers))
    store.put_meta({**meta, SIZE: size, NOISE: PRIOR_NOISE})
    store.drop_cache()


def write_messages(store: Store, messages: Iterable[tuple[bytes, LearnedMessage]]) -> None:
    """Write how messages were learned, by digest, some at a time."""
    messages = iter(messages)
    while batch := list(islice(messages, MESSAGES_AT_ONCE)):
        put_learned(store, batch)


def _put_tokens(store: Store, tokens: TokenArray, cells: Sequence[bytes]) -> None:
    """Write rows of tokens: many with each statement, whose start takes longer than a row."""
    values: list[Any] = [None] * (3 * len(tokens))
    values[::3], values[1::3], values[2::3] = tokens.hashes.tolist(), tokens, cells
    for first in range(0, len(values), 3 * ROWS_AT_ONCE):
        some = values[first : first + 3 * ROWS_AT_ONCE]
        rows = ", ".join(["(?, ?, ?)"] * (len(some) // 3))
        store.execute(f"INSERT INTO tokens (hash, token, cells) VALUES {rows}", some)  # noqa: S608


def read_sums(store: Store) -> Snapshot:
    """Read the sums of a store, without learned messages, arrays and months.

    All of them are read, so they can be checked: Damaged if tokens do not add up to the sums of their classes.
    """
    with store.reading():
        hashes, cells = store.cells()
        sums, classes = store.state.sums, list(store.class_ids())
        rows = store.execute("SELECT CAST(token AS BLOB) FROM tokens ORDER BY hash")
        tokens = tokens_of([text for (text,) in rows])
        if not np.array_equal(tokens.hashes, hashes):
            raise Damaged("tokens in table tokens that have another hash")
        added_up = [cells.sums(figure, cells.label, len(classes)) for figure in (DOCUMENTS, OCCURRENCES)]
        fit = np.array_equal(np.transpose(added_up), sums[:, 1:]) and len(tokens) == store.state.meta[SIZE]
        if not fit or (cells.figures[DOCUMENTS] > sums[cells.label, 0]).any():
            raise Damaged("the sums of all tokens are not those that stand beside them")
        return Snapshot(store.state.meta, classes, sums[:, 0], tokens, cells, [], store.state.histogram)


def read_snapshot(store: Store) -> Snapshot:
    """Read the whole content of a store."""
    with store.reading():
        store.state.check_calibration()
        return read_sums(store)._replace(
            messages=learned_messages(store),
            arrays=read_arrays(store),
            vectors=all_vectors(store),
            kept=list(kept_lessons(store)),
            months=months_taught(store),
        )


def check_replaceable(path: str | Path, *, force: bool) -> None:
    """Raise SpamnbError if a new model may not take the place of what is at ``path``: InTheWay for a model, unless
    ``force``. Anything that is no model is never replaced.

    >>> check_replaceable("/", force=True)
    Traceback (most recent call last):
    ...
    spamnb.errors.ArgumentError: /: a folder; model names the file to make in it, as /model.spamnb
    """
    target = Path(path)
    if not target.exists():
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
        raise InTheWay("{at}: exists already; {option.force} replaces it, 'spamnb learn' adds to it", at=target)


@contextlib.contextmanager
def atomic_replace(
    path: str | Path,
    meta: dict[str, Any],
    *,
    force: bool = False,
    catch_up: Callable[[Store], None] = lambda store: None,
) -> Iterator[Store]:
    """A new store to fill; when the block ends well it becomes the model at ``path``, all at once.

    ``catch_up`` is called with it once the model that it replaces can no longer be changed: by then others may have
    taught that one more.

    If this is killed, the model that was there stays, or none. Raises InTheWay where there is one already (unless
    ``force``), also one that appeared meanwhile, and SpamnbError where what is there is no model at all.
    """
    target = Path(path)
    check_replaceable(target, force=force)
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        try:
            _clear(target)
            fresh.unlink(missing_ok=True)
            store = Store.create(fresh, meta)
        except (OSError, SpamnbError) as error:
            raise ArgumentError(
                "{at}: cannot be written ({why}); {option.model} names another place", at=target, why=_reason(error)
            ) from None
        store.path = str(target)  # what an error names
        with store:
            # Nobody else sees this file before it is whole, so it needs neither journal nor syncs until then.
            store.execute("PRAGMA journal_mode = OFF")
            store.execute("PRAGMA synchronous = OFF")
            yield store
            store.execute("PRAGMA journal_mode = WAL")
        with open(fresh, "rb") as file:  # on the disk before it is the model
            os.fsync(file.fileno())
        try:
            os.link(fresh, target)  # unlike a rename, never over a model that appeared meanwhile
        except FileExistsError:
            check_replaceable(target, force=force)
            _replace(fresh, target, catch_up)
    finally:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(NotADirectoryError):  # where nothing could be made
                Path(f"{fresh}{suffix}").unlink(missing_ok=True)


def _clear(target: Path) -> None:
    """Remove unfinished files beside the model, of processes that were killed."""
    unfinished = re.compile(rf"\.{re.escape(target.name)}\.\d+\.new(-wal|-shm)?")
    for path in target.parent.glob(".*.new*"):
        if unfinished.fullmatch(path.name):
            with contextlib.suppress(OSError):  # gone meanwhile, or another's: it is in nobody's way
                if time.time() - path.lstat().st_mtime > STALE_SECONDS:
                    path.unlink()


def _reason(error: Exception) -> str:
    if isinstance(error, (FileExistsError, NotADirectoryError)):
        return "its folder is a file"
    if "disk is full" in str(error):
        return "the disk is full"
    return getattr(error, "strerror", None) or "its folder takes no new files"


def create_empty(path: str | Path, meta: dict[str, Any]) -> None:
    """Make an empty model at ``path``; one that is there, or that another process makes first, stays."""
    with contextlib.suppress(InTheWay), atomic_replace(path, meta):
        pass


def _replace(fresh: Path, target: Path, catch_up: Callable[[Store], None]) -> None:
    # A rename over a model that others have open would leave its write-ahead log beside the new file. SQLite's own
    # backup replaces the content in one transaction instead: readers go on with the old state until it ends. From its
    # first pages on nobody else can write; where ``catch_up`` changes the new file then, the backup begins again.
    caught_up = False

    def copied(status: int, left: int, pages: int) -> None:
        nonlocal caught_up
        if not caught_up and status == sqlite3.SQLITE_OK:
            caught_up = True
            with Store.open(fresh, writable=True) as late:
                late.path = str(target)
                catch_up(late)

    with Store.connect(fresh, writable=False) as source, Store.connect(target, writable=True) as store, store._told():
        store.execute("PRAGMA journal_mode = WAL")  # or those who read it would wait, ``catch_up`` among them
        source.copy_to(store, pages=COPIED_PAGES, progress=copied)
        store.execute("PRAGMA wal_checkpoint(TRUNCATE)")
