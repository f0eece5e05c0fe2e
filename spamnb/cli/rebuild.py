"""What ``train`` and ``upgrade`` share: a model made of sources and kept lessons, and what is said of the lessons."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.mislabelled import conflict_lines_of, doubtful_lines_of_training
from spamnb.cli.options import Unreadable, progress, read_options, scratch, tell

if TYPE_CHECKING:
    from spamnb.counts.training_set import TrainingSet
    from spamnb.settings import Settings
    from spamnb.sources.one_class import ReadOptions

keep_lessons_option = click.option(
    "--keep-lessons",
    type=click.FloatRange(0, 100_000),
    metavar="MB",
    help="The most megabytes of messages taught one by one that the model keeps; 0 keeps none.  [default: as the model"
    " says, or 64]",
)


def make_model(
    model: Path,
    sources: Sequence[str],
    settings: Settings,
    keep_lessons: float | None,
    workers: int | None,
    *,
    force: bool = False,
    one_class: bool = False,
    doubtful: int = 0,
    options: ReadOptions | None = None,
    check: Callable[[TrainingSet], None] = lambda training_set: None,
) -> None:
    """Make the model of the sources and of the lessons that the one there keeps, and print how well it judges."""
    from spamnb.engines.rebuilding import Lessons, rebuild
    from spamnb.report.training import training_report
    from spamnb.sources.spec import entries

    options = options or read_options()
    not_kept = _learned_and_not_kept(model, keep_lessons)
    unreadable = Unreadable()
    names: list[str] | None = [] if doubtful else None
    lessons = Lessons(None if not_kept is None else model, keep_lessons, unreadable)
    with scratch() as folder, progress("Reading") as show:
        made = rebuild(
            model,
            entries(sources, unreadable, options),
            settings,
            lessons,
            _origin(sources, options),
            folder,
            unreadable,
            show,
            workers,
            force=force,
            one_class=one_class,
            names=names,
            check=check,
        )
        suspects = doubtful_lines_of_training(
            sources, model, made.training_set, names or [], made.left_out, settings, doubtful
        )
    _tell_of_lessons(made.lessons, made.in_sources, made.other_class, not_kept or 0)
    training_set, left_out = made.training_set, made.left_out
    for name in sorted({*training_set.counts.classes} - {*left_out.classes}):
        tell(f"spamnb: all messages of class {name!r} are in a later class too, and count for that one only")
    read = int(training_set.counts.documents.sum())
    click.echo(training_report(model, left_out, settings.spam, read, unreadable.count, doubtful > 0))
    for line in [*suspects, *conflict_lines_of(sources, training_set, made.messages)]:
        click.echo(line)


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


def _origin(sources: Sequence[str], options: ReadOptions) -> dict[str, Any]:
    """When, of what and by which command the model is made: what ``settings.ORIGIN`` names."""
    import shlex
    import sys
    from datetime import datetime

    from spamnb.message.pdf import is_available
    from spamnb.sources.one_class import ReadOptions
    from spamnb.sources.spec import absolute

    usual = ReadOptions()._asdict()
    chosen = {name: value for name, value in options._asdict().items() if value != usual[name]}
    return {
        "trained_at": datetime.now().astimezone().isoformat(timespec="seconds"),
        "pdf_read": is_available(),
        "trained_from": [_storable(absolute(source)) for source in sources],
        "command": _storable(shlex.join(["spamnb", *sys.argv[1:]])),
        **({"read_options": chosen} if chosen else {}),
    }


def _storable(text: str) -> str:
    """A text that SQLite keeps: what is no UTF-8 in a file's name is escaped."""
    return text.encode(errors="surrogateescape").decode(errors="backslashreplace")


def _tell_of_lessons(taught: int, in_sources: int, other_class: int, not_kept: int) -> None:
    from spamnb.naming import pluralize

    if taught:
        told = f"spamnb: taught again {pluralize(taught, 'message')} that had been learned one by one"
        if in_sources:
            told += f"; {in_sources:,} of them in the sources too"
        if other_class:
            told += f", {other_class:,} in another class there: the lesson's class counts"
        tell(told)
    if not_kept:
        tell(
            f"spamnb: the model that was replaced had learned {pluralize(not_kept, 'message')} one by one and not kept"
            f" {'it' if not_kept == 1 else 'them'}; in the new one they count only where the sources hold them"
        )
