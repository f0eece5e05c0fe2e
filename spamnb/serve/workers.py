"""The threads that work for the connections: some classify messages, and one changes models."""

from __future__ import annotations

import os
import queue
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby

from spamnb.filter import Classifier, Learned
from spamnb.ledger.ledger import Batch, Correction, Forgotten
from spamnb.ledger.verdicts import make_verdict, model_path
from spamnb.ledger.writer import LedgerWriter
from spamnb.mail_result import class_of_label, classify_mails
from spamnb.model.classification import Classification
from spamnb.model.delta import NOT_LEARNED
from spamnb.reader.message import digest
from spamnb.reader.spam_fields import strip_envelope
from spamnb.serve.batches import Batches, Task
from spamnb.serve.wire import ModelFacts
from spamnb.user_models import Models, is_name

# Only the first bytes are searched for the fields of mail software: a search of 8 MB stops all threads for 180 ms.
MAX_SEARCH_BYTES = 1 << 19
# A person moves many messages at once, each of which a mail server teaches alone. These lessons are one step of 'undo'.
STEP_PAUSE = 5.0  # seconds: the longest pause between two lessons of a step
MAX_STEP = 10_000  # lessons of a step, whose digests take 1 MB
_UNCHANGED = Learned(False, NOT_LEARNED, 1.0)


@dataclass
class _Step:
    """The last lessons of one user."""

    user: str
    batch: Batch
    at: float = 0.0  # the time of the last lesson
    digests: set[bytes] = field(default_factory=set)


class Workers:
    """Threads with their open models.

    - ``open_models(writable=..., n_threads=...)`` opens the models of one of ``n_threads`` threads
    - ``threads``: the number of threads that classify messages

    Raise SpamnbError if a model cannot be opened or has no class of spam, or if clients may teach (``allow_tell``) and
    a model cannot be written.
    """

    def __init__(
        self, open_models: Callable[..., Models], threads: int, allow_tell: bool, ledger: LedgerWriter | None
    ) -> None:
        self._ledger = ledger
        # Only one thread writes, so that the others go on while another process locks the model.
        n_threads = threads + allow_tell
        self._learning_models = open_models(writable=True, n_threads=n_threads) if allow_tell else None
        self._step: _Step | None = None
        if self._learning_models is not None:
            self._learning_models.for_classifying("").store.check_writable()
        self._all_models = [open_models(writable=False, n_threads=n_threads) for _ in range(threads)]
        self._all_models[0].for_classifying("").check_spam()
        self._idle_models = queue.LifoQueue[Models]()  # the last used first: they hold the last changes already
        for models in self._all_models:
            self._idle_models.put(models)
        self._classifying = Batches(self._classify, lambda task: None, threads, "classify")
        self._changing = Batches(self._change, lambda task: task.request.user, 1, "change")

    @property
    def may_change(self) -> bool:
        return self._learning_models is not None

    async def classify(self, task: Task) -> tuple[Classification, bytes]:
        """Return the classification of a message, and the reply."""
        return await self._classifying.result(task)

    async def change(self, task: Task) -> bool:
        """Learn or forget a message, and return whether the model changed."""
        return await self._changing.result(task)

    def describe_model(self) -> ModelFacts:
        """Return the facts of the shared model. Wait for a thread that classifies nothing."""
        models = self._idle_models.get()
        try:
            model = models.for_classifying("")
            n_messages, meta, path = model.store.count_messages(), model.store.own.meta, model.store.file
        finally:
            self._idle_models.put(models)
        n_spam = n_messages.get(model.settings.spam, 0)
        stats = [os.stat(file) for file in (path, path + "-wal") if os.path.exists(file)]
        return ModelFacts(
            spam_messages=n_spam,
            other_messages=sum(n_messages.values()) - n_spam,
            n_bytes=sum(stat.st_size for stat in stats),
            changed_at=max((stat.st_mtime for stat in stats), default=0.0),
            trained_at=_unix_time(meta.get("trained_at")),
        )

    def close(self) -> None:
        """Finish the waiting tasks, and close models and ledger."""
        self._classifying.shutdown()
        self._changing.shutdown()
        for models in self._all_models:
            models.close()
        if self._learning_models is not None:
            self._learning_models.close()  # last, because closing a writable model empties the write-ahead log
        if self._ledger is not None:
            self._ledger.close()

    # -- in the threads that classify ------------------------------------------------------------------------

    def _classify(self, tasks: list[Task]) -> list[tuple[Classification, bytes]]:
        """Classify each message by the model of its user, and write the verdicts into the ledger."""
        models, numbers_by_user = self._idle_models.get(), defaultdict[str, list[int]](list)
        answers: dict[int, tuple[Classification, bytes]] = {}
        verdict_rows = []
        try:
            for number, task in enumerate(tasks):
                user = task.request.user
                numbers_by_user[user if models.has_model(user) else ""].append(number)
            for user, numbers in numbers_by_user.items():
                model = models.for_classifying(user)
                raws = [_without_envelope(tasks[number].raw) for number in numbers]
                messages = model.read_all(raws) if self._ledger is not None else []
                users = [tasks[number].request.user for number in numbers]
                results = classify_mails(model, messages or raws, users)
                for number, result in zip(numbers, results):
                    request, raw, wire, log_fields = tasks[number]
                    log_fields["model"] = model.store.path
                    answers[number] = result, wire.verdict_reply(request, result, raw)
                for message, result, user in zip(messages, results, users):
                    verdict_rows.append(make_verdict(message, result, model, user=user))
        finally:
            self._idle_models.put(models)
        for row in verdict_rows:  # after the whole batch, because a batch that fails is classified again
            assert self._ledger is not None
            self._ledger.put(row)
        return [answers[number] for number in range(len(tasks))]

    # -- in the thread that changes models -------------------------------------------------------------------

    def _change(self, tasks: list[Task]) -> list[bool]:
        """Learn or forget messages of one user in one transaction. Return for each whether it changed the model."""
        assert self._learning_models is not None
        models = self._learning_models
        user = models.owner(tasks[0].request.user)
        tasks = [task._replace(raw=_without_envelope(task.raw)) for task in tasks]
        model = models.find_for_learning(user)
        if model is None and any(task.request.label for task in tasks):
            for task in tasks:  # an unreadable message must raise before the file of the model is created
                models.for_classifying("").read(task.raw)
            model = models.for_learning(user)
        learned = [_UNCHANGED] * len(tasks)
        if model is not None:
            with model.store.writing():
                learned = _change_model(model, tasks)
            for task in tasks:
                task.log_fields["model"] = model.store.path
        if self._ledger is not None:
            self._note_lessons(self._ledger, model, user, tasks, learned)
        return [each.is_new for each in learned]

    def _note_lessons(
        self, ledger: LedgerWriter, model: Classifier | None, user: str, tasks: list[Task], learned: list[Learned]
    ) -> None:
        """Write what one user taught, or let be forgotten, into the ledger."""
        for (request, raw, *_), (is_new, old, _) in zip(tasks, learned):
            identity = digest(raw)
            if not request.label:
                ledger.put(Forgotten(identity, model_path(model.store) if model is not None else "", user))
            elif is_new and model is not None:
                label, is_spam = class_of_label(model, request.label), request.label == "spam"
                batch = self._continue_step(request.user, identity)
                ledger.put(batch)
                lesson = Correction(identity, label, is_spam, "client", user, old.label, batch.batch)
                ledger.put(lesson._replace(was_lesson=old.is_lesson))

    def _continue_step(self, user: str, identity: bytes) -> Batch:
        """Return the batch of a lesson, which is new after a pause, for another user, or for a message of the last."""
        assert self._learning_models is not None
        step, now = self._step, time.monotonic()
        is_last = step is not None and step.user == user and now - step.at <= STEP_PAUSE
        if step is None or not is_last or identity in step.digests or len(step.digests) >= MAX_STEP:
            command = f"serve for {user}" if is_name(user) else "serve"
            step = self._step = _Step(user, Batch.begin(command, self._learning_models.for_classifying("").store))
        step.at = now
        step.digests.add(identity)
        return step.batch


def _change_model(model: Classifier, tasks: list[Task]) -> list[Learned]:
    """Learn messages with a label, and forget those without one; ``is_new`` says whether the model changed."""
    learned = []
    for has_label, group in groupby(tasks, lambda task: bool(task.request.label)):
        if has_label:
            labels, raws = zip(*((class_of_label(model, task.request.label), task.raw) for task in group))
            learned += model.learn_all(labels, raws)
        else:
            forgotten = [model.forget(model.learned(task.raw) or "", task.raw) for task in group]
            learned += [_UNCHANGED._replace(is_new=is_changed) for is_changed in forgotten]
    return learned


def _unix_time(text: object) -> float | None:
    """Return the Unix time of a model's ``trained_at``; None if the model has none, or another program's value."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except (ValueError, OverflowError):
        return None


def _without_envelope(raw: bytes) -> bytes:
    return strip_envelope(raw[:MAX_SEARCH_BYTES]) + raw[MAX_SEARCH_BYTES:]
