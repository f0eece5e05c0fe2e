"""What the verbs are given: sources, and the settings of a model by name."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypedDict

from spamnb.naming import SERVER_SCHEMES

if TYPE_CHECKING:
    from spamnb.settings import Settings

FilePath = str | os.PathLike[str]
Sources = FilePath | Sequence[FilePath]  # a SOURCE as on the command line, or several


class SettingsOptions(TypedDict, total=False):
    """The settings of a model under the names that they have on the command line; what is not given is as there.

    ``model_type``, ``alpha``, ``prior``, ``pooling``, ``top_words``, ``min_messages``, ``embedding`` and ``spam`` are
    as in ``Settings``, ``tokenizer`` to ``ignore_headers`` as in ``TokenOptions``, the last two as in ``Loss``.

    >>> import spamnb
    >>> chosen: spamnb.SettingsOptions = {"model_type": "multinomial", "ngrams": 1}
    >>> spamnb.evaluate("corpora/mail", folds=2, **chosen).settings.model_type
    'multinomial'
    """

    model_type: Literal[
        "corrected", "boolean", "multinomial", "bernoulli", "logistic", "gaussian", "lda", "qda"
    ]
    alpha: float
    prior: Literal["mle", "dirichlet", "map", "uniform"]
    pooling: Literal["mean", "sum"]
    top_words: int | None
    min_messages: int
    embedding: str | None
    spam: str
    tokenizer: Literal["own", "tweet", "treebank"]
    stem: str | None
    ngrams: int
    body_only: bool
    ignore_headers: Sequence[str]
    false_positive_cost: float
    unsure_cost: float | None


SETTINGS = tuple(SettingsOptions.__annotations__)


def settings_of(chosen: Mapping[str, Any]) -> Settings:
    """The settings that were chosen by name. Raises SpamnbError for a name that is none and a value that cannot be,
    also where it would only turn out when all the mail has been read.

    >>> settings_of({"alpha": 1, "ngrams": 1}).tokens.ngrams
    1
    >>> settings_of({"alhpa": 1})
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: no setting is called 'alhpa'; they are model_type, alpha, prior, ...
    """
    from spamnb.errors import SpamnbError
    from spamnb.formulas.decision import Loss
    from spamnb.settings import LOSS_SETTINGS, MODEL_SETTINGS, TOKEN_SETTINGS, Settings
    from spamnb.tokens.tokenizer import Tokenizer, TokenOptions

    for name in chosen:
        if name not in SETTINGS:
            raise SpamnbError(f"no setting is called {name!r}; they are {', '.join(SETTINGS)}")

    def of(names: Iterable[str]) -> dict[str, Any]:
        return {name: chosen[name] for name in names if chosen.get(name) is not None}

    model, tokens = of(MODEL_SETTINGS), of(TOKEN_SETTINGS)
    if "ignore_headers" in tokens:
        tokens["ignore_headers"] = _header_names(tokens["ignore_headers"])
    if "embedding" in model:
        from spamnb.learners.embeddings import parse_embedding

        parse_embedding(model["embedding"])
    try:
        options = Tokenizer(TokenOptions(**tokens)).options
        return Settings(**model, tokens=options, loss=Loss(**of(LOSS_SETTINGS)))
    except (ValueError, TypeError) as error:
        raise SpamnbError(f"{error}") from None


def _header_names(given: Sequence[str]) -> tuple[str, ...]:
    from spamnb.errors import SpamnbError

    names = (given,) if isinstance(given, str) else tuple(given)
    for name in names:
        if ":" in name or " " in name:
            raise SpamnbError(f"ignore_headers has {name!r}: a header's name has neither colon nor space")
    return names


def check_least(least: float, **given: float | None) -> None:
    """SpamnbError where one of the numbers is below ``least``; None is none.

    >>> check_least(1, workers=2, top=0)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: top is 0: at least 1 is needed
    """
    from spamnb.errors import SpamnbError

    for name, value in given.items():
        if value is not None and not value >= least:
            raise SpamnbError(f"{name} is {value:g}: at least {least:g} is needed")


def specs_of(sources: Sources) -> list[str]:
    """Each SOURCE as text. SpamnbError where there is none.

    >>> import pathlib
    >>> specs_of(pathlib.Path("mail")), specs_of(["ham=in", "spam=junk"])
    (['mail'], ['ham=in', 'spam=junk'])
    """
    from spamnb.errors import SpamnbError

    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    if not given:
        raise SpamnbError("no SOURCE: give a folder, a file, or several as a list")
    return [os.fspath(each) for each in given]


def model_path(model: FilePath) -> Path:
    """The path of a model's file, or the name of one on a server."""
    if str(model).startswith(SERVER_SCHEMES):
        from spamnb.store.server_name import ServerModel

        return ServerModel(str(model))
    return Path(model).expanduser()
