"""``spamnb evaluate``: how good the filter is on mail whose class is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.options import (
    SOURCE,
    ModelPath,
    command_line,
    dask_option,
    doubtful_option,
    format_option,
    read_options,
    set_option,
    source_options,
    tell_of_ours,
    workers_option,
)

if TYPE_CHECKING:
    from spamnb.api.evaluation import Evaluation
    from spamnb.evaluation.mcnemar import McNemar
    from spamnb.settings import SettingsOptions


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
    help="Judge each message by a model of all others; logistic and embedded models, and those with top_words, are made"
    " for a few parts of the mail instead.",
)
@click.option("--online", is_flag=True, help="In the given order: classify each message, then learn it.")
@click.option(
    "-m",
    "--model",
    type=ModelPath(),
    help="Judge by this model as it is; the mail must be new to it.",
)
@click.option("--by-date", is_flag=True, help="With --online or --split: in the order in which mail was received.")
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
@click.option("-v", "--verbose", is_flag=True, help="Also lam%, cost ratios, log loss, Brier score, F1 of each class.")
@set_option
@workers_option
@dask_option("Let a Dask cluster read the mail")
def evaluate_command(
    sources: tuple[str, ...],
    folds: int | None,
    split: str | None,
    leave_one_out: bool,
    online: bool,
    model: Path | None,
    by_date: bool,
    form: str,
    scores: Path | None,
    compare: Path | None,
    report: Path | None,
    doubtful: int,
    verbose: bool,
    settings: SettingsOptions,
    workers: int | None,
    dask: str | None,
) -> None:
    """Measure the filter on labelled mail: good mail lost, spam let through, and what its probabilities are worth.

    SOURCE is as for train. hm% is good mail called spam; sm% is spam let through, which mail called unsure is too;
    1-ROCA% is the chance that a good message scores above a spam; intervals are 95 %.

    \b
    Example:
      spamnb evaluate --folds 10 --report page.html ham=~/Maildir/cur spam=~/Maildir/.Junk
      spamnb evaluate --online index:trec05p-1/full/index
    """
    from spamnb.api.evaluate import evaluate
    from spamnb.evaluation.figures import as_json
    from spamnb.evaluation.scores import read_scores
    from spamnb.naming import escape_json

    chosen = [folds is not None, split is not None, leave_one_out, online, model is not None]
    if sum(chosen) > 1:
        raise click.UsageError("--folds, --split, --leave-one-out, --online and --model exclude each other")
    if by_date and not online and split in (None, "md5"):
        raise click.UsageError("--by-date goes with --online, or with --split FRACTION")
    if model is not None and settings:
        raise click.UsageError(f"--set {', '.join(settings)}: --model takes the model as it was trained")
    if compare:
        read_scores(compare)  # a file that is none is told now, not when all the mail has been read
    found = evaluate(
        sources,
        folds=folds,
        split=_fraction(split),
        leave_one_out=leave_one_out,
        online=online,
        model=model,
        by_date=by_date,
        doubtful=doubtful,
        subjects=report is not None,
        workers=workers,
        dask=dask,
        progress=True,
        tell=tell_of_ours,
        command=command_line(),
        **read_options()._asdict(),
        **settings,
    )
    test = found.compare(compare) if compare else None
    try:
        if scores:
            found.write_scores(scores)
        if report:
            found.write_page(report)
    finally:  # where there is no room for these, the figures are not lost with them
        if form == "json":
            click.echo(escape_json({**found.to_dict(), "mcnemar": as_json(test)}))
        else:
            _print(found, test, compare, verbose)


def _fraction(split: str | None) -> Any:
    from spamnb.errors import SpamnbError

    if split is None or split == "md5":
        return split
    try:
        return float(split)
    except ValueError:
        raise SpamnbError(f"--split {split}: give a fraction between 0 and 1, or md5") from None


def _print(found: Evaluation, test: McNemar | None, compare: Path | None, verbose: bool) -> None:
    from rich.console import Console

    from spamnb.report.evaluation import tables
    from spamnb.report.mislabelled import doubtful_lines

    console = Console()
    for table in tables(found.figures, verbose):
        console.print(table)
    if test:
        console.print(
            f"McNemar against {compare}: {test.only_first_right} right only here,"
            f" {test.only_second_right} only there, p = {test.p_value:.3g}",
            markup=False,
        )
    for line in doubtful_lines(*found.mislabelled) if found.mislabelled is not None else []:
        click.echo(line)
