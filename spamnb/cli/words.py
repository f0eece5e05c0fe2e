"""``spamnb words``: what each class is made of."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import format_option, model_option, tell


@click.command("words", short_help="Show the words of each class, and those that tell classes apart.")
@model_option
@click.option("--top", type=click.IntRange(min=1), default=15, show_default=True, help="Rows of the report.")
@click.option(
    "--all/--body",
    "everything",
    help="All kinds of evidence, of headers, hosts and structure too, or words of body and subject alone, as without.",
)
@format_option("text", "json", "csv")
def words_command(model: Path, top: int, everything: bool, form: str) -> None:
    """Show the likeliest words of each class, and beside them the words with the highest mutual information.

    A word is likely when many messages of a class hold it, as "the" is. Its mutual information with the class, in bits,
    is how much knowing whether a message holds it tells about the message's class. It speaks for the class whose
    messages hold it most often.

    \b
    Example:
      spamnb words --top 20
    """
    import numpy as np

    from spamnb.counts.class_counts import inverse_index
    from spamnb.counts.top_words import top_words
    from spamnb.errors import SpamnbError
    from spamnb.report.words import words_csv, words_json, words_text
    from spamnb.store.snapshot import read_counts
    from spamnb.store.store import Store

    with Store.open(model) as store:
        tokens, counts = read_counts(store)
    if not counts.classes:
        raise SpamnbError(f"{model}: has learned nothing yet; 'spamnb learn' adds messages")
    if not everything:
        # Tokens from elsewhere have a prefix, shapes of words with digits (#x00r0 of X11R5) a number sign.
        told = [j for j, token in enumerate(tokens) if ":" not in token and not token.startswith("#")]
        if not told:
            tell(f"spamnb: {model}: no token is a word of text; --all shows all kinds of evidence")
        chosen = np.array(told, np.intp)
        counts, tokens = counts.reindex(inverse_index(chosen, len(tokens)), len(chosen)), tokens.take(chosen)
    report = top_words(counts, tokens, top)
    show = {"text": words_text, "json": words_json, "csv": words_csv}[form]
    click.echo(show(report), nl=False)
