"""What ``train`` and ``upgrade`` share: a model made of sources and kept lessons, and what is said of the lessons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spamnb.api.arguments import Tell, chosen_cluster
from spamnb.api.training_report import TrainingReport
from spamnb.sources.entries import LeftOut

if TYPE_CHECKING:
    from spamnb.counts.training_set import TrainingSet
    from spamnb.evaluation.result import Result
    from spamnb.settings import Settings
    from spamnb.sources.one_class import ReadOptions
    from spamnb.training import LeaveOneOutResult


def make_model(
    model: Path,
    sources: Sequence[str],
    settings: Settings,
    options: ReadOptions,
    *,
    command: str,
    tell: Tell,
    keep_lessons: float | None = None,
    workers: int | None = None,
    dask: str | None = None,
    force: bool = False,
    one_class: bool = False,
    doubtful: int = 0,
    shown: bool | None = None,
    check: Callable[[TrainingSet], None] = lambda training_set: None,
) -> TrainingReport:
    """Make the model of the sources and of the lessons that the one there keeps, and judge each message left out.

    ``command`` is kept in the file as what it was made by, ``check`` may raise SpamnbError for what was counted, and
    ``shown`` is whether progress is. ``dask`` names a cluster that reads the mail.
    """
    from spamnb.api.mislabelled import conflicts, mislabelled
    from spamnb.api.progress import progress
    from spamnb.api.scratch import scratch
    from spamnb.engines.rebuilding import Lessons, rebuild
    from spamnb.sources.spec import entries

    not_kept = _learned_and_not_kept(model, keep_lessons)
    left_out = LeftOut(tell)
    names: list[str] | None = [] if doubtful else None
    lessons = Lessons(None if not_kept is None else model, keep_lessons, left_out)
    with (
        scratch() as folder,
        chosen_cluster(dask, workers, folder, tell) as cluster,
        progress("Reading", shown) as show,
    ):
        made = rebuild(
            model,
            entries(sources, left_out, options),
            settings,
            lessons,
            _origin(sources, options, command),
            folder,
            left_out,
            show,
            workers,
            force=force,
            one_class=one_class,
            names=names,
            check=check,
            cluster=cluster,
        )
        suspects = None
        if doubtful and len(made.left_out.labels):
            suspects = _suspects(model, made.training_set, names or [], made.left_out, settings, doubtful)
    _tell_of_lessons(tell, made.lessons, made.in_sources, made.other_class, not_kept or 0)
    training_set = made.training_set
    for name in sorted({*training_set.counts.classes} - {*made.left_out.classes}):
        tell(f"all messages of class {name!r} are in a later class too, and count for that one only")
    return TrainingReport(
        model,
        settings,
        made.left_out,
        int(training_set.counts.documents.sum()),
        left_out.count,
        mislabelled(sources, options, suspects, doubtful) if suspects is not None else None,
        conflicts(sources, options, training_set, made.messages),
    )


def _learned_and_not_kept(model: Path, keep_lessons: float | None) -> int | None:
    """How many messages the model that is to be replaced learned one by one and does not keep; None where there is no
    model that can be read: whether it may be replaced says training."""
    from spamnb.errors import SpamnbError
    from spamnb.store.lessons import holding, learned_and_not_kept
    from spamnb.store.store import Store

    if not model.exists():
        return None
    try:
        store = Store.open(model)
    except SpamnbError:
        return None
    with store:
        dropped = holding(store).lessons if keep_lessons == 0 else 0
        return learned_and_not_kept(store) + dropped


def _suspects(
    model: Path,
    training_set: TrainingSet,
    names: list[str],
    left_out: LeaveOneOutResult,
    settings: Settings,
    limit: int,
) -> Result:
    """The left-out answers as a result, with the evidence of ``limit`` messages that look mislabelled; ``names`` are
    those of all places in the mail."""
    from spamnb.evaluation.held_out import mail_of
    from spamnb.evaluation.protocols import left_out_result
    from spamnb.store.store import Store

    with Store.open(model) as store:
        return left_out_result(mail_of(training_set, names), settings, left_out, store, suspects=limit)


def _origin(sources: Sequence[str], options: ReadOptions, command: str) -> dict[str, Any]:
    """When, of what and by which command the model is made: what ``settings.ORIGIN`` names."""
    from datetime import datetime

    from spamnb.reader.pdf import is_available
    from spamnb.sources.one_class import ReadOptions
    from spamnb.sources.spec import absolute

    usual = ReadOptions()._asdict()
    chosen = {name: value for name, value in options._asdict().items() if value != usual[name]}
    return {
        "trained_at": datetime.now().astimezone().isoformat(timespec="seconds"),
        "pdf_read": is_available(),
        "trained_from": [_storable(absolute(source)) for source in sources],
        "command": _storable(command),
        **({"read_options": chosen} if chosen else {}),
    }


def _storable(text: str) -> str:
    """A text that SQLite keeps: what is no UTF-8 in a file's name is escaped."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _tell_of_lessons(tell: Tell, taught: int, in_sources: int, other_class: int, not_kept: int) -> None:
    from spamnb.naming import pluralize

    if taught:
        told = f"taught again {pluralize(taught, 'message')} that had been learned one by one"
        if in_sources:
            told += f"; {in_sources:,} of them in the sources too"
        if other_class:
            told += f", {other_class:,} in another class there: the lesson's class counts"
        tell(told)
    if not_kept:
        tell(
            f"the model that was replaced had learned {pluralize(not_kept, 'message')} one by one and not kept"
            f" {'it' if not_kept == 1 else 'them'}; in the new one they count only where the sources hold them"
        )
