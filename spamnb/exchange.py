"""Whole models in and out of their files: filled from sums, published in one piece, exported, imported, merged."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import gt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spamnb.database import FORMAT
from spamnb.errors import SpamnbError
from spamnb.records import VECTOR
from spamnb.store import Store

MOST = 1 << 53  # of a count: what a float holds exactly


class Content(NamedTuple):
    """All that a model file holds."""

    meta: dict[str, Any]
    classes: tuple[str, ...]  # sorted
    documents: np.ndarray  # (C,) N_c
    tokens: list[str]
    document_counts: np.ndarray  # (C, V) N_jc
    occurrences: np.ndarray  # (C, V) T_jc
    messages: list[tuple[bytes, str, bool]]  # digest, class, taught by a person
    calibration: list[tuple[str, int, int, int]]  # class, own, bin, messages
    arrays: dict[str, np.ndarray]
    vectors: np.ndarray | None = None  # (V, d) one vector a token
    lessons: Sequence[tuple[bytes, bytes, dict[str, int]]] = ()  # identity, digest, tokens; oldest first


def fill(store: Store, content: Content, rest: Callable[[], Content] | None = None) -> None:
    """Write everything into a new, empty store: one row a token, in the order of the key.

    What is no sum is taken from ``rest()``, where that is given, when the sums are written: it may take its time.
    """
    numbers = range(len(content.classes))
    tokens, table = content.tokens, np.stack([content.document_counts, content.occurrences], axis=1)
    if any(map(gt, tokens, islice(tokens, 1, None))):
        order = sorted(range(len(tokens)), key=tokens.__getitem__)
        tokens, table = [tokens[i] for i in order], table[:, :, order]
    with store.writing():
        for name in content.classes:
            store.class_id(name)
        execute = store._connection.executemany
        marks = ", ?" * (2 * len(content.classes))
        columns = table.reshape(-1, len(tokens)).tolist()
        execute(f"INSERT INTO tokens VALUES (?{marks})", zip(tokens, *columns))  # noqa: S608 (question marks only)
        figures = (content.documents, content.document_counts.sum(axis=1), content.occurrences.sum(axis=1))
        execute(
            "UPDATE classes SET documents = ?, document_counts = ?, occurrences = ? WHERE name = ?",
            zip(*(figure.tolist() for figure in figures), content.classes),
        )
        for c in numbers:
            held = np.bincount(content.document_counts[c])
            more = np.flatnonzero(held[1:]) + 1
            execute("INSERT INTO frequencies VALUES (?, ?, ?)", [(c, int(n), int(held[n])) for n in more])
        number = {name: c for c, name in enumerate(content.classes)}
        execute(
            "INSERT INTO messages VALUES (?, ?, ?)",
            sorted((digest, number[label], int(taught)) for digest, label, taught in content.messages),
        )
        if rest is not None:
            content = rest()
        for identity, digest, counted in content.lessons:
            store.put_lesson(identity, digest, counted)
        store.add_calibration(content.calibration)
        store.put_arrays(content.arrays)
        if content.vectors is not None:
            told = np.flatnonzero(content.vectors.any(axis=1)).tolist()
            told.sort(key=content.tokens.__getitem__)
            store.put_vectors([content.tokens[i] for i in told], content.vectors[told])
        store.put_meta({**content.meta, "vocabulary_size": len(tokens)})


def load(store: Store) -> Content:
    """Everything a store holds, in memory."""
    with store.reading():
        totals = store.totals()
        ids = store._ids
        tokens, table = store.whole()
        return Content(
            store.meta(),
            totals.classes,
            totals.documents,
            tokens,
            table[2 * ids],
            table[2 * ids + 1],
            [
                (digest, name, bool(taught))
                for digest, name, taught in store._connection.execute(
                    "SELECT digest, name, taught FROM messages JOIN classes ON classes.id = class ORDER BY digest"
                )
            ],
            store.calibration(),
            store.arrays(),
            _vectors(store, tokens),
            store.lessons(),
        )


def _vectors(store: Store, tokens: list[str]) -> np.ndarray | None:
    found = store.vectors()
    if not found:
        return None
    vectors = np.zeros((len(tokens), max(map(len, found.values()))), VECTOR)
    for j, token in enumerate(tokens):
        if token in found:
            vectors[j, : len(found[token])] = found[token]
    return vectors


@contextlib.contextmanager
def fresh_model(path: str | Path, meta: dict[str, Any], *, force: bool = False) -> Iterator[Store]:
    """A new store to fill; when the block ends well it becomes the model at ``path``, all at once.

    Whoever kills this leaves the model that was there, or none. Raises SpamnbError where there is one already
    (unless ``force``), and where what is there is no model at all.
    """
    target = Path(path)
    if target.exists():
        if not force:
            raise SpamnbError(f"{target}: exists already; --force replaces it, 'spamnb learn' adds to it")
        Store.open(target, writable=True).close()  # only a model is ever replaced
    fresh = target.with_name(f".{target.name}.{os.getpid()}.new")
    try:
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            fresh.unlink(missing_ok=True)
            store = Store.create(fresh, meta)
        except (OSError, SpamnbError) as error:
            reason = getattr(error, "strerror", None) or "its folder takes no new files"
            raise SpamnbError(f"{target}: cannot be written ({reason}); --model names another place") from None
        with store:
            # Nobody else sees this file before it is whole, so it needs neither journal nor syncs until then.
            store._connection.execute("PRAGMA journal_mode = OFF")
            store._connection.execute("PRAGMA synchronous = OFF")
            yield store
            store._connection.execute("PRAGMA journal_mode = WAL")
        _publish(fresh, target)
    finally:
        for suffix in ("", "-wal", "-shm"):
            Path(f"{fresh}{suffix}").unlink(missing_ok=True)


def _publish(fresh: Path, target: Path) -> None:
    descriptor = os.open(fresh, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    try:
        os.link(fresh, target)  # unlike a rename, never over a model that appeared meanwhile
        return
    except FileExistsError:
        pass
    # A rename over a model that others have open would leave its write-ahead log beside the new file. SQLite's own
    # backup replaces the content in one transaction instead: readers go on with the old state until it ends.
    with Store.connect(fresh, writable=False) as source, Store.open(target, writable=True) as store, store._told():
        source._connection.backup(store._connection)
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def export(store: Store) -> Iterator[str]:
    """The model as lines of JSON, the same lines for the same sums."""
    content = load(store)
    yield _line({"spamnb": FORMAT, "meta": content.meta})
    for name, documents in zip(content.classes, content.documents):
        yield _line({"class": name, "documents": int(documents)})
    for j, token in enumerate(content.tokens):
        counts = {
            name: [int(content.document_counts[c, j]), int(content.occurrences[c, j])]
            for c, name in enumerate(content.classes)
            if content.document_counts[c, j]
        }
        vector = {} if content.vectors is None else {"vector": content.vectors[j].tolist()}
        yield _line({"token": token, "counts": counts, **vector})
    for digest, name, taught in content.messages:
        yield _line({"message": digest.hex(), "class": name, "taught": taught})
    for identity, digest, counted in content.lessons:
        yield _line({"lesson": identity.hex(), "message": digest.hex(), "tokens": counted})
    for name, own, bin_, messages in content.calibration:
        yield _line({"calibration": name, "own": own, "bin": bin_, "messages": messages})
    for name, values in content.arrays.items():
        encoded = base64.b64encode(values.tobytes()).decode()
        yield _line({"array": name, "dtype": values.dtype.str, "shape": values.shape, "base64": encoded})
    yield _line({"end": True})  # without it a file that was cut short would pass for a smaller model


def _line(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _count(value: int) -> int:
    if not 0 <= value <= MOST:
        raise ValueError(f"a count that is not from 0 to {MOST}")
    return int(value)


def parse_export(lines: Iterable[str], name: str) -> Content:
    """The content that ``export`` wrote. Raises SpamnbError naming the line that is not of it."""
    meta: dict[str, Any] | None = None
    documents: dict[str, int] = {}
    counts: dict[str, dict[str, list[int]]] = {}
    messages: list[tuple[bytes, str, bool]] = []
    calibration: list[tuple[str, int, int, int]] = []
    arrays: dict[str, np.ndarray] = {}
    vectors: list[list[float]] = []
    lessons: list[tuple[bytes, bytes, dict[str, int]]] = []
    ended = False
    for number, line in enumerate(lines, 1):
        try:
            if ended:
                raise ValueError("there is more after its end")
            record = json.loads(line)
            if number == 1:
                if record["spamnb"] > FORMAT:
                    raise SpamnbError(
                        f"{name}: made by a newer spamnb (format {record['spamnb']}); upgrade spamnb"
                    )
                meta = record["meta"]
            elif "class" in record and "documents" in record:
                documents[str(record["class"])] = _count(record["documents"])
            elif "token" in record:
                if any(
                    c not in documents or len(pair) != 2 or min(pair) < 0 or max(pair) > MOST
                    for c, pair in record["counts"].items()
                ):
                    raise ValueError("counts of an unknown class, below 0, or too large")
                record["token"].encode()  # UnicodeEncodeError, a ValueError, for half a surrogate pair
                counts[record["token"]] = record["counts"]
                vectors += [record["vector"]] if "vector" in record else []
            elif "lesson" in record:
                counted = {str(token): int(n) for token, n in record["tokens"].items()}
                lessons.append((bytes.fromhex(record["lesson"]), bytes.fromhex(record["message"]), counted))
            elif "message" in record:
                messages.append((bytes.fromhex(record["message"]), record["class"], bool(record["taught"])))
            elif "calibration" in record:
                cell = (
                    record["calibration"],
                    int(record["own"]),
                    int(record["bin"]),
                    int(record["messages"]),
                )
                calibration.append(cell)
            elif "array" in record:
                values = np.frombuffer(base64.b64decode(record["base64"]), np.dtype(record["dtype"]))
                arrays[str(record["array"])] = values.reshape(record["shape"])
            elif "end" in record:
                ended = True
            else:
                raise ValueError("unknown record")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SpamnbError(f"{name}: line {number} is not of an exported model ({error})") from None
    if meta is None:
        raise SpamnbError(f"{name}: empty; 'spamnb export' writes what can be imported")
    if not ended:
        raise SpamnbError(f"{name}: cut short, its last line is missing; export the model again")
    classes = tuple(sorted(documents))
    row = {c: i for i, c in enumerate(classes)}
    table = np.zeros((2, len(classes), len(counts)), np.int64)
    for j, pairs in enumerate(counts.values()):
        for c, pair in pairs.items():
            table[:, row[c], j] = pair
    n = np.array([documents[c] for c in classes], np.int64)
    try:
        of_tokens = np.array(vectors, VECTOR).reshape(len(counts), -1) if vectors else None
    except ValueError:
        raise SpamnbError(f"{name}: the vectors of its tokens are not of one length, or some are missing") from None
    sums = n, list(counts), table[0], table[1]
    return Content(meta, classes, *sums, messages, calibration, arrays, of_tokens, lessons)


def merge(models: list[Content], names: list[str]) -> tuple[Content, int]:
    """The sum of models made with the same settings, and how many messages more than one of them learned.

    Such messages count as often as they were learned: a model does not hold the mail, so they cannot be told apart.
    """
    ignored = {"vocabulary_size"}
    for content, name in zip(models, names):
        for key in (models[0].meta.keys() | content.meta.keys()) - ignored:
            if content.meta.get(key) != models[0].meta.get(key):
                raise SpamnbError(
                    f"{name}: its {key} differs from that of {names[0]}; only models of one kind add up"
                )
        if content.arrays or content.meta.get("top_words") is not None:
            raise SpamnbError(
                f"{name}: a model of chosen words or of vectors cannot be merged; train on both sources"
            )
    classes = tuple(sorted({c for content in models for c in content.classes}))
    columns: dict[str, int] = {}
    for content in models:
        for token in content.tokens:
            columns.setdefault(token, len(columns))
    documents = np.zeros(len(classes), np.int64)
    table = np.zeros((2, len(classes), len(columns)), np.int64)
    messages: dict[bytes, tuple[bytes, str, bool]] = {}
    cells: dict[tuple[str, int, int], int] = {}
    for content in models:
        rows = np.array([classes.index(c) for c in content.classes], np.intp)
        where = np.fromiter((columns[token] for token in content.tokens), np.intp, len(content.tokens))
        documents[rows] += content.documents
        table[0][np.ix_(rows, where)] += content.document_counts
        table[1][np.ix_(rows, where)] += content.occurrences
        messages.update((record[0], record) for record in content.messages)
        for *cell, count in content.calibration:
            cells[tuple(cell)] = cells.get(tuple(cell), 0) + count  # type: ignore[index, arg-type]
    repeated = sum(len(content.messages) for content in models) - len(messages)
    calibration = [(*cell, count) for cell, count in sorted(cells.items())]
    meta = models[0].meta
    tokens, learned = list(columns), list(messages.values())
    lessons = [lesson for content in models for lesson in content.lessons] if not repeated else []
    merged = Content(meta, classes, documents, tokens, table[0], table[1], learned, calibration, {}, None, lessons)
    return merged, repeated
