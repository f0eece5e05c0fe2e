"""A tally → a model file: selection of words, training, the leave-one-out estimate, and the file in one piece."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spamnb.calibration import Calibration
from spamnb.content import Content, fill, fresh_model
from spamnb.errors import SpamnbError
from spamnb.learned import Learned
from spamnb.learners import learner_for
from spamnb.learners.learner import Trained
from spamnb.settings import Settings
from spamnb.sums import places_among
from spamnb.tally import Tally, restrict, without_copies


class LeftOut(NamedTuple):
    """What a model was trained on, and what these messages got from the model without them, in their order."""

    classes: tuple[str, ...]
    documents: np.ndarray  # (C,) messages of each
    tokens: int  # different ones
    labels: np.ndarray  # (n,) true class numbers
    scores: np.ndarray  # (n, C) nats
    probabilities: np.ndarray  # (n, C) calibrated
    verdicts: list[str]


def prepare(tally: Tally, settings: Settings) -> Tally:
    """The tally that a model is made of: every message once, classes that hold one, and only the top words where that
    is asked for."""
    tally = _of_present_classes(without_copies(tally))
    if settings.top_words is not None and settings.top_words < len(tally.tokens):
        from spamnb.ranking import mutual_information, top_columns

        counts = tally.sums.counts
        bits = mutual_information(counts.document_counts, counts.documents)
        tally = restrict(tally, np.sort(top_columns(bits, settings.top_words, tally.tokens)))
    return tally


def _of_present_classes(tally: Tally) -> Tally:
    """The tally without classes that hold no message, or copies of others' alone: to the model they do not exist."""
    sums = tally.sums
    present = np.flatnonzero(sums.documents)
    if len(present) == len(sums.classes):
        return tally
    number = places_among(present, len(sums.classes))
    return tally._replace(
        sums=sums.present(), rows=tuple(own._replace(labels=number[own.labels]) for own in tally.rows)
    )


def leave_one_out(tally: Tally, settings: Settings) -> LeftOut:
    """Every message judged by the model without it; probabilities calibrated on these very scores."""
    return _left_out(learner_for(settings).train(tally), tally, settings)


def _left_out(trained: Trained, tally: Tally, settings: Settings) -> LeftOut:
    y, scores, classes = trained.labels, trained.scores, tally.sums.classes
    of = classes, tally.sums.documents, len(tally.tokens)
    if not len(y):
        return LeftOut(*of, y, scores, scores, [])
    calibration = _calibration(trained, classes)
    p = calibration.probabilities(scores)
    return LeftOut(*of, y, scores, p, settings.loss.verdicts(classes, p, settings.spam, calibration.enough))


def _calibration(trained: Trained, classes: tuple[str, ...]) -> Calibration:
    """What the left-out scores say of the probabilities."""
    calibration = Calibration(len(classes))
    if len(trained.labels):
        calibration.add(trained.scores, trained.labels)
    return calibration


def content_of(tally: Tally, settings: Settings) -> Content:
    """The sums that the model's file will hold, and whose they are; ``with_trained`` adds the rest."""
    classes = tally.sums.classes
    messages: list[tuple[bytes, Learned]] = []
    of_class = [Learned(name, True, None) for name in classes]
    for rows in tally.rows:
        digests = np.ascontiguousarray(rows.digests[rows.kept]).view("V16").ravel().tolist()
        messages += zip(digests, map(of_class.__getitem__, rows.labels[rows.kept].tolist()))
    return Content(settings.as_meta(), tally.tokens, tally.sums, messages, [], {})


def with_trained(content: Content, trained: Trained) -> Content:
    """The content with what the learner found that is no sum."""
    return content._replace(
        meta={**content.meta, **trained.meta},
        calibration=_calibration(trained, content.sums.classes).cells(content.sums.classes),
        arrays=dict(trained.arrays),
        vectors=trained.vectors,
    )


def train(
    path: str | Path,
    tally: Tally,
    settings: Settings,
    *,
    force: bool = False,
    aside: Callable[[Callable[[], Trained]], AbstractContextManager[Callable[[], Trained]]] = nullcontext,
) -> LeftOut:
    """Make the model file at ``path`` of counted messages; returns what the leave-one-out estimate says of it.

    ``aside(work)`` may start the learner's work, for as long as its context lasts, while the sums are being written;
    calling what it gives waits for the result. Raises SpamnbError where there are no messages, or a file is in the way
    and ``force`` is not given.
    """
    if not len(tally.sums.documents):
        raise SpamnbError("no messages in the sources: nothing to train on")
    with fresh_model(path, settings.as_meta(), force=force) as store:
        tally = prepare(tally, settings)
        with aside(partial(learner_for(settings).train, tally)) as trained:
            sums, found = content_of(tally, settings), []

            def rest() -> Content:
                found.append(trained())
                return with_trained(sums, found[0])

            fill(store, sums, rest)
    return _left_out(found[0], tally, settings)
