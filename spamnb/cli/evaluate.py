"""``spamnb evaluate``: how good the filter is on mail whose class is known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from spamnb.cli.options import (
    SOURCE,
    ModelPath,
    NewFile,
    command_line,
    dask_option,
    format_option,
    set_option,
    source_options,
    tell_of_ours,
    workers_option,
)


@click.command("evaluate", short_help="Measure errors and probabilities on labelled mail.")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", type=SOURCE)
@source_options
@click.option(
    "--folds",
    type=click.IntRange(min=2),
    metavar="K",
    help="K-fold cross-validation.  [default: 10, when no other way is chosen]",
)
@click.option("--split", type=float, metavar="FRACTION", help="Train on this fraction and test on the rest.")
@click.option(
    "--leave-one-out",
    is_flag=True,
    help="Judge each message by a model of all others; embedded models are made for a few parts of the mail instead.",
)
@click.option("--online", is_flag=True, help="In the given order: classify each message, then learn it.")
@click.option(
    "-m", "--model", type=ModelPath(), help="Judge by this model as it is; mail that it has learned is left out."
)
@click.option("--by-date", is_flag=True, help="With --online or --split: in the order in which mail was received.")
@format_option("text", "json")
@click.option("--scores", type=NewFile(), metavar="FILE", help="Write each message's scores.")
@click.option(
    "--compare",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="McNemar's test against the --scores of another run over the same messages.",
)
@click.option("--report", type=NewFile(), metavar="FILE.html", help="Write a page with figures.")
@click.option(
    "--doubtful",
    type=click.IntRange(min=0),
    metavar="N",
    default=0,
    help="Name up to N messages that look mislabelled, the surest first, and say why.",
)
@click.option("-v", "--verbose", is_flag=True, help="Also precision, recall and F1 of each class.")
@set_option
@workers_option
@dask_option
def evaluate_command(
    sources: tuple[str, ...],
    form: str,
    scores: Path | None,
    compare: Path | None,
    report: Path | None,
    verbose: bool,
    settings: dict[str, Any],
    **given: Any,
) -> None:
    """Measure the filter on labelled mail: good mail lost, spam let through, and what its probabilities are worth.

    SOURCE is as for train. hm% is the share of good mail that is called spam; sm% is the share of spam that is let
    through, the verdict 'unsure' included; 1-ROCA% is the chance that a good message scores above a spam; intervals
    are 95 %.

    \b
    Example:
      spamnb evaluate --folds 10 --report page.html ham=~/Maildir/cur spam=~/Maildir/.Junk
      spamnb evaluate --online index:trec05p-1/full/index
    """
    from spamnb.api.evaluate import evaluate
    from spamnb.evaluation.figures import to_json
    from spamnb.evaluation.scores import read_verdicts
    from spamnb.formulas.trust import looks_swapped
    from spamnb.shown_text import escape_json

    if compare:
        read_verdicts(compare)  # a wrong file is reported now, not after all the mail has been read
    evaluation = evaluate(
        sources,
        subjects=report is not None,
        progress=True,
        tell=tell_of_ours,
        command=command_line(),
        **given,
        **settings,
    )
    if evaluation.model is not None and looks_swapped(evaluation.trusts()):
        tell_of_ours("most of the first messages look like another class: were names swapped, here or in training?")
    test = evaluation.compare(compare) if compare else None
    try:
        if scores:
            evaluation.write_scores(scores)
        if report:
            evaluation.write_page(report)
    finally:  # the figures are printed even if these files cannot be written
        if form == "json":
            click.echo(escape_json({**evaluation.to_dict(), "mcnemar": to_json(test)}))
        else:
            click.echo(evaluation.text(verbose))
            if test:
                click.echo(f"McNemar against {compare}: {test}")
