"""``spamnb words``: show the most frequent words of each class, and the most informative words."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import WholeNumber, format_option, model_option, tell


@click.command("words", short_help="Show the most frequent and the most informative words.")
@click.argument("words", nargs=-1, metavar="[WORD...]")
@model_option
@click.option(
    "--top", type=WholeNumber(min=1), metavar="N", default=15, show_default=True, help="Number of words per list."
)
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also show tokens of headers, hosts and structure, not only words of the body and the subject.",
)
@format_option("text", "json")
def words_command(words: tuple[str, ...], model: Path, top: int, everything: bool, output_format: str) -> None:
    """Show the most frequent words of each class, and the words with the highest mutual information.

    With WORD, show the share of messages of each class that have the word in the body, in the subject and elsewhere.
    Two words are a pair of words that follow each other.

    Mutual information, in bits, is the expected loss of uncertainty about the class of a message if you know whether
    the message has the word. A word speaks for the class in which it is most frequent.

    \b
    Examples:
      spamnb words --top 20
      spamnb words free
      spamnb words online pharmacy
    """
    from spamnb.api.words import WordShares, WordsReport, word
    from spamnb.api.words import words as list_words
    from spamnb.shown_text import escape_json

    report: WordsReport | WordShares
    if words:
        report = word(model, " ".join(words))
    else:
        report = list_words(model, top, everything=everything, tell=tell)
    if output_format == "json":
        click.echo(escape_json(report.to_dict()))
    else:
        click.echo(str(report), nl=False)
