"""Options that say what kind of model to make: one set for every command that makes one."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, cast

import click

from spamnb.cli.options import on_command_line

if TYPE_CHECKING:
    from spamnb.api.options import SettingsOptions

_OPTIONS = (
    click.option(
        "--model-type",
        type=click.Choice(
            ["corrected", "boolean", "multinomial", "bernoulli", "logistic", "gaussian", "lda", "qda"]
        ),
        help="Naive Bayes on which tokens occur, corrected where it errs (corrected) or as it is (boolean), on how"
        " often they occur (multinomial), or on which occur and which do not (bernoulli); logistic regression; Gaussian"
        " classes of embedded messages."
        "  [default: corrected; with --pooling sum boolean]",
    ),
    click.option("--alpha", type=float, help="Smoothing pseudo-count of naive Bayes (Laplace: 1).  [default: 0.1]"),
    click.option(
        "--prior",
        type=click.Choice(["mle", "dirichlet", "map", "uniform"]),
        default="mle",
        show_default=True,
        help="Class priors of the model's own posterior: as in training (mle, map), with one imagined message more in"
        " each class (dirichlet), or equal (uniform). Calibrated probabilities go by the mail that was learned.",
    ),
    click.option(
        "--pooling",
        type=click.Choice(["mean", "sum"]),
        help="How the tokens' evidence becomes one score: a mean weighted by how much each tells, or the sum of"
        " textbook naive Bayes.  [default: mean]",
    ),
    click.option(
        "--top-words",
        type=click.IntRange(min=1),
        help="Keep only this many tokens, those with the highest mutual information.  [default: all]",
    ),
    click.option(
        "--min-messages",
        type=click.IntRange(1, 1000),
        metavar="K",
        help="Leave out tokens that fewer messages hold: 2 makes a model a third as large and costs a quarter to a half"
        " more errors on 5,000 to 25,000 messages.  [default: 1]",
    ),
    click.option(
        "--embedding",
        metavar="HOW",
        help="Dense vectors for gaussian, lda and qda (by default lsa:100) or logistic: lsa:DIMENSIONS, vectors:FILE or"
        " model:DIRECTORY.",
    ),
    click.option("--spam", metavar="CLASS", default="spam", show_default=True, help="The class that is spam."),
    click.option(
        "--false-positive-cost",
        type=float,
        help="How much worse losing a good message is than letting spam through.  [default: 9]",
    ),
    click.option(
        "--unsure-cost",
        type=float,
        help="Cost of the verdict 'unsure' where a spam let through costs 1; without it every message gets a class.",
    ),
    click.option(
        "--tokenizer",
        type=click.Choice(["own", "tweet", "treebank"]),
        default="own",
        show_default=True,
        help="What cuts text into words: spamnb or one of nltk's tokenizers.",
    ),
    click.option("--stem", metavar="LANGUAGE", help="Stem words with nltk's Snowball stemmer, e.g. english."),
    click.option(
        "--ngrams",
        type=click.IntRange(1, 5),
        help="Longest run of words, of a text's first 75, that is one token.  [default: 2]",
    ),
    click.option("--body-only", is_flag=True, help="The text of the body alone: no headers, links or parts."),
    click.option(
        "--ignore-header",
        "ignore_headers",
        multiple=True,
        metavar="NAME",
        default=("newsgroups", "xref", "path"),
        show_default=True,
        help="Leave this header out of the evidence, as one that leaks a newsgroup's name; may be repeated.",
    ),
)


def settings_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options; the command gets what was chosen of them as one argument ``settings``."""

    @wraps(command)
    def with_settings(*args: Any, **given: Any) -> Any:
        settings = _taken(given)
        return command(*args, settings=settings, **given)

    for option in reversed(_OPTIONS):
        with_settings = option(with_settings)
    return with_settings


def settings_given() -> list[str]:
    """Those of the options that stand on the command line."""
    from spamnb.api.options import SETTINGS

    params = click.get_current_context().command.params
    return [option.opts[0] for option in params if option.name in SETTINGS and on_command_line(option.name)]


def _taken(given: dict[str, Any]) -> SettingsOptions:
    """The settings, taken out of what the command was given; what was not chosen is as the settings have it."""
    from spamnb.api.options import SETTINGS, settings_of
    from spamnb.settings import COUNT_MODELS, VECTOR_MODELS, default_model_type

    kind, bayes = given["model_type"] or default_model_type(given["pooling"]), ("corrected", *COUNT_MODELS)
    for name, models in {"alpha": bayes, "prior": (*bayes, *VECTOR_MODELS), "pooling": COUNT_MODELS}.items():
        if kind not in models and on_command_line(name):
            raise click.UsageError(f"--{name} changes nothing in a {kind} model; it is for {', '.join(models)}")
    for name in given["ignore_headers"]:
        if ":" in name or " " in name:
            raise click.UsageError(f"--ignore-header {name!r}: a header's name has neither colon nor space")
    chosen = {name: value for name in SETTINGS if (value := given.pop(name)) is not None}
    settings_of(chosen)  # what cannot be is told now, not when all the mail has been read
    return cast("SettingsOptions", chosen)
