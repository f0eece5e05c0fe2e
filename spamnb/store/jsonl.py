"""Models out of and into lines of JSON: the same lines for the same sums, whatever machine wrote them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from spamnb.class_names import check_class_name
from spamnb.errors import Damaged, SpamnbError
from spamnb.formulas.calibration import BINS
from spamnb.reader.tokens import TokenArray, merge_vocabularies
from spamnb.settings import ORIGIN
from spamnb.shown_text import escape
from spamnb.store.arrays import VECTOR, array_of
from spamnb.store.database import MAX_SUM, int_between
from spamnb.store.lessons import KeptLesson, unpack
from spamnb.store.records import LearnedMessage, check_correction
from spamnb.store.rows import DOCUMENTS, WEIGHT, Cells
from spamnb.store.snapshot import Snapshot, read_snapshot
from spamnb.store.state import NOISE
from spamnb.store.store import Store

MAX_TOKEN_BYTES = (1 << 16) - 1
EXPORT_VERSION = 6  # version of what ``export`` writes; rises, too, whenever the same sums give other scores


def export(store: Store, lessons: bool = False) -> Iterator[str]:
    """The model as lines of JSON, the same lines for the same sums and months of lessons; with ``lessons`` those that
    are kept too, with their messages, and when and of what the model was trained."""
    snapshot = read_snapshot(store)
    tokens, names, cells, messages = list(snapshot.tokens), snapshot.classes, snapshot.cells, list(snapshot.messages)
    meta = {key: value for key, value in snapshot.meta.items() if key != NOISE and (lessons or key not in ORIGIN)}
    yield json_line({"spamnb": EXPORT_VERSION, "meta": meta})
    used = {names[c] for c in np.unique(cells.label)}
    used |= {name for _, learned in messages for name in learned.contribution}
    for name, documents, histogram in sorted(zip(names, snapshot.documents.tolist(), snapshot.histogram)):
        if documents or histogram.any() or name in used:
            bins = np.nonzero(histogram)  # [of others, bin, messages]
            calibration = np.stack([*bins, histogram[bins]], axis=1).tolist()
            yield json_line({"class": name, "documents": documents, "calibration": calibration})
    of_token: list[dict[str, dict[str, Any]]] = [{"counts": {}} for _ in tokens]
    for j, c, figures in zip(cells.token.tolist(), cells.label.tolist(), cells.figures.T.tolist()):
        if figures[DOCUMENTS]:
            of_token[j]["counts"][names[c]] = figures[:WEIGHT]
        if figures[WEIGHT]:
            of_token[j].setdefault("correction", {})[names[c]] = figures[WEIGHT]
    hashes = snapshot.tokens.hashes.tolist()
    for j in sorted(range(len(tokens)), key=tokens.__getitem__):
        month = {"month": snapshot.months[hashes[j]]} if hashes[j] in snapshot.months else {}
        vector = {} if snapshot.vectors is None else {"vector": snapshot.vectors[j].tolist()}
        yield json_line({"token": tokens[j], **of_token[j], **month, **vector})
    for digest, learned in messages:
        facts = learned._replace(changes={}).facts()  # these belong to one file
        yield json_line({"message": digest.hex(), "class": learned.label, **facts})
    for name, values in snapshot.arrays.items():
        encoded = base64.b64encode(values.tobytes()).decode()
        yield json_line({"array": name, "dtype": values.dtype.str, "shape": values.shape, "base64": encoded})
    for kept in snapshot.kept if lessons else ():
        encoded = base64.b64encode(kept.message).decode()
        facts = {"class": kept.label, "taught_at": kept.taught_at, "base64": encoded}
        yield json_line({"kept": kept.digest.hex(), **facts})
    yield json_line({"end": True})  # without it a file that was cut short would pass for a smaller model


def json_line(value: dict[str, Any]) -> str:
    """One line, the same for the same value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


class _Parser:
    """What the lines of an export say, one after the other. Whoever writes it into a store reads it there again: what
    figures a model can have is checked then."""

    def __init__(self) -> None:
        self.documents: dict[str, int] = {}
        self.histograms: dict[str, np.ndarray] = {}
        self.tokens: list[str] = []
        self.places: list[tuple[int, int]] = []  # of each cell: its token and its class
        self.figures: list[tuple[int, int, int]] = []  # of each cell
        self.vectors: list[list[float]] = []
        self.months: dict[str, int] = {}  # by token
        self.messages: list[tuple[bytes, LearnedMessage]] = []
        self.arrays: dict[str, np.ndarray] = {}
        self.kept: list[KeptLesson] = []
        self.ended = False
        self._number: dict[str, int] = {}  # of each class

    def parse(self, record: dict[str, Any]) -> None:
        """One more line. Any error where it is none of a model."""
        if self.ended:
            raise ValueError("there is more after its end")
        if "documents" in record:
            self._class(record)
        elif "token" in record:
            self._token(record)
        elif "kept" in record:
            packed = base64.b64decode(record["base64"], validate=True)
            unpack(packed)
            digest, label, at = bytes.fromhex(record["kept"]), self._known(record["class"]), record["taught_at"]
            if not int_between(MAX_SUM)(at):
                raise ValueError("a time that is none")
            self.kept.append(KeptLesson(digest, label, at, packed))
        elif "message" in record:
            label = self._known(record["class"])
            facts = {key: value for key, value in record.items() if key not in ("message", "class", "changes")}
            learned = LearnedMessage.of_facts(label, facts, self.documents)
            self.messages.append((bytes.fromhex(record["message"]), learned))
        elif "array" in record:
            name, content = str(record["array"]), base64.b64decode(record["base64"])
            self.arrays[name] = array_of(name, record["dtype"], record["shape"], content)
        elif "end" in record:
            self.ended = True
        else:
            raise ValueError("unknown record")

    def _known(self, name: str) -> str:
        if name not in self.documents:
            raise ValueError(f"an unknown class, {name!r}")
        return name

    def _class(self, record: dict[str, Any]) -> None:
        name = check_class_name(record["class"])
        self._number.setdefault(name, len(self._number))
        self.documents[name] = int(record["documents"])
        histogram = np.zeros((2, BINS), np.int64)
        for others, bin_, n in record["calibration"]:
            histogram[others, bin_] = n
        self.histograms[name] = histogram

    def _token(self, record: dict[str, Any]) -> None:
        token, place = record["token"], len(self.tokens)
        if len(token.encode()) > MAX_TOKEN_BYTES:
            raise ValueError("a token that is too long")
        for name, (held, occurring) in record["counts"].items():
            self.places.append((place, self._number[self._known(name)]))
            self.figures.append((held, occurring, 0))
        correction = record.get("correction", {})
        check_correction(correction, self.documents)
        for name, units in correction.items():
            self.places.append((place, self._number[name]))
            self.figures.append((0, 0, units))
        if "month" in record:
            if not int_between(MAX_SUM)(record["month"]):
                raise ValueError("a month that is none")
            self.months[token] = record["month"]
        self.tokens.append(token)
        self.vectors += [record["vector"]] if "vector" in record else []

    def snapshot(self, meta: dict[str, Any], name: str) -> Snapshot:
        """What all lines said. SpamnbError where their parts do not fit together."""
        figures = np.array(self.figures, np.int64).reshape(-1, 3).T
        corrected = figures[WEIGHT].any() or any(learned.contribution for _, learned in self.messages)
        if corrected and meta.get("model_type") != "corrected":
            raise SpamnbError(f"{name}: a correction in a model of another type")
        tokens, (place,) = merge_vocabularies([TokenArray.of(self.tokens)])
        token, label = np.array(self.places, np.intp).reshape(-1, 2).T
        vectors = None
        if self.vectors:
            with np.errstate(over="ignore"):  # whoever reads them looks whether they are finite
                in_order = np.array(self.vectors, VECTOR).reshape(len(place), -1)
            vectors = in_order[np.unique(place, return_index=True)[1]]
        return Snapshot(
            meta,
            list(self.documents),
            np.array([*self.documents.values()], np.int64),
            tokens,
            Cells.sum(place[token], label, figures),
            self.messages,
            np.array([*self.histograms.values()], np.int64).reshape(-1, 2, BINS),
            self.arrays,
            vectors,
            self.kept,
            months=dict(zip(TokenArray.of([*self.months]).hashes.tolist(), self.months.values())),
        )


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
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, Damaged) as error:
            raise SpamnbError(f"{name}: line {number} is not of an exported model ({escape(str(error))})") from None
    if meta is None:
        raise SpamnbError(f"{name}: empty; 'spamnb export' writes what can be imported")
    if not parser.ended:
        raise SpamnbError(f"{name}: cut short, its last line is missing; export the model again")
    try:
        return parser.snapshot(meta, name)
    except (ValueError, TypeError, OverflowError) as error:
        raise SpamnbError(f"{name}: its figures, or the vectors of its tokens, are no model's ({error})") from None


def _meta(record: dict[str, Any], name: str) -> dict[str, Any]:
    """What the first line says. SpamnbError where another version wrote it."""
    if record["spamnb"] != EXPORT_VERSION:
        newer = record["spamnb"] > EXPORT_VERSION
        made, what = ("a newer", "upgrade spamnb") if newer else ("an older", "train again")
        raise SpamnbError(f"{name}: made by {made} spamnb (lines {record['spamnb']}); {what}")
    return dict(record["meta"])
