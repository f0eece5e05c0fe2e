"""Models out of and into lines of JSON: the same lines for the same sums, whatever machine wrote them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.errors import Damaged, SpamnbError
from spamnb.formulas.calibration import BINS
from spamnb.naming import check_class_name, escape
from spamnb.reader.token_array import TokenArray, merge_vocabularies
from spamnb.settings import ORIGIN
from spamnb.store.database import MAX_SUM, int_between, is_digest
from spamnb.store.lessons import KeptLesson, unpack
from spamnb.store.records import VECTOR, LearnedMessage, are_bins, array_of
from spamnb.store.rows import MAX_COUNT, MAX_UNITS
from spamnb.store.snapshot import CorrectionSums, MessageUnits, Snapshot, TokenUnits, read_snapshot
from spamnb.store.store import Store

MAX_TOKEN_BYTES = (1 << 16) - 1
EXPORT_VERSION = 2  # version of what ``export`` writes; rises, too, whenever the same sums give other scores
EXTENDED_VERSION = 3  # of one with kept lessons or a correction, which earlier versions do not know


def export(store: Store, lessons: bool = False) -> Iterator[str]:
    """The model as lines of JSON, the same lines for the same sums; with ``lessons`` those that are kept too, with
    their messages, and when and of what the model was trained."""
    snapshot = read_snapshot(store, lessons)
    meta = {key: value for key, value in snapshot.meta.items() if lessons or key not in ORIGIN}
    extended = lessons or snapshot.correction is not None
    yield json_line({"spamnb": EXTENDED_VERSION if extended else EXPORT_VERSION, "meta": meta})
    tokens = list(snapshot.tokens)
    for name, documents in zip(snapshot.counts.classes, snapshot.counts.documents.tolist()):
        yield json_line({"class": name, "documents": documents})
    weight_of, brought_by = _corrections(snapshot)
    counts: list[dict[str, tuple[int, int]]] = [{} for _ in tokens]
    for name, cells in zip(snapshot.counts.classes, snapshot.counts.rows):
        for j, *pair in zip(*(values.tolist() for values in cells)):
            counts[j][name] = pair
    for j in sorted(range(len(tokens)), key=tokens.__getitem__):
        vector = {} if snapshot.vectors is None else {"vector": snapshot.vectors[j].tolist()}
        weight = weight_of(int(snapshot.tokens.hashes[j]))
        yield json_line({"token": tokens[j], "counts": counts[j], **vector, **weight})
    for digest, (name, taught, bins) in snapshot.messages:
        scored = {} if bins is None else {"bins": bins}
        yield json_line({"message": digest.hex(), "class": name, "taught": taught, **scored, **brought_by(digest)})
    for identity, digest, counted in snapshot.lessons:
        yield json_line({"lesson": identity.hex(), "message": digest.hex(), "tokens": counted})
    for name, own, bin_, messages in snapshot.calibration:
        yield json_line({"calibration": name, "own": own, "bin": bin_, "messages": messages})
    for name, values in snapshot.arrays.items():
        encoded = base64.b64encode(values.tobytes()).decode()
        yield json_line({"array": name, "dtype": values.dtype.str, "shape": values.shape, "base64": encoded})
    for kept in snapshot.kept:
        encoded = base64.b64encode(kept.message).decode()
        facts = {"class": kept.label, "taught_at": kept.taught_at, "base64": encoded}
        yield json_line({"kept": kept.digest.hex(), **facts})
    yield json_line({"end": True})  # without it a file that was cut short would pass for a smaller model


def _corrections(snapshot: Snapshot) -> tuple[Callable[[int], dict], Callable[[bytes], dict]]:
    """For a token's key its correction, and for a digest what its message brought, as parts of a line."""
    if snapshot.correction is None:
        return (lambda key: {}), (lambda digest: {})
    names, weights, brought = snapshot.correction

    def by_class(rows: np.ndarray) -> list[dict[str, int]]:
        return [{name: n for name, n in zip(names, row) if n} for row in rows.tolist()]

    of_token = dict(zip(weights.keys.tolist(), by_class(weights.units)))
    of_message = dict(zip(brought.digests, by_class(brought.units)))

    def weight_of(key: int) -> dict:
        return {"correction": of_token[key]} if key in of_token else {}

    def brought_by(digest: bytes) -> dict:
        return {"brought": of_message[digest]} if digest in of_message else {}

    return weight_of, brought_by


def _correction(
    units_of_token: dict[str, dict[str, int]], brought: dict[bytes, dict[str, int]]
) -> CorrectionSums:
    """From what lines said of tokens and of messages."""
    every = (*units_of_token.values(), *brought.values())
    names = sorted({name for units in every for name in units})
    tokens, (place,) = merge_vocabularies([TokenArray.of(units_of_token)])
    of_tokens, of_messages = (
        np.array([[units.get(n, 0) for n in names] for units in part.values()], np.int64).reshape(len(part), len(names))
        for part in (units_of_token, brought)
    )
    weights = np.zeros((len(tokens), len(names)), np.int64)
    weights[place] = of_tokens
    return CorrectionSums(
        tuple(names), TokenUnits(tokens.hashes, weights), MessageUnits(list(brought), of_messages)
    )


def parse_units(record: dict[str, Any], most: int) -> dict[str, int]:
    """What a line says of a correction, by class. ValueError where its units do not sum to 0."""
    units = {check_class_name(str(name)): whole_number(n, most, -most) for name, n in record.items()}
    if sum(units.values()):
        raise ValueError("a correction that does not sum to 0 over the classes")
    return units


def json_line(value: dict[str, Any]) -> str:
    """One line, the same for the same value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def whole_number(value: int, most: int = MAX_COUNT, least: int = 0) -> int:
    """``value`` itself. ValueError where it is no whole number, or out of bounds."""
    if not int_between(most, least)(value):
        raise ValueError(f"a count that is no whole number, below {least}, or too large (above {most})")
    return value


def parse_digest(written: str) -> bytes:
    """The digest that a line says. ValueError where it is none."""
    value = bytes.fromhex(written)
    if not is_digest(value):
        raise ValueError("a digest that has not 16 bytes")
    return value


def parse_export(lines: Iterable[str], name: str) -> Snapshot:
    """The model that ``export`` wrote. Raises SpamnbError naming the line that is not of it."""
    meta: dict[str, Any] | None = None
    documents: dict[str, int] = {}
    counts: dict[str, dict[str, list[int]]] = {}
    messages: list[tuple[bytes, LearnedMessage]] = []
    calibration: list[tuple[str, int, int, int]] = []
    arrays: dict[str, np.ndarray] = {}
    vectors: list[list[float]] = []
    lessons: list[tuple[bytes, bytes, dict[str, int]]] = []
    kept: list[KeptLesson] = []
    of_tokens: dict[str, dict[str, int]] = {}
    brought: dict[bytes, dict[str, int]] = {}
    ended = False
    for number, line in enumerate(lines, 1):
        try:
            if ended:
                raise ValueError("there is more after its end")
            record = json.loads(line)
            if number == 1:
                meta = _meta(record, name)
            elif "class" in record and "documents" in record:
                documents[check_class_name(str(record["class"]))] = whole_number(record["documents"])
            elif "token" in record:
                for c, (held, occurring) in record["counts"].items():
                    if c not in documents:
                        raise ValueError(f"counts of an unknown class, {c!r}")
                    whole_number(held, documents[c]), whole_number(occurring)
                    if not min(1, occurring) <= held <= occurring:
                        raise ValueError("a token that messages hold more often than it occurs, or not at all")
                if len(record["token"].encode()) > MAX_TOKEN_BYTES:
                    raise ValueError("a token that is too long")
                counts[record["token"]] = record["counts"]
                vectors += [record["vector"]] if "vector" in record else []
                if "correction" in record:
                    of_tokens[record["token"]] = parse_units(record["correction"], MAX_UNITS)
            elif "lesson" in record:
                counted = {str(token): whole_number(n) for token, n in record["tokens"].items()}
                lessons.append((parse_digest(record["lesson"]), parse_digest(record["message"]), counted))
            elif "kept" in record:
                if record["class"] not in documents:
                    raise ValueError(f"a lesson of an unknown class, {record['class']!r}")
                packed = base64.b64decode(record["base64"], validate=True)
                unpack(packed)
                at = whole_number(record["taught_at"], MAX_SUM)
                kept.append(KeptLesson(parse_digest(record["kept"]), record["class"], at, packed))
            elif "message" in record:
                whole_number(1, documents[record["class"]])  # a class of that name, and it holds a message
                if not are_bins(record.get("bins", {})):
                    raise ValueError("bins that are none of the calibration's")
                learned = LearnedMessage(record["class"], bool(record["taught"]), record.get("bins"))
                messages.append((parse_digest(record["message"]), learned))
                if "brought" in record:
                    brought[messages[-1][0]] = parse_units(record["brought"], MAX_UNITS)
            elif "calibration" in record:
                own, bin_ = whole_number(record["own"], 1), whole_number(record["bin"], BINS - 1)
                n = whole_number(record["messages"], least=-MAX_COUNT)  # taken away with another score: below 0
                calibration.append((check_class_name(record["calibration"]), own, bin_, n))
            elif "array" in record:
                called, shape = str(record["array"]), json.dumps(record["shape"])
                arrays[called] = array_of(called, record["dtype"], shape, base64.b64decode(record["base64"]))
            elif "end" in record:
                ended = True
            else:
                raise ValueError("unknown record")
            if "\\u" in line:  # UnicodeEncodeError, a ValueError, for half a surrogate pair
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, Damaged) as error:
            raise SpamnbError(f"{name}: line {number} is not of an exported model ({escape(str(error))})") from None
    if meta is None:
        raise SpamnbError(f"{name}: empty; 'spamnb export' writes what can be imported")
    if not ended:
        raise SpamnbError(f"{name}: cut short, its last line is missing; export the model again")
    tokens, place, class_counts = _class_counts(documents, counts)
    try:
        with np.errstate(over="ignore"):  # whoever reads them looks whether they are finite
            dense = np.array(vectors, VECTOR).reshape(len(counts), -1) if vectors else None
    except (ValueError, TypeError, OverflowError):
        raise SpamnbError(f"{name}: the vectors of its tokens are not of one length, or some are missing") from None
    if dense is not None:
        dense = dense[np.unique(place, return_index=True)[1]]
    corrected = meta.get("model_type") == "corrected"
    if not corrected and (of_tokens or brought):
        raise SpamnbError(f"{name}: a correction in a model of another type")
    correction = _correction(of_tokens, brought) if corrected else None
    return Snapshot(meta, tokens, class_counts, messages, calibration, arrays, dense, lessons, kept, correction)


def _meta(record: dict[str, Any], name: str) -> dict[str, Any]:
    """What the first line says. SpamnbError where another version wrote it."""
    if record["spamnb"] not in (EXPORT_VERSION, EXTENDED_VERSION):
        newer = record["spamnb"] > EXTENDED_VERSION
        made, what = ("a newer", "upgrade spamnb") if newer else ("an older", "train again")
        raise SpamnbError(f"{name}: made by {made} spamnb (lines {record['spamnb']}); {what}")
    return dict(record["meta"])


def _class_counts(
    documents: dict[str, int], counts: dict[str, dict[str, list[int]]]
) -> tuple[TokenArray, np.ndarray, ClassCounts]:
    """The tokens ascending by key, where among them each of ``counts`` is, and their counts by class."""
    classes = tuple(sorted(documents))
    tokens, (place,) = merge_vocabularies([TokenArray.of(counts)])
    row = {c: i for i, c in enumerate(classes)}
    found = [(row[c], j, *pair) for j, pairs in enumerate(counts.values()) for c, pair in pairs.items()]
    label, column, *figures = np.array(found, np.int64).reshape(-1, 4).T
    held = np.array([documents[c] for c in classes], np.int64)
    return tokens, place, ClassCounts.from_cells(classes, held, len(tokens), label, SparseRow(place[column], *figures))
