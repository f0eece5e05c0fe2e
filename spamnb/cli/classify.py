"""``spamnb classify``: a verdict per message."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.options import (
    SOURCE,
    Unreadable,
    format_option,
    messages_of,
    model_option,
    standard_output,
    tell,
    workers_option,
)
from spamnb.naming import escape, escape_json

if TYPE_CHECKING:
    from spamnb.classifier import Judgement

EX_TEMPFAIL = 75


@click.command("classify", short_help="Tell what each message is.")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@model_option
@format_option("text", "json", "csv")
@click.option(
    "--explain",
    "tokens",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the N heaviest tokens, as text or json.",
)
@click.option("--exit-code", is_flag=True, help="End with 1 for spam, 0 for other mail, 75 when it could not tell.")
@click.option("--false-positive-cost", type=float, help="In place of the model's; see 'train'.")
@click.option("--unsure-cost", type=float, help="In place of the model's; see 'train'.")
@workers_option
def command(
    sources: tuple[str, ...],
    model: Path,
    form: str,
    tokens: int,
    exit_code: bool,
    false_positive_cost: float | None,
    unsure_cost: float | None,
    workers: int | None,
) -> None:
    """Tell what each message is; without SOURCE, the one on standard input.

    SOURCE is a message, a folder of messages, a Maildir, MH folder or mbox.

    \b
    Example:
      spamnb classify --explain 5 ~/Maildir/new
    """
    if tokens and form == "csv":
        raise click.UsageError("--explain: a line of CSV holds no tokens; --format json does")
    try:
        if exit_code:
            from spamnb.classifier import Classifier

            with Classifier.open(model) as classifier:
                classifier.check_spam()
        verdicts, unreadable = _classify(sources, model, form, tokens, false_positive_cost, unsure_cost, workers)
    except Exception as error:  # whatever it is: any status that Python ends with would be a verdict
        if not exit_code:
            raise
        tell(f"Error: {error}")
        raise SystemExit(EX_TEMPFAIL) from None
    if exit_code:
        if unreadable or not verdicts or "unsure" in verdicts:
            raise SystemExit(EX_TEMPFAIL)
        raise SystemExit(int(any(verdicts.values())))
    if unreadable:
        raise SystemExit(1)


def _classify(
    sources: tuple[str, ...],
    model: Path,
    form: str,
    tokens: int,
    false_positive_cost: float | None,
    unsure_cost: float | None,
    workers: int | None,
) -> tuple[dict[str, bool], int]:
    """Prints; returns {verdict: is it spam?} and the number of messages that could not be read."""
    from spamnb.engines.judging import classify_parallel
    from spamnb.store.store import Store

    unreadable = Unreadable()
    verdicts: dict[str, bool] = {}
    out = standard_output()
    if form == "csv":
        with Store.open(model) as store:
            out.write(_row(["source", "verdict", "score", *store.totals().classes]))
    entries = messages_of(sources, unreadable)
    charges = false_positive_cost, unsure_cost
    line = partial(_line, form=form)
    for verdict, spam, text in classify_parallel(entries, model, line, unreadable, charges, tokens, workers):
        verdicts[verdict] = spam
        out.write(text)
    if not verdicts and not unreadable.count:
        tell(f"spamnb: no messages in {' '.join(map(escape, sources)) or 'standard input'}")
    return verdicts, unreadable.count


def _line(name: str, judgement: Judgement, form: str) -> str:
    if form == "json":
        record = {
            "source": name,
            "verdict": judgement.verdict,
            "probabilities": judgement.probabilities,
            "score": judgement.score,
            "posterior": judgement.posterior,
            "evidence": [{"token": token, "weight": weight} for token, weight in judgement.evidence],
        }
        return escape_json(record) + "\n"
    if form == "csv":
        figures = [f"{p:.6g}" for p in (judgement.score, *judgement.probabilities.values())]
        return _row([name, judgement.verdict, *figures])
    best = max(judgement.probabilities.values(), default=0.0)
    head = f"{judgement.verdict}\t{best:.4f}\t{name}\n"
    return head + "".join(f"    {weight:+7.2f}  {escape(token)}\n" for token, weight in judgement.evidence)


def _row(cells: list[str]) -> str:
    """A line of CSV."""
    import csv
    import io

    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()
