"""``spamnb classify``: a verdict per message."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spamnb.cli.options import (
    SOURCE,
    Unreadable,
    format_option,
    messages_of,
    model_option,
    standard_output,
    tell,
    text_column_option,
    workers_option,
)
from spamnb.naming import escape, escape_json

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.judgement import Judgement
    from spamnb.report.message_line import Heading
    from spamnb.sources.entries import Entry

EX_TEMPFAIL = 75
T = TypeVar("T")


@click.command("classify", short_help="Tell what each message is.")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@text_column_option
@model_option
@format_option("text", "json", "csv")
@click.option(
    "--explain",
    "tokens",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Show the N tokens that decided most; not with csv.",
)
@click.option("--no-formulas", is_flag=True, help="In CSV, put ' before cells that a spreadsheet would compute.")
@click.option("--exit-code", is_flag=True, help="End with 1 for spam, 0 for other mail, 75 when unsure or on error.")
@click.option(
    "--false-positive-cost",
    type=float,
    help="How much worse losing a good message is than letting a spam through.  [default: as the model says]",
)
@click.option(
    "--unsure-cost",
    type=float,
    help="Cost of the verdict 'unsure', where a spam let through costs 1.  [default: as the model says]",
)
@workers_option
def classify_command(
    sources: tuple[str, ...],
    model: Path,
    form: str,
    tokens: int,
    no_formulas: bool,
    exit_code: bool,
    false_positive_cost: float | None,
    unsure_cost: float | None,
    workers: int | None,
) -> None:
    """Tell what each message is; without SOURCE, the one on standard input.

    SOURCE is a message, a folder of messages, a Maildir, MH folder, mbox or imaps://USER@HOST/FOLDER. In a terminal
    a line has the verdict, its probability, Date, From and Subject. Otherwise it has verdict, probability and name,
    separated by tabs.

    \b
    Example:
      spamnb classify --explain 5 ~/Maildir/new
    """
    if tokens and form == "csv":
        raise click.UsageError("--explain: a line of CSV holds no tokens; --format json does")
    if no_formulas and form != "csv":
        raise click.UsageError("--no-formulas is for --format csv")
    try:
        from spamnb.classifier import Classifier

        with Classifier.open(model) as classifier:
            classifier.charge(false_positive_cost, unsure_cost)
            if exit_code:
                classifier.check_spam()
            if form == "csv":
                from spamnb.cli.classify_csv import classify_to_csv

                verdicts, unreadable = classify_to_csv(sources, classifier, no_formulas, workers)
            else:
                verdicts, unreadable = _classify(sources, classifier, form, tokens, workers)
    except Exception as error:  # whatever it is: any status that Python ends with would be a verdict
        if not exit_code:
            raise
        tell(f"Error: {error}")
        raise SystemExit(EX_TEMPFAIL) from None
    if exit_code:
        if unreadable or not verdicts or "unsure" in verdicts:
            raise SystemExit(EX_TEMPFAIL)
        raise SystemExit(int(classifier.settings.spam in verdicts))
    if unreadable:
        raise SystemExit(1)


def _classify(
    sources: tuple[str, ...], classifier: Classifier, form: str, tokens: int, workers: int | None
) -> tuple[set[str], int]:
    """Prints; returns the verdicts that there were, and the number of messages that could not be read."""
    unreadable = Unreadable()
    verdicts: set[str] = set()
    out = standard_output()
    about, line = _printed(classifier, form)
    entries = messages_of(sources, unreadable)
    for verdict, text in told_of_each(entries, classifier, line, unreadable, tokens, form == "json", workers, about):
        verdicts.add(verdict)
        out.write(text + "\n")
    if not verdicts and not unreadable.count:
        from spamnb.cli.each_message import no_message

        raise no_message(sources)
    return verdicts, unreadable.count


def _name(entry: Entry, raw: bytes) -> str:
    return entry.name


def told_of_each(
    entries: Iterator[Entry],
    classifier: Classifier,
    line: Callable[[Any, Judgement], T],
    unreadable: Unreadable,
    tokens: int = 0,
    posterior: bool = False,
    workers: int | None = None,
    about: Callable[[Entry, bytes], Any] = _name,
) -> Iterator[tuple[str, T]]:
    """Verdict and ``line(about(entry, raw), judgement)`` of each message; for one alone, without what many need."""

    def told(of: Any, judgement: Judgement) -> tuple[str, T]:
        return judgement.verdict, line(of, judgement)

    first = list(islice(entries, 2))
    if len(first) == 2:
        from spamnb.engines.judging import classify_parallel

        entries = chain(first, entries)
        yield from classify_parallel(entries, classifier, told, unreadable, tokens, posterior, workers, about)
        return
    from spamnb.sources.entries import messages

    for entry, raw in messages(first, unreadable):
        (judgement,) = classifier.classify_all([raw], tokens, posterior=posterior)
        yield told(about(entry, raw), judgement)


def _printed(
    classifier: Classifier, form: str
) -> tuple[Callable[[Entry, bytes], Any], Callable[[Any, Judgement], str]]:
    """What is taken of a message, and what is printed of that and of its judgement."""
    if form == "json":
        return _name, _json
    if not standard_output().isatty():
        return _name, lambda name, judgement: f"{judgement.verdict}\t{_best(judgement)}\t{name}" + _evidence(judgement)
    from spamnb.formulas.decision import UNSURE
    from spamnb.report.message_line import column_width, fit, heading, message_line, terminal_width

    verdicts, columns = column_width([*classifier.store.totals().classes, UNSURE]), terminal_width()

    def line(message: tuple[str, Heading], judgement: Judgement) -> str:
        head = f"{fit(judgement.verdict, verdicts)}  {_best(judgement)}"
        return message_line(head, message[1], message[0], columns) + _evidence(judgement)

    return lambda entry, raw: (entry.name, heading(raw)), line


def _json(name: str, judgement: Judgement) -> str:
    evidence: list[dict[str, Any]] = [each._asdict() for each in judgement.evidence]
    for each, part in zip(evidence, judgement.corrections):  # there are none in models that correct nothing
        each["correction"] = part
    record = {
        "source": name,
        "verdict": judgement.verdict,
        "probabilities": judgement.probabilities,
        "score": judgement.score,
        "posterior": judgement.posterior,
        "evidence": evidence,
    }
    return escape_json(record)


def _best(judgement: Judgement) -> str:
    return f"{max(judgement.probabilities.values(), default=0.0):.4f}"


def _evidence(judgement: Judgement) -> str:
    return "".join(f"\n    {weight:+7.2f}  {escape(token)}" for token, weight in judgement.evidence)
