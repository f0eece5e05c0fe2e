"""Export of models as lines of JSON, and import: all machines write the same lines for the same sums."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import Any

import numpy as np

from spamnb.class_names import check_class_name
from spamnb.core.buckets import VECTOR
from spamnb.core.curve import BINS
from spamnb.core.score import MAX_COUNT
from spamnb.errors import Damaged, SpamnbError
from spamnb.model.class_counts import DOCUMENTS, WEIGHT, Cells
from spamnb.model.delta import MessageRecord, check_correction
from spamnb.model.model import NO_TYPICALITY, NOISE, SIZE, Model
from spamnb.reader.tokens import TokenArray, merge_vocabularies
from spamnb.settings import ORIGIN
from spamnb.shown_text import escape
from spamnb.store.arrays import parse_array
from spamnb.store.buckets import MAX_TOKEN_BYTES, Block
from spamnb.store.classes import MAX_CLASSES
from spamnb.store.database import MAX_SUM, int_up_to
from spamnb.store.lessons import Lesson, decompress
from spamnb.store.snapshot import Snapshot, read_snapshot
from spamnb.store.store import Store

EXPORT_VERSION = 8  # raised when the lines change, and when the same sums give other scores


def export(store: Store, with_lessons: bool = False) -> Iterator[str]:
    """Yield the model as lines of JSON, the same lines for the same sums.

    ``with_lessons`` adds the kept lessons, and the time, command and sources of the training.
    """
    snapshot = read_snapshot(store)
    model, block, messages = snapshot.model, snapshot.block, snapshot.messages
    names, tokens, cells = list(model.class_ids), list(block.tokens), block.cells
    meta = {key: value for key, value in model.meta.items() if key != NOISE and (with_lessons or key not in ORIGIN)}
    yield json_line({"spamnb": EXPORT_VERSION, "meta": meta})
    used_classes = {names[c] for c in np.unique(cells.label)}
    used_classes |= {name for _, learned in messages for name in learned.contribution}
    rows = zip(names, model.sums[:, 0].tolist(), model.histogram, model.unscored.tolist(), model.typicality)
    for name, documents, histogram, unscored, typicality in sorted(rows, key=itemgetter(0)):
        if documents or histogram.any() or name in used_classes:
            bins = np.nonzero(histogram)  # a row of the export: [0 (the class) or 1 (others), bin, messages]
            calibration = np.stack([*bins, histogram[bins]], axis=1).tolist()
            known = np.flatnonzero(typicality)  # a row of the export: [0 (all seen) or 1 + bin, messages]
            facts = {"class": name, "documents": documents, "unscored": unscored, "calibration": calibration}
            facts["typicality"] = np.stack([known, typicality[known]], axis=1).tolist()
            yield json_line(facts)
    facts_of_token: list[dict[str, dict[str, Any]]] = [{"counts": {}} for _ in tokens]
    for j, c, figures in zip(cells.token.tolist(), cells.label.tolist(), cells.figures.T.tolist()):
        if figures[DOCUMENTS]:
            facts_of_token[j]["counts"][names[c]] = figures[:WEIGHT]
        if figures[WEIGHT]:
            facts_of_token[j].setdefault("correction", {})[names[c]] = figures[WEIGHT]
    for j in sorted(range(len(tokens)), key=tokens.__getitem__):
        vector = {"vector": block.vectors[j].tolist()} if block.vectors.shape[1] else {}
        yield json_line({"token": tokens[j], **facts_of_token[j], **vector})
    for digest, learned in messages:
        facts = learned._replace(changes={}).facts()  # without changes of examples, which are not exported
        yield json_line({"message": digest.hex(), "class": learned.label, **facts})
    for name, values in model.arrays.items():
        encoded = base64.b64encode(values.tobytes()).decode()
        yield json_line({"array": name, "dtype": values.dtype.str, "shape": values.shape, "base64": encoded})
    for lesson in snapshot.lessons if with_lessons else ():
        encoded = base64.b64encode(lesson.message).decode()
        facts = {"class": lesson.label, "taught_at": lesson.taught_at, "base64": encoded}
        yield json_line({"kept": lesson.digest.hex(), **facts})
    yield json_line({"end": True})  # without it a truncated file would be a smaller model


def json_line(value: dict[str, Any]) -> str:
    """Return one line, the same for the same value."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _whole(value: Any, largest: int, least: int = 0) -> int:
    """Return a number of a line. Raise ValueError unless it is a whole number within these bounds."""
    if not int_up_to(largest, least)(value):
        raise ValueError("a number that is not whole, or out of bounds")
    return int(value)


class _Parser:
    """Parses the lines of an export one by one, and collects their content.

    Each number is checked alone. Whether all fit together is checked when the imported model is read from the store to
    which it is written.
    """

    def __init__(self) -> None:
        self.documents: dict[str, int] = {}
        self.histograms: dict[str, np.ndarray] = {}
        self.unscored: dict[str, int] = {}
        self.typicality: dict[str, np.ndarray] = {}
        self.tokens: list[str] = []
        self.cells: list[tuple[int, int]] = []  # the numbers of the token and of the class of each cell
        self.figures: list[tuple[int, int, int]] = []  # documents, occurrences and weight of each cell
        self.vectors: list[list[float]] = []
        self.messages: list[tuple[bytes, MessageRecord]] = []
        self.arrays: dict[str, np.ndarray] = {}
        self.lessons: list[Lesson] = []
        self.has_ended = False
        self._number: dict[str, int] = {}  # by class

    def parse(self, fields: dict[str, Any]) -> None:
        """Parse one more line. It raises many kinds of errors for a line that no export has."""
        if self.has_ended:
            raise ValueError("it follows the last line")
        if "documents" in fields:
            self._parse_class(fields)
        elif "token" in fields:
            self._parse_token(fields)
        elif "kept" in fields:
            message = base64.b64decode(fields["base64"], validate=True)
            decompress(message)
            digest, label = bytes.fromhex(fields["kept"]), self._check_class(fields["class"])
            self.lessons.append(Lesson(digest, label, _whole(fields["taught_at"], MAX_SUM), message))
        elif "message" in fields:
            label = self._check_class(fields["class"])
            facts = {key: value for key, value in fields.items() if key not in ("message", "class", "changes")}
            learned = MessageRecord.of_facts(label, facts, self.documents)
            self.messages.append((bytes.fromhex(fields["message"]), learned))
        elif "array" in fields:
            name, content = str(fields["array"]), base64.b64decode(fields["base64"])
            self.arrays[name] = parse_array(name, fields["dtype"], fields["shape"], content)
        elif "end" in fields:
            self.has_ended = True
        else:
            raise ValueError("unknown record")

    def _check_class(self, name: str) -> str:
        if name not in self.documents:
            raise ValueError(f"an unknown class, {name!r}")
        return name

    def _parse_class(self, fields: dict[str, Any]) -> None:
        name = check_class_name(fields["class"])
        self._number.setdefault(name, len(self._number))
        if len(self._number) > MAX_CLASSES:
            raise ValueError(f"more than {MAX_CLASSES} classes")
        self.documents[name] = _whole(fields["documents"], MAX_COUNT)
        histogram = np.zeros((2, BINS), np.int64)
        for others, bin_, n in fields["calibration"]:
            histogram[_whole(others, 1), _whole(bin_, BINS - 1)] = _whole(n, MAX_COUNT, -MAX_COUNT)
        self.histograms[name] = histogram
        # Exports of older versions lack it, and all of their messages count.
        self.unscored[name] = fields.get("unscored", self.documents[name] - int(histogram[0].sum()))
        # Forgetting training mail of the last class subtracts messages without a score.
        _whole(self.unscored[name], MAX_COUNT, -MAX_COUNT)
        self.typicality[name] = NO_TYPICALITY.copy()
        for index, n in fields["typicality"]:
            self.typicality[name][_whole(index, len(NO_TYPICALITY) - 1)] = _whole(n, MAX_COUNT, -MAX_COUNT)

    def _parse_token(self, fields: dict[str, Any]) -> None:
        token, index = fields["token"], len(self.tokens)
        if len(token.encode()) > MAX_TOKEN_BYTES:
            raise ValueError("a token that is too long")
        for name, (documents, occurrences) in fields["counts"].items():
            self.cells.append((index, self._number[self._check_class(name)]))
            self.figures.append((_whole(documents, MAX_COUNT), _whole(occurrences, MAX_SUM), 0))
        correction = fields.get("correction", {})
        check_correction(correction, self.documents)
        for name, units in correction.items():
            self.cells.append((index, self._number[name]))
            self.figures.append((0, 0, units))
        self.tokens.append(token)
        self.vectors += [fields["vector"]] if "vector" in fields else []

    def snapshot(self, meta: dict[str, Any], name: str) -> Snapshot:
        """Return the model of all lines; raise SpamnbError if they do not fit together."""
        figures = np.array(self.figures, np.int64).reshape(-1, 3).T
        has_weights = figures[WEIGHT].any() or any(learned.contribution for _, learned in self.messages)
        if has_weights and meta.get("model_type") != "corrected":
            raise SpamnbError(f"{name}: a correction in a model of another type")
        tokens, (positions,) = merge_vocabularies([TokenArray.of(self.tokens)])
        token, label = np.array(self.cells, np.intp).reshape(-1, 2).T
        cells = Cells.sum(positions[token], label, figures)
        model = Model(
            {**meta, SIZE: len(tokens)},
            self._number,
            cells.sum_classes(np.array([*self.documents.values()], np.int64)),
            np.array([*self.histograms.values()], np.int64).reshape(-1, 2, BINS),
            np.array([*self.unscored.values()], np.int64),
            np.array([*self.typicality.values()], np.int64).reshape(-1, len(NO_TYPICALITY)),
            None,
            arrays=self.arrays,
        )
        scored = model.histogram[:, 0].sum(axis=1) + model.unscored
        if not model.is_starter and (scored != model.sums[:, 0]).any():
            raise SpamnbError(f"{name}: a class whose messages with a score and without one are not all its messages")
        with np.errstate(over="ignore"):  # vectors are checked for infinity when they are read from the store
            vectors = np.array(self.vectors, VECTOR).reshape(len(positions), model.dimensions)
        vectors = vectors[np.unique(positions, return_index=True)[1]]
        return Snapshot(model, Block(tokens, cells, vectors), self.messages, self.lessons)


def parse_export(lines: Iterable[str], name: str) -> Snapshot:
    """Return the model that ``export`` wrote; raise SpamnbError with the number of the first wrong line."""
    meta: dict[str, Any] | None = None
    parser = _Parser()
    for number, line in enumerate(lines, 1):
        try:
            fields = json.loads(line)
            if meta is None:
                meta = _parse_meta(fields, name)
            else:
                parser.parse(fields)
            if "\\u" in line:  # half a surrogate pair raises UnicodeEncodeError, which is a ValueError
                json.dumps(fields, ensure_ascii=False).encode()
        except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, Damaged) as error:
            if meta is None:
                raise SpamnbError(f"{name}: not an exported model; name a file that 'spamnb export' wrote") from None
            raise SpamnbError(f"{name}: line {number} is not of an exported model ({escape(str(error))})") from None
    if meta is None:
        raise SpamnbError(f"{name}: empty; export a model with 'spamnb export'")
    if not parser.has_ended:
        raise SpamnbError(f"{name}: cut short, its last line is missing; export the model again")
    try:
        return parser.snapshot(meta, name)
    except (ValueError, TypeError, OverflowError, Damaged) as error:
        raise SpamnbError(f"{name}: its figures or vectors cannot be of a model ({error})") from None


def _parse_meta(fields: dict[str, Any], name: str) -> dict[str, Any]:
    """Return the settings in the first line; raise SpamnbError if another version wrote it."""
    if fields["spamnb"] != EXPORT_VERSION:
        is_newer = fields["spamnb"] > EXPORT_VERSION
        age, remedy = ("a newer", "upgrade spamnb") if is_newer else ("an older", "train again")
        raise SpamnbError(f"{name}: made by {age} spamnb (lines {fields['spamnb']}); {remedy}")
    return dict(fields["meta"])
