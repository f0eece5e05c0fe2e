"""All that a model file holds, in memory: filled from sums, published in one piece, and read back whole."""

from __future__ import annotations

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.errors import ArgumentError, Damaged, InTheWay, Outdated, SpamnbError
from spamnb.reader.token_array import TokenArray
from spamnb.store.lessons import KeptLesson, add_lessons, kept_lessons
from spamnb.store.records import LearnedMessage, dense_vectors
from spamnb.store.rows import DOCUMENTS, OCCURRENCES, WEIGHT, TokenRows, texts, tokens_of
from spamnb.store.store import Store, refuse_server

COPIED_PAGES = 8  # at a time: fewer than the tables that a model has, so that the first are never all
STALE_SECONDS = 86_400  # seconds: nobody is still writing a file that has not changed for so long


class TokenUnits(NamedTuple):
    """The weights of k tokens, ascending by key."""

    keys: np.ndarray  # (k,) int64, the tokens' hashes
    units: np.ndarray  # (k, C) whole numbers

    @classmethod
    def sum(cls, parts: Sequence[TokenUnits]) -> TokenUnits:
        """The sum of weights of the same classes, without those that are 0; the keys of parts in any order.

        >>> ones = np.array([[-1, 1], [-1, 1]])
        >>> TokenUnits.sum([TokenUnits(np.array([7, 2]), ones), TokenUnits(np.array([2]), -ones[:1])])
        TokenUnits(keys=array([7]), units=array([[-1,  1]]))
        """
        keys, place = np.unique(np.concatenate([part.keys for part in parts]), return_inverse=True)
        added = np.concatenate([part.units for part in parts])
        units = np.zeros((len(keys), added.shape[1]), np.int64)
        np.add.at(units, place, added)
        some = units.any(axis=1)
        return cls(keys[some], units[some])


class MessageUnits(NamedTuple):
    """What m messages brought."""

    digests: Sequence[bytes]
    units: np.ndarray  # (m, C) whole numbers


class CorrectionSums(NamedTuple):
    """A whole correction, outside of a file: its columns are ``classes``."""

    classes: tuple[str, ...]
    weights: TokenUnits
    brought: MessageUnits

    def of_classes(self, names: Sequence[str]) -> CorrectionSums:
        """The same with the columns of these classes, which are all of its own and maybe others."""
        column = [names.index(name) for name in self.classes]

        def aligned(units: np.ndarray) -> np.ndarray:
            out = np.zeros((len(units), len(names)), np.int64)
            out[:, column] = units
            return out

        return CorrectionSums(
            tuple(names),
            self.weights._replace(units=aligned(self.weights.units)),
            self.brought._replace(units=aligned(self.brought.units)),
        )

    @classmethod
    def sum(cls, parts: Sequence[CorrectionSums]) -> CorrectionSums:
        """The sum of corrections, and of what each message brought to them; messages that brought 0 are left out."""
        names = sorted({name for part in parts for name in part.classes})
        aligned = [part.of_classes(names) for part in parts]
        number: dict[bytes, int] = {}
        of_row = [number.setdefault(digest, len(number)) for part in aligned for digest in part.brought.digests]
        brought = np.zeros((len(number), len(names)), np.int64)
        np.add.at(brought, np.array(of_row, np.intp), np.concatenate([part.brought.units for part in aligned]))
        some, digests = np.flatnonzero(brought.any(axis=1)), list(number)
        weights = TokenUnits.sum([part.weights for part in aligned])
        return cls(tuple(names), weights, MessageUnits([digests[row] for row in some], brought[some]))


class Snapshot(NamedTuple):
    """All that a model file holds."""

    meta: dict[str, Any]
    tokens: TokenArray  # ascending by hash
    counts: ClassCounts  # what training wrote and what was learned since, in one sum
    messages: list[tuple[bytes, LearnedMessage]]  # digest, and as what
    calibration: list[tuple[str, int, int, int]]  # class, own, bin, messages
    arrays: dict[str, np.ndarray]
    vectors: np.ndarray | None = None  # (V, d) one vector a token
    lessons: Sequence[tuple[bytes, bytes, dict[str, int]]] = ()  # identity, digest, tokens; oldest first
    kept: Sequence[KeptLesson] = ()  # what a person taught, whole; oldest first; only where it was asked for
    correction: CorrectionSums | None = None  # of a corrected model


def write_snapshot(store: Store, snapshot: Snapshot) -> None:
    """Write everything into a new, empty store."""
    counts, correction = snapshot.counts, snapshot.correction
    with store.writing():
        numbers = [store.class_id(name) for name in counts.classes]
        sums = zip(counts.documents.tolist(), *(of.tolist() for of in counts.totals()[2:4]), numbers)
        store.executemany("UPDATE classes SET documents = ?, document_counts = ?, occurrences = ? WHERE id = ?", sums)
        store.read_anew()
        if correction is not None:
            for name, weights, brought in zip(
                correction.classes, correction.weights.units.T, correction.brought.units.T
            ):
                if weights.any() or brought.any():
                    store.class_id(name)
        store.executemany("INSERT INTO tokens (hash, token, cells) VALUES (?, ?, ?)", _token_rows(store, snapshot))
        if snapshot.vectors is not None:
            some = np.flatnonzero(snapshot.vectors.any(axis=1))
            store.put_vectors(snapshot.tokens.take(some), snapshot.vectors[some])
        store.add_messages(sorted(snapshot.messages))
        if correction is not None:
            store.corrections.put_all_brought(_of_store(store, correction).brought)
        for identity, digest, counted in snapshot.lessons:
            store.put_autolearned_message(identity, digest, counted)
        store.add_calibration(snapshot.calibration)
        store.put_arrays(snapshot.arrays)
        store.put_meta({**snapshot.meta, "vocabulary_size": len(snapshot.tokens)})
        add_lessons(store, snapshot.kept)
        store.write_changes()
        store.read_anew()  # what is read again is what the file holds


def _of_store(store: Store, correction: CorrectionSums) -> CorrectionSums:
    """The correction with a column for each class of the store, without others, which are 0."""
    names = list(store.class_ids())
    here = [c for c, name in enumerate(correction.classes) if name in names]
    return CorrectionSums(
        tuple(correction.classes[c] for c in here),
        correction.weights._replace(units=correction.weights.units[:, here]),
        correction.brought._replace(units=correction.brought.units[:, here]),
    ).of_classes(names)


def _token_rows(store: Store, snapshot: Snapshot) -> Iterator[tuple[int, str, bytes]]:
    """Hash, text and cells of rows of table ``tokens``."""
    tokens, counts = snapshot.tokens, snapshot.counts
    numbers = [store.class_ids()[name] for name in counts.classes]
    columns = [row.columns for row in counts.rows]
    label = np.repeat(numbers, list(map(len, columns))).astype(np.intp)
    figures = np.zeros((3, len(label)), np.int64)
    if columns:
        figures[DOCUMENTS] = np.concatenate([row.document_counts for row in counts.rows])
        figures[OCCURRENCES] = np.concatenate([row.occurrences for row in counts.rows])
    rows = TokenRows.absent(tokens.hashes).plus(np.concatenate([np.zeros(0, np.intp), *columns]), label, figures)
    if snapshot.correction is not None:
        weights = _of_store(store, snapshot.correction).weights
        place, number = np.nonzero(weights.units)
        cells = np.zeros((3, len(place)), np.int64)
        cells[WEIGHT] = weights.units[place, number]
        rows = rows.plus(rows.places(weights.keys[place]), number, cells)
    return zip(tokens.hashes.tolist(), texts(tokens), rows.blobs(store.path))


def read_counts(store: Store) -> tuple[TokenArray, ClassCounts]:
    """All tokens, ascending by hash, and the sums: what training wrote, plus what was learned since.

    Whoever reads everything can check that it adds up: SpamnbError where it does not.
    """
    with store.reading():
        rows, sums = store.all_rows(), store.class_sums()
        found = store.execute("SELECT CAST(token AS BLOB) FROM tokens ORDER BY hash")
        tokens = tokens_of([text for (text,) in found])
        if not np.array_equal(tokens.hashes, rows.hashes):
            raise Damaged("tokens in table tokens that have another hash")
        by_class = np.argsort(rows.label, kind="stable")
        bounds = np.searchsorted(rows.label[by_class], np.arange(len(sums) + 1))
        of_cell = rows.token
        of_class = []
        for first, end in zip(bounds.tolist(), bounds[1:].tolist()):
            own = by_class[first:end]
            own = own[rows.figures[DOCUMENTS, own] > 0]
            of_class.append(SparseRow(of_cell[own], rows.figures[DOCUMENTS, own], rows.figures[OCCURRENCES, own]))
        names = sorted(store.class_ids())
        order = [store.class_ids()[name] for name in names]
        counts = ClassCounts(tuple(names), sums[order, 0], len(tokens), tuple(of_class[c] for c in order))
        equal = all(map(np.array_equal, counts.totals()[2:4], sums[order, 1:].T))
        if not equal or len(tokens) != store.meta()["vocabulary_size"]:
            raise Damaged("the sums of all tokens are not those that stand beside them")
        return tokens, counts.nonempty_classes()


def read_snapshot(store: Store, lessons: bool = False) -> Snapshot:
    """Everything a store holds, in memory; the kept lessons only with ``lessons``."""
    with store.reading():
        tokens, counts = read_counts(store)
        return Snapshot(
            store.meta(),
            tokens,
            counts,
            store.messages(),
            sorted(store.calibration()),
            store.arrays(),
            dense_vectors(store.vectors(), tokens),
            store.autolearned_messages(),
            [lesson for _, lesson in kept_lessons(store)] if lessons else (),
            store.corrections.whole() if store.meta().get("model_type") == "corrected" else None,
        )


def check_replaceable(path: str | Path, *, force: bool) -> None:
    """SpamnbError where a model made at ``path`` would be in the way of something: InTheWay where that is a model, and
    ``force`` is not given. Whatever is no model is never replaced.

    >>> check_replaceable("/", force=True)
    Traceback (most recent call last):
    ...
    spamnb.errors.ArgumentError: /: a folder; model names the file to make in it, as /model.spamnb
    """
    refuse_server(path)
    target = Path(path)
    if not target.exists():
        return
    if target.is_dir():
        inside = target / "model.spamnb"
        raise ArgumentError(
            "{at}: a folder; {option.model} names the file to make in it, as {inside}", at=target, inside=inside
        )
    if not target.is_file():
        raise ArgumentError("{at}: neither file nor folder; {option.model} names a file to make", at=target)
    if not target.stat().st_size:
        raise ArgumentError("{at}: an empty file and no model; remove it, or {option.model} names another", at=target)
    try:
        Store.open(target).close()
    except Outdated:
        pass
    except SpamnbError as error:
        said = str(error).removesuffix(f"; {Store.REMEDY}")
        raise ArgumentError(
            "{said}; only a model is replaced: remove this file, or {option.model} names another", said=said
        ) from None
    if not force:
        raise InTheWay("{at}: exists already; {option.force} replaces it, 'spamnb learn' adds to it", at=target)
    if not os.access(target, os.W_OK):  # told now, not after the training
        raise ArgumentError(
            "{at}: belongs to {owner}, and you may not write it; {option.model} names another",
            at=target,
            owner=_owner(target),
        )


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
            target.parent.mkdir(parents=True, exist_ok=True)
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
        sync(fresh)
        try:
            os.link(fresh, target)  # unlike a rename, never over a model that appeared meanwhile
        except FileExistsError:
            check_replaceable(target, force=force)
            _replace(fresh, target, catch_up)
    finally:
        for suffix in ("", "-wal", "-shm"):
            with contextlib.suppress(NotADirectoryError):  # where nothing could be made
                Path(f"{fresh}{suffix}").unlink(missing_ok=True)


def _owner(target: Path) -> str:
    try:
        return target.owner()
    except KeyError:  # a number without a name
        return f"user {target.stat().st_uid}"


def _clear(target: Path) -> None:
    """Remove what those left beside the model who were killed while they made one."""
    left = re.compile(rf"\.{re.escape(target.name)}\.\d+\.new(-wal|-shm)?")
    for path in target.parent.glob(".*.new*"):
        if left.fullmatch(path.name):
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
    """Make an empty model at ``path``, all at once; where there is one, or another process is first, that one stays."""
    with contextlib.suppress(InTheWay), atomic_replace(path, meta):
        pass


def sync(path: str | Path) -> None:
    """Wait until what was written into a file that nobody else knows is on the disk.

    Closing the file again drops SQLite's locks on it.
    """
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


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
