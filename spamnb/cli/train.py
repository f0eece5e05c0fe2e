"""``spamnb train``: a new model from labelled mail."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from spamnb.cli.options import Unreadable, model_option, progress, workers_option


@click.command("train")
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
@model_option
@click.option("--force", is_flag=True, help="Replace the model that is there.")
@click.option(
    "--model-type",
    type=click.Choice(["boolean", "multinomial", "bernoulli"]),
    default="boolean",
    show_default=True,
    help="How a message is thought to arise: tokens drawn with or without repeats counted, or each token there or not.",
)
@click.option("--alpha", type=float, default=None, help="Smoothing pseudo-count (Laplace: 1).")
@click.option(
    "--prior", type=click.Choice(["mle", "dirichlet", "map", "uniform"]), default="mle", show_default=True
)
@click.option(
    "--pooling", default=None, help="How tokens' evidence becomes one score; 'sum' is the textbook posterior."
)
@click.option(
    "--top-words", type=click.IntRange(min=1), help="Keep the words with the highest mutual information."
)
@click.option(
    "--spam", metavar="CLASS", default="spam", show_default=True, help="The class that costs good mail."
)
@click.option(
    "--false-positive-cost",
    type=float,
    help="How much worse losing a good message is than letting spam through.",
)
@click.option(
    "--unsure-cost", type=float, help="Cost of the verdict 'unsure'; without it every message gets a class."
)
@click.option(
    "--tokenizer", type=click.Choice(["own", "tweet", "treebank"]), default="own", show_default=True
)
@click.option("--stem", metavar="LANGUAGE", help="Stem words with nltk's Snowball stemmer, e.g. english.")
@click.option(
    "--ngrams",
    type=click.IntRange(1, 5),
    default=1,
    show_default=True,
    help="Longest run of words that is one token.",
)
@click.option("--body-only", is_flag=True, help="Words of the body alone, no headers, links or structure.")
@click.option(
    "--ignore-header",
    "ignore_headers",
    multiple=True,
    metavar="NAME",
    default=("newsgroups", "xref", "path"),
    show_default=True,
    help="A header that is no evidence, such as those that leak a newsgroup's name; may be repeated.",
)
@workers_option
def command(
    sources: tuple[str, ...],
    model: Path,
    force: bool,
    model_type: str,
    alpha: float | None,
    prior: str,
    pooling: str | None,
    top_words: int | None,
    spam: str,
    false_positive_cost: float | None,
    unsure_cost: float | None,
    tokenizer: str,
    stem: str | None,
    ngrams: int,
    body_only: bool,
    ignore_headers: tuple[str, ...],
    workers: int | None,
) -> None:
    """Make a new model from labelled mail, and say how it does on each message when that is left out.

    A SOURCE is a directory with a folder per class; CLASS=PATH where PATH is a folder, Maildir, MH folder, mbox or
    single message; index:PATH for a TREC index; or a file of lines "label TAB text".

    \b
    Example:
      spamnb train ham=~/Maildir spam=~/Maildir/.Junk
    """
    from spamnb.decision import Loss
    from spamnb.engines.processes import count
    from spamnb.errors import SpamnbError
    from spamnb.report.training import training_report
    from spamnb.settings import Settings
    from spamnb.sources import entries
    from spamnb.tokens import Tokenizer, TokenOptions
    from spamnb.training import train

    try:
        tokens = Tokenizer(TokenOptions(tokenizer, stem, ngrams, body_only, ignore_headers)).options
    except ValueError as error:
        raise SpamnbError(str(error)) from None
    default = Settings()
    settings = Settings(
        model_type=model_type,
        alpha=default.alpha if alpha is None else alpha,
        prior=prior,
        pooling=pooling or default.pooling,
        top_words=top_words,
        spam=spam,
        tokens=tokens,
        loss=Loss(
            default.loss.false_positive_cost if false_positive_cost is None else false_positive_cost,
            unsure_cost,
        ),
    )
    if model.exists() and not force:
        raise SpamnbError(f"{model}: exists already; --force replaces it, 'spamnb learn' adds to it")
    unreadable = Unreadable()
    with tempfile.TemporaryDirectory(prefix="spamnb-") as folder:
        with progress("Reading") as show:
            tally = count(entries(sources, unreadable), tokens, Path(folder), unreadable, show, workers)
        left_out = train(model, tally, settings, force=force)
    click.echo(training_report(model, len(tally.tokens), left_out, settings.spam, unreadable.count))
