"""Models out of and into lines of JSON: the same lines for the same sums, whatever machine wrote them."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from spamnb.errors import Damaged, SpamnbError
from spamnb.formulas.calibration import BINS
from spamnb.naming import check_class_name, escape
from spamnb.reader.token_array import TokenArray, merge_vocabularies
from spamnb.settings import ORIGIN
from spamnb.store.database import MAX_SUM, int_between, is_digest
from spamnb.store.lessons import KeptLesson, unpack
from spamnb.store.records import VECTOR, LearnedMessage, array_of, units_of
from spamnb.store.rows import DOCUMENTS, MAX_COUNT, WEIGHT, Cells
from spamnb.store.snapshot import Snapshot, read_snapshot
from spamnb.store.store import Store

MAX_TOKEN_BYTES = (1 << 16) - 1
EXPORT_VERSION = 4  # version of what ``export`` writes; rises, too, whenever the same sums give other scores


def export(store: Store, lessons: bool = False) -> Iterator[str]:
    """The model as lines of JSON, the same lines for the same sums; with ``lessons`` those that are kept too, with
    their messages, and when and of what the model was trained."""
    snapshot = read_snapshot(store, lessons)
    meta = {key: value for key, value in snapshot.meta.items() if lessons or key not in ORIGIN}
    yield json_line({"spamnb": EXPORT_VERSION, "meta": meta})
    tokens = list(snapshot.tokens)
    for name, documents in sorted(zip(snapshot.classes, snapshot.documents.tolist())):
        if documents:
            yield json_line({"class": name, "documents": documents})
    counts: list[dict[str, list[int]]] = [{} for _ in tokens]
    weights: list[dict[str, int]] = [{} for _ in tokens]
    cells = snapshot.cells
    for j, c, figures in zip(cells.token.tolist(), cells.label.tolist(), cells.figures.T.tolist()):
        if figures[DOCUMENTS]:
            counts[j][snapshot.classes[c]] = figures[:WEIGHT]
        if figures[WEIGHT]:
            weights[j][snapshot.classes[c]] = figures[WEIGHT]
    for j in sorted(range(len(tokens)), key=tokens.__getitem__):
        vector = {} if snapshot.vectors is None else {"vector": snapshot.vectors[j].tolist()}
        weight = {"correction": weights[j]} if weights[j] else {}
        yield json_line({"token": tokens[j], "counts": counts[j], **vector, **weight})
    for digest, learned in snapshot.messages:
        facts = learned._replace(changed=None).facts()  # that belongs to one file
        yield json_line({"message": digest.hex(), "class": learned.label, **facts})
    histogram = np.zeros((0, 2, BINS), np.int64) if snapshot.histogram is None else snapshot.histogram
    for name, of_class in sorted(zip(snapshot.classes, histogram.tolist())):
        for own, bins in enumerate(reversed(of_class)):
            for bin_, messages in enumerate(bins):
                if messages:
                    yield json_line({"calibration": name, "own": own, "bin": bin_, "messages": messages})
    for name, values in snapshot.arrays.items():
        encoded = base64.b64encode(values.tobytes()).decode()
        yield json_line({"array": name, "dtype": values.dtype.str, "shape": values.shape, "base64": encoded})
    for kept in snapshot.kept:
        encoded = base64.b64encode(kept.message).decode()
        facts = {"class": kept.label, "taught_at": kept.taught_at, "base64": encoded}
        yield json_line({"kept": kept.digest.hex(), **facts})
    yield json_line({"end": True})  # without it a file that was cut short would pass for a smaller model


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


class _Parser:
    """What the lines of an export say, one after the other."""

    def __init__(self) -> None:
        self.documents: dict[str, int] = {}
        self.counts: dict[str, dict[str, list[int]]] = {}
        self.weights: dict[str, dict[str, int]] = {}
        self.vectors: list[list[float]] = []
        self.messages: list[tuple[bytes, LearnedMessage]] = []
        self.calibration: list[tuple[str, int, int, int]] = []
        self.arrays: dict[str, np.ndarray] = {}
        self.kept: list[KeptLesson] = []
        self.ended = False
        self._of: dict[str, Callable[[dict[str, Any]], None]] = {  # by the key that only such a line has
            "documents": self._class,
            "token": self._token,
            "kept": self._kept,
            "message": self._message,
            "calibration": self._cell,
            "array": self._array,
            "end": self._end,
        }

    def parse(self, record: dict[str, Any]) -> None:
        """One more line. ValueError, KeyError, TypeError, AttributeError or Damaged where it is none of a model."""
        if self.ended:
            raise ValueError("there is more after its end")
        kind = next((kind for kind in self._of if kind in record), None)
        if kind is None:
            raise ValueError("unknown record")
        self._of[kind](record)

    def _class(self, record: dict[str, Any]) -> None:
        self.documents[check_class_name(str(record["class"]))] = whole_number(record["documents"])

    def _token(self, record: dict[str, Any]) -> None:
        token = record["token"]
        for name, (held, occurring) in record["counts"].items():
            if name not in self.documents:
                raise ValueError(f"counts of an unknown class, {name!r}")
            whole_number(held, self.documents[name]), whole_number(occurring)
            if not min(1, occurring) <= held <= occurring:
                raise ValueError("a token that messages hold more often than it occurs, or not at all")
        if len(token.encode()) > MAX_TOKEN_BYTES:
            raise ValueError("a token that is too long")
        self.counts[token] = record["counts"]
        self.weights[token] = units_of(record.get("correction", {}))
        self.vectors += [record["vector"]] if "vector" in record else []

    def _kept(self, record: dict[str, Any]) -> None:
        if record["class"] not in self.documents:
            raise ValueError(f"a lesson of an unknown class, {record['class']!r}")
        packed = base64.b64decode(record["base64"], validate=True)
        unpack(packed)
        at = whole_number(record["taught_at"], MAX_SUM)
        self.kept.append(KeptLesson(parse_digest(record["kept"]), record["class"], at, packed))

    def _message(self, record: dict[str, Any]) -> None:
        whole_number(1, self.documents[record["class"]])  # a class of that name, and it holds a message
        facts = {key: record[key] for key in ("bins", "brought") if key in record}
        names = {check_class_name(name) for name in facts.get("brought", {})}
        learned = LearnedMessage.of_facts(record["class"], facts, names)
        self.messages.append((parse_digest(record["message"]), learned))

    def _cell(self, record: dict[str, Any]) -> None:
        own, bin_ = whole_number(record["own"], 1), whole_number(record["bin"], BINS - 1)
        n = whole_number(record["messages"], least=-MAX_COUNT)  # taken away with another score: below 0
        self.calibration.append((check_class_name(record["calibration"]), own, bin_, n))

    def _array(self, record: dict[str, Any]) -> None:
        name, content = str(record["array"]), base64.b64decode(record["base64"])
        self.arrays[name] = array_of(name, record["dtype"], record["shape"], content)

    def _end(self, record: dict[str, Any]) -> None:
        self.ended = True

    def snapshot(self, meta: dict[str, Any], name: str) -> Snapshot:
        """What all lines said. SpamnbError where their parts do not fit together."""
        brought = [learned.brought for _, learned in self.messages]
        corrected = [*self.weights.values(), *brought]
        if meta.get("model_type") != "corrected" and any(corrected):
            raise SpamnbError(f"{name}: a correction in a model of another type")
        scored = [name for name, *_ in self.calibration]
        classes = sorted({*self.documents, *scored, *(name for units in corrected for name in units)})
        number = {name: c for c, name in enumerate(classes)}
        tokens, (place,) = merge_vocabularies([TokenArray.of(self.counts)])
        found = [
            (at, number[label], *pair, 0)
            for at, pairs in zip(place.tolist(), self.counts.values())
            for label, pair in pairs.items()
        ]
        found += [
            (at, number[label], 0, 0, n)
            for at, units in zip(place.tolist(), self.weights.values())
            for label, n in units.items()
        ]
        token, label, *figures = np.array(found, np.int64).reshape(-1, 5).T
        histogram = np.zeros((len(classes), 2, BINS), np.int64)
        for name, own, bin_, messages in self.calibration:
            histogram[number[name], 1 - own, bin_] = messages
        documents = np.array([self.documents.get(name, 0) for name in classes], np.int64)
        return Snapshot(
            meta,
            classes,
            documents,
            tokens,
            Cells.sum(token, label, np.array(figures)),
            self.messages,
            histogram,
            self.arrays,
            self._dense_vectors(place, name),
            self.kept,
        )

    def _dense_vectors(self, place: np.ndarray, name: str) -> np.ndarray | None:
        if not self.vectors:
            return None
        try:
            with np.errstate(over="ignore"):  # whoever reads them looks whether they are finite
                dense = np.array(self.vectors, VECTOR).reshape(len(place), -1)
        except (ValueError, TypeError, OverflowError):
            raise SpamnbError(f"{name}: the vectors of its tokens are not of one length, or some are missing") from None
        return dense[np.unique(place, return_index=True)[1]]


def parse_export(lines: Iterable[str], name: str) -> Snapshot:
    """The model that ``export`` wrote. Raises SpamnbError naming the line that is not of it."""
    meta: dict[str, Any] | None = None
    parser = _Parser()
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if meta is None:
                meta = _meta(record, name)
            else:
                parser.parse(record)
            if "\\u" in line:  # UnicodeEncodeError, a ValueError, for half a surrogate pair
                json.dumps(record, ensure_ascii=False).encode()
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, Damaged) as error:
            raise SpamnbError(f"{name}: line {number} is not of an exported model ({escape(str(error))})") from None
    if meta is None:
        raise SpamnbError(f"{name}: empty; 'spamnb export' writes what can be imported")
    if not parser.ended:
        raise SpamnbError(f"{name}: cut short, its last line is missing; export the model again")
    return parser.snapshot(meta, name)


def _meta(record: dict[str, Any], name: str) -> dict[str, Any]:
    """What the first line says. SpamnbError where another version wrote it."""
    if record["spamnb"] != EXPORT_VERSION:
        newer = record["spamnb"] > EXPORT_VERSION
        made, what = ("a newer", "upgrade spamnb") if newer else ("an older", "train again")
        raise SpamnbError(f"{name}: made by {made} spamnb (lines {record['spamnb']}); {what}")
    return dict(record["meta"])
