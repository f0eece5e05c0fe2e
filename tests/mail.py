"""Small synthetic messages that depend on a seed, and models and files of them."""

import json
import math
import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from spamnb.api.teaching import Teacher
from spamnb.engines.counting import count_parallel
from spamnb.filter import Classifier
from spamnb.ledger.ledger import Batch, Ledger
from spamnb.ledger.verdicts import INBOX, NOWHERE, Place, make_verdict
from spamnb.mail_result import classify_mail
from spamnb.model.class_counts import DOCUMENTS, OCCURRENCES
from spamnb.model.delta import MessageRecord
from spamnb.model.learner import Fit
from spamnb.model.training_set import TrainingSet
from spamnb.reader.rows import Rows
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.store.jsonl import export, parse_export
from spamnb.store.lessons import decompress, read_lessons
from spamnb.store.snapshot import Snapshot, atomic_replace, read_snapshot, write_snapshot
from spamnb.store.store import Store
from spamnb.training import fit, prepare, write_model
from spamnb.user_models import Models

SPAM = "offer prize winner pills cheap click unsubscribe credit casino free money guarantee".split()
HAM = "meeting minutes report lunch thanks branch review patch kernel agenda train weather".split()
BOTH = "the a of and to in is for on with this that you we are it at by from as be".split()


def message(label: str, number: int) -> bytes:
    """Return a message that depends only on the label and the number."""
    rng = random.Random(f"{label}{number}")
    typical, other = (SPAM, HAM) if label == "spam" else (HAM, SPAM)
    words = rng.choices(typical, k=6) + rng.choices(other, k=1) + rng.choices(BOTH, k=12)
    rng.shuffle(words)
    subject = " ".join(rng.choices(typical, k=2))
    return (
        f"From: {label}{number}@{label}.example\nTo: you@example.org\nSubject: {subject}\n"
        f"Message-ID: <{label}.{number}@{label}.example>\n\n{' '.join(words)}\n"
    ).encode()


def mail(each: int) -> list[tuple[str, bytes]]:
    """Return ``each`` messages of ham and of spam, in turn."""
    return [(label, message(label, number)) for number in range(each) for label in ("ham", "spam")]


CORPORA = Path(__file__).parents[1] / "corpora"


@cache
def _messages(folder: str) -> tuple[bytes, ...]:
    return tuple(path.read_bytes() for path in sorted((CORPORA / folder).iterdir()))


@cache
def _words(folders: tuple[str, ...]) -> list[bytes]:
    return [word for folder in folders for raw in _messages(folder) for word in raw.partition(b"\n\n")[2].split()]


def make_variations(
    folders: Mapping[str, str], each: int, first: int = 0, most: float = 0.8
) -> list[tuple[str, bytes]]:
    """Return ``each`` messages of every class, in turn: variations of the messages in folders of corpora/.

    A variation lacks a random share of the header fields, from .2 to ``most``, and the same share of its words is
    replaced by words of all classes.
    """
    messages, words = [], _words((*folders.values(),))
    for number in range(first, first + each):
        for label, folder in folders.items():
            rng = random.Random(f"{label}{number}")
            share = rng.uniform(0.2, most)
            head, _, body = _messages(folder)[number % len(_messages(folder))].partition(b"\n\n")
            fields = [field for field in re.split(rb"\n(?![ \t])", head) if rng.random() > share]
            text = b" ".join(rng.choice(words) if rng.random() < share else word for word in body.split(b" "))
            messages.append((label, b"%s\n\n%s\n#%d\n" % (b"\n".join(fields), text, number)))
    return messages


def add_dates(messages: Iterable[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Return the messages, each with a date in November 2004."""
    date = b"Date: Mon, %02d Nov 2004 %02d:00:00 +0000\n"
    return [(label, date % (1 + n % 28, n % 24) + raw) for n, (label, raw) in enumerate(messages)]


def write_folders(root: Path, messages: Iterable[tuple[str, bytes]]) -> Path:
    """Write each message to a file in the folder of its class, and return ``root``."""
    for number, (label, raw) in enumerate(messages):
        (root / label).mkdir(parents=True, exist_ok=True)
        (root / label / f"{number:04}.eml").write_bytes(raw)
    return root


def write_file(path: Path, content: bytes = b"Subject: x\n\nbody\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def fail(name: str, error: Exception) -> None:
    """Fail the test, as ``on_unreadable`` for readable mail."""
    raise AssertionError((name, error))


def without_calibration(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return the records of an export without calibration and typicality, which depend on the order of learning."""
    ignored = "bins", "calibration", "unscored", "typicality"
    return [{key: value for key, value in json.loads(line).items() if key not in ignored} for line in lines]


def without_correction(lines: Iterable[str]) -> list[dict[str, Any]]:
    """Return the records of ``without_calibration`` without the correction, which depends on the order of learning."""
    parts = ("correction", "contribution")
    return [{key: value for key, value in record.items() if key not in parts} for record in without_calibration(lines)]


def class_figures(content: TrainingSet | Snapshot) -> list[np.ndarray]:
    """Return the names of classes with messages, their messages, and N_jc and T_jc, (C, V)."""
    if isinstance(content, TrainingSet):
        totals, cells, numbers = content.totals(), content.cells, np.arange(len(content.classes))
    else:
        totals, cells, numbers = content.model.totals, content.block.cells, content.model.nonempty_classes
    n_tokens, n_classes = (
        len((content if isinstance(content, TrainingSet) else content.block).tokens),
        numbers.max(initial=-1) + 1,
    )
    cells = cells.only(cells.label < n_classes)
    counts = [cells.matrix(figure, n_tokens, n_classes).toarray()[numbers] for figure in (DOCUMENTS, OCCURRENCES)]
    return [np.array(totals.classes), totals.documents, *counts]


def same_counts(one: TrainingSet | Snapshot, other: TrainingSet | Snapshot) -> bool:
    """Return whether classes and all counts are equal."""
    return all(map(np.array_equal, class_figures(one), class_figures(other)))


def make_model(messages: Iterable[tuple[str, bytes]], **settings: Any) -> Classifier:
    """Return a model in memory that learned these messages one by one."""
    classifier = Classifier.create(":memory:", Settings(**settings))
    for label, raw in messages:
        classifier.learn(label, raw)
    return classifier


def make_counts(tokens: dict[str, int]) -> Rows:
    """Return a message as one row."""
    return Rows.of([tokens])


def add(store: Store, label: str, tokens: dict[str, int], sign: int = 1) -> None:
    """Add a message with these tokens to the sums of a class, or subtract it."""
    store.add([make_counts(tokens)], [MessageRecord(label, is_lesson=True)], sign)


def make_store(messages: Iterable[tuple[str, dict[str, int]]], **meta: Any) -> Store:
    """Return a model in memory that learned messages with these tokens one by one."""
    store = Store.create(":memory:", Settings().as_meta() | meta)
    for label, tokens in messages:
        add(store, label, tokens)
    return store


def rewrite_as_trained(store: Store, **meta: Any) -> Store:
    """Return a copy of a model in memory, as training writes it."""
    content = read_snapshot(store)
    content = content._replace(model=replace(content.model, meta=content.model.meta | meta))
    out = Store.create(":memory:", content.model.meta)
    write_snapshot(out, content)
    return out


def import_store(lines: Iterable[str], name: str = "-") -> Store:
    """Return the model of an export in memory, as `import` reads it."""
    content = parse_export(lines, name)
    store = Store.create(":memory:", content.model.meta)
    store.path = name
    write_snapshot(store, content)
    read_snapshot(store)
    return store


def learned_class(model: Path, raw: bytes) -> str | None:
    """Return the class of a model file that has learned a message, or None."""
    with Classifier.open(model) as classifier:
        return classifier.learned(raw)


def write_ledger(
    folder: Path, model: Path, *raws: bytes, user: str = "", place: str = "", p: float = 0.92, verdict: str = ""
) -> None:
    """Write messages to the ledger of a folder, with a probability of spam of ``p``."""
    verdict = verdict or ("spam" if p > 0.9 else "ham")
    with Ledger.open(folder / "ledger") as ledger, Classifier.open(model) as classifier:
        inbox = Place(place, str(Path(place).parents[1]), "INBOX", INBOX) if place else NOWHERE
        for raw in raws:
            read = classifier.read(raw)
            entry = make_verdict(read, classify_mail(classifier, read), classifier, user=user)
            ledger.put([entry.with_place(inbox)._replace(log_odds=math.log(p / (1 - p)), verdict=verdict)])


@contextmanager
def open_teacher(model: Path, ledger: Ledger, folder: Path | None = None) -> Iterator[Teacher]:
    """Return a teacher of a model, and of the models of users in a folder, as a request of ``review`` has one."""
    with Models(model, folder, writable=True) as models:
        batch = Batch.begin("review", models.for_classifying("").store)
        with Teacher(models, ledger, batch) as teacher:
            yield teacher


def count_verdicts(ledger: Ledger) -> int:
    """Count the messages of a ledger."""
    with ledger.reading():
        return ledger.execute("SELECT count(*) FROM verdicts").fetchone()[0]


def kept_lessons(store: Store) -> list[tuple[str, bytes]]:
    """Return class and message of the lessons that a model keeps."""
    return [(lesson.label, decompress(lesson.message)) for lesson in read_lessons(store)]


def export_lines(model: Path, lessons: bool = False) -> list[str]:
    """Return the lines of a model file's export."""
    with Store.open(model) as store:
        return list(export(store, with_lessons=lessons))


def count_messages(messages: Sequence[tuple[str, bytes]]) -> TrainingSet:
    """Count messages as training does."""
    entries = [Entry(label, str(n), "", content=raw) for n, (label, raw) in enumerate(messages)]
    return count_parallel(entries, Settings(), fail, workers=1)


def train_file(path: Path, training_set: TrainingSet, settings: Settings, *, force: bool = False) -> Fit:
    """Write the model file of a training set, and return the fit."""
    fitted = fit(prepare(training_set), settings)
    with atomic_replace(path, settings.as_meta(), force=force) as store:
        write_model(store, fitted, settings)
    return fitted
