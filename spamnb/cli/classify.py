"""``spamnb classify``: print the verdict on each message, as text, JSON or CSV."""

from __future__ import annotations

import csv
from collections.abc import Callable
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.options import (
    SOURCE,
    WholeNumber,
    begin_with_starter,
    find_messages,
    format_option,
    model_option,
    standard_output,
    starter_option,
    tell,
    text_column_option,
    workers_option,
)
from spamnb.errors import in_options
from spamnb.shown_text import escape, escape_json, format_probability
from spamnb.sources.entries import Entry, SkippedMessages

if TYPE_CHECKING:
    from spamnb.filter import Classifier
    from spamnb.model.classification import Classification

EX_TEMPFAIL = 75  # the exit status after which mail software tries again later (sysexits.h)


@click.command("classify", short_help="Print the verdict on each message.")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@text_column_option
@model_option
@starter_option
@format_option("text", "json", "csv")
@click.option(
    "--explain",
    "n_tokens",
    type=WholeNumber(min=0),
    default=0,
    metavar="N",
    help="Also print the N tokens with the largest weights. Not with --format csv.",
)
@click.option(
    "--exit-code",
    is_flag=True,
    help="Exit with status 75 after an error or if a message is unsure, else 1 if a message is spam, else 0.",
)
@workers_option
def classify_command(
    sources: tuple[str, ...],
    text_column: str | None,
    model: Path,
    no_starter: bool,
    output_format: str,
    n_tokens: int,
    exit_code: bool,
    workers: int | None,
) -> None:
    """Print the verdict on each message. Without SOURCE, the message is read from standard input.

    SOURCE is a message, a folder of messages, a Maildir, MH folder, mbox, table or imaps://USER@HOST/FOLDER.

    In a terminal a line has the verdict, the probability of spam, Date, From and Subject. Otherwise a line has the
    verdict, the probability of spam and the name of the message, separated by tabs. If the model has no class of spam,
    a line has the probability of the likeliest class.

    A message with a spam probability of 78 % is still 'ham', because losing a good message costs more than letting a
    spam through.

    \b
    Example:
      spamnb classify --explain 5 ~/Maildir/new
    """
    if n_tokens and output_format == "csv":
        raise click.UsageError("--explain: the CSV format has no column for tokens; use --format json")
    unreadable = SkippedMessages(tell)
    verdicts: set[str] = set()
    try:
        from spamnb.api.explain import reason_for_unsure
        from spamnb.engines.classifying import classify_parallel
        from spamnb.filter import Classifier
        from spamnb.model.decision import Loss

        out = standard_output()
        begin_with_starter(model, no_starter)
        with Classifier.open(model) as classifier:
            if exit_code:
                classifier.check_spam()
            if output_format == "csv":
                out.write(_csv_line(["source", "verdict", "log_odds", *classifier.model.totals.classes]))
            describe = _formatter(output_format, classifier)
            entries = find_messages(sources, unreadable, text_column)
            results = classify_parallel(
                entries, classifier, describe, unreadable, n_tokens, output_format == "json", workers
            )
            for verdict, text in results:
                verdicts.add(verdict)
                out.write(text)
            spam = classifier.settings.spam
            if output_format == "text" and out.isatty() and spam in classifier.model.totals.classes:
                bound = format_probability(Loss.of(classifier.settings).threshold)
                tell(f"mail is called {spam} if its probability of {spam} is above {bound}")
            if "unsure" in verdicts and (why := reason_for_unsure(classifier.model.totals.classes)):
                tell(f"{model}: 'unsure' because {why}")
    except Exception as error:
        if not exit_code:
            raise
        with suppress(OSError):
            click.echo(f"Error: {in_options(error)}", err=True)
        raise SystemExit(EX_TEMPFAIL) from None  # Python's exit status after an error is 1, which means spam here
    if exit_code:
        if unreadable.count or not verdicts or "unsure" in verdicts:
            raise SystemExit(EX_TEMPFAIL)
        raise SystemExit(int(classifier.settings.spam in verdicts))
    if unreadable.count:
        raise SystemExit(1)


def _formatter(output_format: str, classifier: Classifier) -> Callable[[Entry, bytes, Classification], tuple[str, str]]:
    """Return a function that formats a classification. The function returns the verdict and the text to print."""
    formats = {"json": _json, "csv": _csv, "text": _tabbed}
    if output_format != "text" or not standard_output().isatty():
        return lambda entry, raw, result: (result.verdict, formats[output_format](entry.name, result))
    from spamnb.report.message_line import line_formatter

    format_line = line_formatter(classifier.model.totals.classes, classifier.settings.spam)

    def format_columns(entry: Entry, raw: bytes, result: Classification) -> tuple[str, str]:
        return result.verdict, f"{format_line(result.verdict, result, raw, entry.name)}\n{_evidence(result)}"

    return format_columns


def _tabbed(name: str, classification: Classification) -> str:
    probability = classification.describe_probability()
    return f"{classification.verdict}\t{probability}\t{name}\n{_evidence(classification)}"


def _json(name: str, classification: Classification) -> str:
    evidence: list[dict[str, Any]] = [each._asdict() for each in classification.evidence]
    for each, part in zip(evidence, classification.corrections):
        each["correction"] = part
    record = {
        "source": name,
        "verdict": classification.verdict,
        "probabilities": classification.probabilities,
        "log_odds": classification.log_odds,
        "doubt": classification.doubt,
        "uncalibrated": classification.uncalibrated,
        "evidence": evidence,
    }
    return escape_json(record) + "\n"


def _csv(name: str, classification: Classification) -> str:
    numbers = (f"{value:.6g}" for value in (classification.log_odds, *classification.probabilities.values()))
    return _csv_line([name, classification.verdict, *numbers])


def _csv_line(cells: list[str]) -> str:
    text = StringIO()
    csv.writer(text, lineterminator="\n").writerow(cells)
    return text.getvalue()


def _evidence(classification: Classification) -> str:
    """Return a line for each token of the evidence: the class that the token speaks for, and the token's meaning.

    With more than two classes, the token speaks for one of the two likeliest classes against the other.
    """
    from spamnb.reader.meaning import meaning

    if len(classification.probabilities) < 2:  # evidence needs a second class
        return ""
    best, second = sorted(classification.probabilities, key=lambda name: -classification.probabilities[name])[:2]
    rivals = [best, second], [second, best]
    names = [f"{one} against {other}" if len(classification.probabilities) > 2 else one for one, other in rivals]
    return "".join(
        f"    for {names[weight <= 0]}: {escape(meaning(token))}\n" for token, weight in classification.evidence
    )
