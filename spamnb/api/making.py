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
    from spamnb.engines.rebuilding import Rebuilt
    from spamnb.settings import Settings
    from spamnb.sources.spec import ReadOptions


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
    from spamnb.evaluation.protocols import left_out_result, mail_of
    from spamnb.sources.spec import entries
    from spamnb.store.store import Store

    not_kept = _learned_and_not_kept(model, keep_lessons)
    left_out = LeftOut(tell)
    names: list[str] | None = [] if doubtful else None
    lessons = Lessons(None if not_kept is None else model, keep_lessons, left_out)
    suspects = None
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
        if names and len(made.left_out.labels):
            with Store.open(model, writable=True) as store:
                mail = mail_of(made.training_set, names)
                judged = left_out_result(mail, settings, made.left_out, store, suspects=doubtful)
            suspects = mislabelled(sources, options, judged, doubtful)
    _tell_of_lessons(tell, made, not_kept or 0)
    counts = made.training_set.counts
    for name in sorted({*counts.classes} - {*made.left_out.classes}):
        tell(f"all messages of class {name!r} are in a later class too, and count for that one only")
    copies = conflicts(sources, options, made.training_set, made.messages)
    read = int(counts.documents.sum())
    return TrainingReport(model, settings, made.left_out, read, left_out.count, suspects, copies)


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


def _origin(sources: Sequence[str], options: ReadOptions, command: str) -> dict[str, Any]:
    """When, of what and by which command the model is made: what ``settings.ORIGIN`` names."""
    from datetime import datetime

    from spamnb.reader.pdf import is_available
    from spamnb.sources.spec import ReadOptions, absolute

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


def _tell_of_lessons(tell: Tell, made: Rebuilt, not_kept: int) -> None:
    from spamnb.naming import pluralize

    if made.lessons:
        told = f"taught again {pluralize(made.lessons, 'message')} that had been learned one by one"
        if made.in_sources:
            told += f"; {made.in_sources:,} of them in the sources too"
        if made.other_class:
            told += f", {made.other_class:,} in another class there: the lesson's class counts"
        tell(told)
    if not_kept:
        tell(
            f"the model that was replaced had learned {pluralize(not_kept, 'message')} one by one and not kept"
            f" {'it' if not_kept == 1 else 'them'}; in the new one they count only where the sources hold them"
        )
