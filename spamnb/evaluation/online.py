"""The stream: each message is classified, then its true class is learned, as the TREC spam track did.

One pass, a model in memory, no look ahead. Learning a message costs its own tokens, so a stream of any length takes
the same time per message: 75,000 take minutes.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from math import inf, log

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.evaluation.held_out import BATCH, EVIDENCE
from spamnb.evaluation.result import Answer, Recorder, Result
from spamnb.judgement import Judgement
from spamnb.naming import pluralize
from spamnb.reader.dates import arrival
from spamnb.reader.message import header_of
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, Report, messages


@dataclass(frozen=True, slots=True)
class Feedback:
    """How much of the truth the filter hears, and when. The default is all of it, at once.

    ``first``: of this many messages only (TREC 2007's delayed feedback: the first 10,000 of 75,419).
    ``delay``: this many messages later. ``share``: of this share of the messages, drawn by ``seed``.
    """

    first: int | None = None
    delay: int = 0
    share: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise SpamnbError(f"a feedback share of {self.share:g} cannot be: give one between 0 and 1")
        if self.delay < 0 or (self.first is not None and self.first < 0):
            raise SpamnbError("feedback for, or after, fewer than 0 messages cannot be: give 0 or more")

    def __str__(self) -> str:
        parts = [
            f"for the first {self.first}" if self.first is not None else "",
            f"after {pluralize(self.delay, 'message')}" if self.delay else "",
            f"for a share of {self.share:g}" if self.share < 1 else "",
        ]
        return "feedback " + ", ".join(filter(None, parts)) if any(parts) else "immediate feedback"


def online(
    entries: Iterable[Entry],
    settings: Settings,
    on_unreadable: Report,
    feedback: Feedback | None = None,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Result:
    """Classify then learn every message of a stream, from nothing.

    SpamnbError for settings that need to see mail before they see the first message.
    """
    for what, chosen in (("an embedding", settings.embedding), ("top words", settings.top_words)):
        if chosen is not None:
            raise SpamnbError(f"{what} cannot be chosen before the first message of a stream: use folds or a split")
    if settings.min_messages > 1:
        raise SpamnbError("rare tokens cannot be left out before the first message of a stream: use folds or a split")
    feedback = feedback or Feedback()
    chance = random.Random(feedback.seed)
    recorder = Recorder()
    waiting: deque[Entry | None] = deque()  # read anew when it is its turn: the mail itself may be of any size
    # One change from the first message to the last: nobody else sees this model, so nothing need be written before.
    with Classifier.create(":memory:", settings) as classifier, classifier.store.writing():
        for done, (entry, raw) in enumerate(messages(entries, on_unreadable), 1):
            assert entry.label is not None
            message = classifier.read(raw)
            judgement = classifier.classify(message, tokens=EVIDENCE, posterior=False)
            said = answer(judgement, message.header("subject"))
            recorder.add(entry.name, entry.label, said._replace(unknown=_unknown(said, classifier)))
            on_progress(done)
            heard = feedback.first is None or done <= feedback.first
            heard = heard and (feedback.share >= 1 or chance.random() < feedback.share)
            if not feedback.delay:
                if heard:
                    classifier.learn(entry.label, message)
                continue
            waiting.append(entry if heard else None)
            if len(waiting) > feedback.delay and (due := waiting.popleft()):
                for told, raw in messages([due], on_unreadable):
                    assert told.label is not None
                    classifier.learn(told.label, raw)
    return recorder.result(f"On-line, {feedback}", ordered=True, spam=settings.spam)


def _unknown(said: Answer, classifier: Classifier) -> float:
    """The score of a class that a stream has not brought yet, while it has brought one alone: the rule of succession
    gives it odds of 1 : n+1 after n messages. As certainty it put the first spam below all good mail, for good: two
    thirds of 1-ROCA% on a stream of 5,857 messages."""
    if len(said.scores) != 1:
        return -inf
    return min(said.scores.values()) - log(1 + int(classifier.store.totals().documents.sum()))


def judged(
    entries: Iterable[Entry],
    classifier: Classifier,
    on_unreadable: Report,
    on_progress: Callable[[int], None] = lambda done: None,
) -> Result:
    """The answers of a model as it is to labelled messages; it learns nothing. The protocol's name tells how many of
    them it had learned already: what it says of these is memory, not judgement."""
    recorder = Recorder()
    readable = messages(entries, on_unreadable)
    done = known = 0
    while True:
        asked: list[tuple[Entry, str, bool]] = []
        judgements = classifier.classify_all(
            _noted(islice(readable, BATCH), classifier, asked), EVIDENCE, posterior=False
        )
        if not asked:
            break
        for (entry, subject, learned), judgement in zip(asked, judgements):
            assert entry.label is not None
            known += learned
            recorder.add(entry.name, entry.label, answer(judgement, subject))
        done += len(asked)
        on_progress(done)
    told = f", which had learned {known:,} of them" if known else ""
    where = "in memory" if classifier.store.path == ":memory:" else classifier.store.path
    return recorder.result(f"Model {where}{told}", spam=classifier.settings.spam)


def _noted(
    readable: Iterable[tuple[Entry, bytes]], classifier: Classifier, noted: list[tuple[Entry, str, bool]]
) -> Iterator[bytes]:
    """The messages one at a time, for each may be as long as it likes; what an answer needs of them is ``noted``."""
    for entry, raw in readable:
        noted.append((entry, header_of(raw, "subject"), classifier.learned(raw) is not None))
        yield raw


def answer(judgement: Judgement, subject: str) -> Answer:
    """What an evaluation keeps of a judgement of a message."""
    return Answer(
        judgement.verdict,
        dict(zip(judgement.probabilities, judgement.scores.tolist())),
        judgement.probabilities,
        subject,
        judgement.evidence,
    )


def by_date(entries: Iterable[Entry], on_unreadable: Report) -> list[Entry]:
    """Entries in the order in which they were received (``message.dates``); a message that does not say when stands
    where its neighbour does.

    Neighbour: the message before it in the given order. The order is the same on every run.
    """
    last = 0
    dated: list[tuple[int, int, Entry]] = []
    for place, (entry, raw) in enumerate(messages(entries, on_unreadable)):
        received = arrival(raw)
        last = last if received is None else received
        dated.append((last, place, entry))
    dated.sort(key=lambda item: item[:2])
    return [entry for _, _, entry in dated]
