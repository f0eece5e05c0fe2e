"""An open model file that classifies, learns and forgets messages.

A message is given as bytes (raw mail), as str (a text without headers), or as ``classifier.read(raw)``: a message that
was read once and is then classified and learned. A score needs the sums of the message's own tokens and no others, so
one message takes the same time whatever the size of the model.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterable, Sequence
from itertools import repeat
from os import PathLike
from pathlib import Path
from typing import NamedTuple, TypeGuard

import numpy as np

from spamnb.errors import Damaged, SpamnbError, SpamnbWarning, check_type
from spamnb.model.class_counts import sort_distinct
from spamnb.model.classification import Classification, Evidence
from spamnb.model.decision import UNSURE, Loss, decide
from spamnb.model.delta import NOT_LEARNED, Delta, Examples, MessageRecord, Sums
from spamnb.model.learner import NewMessage, drop_accusations, learner_for, make_records, rank_evidence
from spamnb.model.model import Model
from spamnb.model.trust import MIN_TRUST, trust
from spamnb.reader.message import Reader, describe_truncations, digest, has_unread_parts
from spamnb.reader.read_message import ReadMessage
from spamnb.reader.rows import Rows
from spamnb.settings import Settings
from spamnb.sources.entries import to_raw_message
from spamnb.store.applying import apply
from spamnb.store.examples import read_examples
from spamnb.store.lessons import decompress, delete_lesson, read_lessons, store_lessons
from spamnb.store.messages import read_learned, read_records
from spamnb.store.store import Store

MAX_PART = 1 / 16  # of the model's messages are learned together: docs/experiments.md#learning-many-at-once


class Learned(NamedTuple):
    """The result of learning one message."""

    is_new: bool  # False if the class had learned the message already, so that nothing changed
    old: MessageRecord  # how the message had been learned before; NOT_LEARNED if it had not
    trust: float  # P(the label is right), from ``Classifier.trust``


class Classifier:
    """An open model file that classifies, learns and forgets messages.

    Parameters
    ----------
    store : Store
        The open model file. ``Classifier.open`` and ``Classifier.create`` open one.

    Examples
    --------
    >>> Classifier.create("model.spamnb").close()
    >>> with Classifier.open("model.spamnb", writable=True) as classifier:
    ...     offer, minutes = classifier.read(b"Subject: offer\\n\\nbuy pills"), b"Subject: minutes\\n\\nthe meeting"
    ...     classifier.learn("spam", offer), classifier.learn("ham", minutes), classifier.learned(minutes)
    ...     classifier.classify(offer).verdict, len(classifier.classify_all([minutes]))
    ...     classifier.trust("ham", classifier.classify(offer)) > 0.5
    ...     classifier.check_spam()
    ...     classifier.forget("spam", offer)
    (True, True, 'ham')
    ('ham', 1)
    True
    True
    """

    def __init__(self, store: Store) -> None:
        if not isinstance(store, Store):
            raise SpamnbError(f"{store!r:.60} is no open model: Classifier.open(path) opens one")
        self.store = store
        self._meta = self.model.meta
        self._prepare()

    @property
    def model(self) -> Model:
        """What the file and its shared model know besides tokens; the same object until one of them changes."""
        return self.store.model

    def _prepare(self) -> None:
        self.settings = Settings.from_meta(self._meta, self.store.path)
        self._settings_keys = self.settings.as_meta().keys()
        try:
            self._reader = Reader(self.settings)
        except SpamnbError as error:
            raise SpamnbError(f"{self.store.path}: {error}; train again") from None
        self.learner = learner_for(self.settings)

    def _follow(self) -> None:
        """Use the present settings of the file: another process may have trained the model again."""
        meta = self.model.meta
        if meta is not self._meta:
            old_meta, self._meta = self._meta, meta
            if any(old_meta.get(key) != meta.get(key) for key in self._settings_keys):
                self._prepare()

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Classifier:
        """Open the model at a path.

        Parameters
        ----------
        path : str or Path
            The model file.
        writable : bool
            Whether the model may learn and forget.

        Returns
        -------
        Classifier
            The open model.

        Raises
        ------
        SpamnbError
            If there is no model at this path.
        """
        check_type("path", path, str | PathLike, "the path of a file")
        return cls(Store.open(path, writable=writable))

    @classmethod
    def create(cls, path: str | Path, settings: Settings | None = None) -> Classifier:
        """Create a model that has learned nothing.

        Parameters
        ----------
        path : str or Path
            The new file, or ":memory:" for a model without a file.
        settings : Settings or None
            The settings of the model.

        Returns
        -------
        Classifier
            The open, writable model.

        Examples
        --------
        >>> Classifier.create(":memory:").classify(b"Subject: minutes").verdict
        'unsure'
        """
        check_type("path", path, str | PathLike, 'the path of a file, or ":memory:"')
        check_type("settings", settings, Settings | None, "spamnb.Settings(...)")
        return cls(Store.create(path, (settings or Settings()).as_meta()))

    def close(self) -> None:
        """Close the model file."""
        self.store.close()

    def __enter__(self) -> Classifier:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def check_spam(self) -> None:
        """Raise SpamnbError if the model has several classes and none is spam: a filter would pass everything."""
        classes, spam = self.model.totals.classes, self.settings.spam
        if len(classes) > 1 and spam not in classes:
            raise SpamnbError(
                f"{self.store.path}: it has no class {spam!r}, so no mail is spam; 'spamnb train --set spam=CLASS'"
                " says which class is spam"
            )

    # -- classifying -----------------------------------------------------------------------------------------

    def read(self, raw: bytes | str) -> ReadMessage:
        """Read a message once, to classify and then learn or forget it.

        Parameters
        ----------
        raw : bytes or str
            Raw mail, or a text without headers.

        Returns
        -------
        ReadMessage
            The message with its tokens.
        """
        return self.read_all([raw])[0]

    def read_all(self, raws: Iterable[bytes | str]) -> list[ReadMessage]:
        """Read many messages at once.

        Parameters
        ----------
        raws : iterable of bytes or str
            Raw mail, or texts without headers.

        Returns
        -------
        list of ReadMessage
            The messages with their tokens.

        Examples
        --------
        >>> with Classifier.create(":memory:", Settings()) as classifier:
        ...     [len(each.digest) for each in classifier.read_all([b"Subject: hi\\n\\nlunch", "offer"])]
        [16, 16]
        """
        with self.store.reading():
            self._follow()
            return self._read_all(raws)

    def _read(self, message: bytes | str | ReadMessage) -> ReadMessage:
        return self._read_all([message])[0]

    def _read_all(self, messages: Iterable[bytes | str | ReadMessage]) -> list[ReadMessage]:
        """Return messages as this model's reader reads them; stored tokens are returned as they are."""
        batch = list(messages)
        unread = [each for each in batch if not self._needs_no_reading(each)]
        raws = [to_raw_message(each.raw if isinstance(each, ReadMessage) else each) for each in unread]
        read = iter(ReadMessage.read_all(raws, self._reader, self.store.vocabulary) if raws else ())
        return [each if self._needs_no_reading(each) else next(read) for each in batch]

    def _needs_no_reading(self, message: bytes | str | ReadMessage) -> TypeGuard[ReadMessage]:
        return isinstance(message, ReadMessage) and message.reader in (None, self._reader)

    def classify(
        self, message: bytes | str | ReadMessage, *, n_evidence: int | None = None, uncalibrated: bool = True
    ) -> Classification:
        """Classify one message.

        Parameters
        ----------
        message : bytes, str or ReadMessage
            The message.
        n_evidence : int or None
            The number of tokens in the evidence; None for all.
        uncalibrated : bool
            Whether to compute the probabilities before calibration.

        Returns
        -------
        Classification
            Verdict, probabilities and evidence.
        """
        return self.classify_all([message], n_evidence, uncalibrated=uncalibrated)[0]

    def classify_all(
        self,
        messages: Iterable[bytes | str | ReadMessage],
        n_evidence: int | None = None,
        of_spam: bool = False,
        uncalibrated: bool = True,
    ) -> list[Classification]:
        """Classify many messages at once.

        Parameters
        ----------
        messages : iterable of bytes, str or ReadMessage
            The messages.
        n_evidence : int or None
            The number of tokens in the evidence; None for all.
        of_spam : bool
            Whether the evidence is for spam against the likeliest other class. If not, it is for the likeliest class
            against the next.
        uncalibrated : bool
            Whether to compute the probabilities before calibration.

        Returns
        -------
        list of Classification
            The classification of each message.

        Raises
        ------
        TypeError
            If ``messages`` is a single message.
        """
        if isinstance(messages, str | bytes | bytearray):
            raise TypeError("this is a single message: give a list of messages")
        with self.store.reading():
            self._follow()
            batch = list(messages)
            raws = [to_raw_message(each) for each in batch if not isinstance(each, ReadMessage)]
            if len(raws) < len(batch):
                return self._classify_read(self._read_all(batch), n_evidence, of_spam, uncalibrated)
            rows = self._reader.read(raws, self.store.vocabulary, identify=False, doubtful=True)
            return self._classify(rows.compact(), n_evidence, of_spam, uncalibrated)

    def classify_rows(self, rows: Rows, n_evidence: int | None = None) -> list[Classification]:
        """Classify messages whose tokens were counted.

        Parameters
        ----------
        rows : Rows
            The messages.
        n_evidence : int or None
            The number of tokens in the evidence; None for all.

        Returns
        -------
        list of Classification
            The classification of each message, without the probabilities before calibration.

        Examples
        --------
        >>> Classifier.create(":memory:").classify_rows(Rows.of([{"offer": 1}]))[0].verdict
        'unsure'
        """
        with self.store.reading():
            self._follow()
            return self._classify(rows.compact(), n_evidence)

    def _classify_read(
        self, messages: list[ReadMessage], n_evidence: int | None = 0, of_spam: bool = False, uncalibrated: bool = False
    ) -> list[Classification]:
        rows = Rows.merge([each.row for each in messages], self.store.vocabulary)
        return self._classify(rows, n_evidence, of_spam, uncalibrated)

    def _classify(
        self, rows: Rows, n_evidence: int | None, of_spam: bool = False, uncalibrated: bool = False
    ) -> list[Classification]:
        """Classify n messages as compact rows.

        A message with nearly no token of the model has the shares of the classes as probabilities, and is never spam.
        """
        model, truncations = self.model, list(map(describe_truncations, rows.truncations.tolist()))
        classes, column = model.totals.classes, self.settings.spam_column(model.totals.classes)
        threshold, spam = Loss.of(self.settings).log_odds, self.settings.spam
        if not classes:
            unsure = Classification(UNSURE, {}, {}, 0.0, [], np.zeros(0), "", (), spam=spam, threshold=threshold)
            return [unsure._replace(truncations=each) for each in truncations]
        sums, wanted = self.store.look_up(rows.tokens), n_evidence != 0
        scores = self.learner.score(model, sums, rows, with_weights=wanted)
        is_whole = ~has_unread_parts(rows.truncations)
        probabilities, verdicts, doubts = decide(self.settings, model, scores, is_whole)
        plain = scores if column is None or not wanted else drop_accusations(rows, scores, column)
        plain_verdicts = verdicts if plain is scores else decide(self.settings, model, plain, is_whole).verdicts
        before = self.learner.uncalibrated(model, sums, rows) if uncalibrated else np.zeros((len(rows), 0))
        labels = np.full(len(rows), column) if column is not None else probabilities.argmax(axis=1)
        log_odds, beside_starter = _log_odds(probabilities, labels).tolist(), self.store.count_beside_starter()
        results = []
        for i, verdict in enumerate(verdicts):
            label = int(labels[i]) if of_spam else None
            ranked = rank_evidence(rows, scores, i, probabilities[i], n_evidence, label) if wanted else ([], ())
            results.append(
                Classification(
                    verdict,
                    dict(zip(classes, probabilities[i].tolist())),
                    dict(zip(classes, before[i].tolist())),
                    log_odds[i],
                    list(map(Evidence._make, ranked[0])),
                    scores.scores[i],
                    doubts[i],
                    truncations[i],
                    ranked[1],
                    spam,
                    threshold,
                    typicality=tuple(scores.typicality[i].tolist()),
                    is_decided_by_doubtful_text=verdict != plain_verdicts[i],
                    beside_starter=beside_starter,
                )
            )
        return results

    # -- learning --------------------------------------------------------------------------------------------

    def learned(self, message: bytes | str | ReadMessage) -> str | None:
        """Return the class of a learned message.

        Parameters
        ----------
        message : bytes, str or ReadMessage
            The message.

        Returns
        -------
        str or None
            Its class; None if the model has not learned it.
        """
        key = message.digest if isinstance(message, ReadMessage) else digest(to_raw_message(message))
        return read_learned(self.store, key).label or None

    def trust(self, label: str, classification: Classification) -> float:
        """Return the probability that the label of a message is right.

        Parameters
        ----------
        label : str
            The label, which may be wrong.
        classification : Classification
            The classification by this model, which has not learned the message.

        Returns
        -------
        float
            The probability; 1 if the model has fewer than two classes.
        """
        p = classification.probabilities.get(label, 1.0) if len(classification.probabilities) > 1 else 1.0
        return float(trust(np.array(p), self.model.calibration.noise))

    def learn(
        self,
        label: str,
        message: bytes | str | ReadMessage,
        *,
        classification: Classification | None = None,
        taught_at: int | None = None,
    ) -> bool:
        """Add one message to a class, or move it from another class to this one.

        The file also keeps the compressed message, within a bound, so that ``train --force`` can learn it again.

        Parameters
        ----------
        label : str
            The class.
        message : bytes, str or ReadMessage
            The message.
        classification : Classification or None
            The classification of the message by this model, if the caller has it already.
        taught_at : int or None
            The time when the message was taught, in seconds since 1970; None for now.

        Returns
        -------
        bool
            Whether the model changed; False if the class has learned this message already.
        """
        return self.learn_all([label], [message], [classification], taught_at)[0].is_new

    def learn_all(
        self,
        labels: Sequence[str],
        messages: Sequence[bytes | str | ReadMessage],
        classifications: Sequence[Classification | None] = (),
        taught_at: int | None = None,
        is_lesson: bool = True,
    ) -> list[Learned]:
        """Add messages to their classes, or move them there from other classes; many at once take less time.

        Messages are learned in parts of at most 1/16 of the model's messages. A part is classified before it is
        learned. A message that is classified wrongly is learned alone. If the model had messages of one class only,
        it learns these again, mixed with the new ones, because they had no score (``_learn_mixed``).

        Parameters
        ----------
        labels : sequence of str
            The class of each message.
        messages : sequence of bytes, str or ReadMessage
            The messages.
        classifications : sequence of Classification or None
            The classification of each message by this model, if the caller has it already.
        taught_at : int or None
            The time when the messages were taught, in seconds since 1970; None for now.
        is_lesson : bool
            Whether a person taught the messages; False for messages of training.

        Returns
        -------
        list of Learned
            The result for each message.

        Examples
        --------
        >>> classifier = Classifier.create(":memory:")
        >>> [each.is_new for each in classifier.learn_all(["spam", "ham", "ham"], ["offer", "minutes", "minutes"])]
        [True, True, False]
        """
        with self.store.writing():
            self._follow()
            batch = []
            for label, read, result in zip(labels, self._read_all(messages), classifications or repeat(None)):
                plain = read.plain()  # which has another classification if there are doubtful tokens
                batch.append(NewMessage(label, plain, result if plain is read else None, taught_at, is_lesson))
            begins_second_class = len(self.model.totals.classes) < 2 <= len({*self.model.totals.classes, *labels})
            return self._learn_mixed(batch) if begins_second_class else self._learn_in_order(batch)

    def _learn_mixed(self, batch: Sequence[NewMessage]) -> list[Learned]:
        """Learn the first messages of the second class, and again the lessons of the first class, mixed by class.

        A message that is learned while its class is the only one has no score, so it has no place in the calibration
        and no contribution. Copies are learned last, because the label of the last copy is the right one.
        """
        lessons = [*self._recall(), *batch]
        first: dict[bytes, int] = {}
        for i, each in enumerate(lessons):
            first.setdefault(each.message.digest, i)
        originals, copies = list(first.values()), sorted({*range(len(lessons))}.difference(first.values()))
        order = [originals[i] for i in mix_classes([lessons[i].label for i in originals]).tolist()] + copies
        results = dict(zip(order, self._learn_in_order([lessons[i] for i in order])))
        return [results[i] for i in range(len(lessons) - len(batch), len(lessons))]

    def _recall(self) -> list[NewMessage]:
        """Forget the lessons that a model without scores keeps, and return them. Warn of a damaged one, which stays."""
        recalled = []
        for lesson in list(read_lessons(self.store)):
            try:
                raw = decompress(lesson.message)
            except Damaged as error:
                line = f"{self.store.path}: lesson {lesson.digest.hex()}: {error}; it counts, but without a score"
                warnings.warn(line, SpamnbWarning, stacklevel=2)
                continue
            message = self._read(raw).plain()
            record = read_learned(self.store, message.digest)
            if record.is_lesson and record.label == lesson.label:
                self._subtract(message, record)
                recalled.append(NewMessage(lesson.label, message, None, lesson.taught_at))
        return recalled

    def _learn_in_order(self, batch: Sequence[NewMessage]) -> list[Learned]:
        """Learn messages in parts, and return the result for each of them."""
        results: list[Learned] = []
        size = len(batch)
        while len(results) < len(batch):
            size = min(size, 1 + int(MAX_PART * self.model.n_messages))
            part = self._learn_part(batch[len(results) :][:size])
            results += part
            size = 2 * len(part)  # bounds the next part: messages behind an unexpected one are classified in vain
        return results

    def _learn_part(self, part: Sequence[NewMessage]) -> list[Learned]:
        """Learn one or more messages from the beginning of a part, and return the result for each of them.

        New messages are learned together while the model expects their labels. An unexpected message is learned alone,
        because it changes the scores of similar messages.
        """
        first, records = part[0], read_records(self.store, [each.message.digest for each in part])
        old = records.get(first.message.digest, NOT_LEARNED)
        if old.label == first.label:
            return [Learned(False, old, 1.0)]
        if old.label:
            self._subtract(first.message, old)
            # The caller's classification is by a model that had learned the message.
            part = [first._replace(classification=None)]
        else:
            part = part[: _count_new(part, records)]
        classified = self._classify_new([each.message for each in part if each.classification is None])
        part = [
            each._replace(classification=each.classification or classified.get(each.message.digest)) for each in part
        ]
        n_expected = next((i for i, each in enumerate(part) if not each.is_expected), len(part))
        trusts = self._add(part[: max(n_expected, 1)], is_move=bool(old.label))
        return [Learned(True, old, q) for q in trusts]

    def _add(self, messages: Sequence[NewMessage], is_move: bool) -> list[float]:
        """Add messages that the model has not learned, and return the trust in each label.

        The examples are fitted again if a weight changed or a label is not trusted. A move changes weights, because the
        message was forgotten.
        """
        new = [
            each._replace(trust=self.trust(each.label, each.classification)) if each.classification else each
            for each in messages
        ]
        examples = read_examples(self.store)
        delta = self.learner.delta(self.model, self._look_up([each.rows for each in new]), new)
        apply(self.store, delta)
        if is_move or delta.changes_weights or any(each.trust < MIN_TRUST for each in new):
            self._refit(examples, cause=new[-1].rows.digest)
        store_lessons(self.store, new)
        return [each.trust for each in new]

    def _refit(self, examples: Examples, cause: bytes = b"") -> None:
        """Fit the examples again; the changes are stored with the lesson ``cause``."""
        delta = self.learner.refit(self.model, self.store.sums(examples.hashes), examples)
        apply(self.store, delta._replace(cause=cause))

    def _look_up(self, messages: Sequence[Rows]) -> Sums:
        """Return the figures of the tokens of messages, ascending by hash."""
        return self.store.sums(sort_distinct(np.concatenate([each.tokens.hashes for each in messages])))

    def forget(self, label: str, message: bytes | str | ReadMessage) -> bool:
        """Remove one message from a class, also if other messages were learned after it.

        The counts and the contribution of the message are removed exactly, and so is its score in the calibration. Of
        a training message the file does not record this score, so the present score is removed.

        Parameters
        ----------
        label : str
            The class.
        message : bytes, str or ReadMessage
            The message.

        Returns
        -------
        bool
            Whether the model changed; False if the class has not learned this message.
        """
        with self.store.writing():
            self._follow()
            read = self._read(message).plain()
            learned = read_learned(self.store, read.digest)
            if not label or learned.label != label:
                return False
            self._subtract(read, learned)
        return True

    def _subtract(self, message: ReadMessage, record: MessageRecord) -> None:
        """Subtract a message from all sums, and delete it from the tables."""
        rows = message.row
        vectors = self.learner.vectors([rows], self._look_up([rows]))
        apply(self.store, Delta.of(rows, record, vectors).negative())
        if not record.is_lesson:  # training fitted all messages together, and has no record of the scores
            if self.learner.is_hard(rows, record):
                self._refit(read_examples(self.store))
            classification = self._classify_new([message]).get(message.digest)
            scored = NewMessage(record.label, message, classification, is_lesson=False)
            apply(self.store, Delta(scored=make_records([scored])).negative())
        delete_lesson(self.store, message.digest)

    def _classify_new(self, messages: list[ReadMessage]) -> dict[bytes, Classification]:
        """Return {digest: classification} of messages that the model has not learned; {} with less than two classes."""
        if not messages or len(self.model.totals.classes) < 2:
            return {}
        return dict(zip((message.digest for message in messages), self._classify_read(messages)))


def _count_new(part: Sequence[NewMessage], learned: Collection[bytes]) -> int:
    """Return the number of messages before the first one that is a copy, or whose digest is among those ``learned``."""
    seen = {*learned}
    for n, each in enumerate(part):
        if each.message.digest in seen:
            return n
        seen.add(each.message.digest)
    return len(part)


def _log_odds(probabilities: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the log-odds (n,) of a class of each message against all others, in nats; 0 if it is the only class."""
    if probabilities.shape[1] < 2:
        return np.zeros(len(labels))
    p = probabilities[np.arange(len(labels)), labels]
    return np.log(p) - np.log(probabilities.sum(axis=1) - p)


def mix_classes(labels: Sequence[object] | np.ndarray) -> np.ndarray:
    """Return an order in which the messages of each class are spread evenly, and keep their own order.

    >>> mix_classes(["ham", "ham", "ham", "ham", "spam", "spam"]).tolist()
    [0, 4, 1, 2, 5, 3]
    """
    labels, ranks = np.asarray(labels), np.empty(len(labels))
    for label in np.unique(labels):
        of_class = np.flatnonzero(labels == label)
        ranks[of_class] = (np.arange(len(of_class)) + 0.5) / len(of_class)
    return np.argsort(ranks, kind="stable")
