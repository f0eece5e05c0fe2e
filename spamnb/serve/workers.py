"""The threads behind the connections: some classify messages, and one changes models."""

from __future__ import annotations

import queue
from collections import defaultdict
from collections.abc import Callable
from typing import Any, NamedTuple

from spamnb.classification import Classification
from spamnb.classifier import Classifier
from spamnb.journal.entries import make_entry
from spamnb.journal.journal import Correction
from spamnb.journal.writer import JournalWriter
from spamnb.reader.message import digest
from spamnb.reader.spam_fields import strip_filter_headers
from spamnb.score import class_of_label, classify_mails
from spamnb.serve.batches import Batches
from spamnb.serve.users import Models
from spamnb.serve.wire import Request, Wire

MAX_TOP = 1 << 19  # bytes that mail software puts on top: one search of 8 MB keeps all threads waiting for 180 ms


class Task(NamedTuple):
    """A request with its message."""

    request: Request
    raw: bytes
    wire: Wire
    facts: dict[str, Any]  # fields of the request's log line; a thread adds the path of the model that it used


class Workers:
    """Threads with their open models.

    - ``models(writable=...)`` opens the models of a thread
    - ``threads``: the number of threads that classify messages

    Raise SpamnbError if a model cannot be opened, has no class of spam, or cannot be written although clients may teach
    (``allow_tell``).
    """

    def __init__(
        self, models: Callable[..., Models], threads: int, allow_tell: bool, journal: JournalWriter | None
    ) -> None:
        self._journal = journal
        # Only one thread writes, because it may have to wait for another process that writes; the others go on.
        self._learning_models = models(writable=True) if allow_tell else None
        if self._learning_models is not None:
            self._learning_models.for_classifying("").store.check_writable()
        self._all_models = [models(writable=False) for _ in range(threads)]
        self._all_models[0].for_classifying("").check_spam()
        if self._learning_models is not None:
            # One table for all threads: after a lesson they keep the rows that they have read.
            for each in self._all_models:
                each.for_classifying("").store.table = self._learning_models.for_classifying("").store.table
        self._idle_models: queue.SimpleQueue[Models] = queue.SimpleQueue()
        for each in self._all_models:
            self._idle_models.put(each)
        self._classifying = Batches(self._classify, lambda task: None, threads, "classify")
        self._changing = Batches(self._change, lambda task: task.request.user, 1, "change")

    @property
    def may_change(self) -> bool:
        """Whether clients may change models."""
        return self._learning_models is not None

    async def classify(self, task: Task) -> tuple[Classification, bytes]:
        """Return the classification of a message, and the reply."""
        return await self._classifying.result(task)

    async def change(self, task: Task) -> bool:
        """Learn or forget a message; return whether that changed anything."""
        return await self._changing.result(task)

    def close(self) -> None:
        """Finish the tasks that were begun, and close models and journal."""
        self._classifying.shutdown()
        self._changing.shutdown()
        for each in self._all_models:
            each.close()
        if self._learning_models is not None:
            self._learning_models.close()  # last, because closing a writable model empties the write-ahead log
        if self._journal is not None:
            self._journal.close()

    # -- in the threads that classify ------------------------------------------------------------------------

    def _classify(self, tasks: list[Task]) -> list[tuple[Classification, bytes]]:
        """Classify each message by the model of its user, and write the verdicts into the journal."""
        models, numbers_by_model = self._idle_models.get(), defaultdict[Classifier, list[int]](list)
        answers: dict[int, tuple[Classification, bytes]] = {}
        entries = []
        try:
            for number, task in enumerate(tasks):
                numbers_by_model[models.for_classifying(task.request.user)].append(number)
            for model, numbers in numbers_by_model.items():
                raws = [_without_filter_headers(tasks[number].raw) for number in numbers]
                messages = list(map(model.read, raws)) if self._journal is not None else []
                results = classify_mails(model, messages or raws)
                for number, result in zip(numbers, results):
                    request, raw, wire, facts = tasks[number]
                    facts["model"] = model.store.path
                    answers[number] = result, wire.verdict_reply(request, result, raw)
                users = [tasks[number].request.user for number in numbers]
                for message, result, user in zip(messages, results, users):
                    entries.append(make_entry(message, result, model.settings, user=user))
        finally:
            self._idle_models.put(models)
        for entry in entries:  # after the whole batch, because a batch that fails is classified again
            assert self._journal is not None
            self._journal.put(entry)
        return [answers[number] for number in range(len(tasks))]

    # -- in the thread that changes models -------------------------------------------------------------------

    def _change(self, tasks: list[Task]) -> list[bool]:
        """Learn or forget messages of one user in one transaction. Return for each whether the model changed."""
        assert self._learning_models is not None
        models, user = self._learning_models, tasks[0].request.user
        model = models.find_for_learning(user)
        if model is None and any(task.request.label for task in tasks):
            for task in tasks:  # raises if a message cannot be read, before a model file is made
                models.for_classifying("").read(task.raw)
            model = models.for_learning(user)
        if model is None:
            return [False] * len(tasks)
        with model.store.writing():
            changes = [_change_model(model, task) for task in tasks]
        for (request, raw, _, facts), is_changed in zip(tasks, changes):
            facts["model"] = model.store.path
            if is_changed and request.label and self._journal is not None:
                is_spam = request.label == "spam"
                self._journal.put(Correction(digest(raw), request.label, is_spam, "client", user))
        return changes


def _change_model(model: Classifier, task: Task) -> bool:
    if label := task.request.label:
        return model.learn(class_of_label(model, label), task.raw)
    learned = model.learned(task.raw)
    return learned is not None and model.forget(learned, task.raw)


def _without_filter_headers(raw: bytes) -> bytes:
    return strip_filter_headers(raw[:MAX_TOP]) + raw[MAX_TOP:]
