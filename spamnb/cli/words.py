"""``spamnb words``: show the words of each class, and the words that tell classes apart."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import format_option, model_option, tell_of_ours


@click.command("words", short_help="Show the words of each class, and the words that tell classes apart.")
@click.argument("word", required=False)
@model_option
@click.option("--top", type=click.IntRange(min=1), default=15, show_default=True, help="Rows of the report.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help="Also show evidence from headers, hosts and structure, not only words of the body and the subject.",
)
@format_option("text", "json")
def words_command(word: str | None, model: Path, top: int, everything: bool, form: str) -> None:
    """Show the likeliest words of each class, and the words with the highest mutual information.

    With WORD, show the share of each class's messages that have this word, in the body and elsewhere.

    A word is likely if many messages of a class have it, such as "the". The mutual information of a word and the class,
    in bits, is the uncertainty about a message's class that the word's presence or absence removes. A word speaks for
    the class in which the largest share of messages has it.

    \b
    Example:
      spamnb words --top 20
      spamnb words free
    """
    from spamnb.api import words
    from spamnb.shown_text import escape_json

    if word is None:
        report: words.WordsReport | words.WordReport = words.words(model, top, everything=everything, tell=tell_of_ours)
    else:
        report = words.word(model, word)
    if form == "json":
        click.echo(escape_json(report.to_dict()))
    else:
        click.echo(str(report), nl=False)
