"""``spamnb evaluate``: measure errors on labelled mail."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spamnb.cli.options import (
    SOURCE,
    FilePath,
    NewFile,
    WholeNumber,
    dask_option,
    format_command_line,
    format_option,
    set_option,
    source_options,
    tell,
    workers_option,
)


@click.command("evaluate", short_help="Measure errors on labelled mail.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=SOURCE)
@source_options
@click.option(
    "--folds",
    type=WholeNumber(min=2),
    metavar="K",
    help="K-fold cross-validation. This is the default, with 10 folds.",
)
@click.option("--split", type=float, metavar="FRACTION", help="Train on this fraction and test on the rest.")
@click.option(
    "--leave-one-out",
    is_flag=True,
    help="Classify each message by a model of all other messages. Corrected models leave out a tenth at a time.",
)
@click.option("--online", is_flag=True, help="Classify each message and then learn it, in the order of the SOURCEs.")
@click.option(
    "-m",
    "--model",
    type=FilePath(),
    help="Classify by this model, without training. Messages that the model has learned are skipped.",
)
@click.option("--by-date", is_flag=True, help="With --online or --split: order the mail by date of receipt.")
@format_option("text", "json")
@click.option("--scores", type=NewFile(), metavar="FILE", help="Write the scores of each message to this file.")
@click.option("--report", type=NewFile(), metavar="FILE.html", help="Write figures and charts to this HTML file.")
@click.option(
    "--mislabelled",
    type=WholeNumber(min=0),
    metavar="N",
    default=0,
    help="List up to N messages that look mislabelled, the least likely label first, with the evidence.",
)
@click.option("-v", "--verbose", is_flag=True, help="Also print precision, recall and F1 of each class.")
@set_option
@workers_option
@dask_option
def evaluate_command(
    sources: tuple[str, ...],
    output_format: str,
    scores: Path | None,
    report: Path | None,
    verbose: bool,
    settings: dict[str, Any],
    **options: Any,
) -> None:
    """Measure the errors of verdicts and probabilities on labelled mail.

    'spamnb train --help' describes SOURCE.

    \b
    The figures, with 95 % intervals:
      hm%       share of good mail with the verdict spam
      sm%       share of spam with another verdict, including 'unsure'
      1-ROCA%   probability that a good message has a higher score than a spam

    \b
    Examples:
      spamnb evaluate --folds 10 --report page.html --recursive ham=~/Maildir spam=~/Maildir/.Junk
      spamnb evaluate --online --by-date ham=~/Maildir spam=~/Maildir/.Junk
    """
    from spamnb.api.evaluate import evaluate
    from spamnb.model.trust import looks_swapped
    from spamnb.shown_text import escape_json

    evaluation = evaluate(
        sources,
        subjects=report is not None,
        progress=True,
        tell=tell,
        command=format_command_line(),
        **options,
        **settings,
    )
    if evaluation.model is not None and looks_swapped(evaluation.trusts()):
        tell("most of the first messages look like another class; check that the classes are not swapped")
    try:
        if scores:
            evaluation.write_scores(scores)
        if report:
            evaluation.write_page(report)
            tell(f"wrote {report}")
    finally:  # the figures are printed even if a file cannot be written
        if output_format == "json":
            click.echo(escape_json(evaluation.to_dict()))
        else:
            click.echo(evaluation.text(verbose))
