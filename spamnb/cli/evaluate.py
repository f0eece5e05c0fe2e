"""``spamnb evaluate``: how good the filter is on mail whose class is known."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.mislabelled import doubtful_json_of, doubtful_lines_of, doubtful_option, noting_names
from spamnb.cli.options import (
    SOURCE,
    ModelPath,
    Unreadable,
    format_option,
    progress,
    read_options,
    scratch,
    source_options,
    tell_of_folders_too_high,
    workers_option,
)
from spamnb.cli.settings import settings_given, settings_options

if TYPE_CHECKING:
    from spamnb.evaluation.figures import Figures
    from spamnb.evaluation.mcnemar import McNemar
    from spamnb.evaluation.online import Feedback
    from spamnb.evaluation.result import Result
    from spamnb.settings import Settings
    from spamnb.sources.entries import Entry


@click.command("evaluate", short_help="Measure errors and probabilities on labelled mail.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=SOURCE)
@source_options
@click.option(
    "--folds", type=int, metavar="K", help="K-fold cross-validation.  [default: 10, when no other way is chosen]"
)
@click.option(
    "--split",
    metavar="FRACTION|md5",
    help="Train on this fraction and test on the rest; md5: train on the files whose name has an even md5.",
)
@click.option(
    "--leave-one-out",
    is_flag=True,
    help="Judge each message by a model of all others; in a few parts where it is no sum or --top-words are chosen.",
)
@click.option("--online", is_flag=True, help="In the given order: classify each message, then learn it.")
@click.option(
    "-m",
    "--model",
    type=ModelPath(),
    help="Judge by this model as it is; the mail must be new to it.",
)
@click.option("--by-date", is_flag=True, help="With --online, --split: in order of receipt.")
@click.option("--feedback-for", type=int, metavar="N", help="With --online: learn only the first N messages.")
@click.option(
    "--feedback-delay", type=int, metavar="N", default=0, help="With --online: learn each message N messages later."
)
@click.option(
    "--feedback-share", type=float, metavar="P", default=1.0, help="With --online: learn a share P, drawn at random."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of splits, folds, shares, intervals."
)
@format_option("text", "json")
@click.option(
    "--scores", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE", help="Write each message's scores."
)
@click.option(
    "--compare",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="McNemar's test against the --scores of another run over the same messages.",
)
@click.option(
    "--report", type=click.Path(dir_okay=False, path_type=Path), metavar="FILE.html", help="Write a page with figures."
)
@doubtful_option
@settings_options
@workers_option
def evaluate_command(
    sources: tuple[str, ...],
    folds: int | None,
    split: str | None,
    leave_one_out: bool,
    online: bool,
    model: Path | None,
    by_date: bool,
    feedback_for: int | None,
    feedback_delay: int,
    feedback_share: float,
    seed: int,
    form: str,
    scores: Path | None,
    compare: Path | None,
    report: Path | None,
    doubtful: int,
    settings: Settings,
    workers: int | None,
) -> None:
    """Measure the filter on labelled mail: good mail lost, spam let through, and what its probabilities are worth.

    SOURCE is as for train. hm% is good mail called spam; sm% is spam let through, which mail called unsure is too;
    1-ROCA% is the chance that a good message scores above a spam; intervals are 95 %.

    \b
    Example:
      spamnb evaluate --folds 10 --report page.html ham=~/Maildir spam=~/Maildir/.Junk
      spamnb evaluate --online index:trec05p-1/full/index
    """
    from spamnb.evaluation.figures import as_json, figures
    from spamnb.evaluation.scores import read_scores, write_scores
    from spamnb.naming import escape_json

    chosen = [folds is not None, split is not None, leave_one_out, online, model is not None]
    if sum(chosen) > 1:
        raise click.UsageError("--folds, --split, --leave-one-out, --online and --model exclude each other")
    if not online and (feedback_for is not None or feedback_delay or feedback_share != 1):
        raise click.UsageError("--feedback-… goes with --online")
    if by_date and not online and split in (None, "md5"):
        raise click.UsageError("--by-date goes with --online, or with --split FRACTION")
    if model is not None and (own := settings_given()):
        raise click.UsageError(f"{', '.join(own)}: --model takes the model as it was trained")
    other = read_scores(compare) if compare else None
    tell_of_folders_too_high(sources)
    unreadable = Unreadable()
    if online:
        from spamnb.evaluation.online import Feedback

        feedback = Feedback(feedback_for, feedback_delay, feedback_share, seed)
        result = _stream(sources, settings, unreadable, feedback, by_date)
    elif model is not None:
        result, settings = _as_it_is(sources, model, unreadable)
    else:
        way = "leave-one-out" if leave_one_out else split or (folds if folds is not None else 10)
        result = _held_out(sources, settings, unreadable, way, seed, report is not None, doubtful, by_date, workers)
    found = figures(result, seed=seed)
    test = _compared(result, other, compare) if other and compare else None
    try:
        if scores:
            write_scores(result, scores)
        if report:
            import shlex

            from spamnb.report.page import write_page
            from spamnb.report.provenance import provenance

            command = shlex.join(["spamnb", *sys.argv[1:]])
            trained = f"{model}, as it is" if model else f"{settings.model_type}, trained on parts of this mail"
            write_page(result, found, provenance(command, trained, settings), report)
    finally:  # where there is no room for these, the figures are not lost with them
        if form == "json":
            told = {"unreadable": unreadable.count, "mcnemar": as_json(test)}
            if doubtful:
                told["mislabelled"] = as_json(doubtful_json_of(sources, result, doubtful))
            click.echo(escape_json({**as_json(found), **told}))
        else:
            _print(found, test, compare)
            for line in doubtful_lines_of(sources, result, doubtful):
                click.echo(line)


def _print(found: Figures, test: McNemar | None, compare: Path | None) -> None:
    from rich.console import Console

    from spamnb.report.evaluation import tables

    console = Console()
    for table in tables(found):
        console.print(table)
    if test:
        console.print(
            f"McNemar against {compare}: {test.only_first_right} right only here,"
            f" {test.only_second_right} only there, p = {test.p_value:.3g}",
            markup=False,
        )


def _compared(result: Result, other: Result, path: Path) -> McNemar:
    from spamnb.errors import SpamnbError

    try:
        return result.against(other)
    except ValueError as error:
        raise SpamnbError(f"{path}: {error}") from None


def _entries(sources: Iterable[str], on_unreadable: Callable[[str, Exception], None]) -> Iterator[Entry]:
    from spamnb.sources.spec import entries

    return entries(sources, on_unreadable, read_options())


def _stream(
    sources: tuple[str, ...], settings: Settings, unreadable: Unreadable, feedback: Feedback, dated: bool
) -> Result:
    from spamnb.evaluation.online import by_date, online

    given = _entries(sources, unreadable)
    entries = by_date(given, unreadable) if dated else given
    with progress("Classifying and learning") as show:
        return _some(online(entries, settings, unreadable, feedback, show))


def _as_it_is(sources: tuple[str, ...], model: Path, unreadable: Unreadable) -> tuple[Result, Settings]:
    from spamnb.classifier import Classifier
    from spamnb.evaluation.online import judged

    with Classifier.open(model) as classifier, progress("Classifying") as show:
        return _some(judged(_entries(sources, unreadable), classifier, unreadable, show)), classifier.settings


def _held_out(
    sources: tuple[str, ...],
    settings: Settings,
    unreadable: Unreadable,
    way: str | int,
    seed: int,
    explained: bool,
    doubtful: int,
    by_date: bool,
    workers: int | None,
) -> Result:
    """The result of one ``way``: a number of folds, "leave-one-out", "md5", or a fraction to train on."""
    from spamnb.engines.counting import count_parallel
    from spamnb.errors import SpamnbError
    from spamnb.evaluation import protocols
    from spamnb.evaluation.held_out import mail_of

    names: list[str] = []

    named = noting_names(_entries(sources, unreadable), names)
    subjects = _subjects(sources) if explained else protocols.no_subjects
    with scratch() as folder:
        with progress("Reading") as show:
            training_set = count_parallel(named, settings.tokens, folder, unreadable, show, workers)
        mail = mail_of(training_set, names)
        if not len(mail.positions):
            raise SpamnbError("no messages in the sources: nothing to evaluate on")
        if len(mail.classes) < 2:
            raise SpamnbError(f"only class {mail.classes[0]!r} in the sources: to tell classes apart it takes two")
        if way == "leave-one-out":
            return protocols.evaluate_leave_one_out(mail, settings, subjects, doubtful)
        if isinstance(way, int):
            return protocols.evaluate_folds(mail, settings, way, seed, subjects)
        if way == "md5":
            learned = protocols.even_names([names[number] for number in mail.positions])
            return protocols.evaluate_split(mail, settings, learned, "Split by md5 of the file name", subjects)
        try:
            fraction = float(way)
        except ValueError:
            raise SpamnbError(f"--split {way}: give a fraction between 0 and 1, or md5") from None
        if by_date:
            learned, protocol = protocols.oldest(mail, fraction), f"Trained on the oldest {fraction:g} of the mail"
        else:
            learned, protocol = protocols.halves(mail, fraction, seed), f"Trained on {fraction:g} of the mail"
        return protocols.evaluate_split(mail, settings, learned, protocol, subjects)


def _subjects(sources: tuple[str, ...]) -> Callable[[set[int]], dict[int, str]]:
    """Finds subjects by place in the sources: they are gone through once more, and only those messages read."""

    def find(places: set[int]) -> dict[int, str]:
        from spamnb.message.parse import header_of

        found = {}
        for place, entry in enumerate(_entries(sources, lambda name, error: None)):
            if place in places:
                try:
                    found[place] = header_of(entry.read(), "subject")
                except OSError:
                    continue  # it was told when it was read the first time, or has gone since
        return found

    return find


def _some(result: Result) -> Result:
    from spamnb.errors import SpamnbError

    if not len(result):
        raise SpamnbError("no messages in the sources: nothing to evaluate on")
    return result
