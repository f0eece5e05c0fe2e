"""Whole models in and out of their files: filled from sums, published in one piece, exported, imported, merged."""

from __future__ import annotations

import base64
import contextlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts import Counts
from spamnb.errors import Outdated, SpamnbError
from spamnb.numbers import Tokens, union
from spamnb.pages import LONGEST, MOST, pack
from spamnb.records import VECTOR
from spamnb.sources import check_class_name
from spamnb.store import Store

LINES = 1  # version of what ``export`` writes: it changes more seldom than the file


class Content(NamedTuple):
    """All that a model file holds."""

    meta: dict[str, Any]
    tokens: Tokens  # ascending by key
    counts: Counts
    messages: list[tuple[bytes, str, bool]]  # digest, class, taught by a person
    calibration: list[tuple[str, int, int, int]]  # class, own, bin, messages
    arrays: dict[str, np.ndarray]
    vectors: np.ndarray | None = None  # (V, d) one vector a token
    lessons: Sequence[tuple[bytes, bytes, dict[str, int]]] = ()  # identity, digest, tokens; oldest first


def fill(store: Store, content: Content, rest: Callable[[], Content] | None = None) -> None:
    """Write everything into a new, empty store.

    What is no sum is taken from ``rest()``, where that is given, when the sums are written: it may take its time.
    """
    counts = content.counts
    with store.writing():
        for name in counts.classes:
            store.class_id(name)
        execute = store._connection.executemany
        try:
            execute("INSERT INTO trained VALUES (?, ?, ?, ?, ?, ?)", pack(content.tokens, counts))
        except OverflowError as error:
            raise SpamnbError(f"{store.path}: {error}, which a model file does not hold") from None
        figures = (counts.documents, counts.document_counts.sum(axis=1), counts.occurrences.sum(axis=1))
        execute(
            "UPDATE classes SET documents = ?, document_counts = ?, occurrences = ? WHERE name = ?",
            zip(*(figure.tolist() for figure in figures), counts.classes),
        )
        for c in range(len(counts.classes)):
            n, tokens = np.unique_counts(counts.document_counts[[c]].data)
            held = zip(n[n > 0].tolist(), tokens[n > 0].tolist())
            execute("INSERT INTO frequencies VALUES (?, ?, ?)", [(c, *cell) for cell in held])
        number = {name: c for c, name in enumerate(counts.classes)}
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
        store.put_meta({**content.meta, "vocabulary_size": len(content.tokens)})


def load(store: Store) -> Content:
    """Everything a store holds, in memory."""
    with store.reading():
        tokens, counts = store.whole()
        return Content(
            store.meta(),
            tokens,
            counts,
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


def _vectors(store: Store, tokens: Tokens) -> np.ndarray | None:
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
        with contextlib.suppress(Outdated):
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
        store.path = str(target)  # what an error names
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
    with Store.connect(fresh, writable=False) as source, Store.connect(target, writable=True) as store, store._told():
        source._connection.backup(store._connection)
        store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def export(store: Store) -> Iterator[str]:
    """The model as lines of JSON, the same lines for the same sums."""
    content = load(store)
    yield _line({"spamnb": LINES, "meta": content.meta})
    classes, tokens = content.counts.classes, list(content.tokens)
    for name, documents in zip(classes, content.counts.documents.tolist()):
        yield _line({"class": name, "documents": documents})
    tables = content.counts.document_counts.tocsc(), content.counts.occurrences.tocsc()
    for j in sorted(range(len(tokens)), key=tokens.__getitem__):
        counts: dict[str, list[int]] = {}
        for which, table in enumerate(tables):
            cells = slice(table.indptr[j], table.indptr[j + 1])
            for c, n in zip(table.indices[cells].tolist(), table.data[cells].tolist()):
                counts.setdefault(classes[c], [0, 0])[which] = n
        vector = {} if content.vectors is None else {"vector": content.vectors[j].tolist()}
        yield _line({"token": tokens[j], "counts": counts, **vector})
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


def _count(value: int, most: int = MOST) -> int:
    if not isinstance(value, int) or not 0 <= value <= most:
        raise ValueError(f"a count that is no whole number, below 0, or too large (above {most})")
    return value


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
                if record["spamnb"] > LINES:
                    raise SpamnbError(f"{name}: made by a newer spamnb (format {record['spamnb']}); upgrade spamnb")
                meta = dict(record["meta"])
            elif "class" in record and "documents" in record:
                documents[check_class_name(str(record["class"]))] = _count(record["documents"])
            elif "token" in record:
                for c, (held, occurring) in record["counts"].items():
                    if c not in documents:
                        raise ValueError(f"counts of an unknown class, {c!r}")
                    _count(held, documents[c]), _count(occurring)
                # UnicodeEncodeError, a ValueError, for half a surrogate pair.
                if len(record["token"].encode()) > LONGEST:
                    raise ValueError("a token that is too long")
                counts[record["token"]] = record["counts"]
                vectors += [record["vector"]] if "vector" in record else []
            elif "lesson" in record:
                counted = {str(token): _count(n) for token, n in record["tokens"].items()}
                "".join(counted).encode()  # UnicodeEncodeError as above
                lessons.append((bytes.fromhex(record["lesson"]), bytes.fromhex(record["message"]), counted))
            elif "message" in record:
                _count(1, documents[record["class"]])  # a class of that name, and it holds a message
                messages.append((bytes.fromhex(record["message"]), record["class"], bool(record["taught"])))
            elif "calibration" in record:
                own, bin_, n = _count(record["own"], 1), _count(record["bin"]), record["messages"]
                _count(abs(n))  # taken away before it was added: below 0
                calibration.append((check_class_name(record["calibration"]), own, bin_, n))
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
    tokens, (place,) = union([Tokens.of(counts)])
    try:
        of_tokens = np.array(vectors, VECTOR).reshape(len(counts), -1) if vectors else None
    except ValueError:
        raise SpamnbError(f"{name}: the vectors of its tokens are not of one length, or some are missing") from None
    if of_tokens is not None:
        of_tokens = of_tokens[np.unique(place, return_index=True)[1]]
    row = {c: i for i, c in enumerate(classes)}
    found = [(row[c], j, *pair) for j, pairs in enumerate(counts.values()) for c, pair in pairs.items()]
    label, column, *figures = np.array(found, np.int64).reshape(-1, 4).T
    cells = label, place[column], figures[0], figures[1]
    sums = Counts.from_cells(classes, np.array([documents[c] for c in classes]), len(tokens), cells)
    return Content(meta, tokens, sums, messages, calibration, arrays, of_tokens, lessons)


def merge(models: list[Content], names: list[str]) -> tuple[Content, int]:
    """The sum of models made with the same settings, and how many messages more than one of them learned.

    Such messages count as often as they were learned: a model does not hold the mail, so they cannot be told apart.
    """
    ignored = {"vocabulary_size"}
    for content, name in zip(models, names):
        for key in (models[0].meta.keys() | content.meta.keys()) - ignored:
            if content.meta.get(key) != models[0].meta.get(key):
                raise SpamnbError(f"{name}: its {key} differs from that of {names[0]}; only models of one kind add up")
        if content.arrays or content.meta.get("top_words") is not None:
            raise SpamnbError(f"{name}: a model of chosen words or of vectors cannot be merged; train on both sources")
    classes = sorted({c for content in models for c in content.counts.classes})
    tokens, places = union([content.tokens for content in models])
    counts = Counts.empty(classes, len(tokens))
    messages: dict[bytes, tuple[bytes, str, bool]] = {}
    cells: dict[tuple[str, int, int], int] = {}
    for content, where in zip(models, places):
        counts = counts + content.counts.reindex(where, len(tokens), classes)
        messages.update((record[0], record) for record in content.messages)
        for *cell, count in content.calibration:
            cells[tuple(cell)] = cells.get(tuple(cell), 0) + count  # type: ignore[index, arg-type]
    repeated = sum(len(content.messages) for content in models) - len(messages)
    calibration = [(*cell, count) for cell, count in sorted(cells.items())]
    meta = models[0].meta
    learned = list(messages.values())
    lessons = [lesson for content in models for lesson in content.lessons] if not repeated else []
    merged = Content(meta, tokens, counts, learned, calibration, {}, None, lessons)
    return merged, repeated
