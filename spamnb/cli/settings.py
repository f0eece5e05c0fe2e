"""Options that say what kind of model to make: one set for every command that makes one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from spamnb.settings import Settings

_OPTIONS = (
    click.option(
        "--model-type",
        type=click.Choice(["boolean", "multinomial", "bernoulli", "logistic", "hybrid", "gaussian", "lda", "qda"]),
        default="boolean",
        show_default=True,
        help="Naive Bayes of tokens drawn without or with repeats counted, or each there or not; logistic regression;"
        " its sum with naive Bayes; or Gaussian classes of embedded messages."
    ),
    click.option("--alpha", type=float, help="Smoothing pseudo-count (Laplace: 1).  [default: 0.1]"),
    click.option(
        "--prior",
        type=click.Choice(["mle", "dirichlet", "map", "uniform"]),
        default="mle",
        show_default=True,
        help="Class priors: as in training, with one imagined message more each, the mode of that, or equal.",
    ),
    click.option(
        "--pooling",
        type=click.Choice(["mean", "sum"]),
        help="How tokens' evidence becomes one score: a mean weighted by what each knows (the default), or the sum"
        " of the textbook's posterior.",
    ),
    click.option("--top-words", type=click.IntRange(min=1), help="Keep the words with the highest mutual information."),
    click.option(
        "--embedding",
        metavar="HOW",
        help="Dense vectors for gaussian, lda, qda and logistic: lsa:100, vectors:FILE or model:DIRECTORY.",
    ),
    click.option("--spam", metavar="CLASS", default="spam", show_default=True, help="The class that costs good mail."),
    click.option(
        "--false-positive-cost",
        type=float,
        help="How much worse losing a good message is than letting spam through.  [default: 9]",
    ),
    click.option(
        "--unsure-cost", type=float, help="Cost of the verdict 'unsure'; without it every message gets a class."
    ),
    click.option("--tokenizer", type=click.Choice(["own", "tweet", "treebank"]), default="own", show_default=True),
    click.option("--stem", metavar="LANGUAGE", help="Stem words with nltk's Snowball stemmer, e.g. english."),
    click.option(
        "--ngrams",
        type=click.IntRange(1, 5),
        help="Longest run of words that is one token.  [default: 2]",
    ),
    click.option("--body-only", is_flag=True, help="Words of the body alone, no headers, links or structure."),
    click.option(
        "--ignore-header",
        "ignore_headers",
        multiple=True,
        metavar="NAME",
        default=("newsgroups", "xref", "path"),
        show_default=True,
        help="A header that is no evidence, such as those that leak a newsgroup's name; may be repeated.",
    ),
)
_OF_TOKENS = ("tokenizer", "stem", "ngrams", "body_only", "ignore_headers")
_OF_LOSS = ("false_positive_cost", "unsure_cost")
_OF_MODEL = ("model_type", "alpha", "prior", "pooling", "top_words", "embedding", "spam")


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command gets them as one argument ``settings``."""

    @wraps(command)
    def with_settings(*args: Any, **given: Any) -> Any:
        chosen = {name: given.pop(name) for name in (*_OF_TOKENS, *_OF_LOSS, *_OF_MODEL)}
        return command(*args, settings=_settings(chosen), **given)

    for option in reversed(_OPTIONS):
        with_settings = option(with_settings)
    return with_settings


def _settings(chosen: dict[str, Any]) -> Settings:
    """The settings of what was chosen; what was not is as the settings have it."""
    from spamnb.decision import Loss
    from spamnb.errors import SpamnbError
    from spamnb.settings import Settings
    from spamnb.tokens import Tokenizer, TokenOptions

    def given(names: tuple[str, ...]) -> dict[str, Any]:
        return {name: chosen[name] for name in names if chosen[name] is not None}

    if chosen["embedding"] is not None:
        from spamnb.embeddings import parse_embedding

        parse_embedding(chosen["embedding"])  # now, not when all the mail has been read
    try:
        tokens = Tokenizer(TokenOptions(**given(_OF_TOKENS))).options
    except ValueError as error:
        raise SpamnbError(str(error)) from None
    return Settings(**given(_OF_MODEL), tokens=tokens, loss=Loss(**given(_OF_LOSS)))
