"""What the verbs are given: sources, and the settings of a model by name."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spamnb.settings import Settings

FilePath = str | os.PathLike[str]
Sources = FilePath | Sequence[FilePath]  # a SOURCE as on the command line, or several


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
    from spamnb.reader.message import Reader
    from spamnb.reader.options import TokenOptions
    from spamnb.setting_fields import settings_in
    from spamnb.settings import SETTINGS, Settings

    for name in chosen:
        if name not in SETTINGS:
            raise SpamnbError(f"no setting is called {name!r}; they are {', '.join(SETTINGS)}")

    def of(owner: type) -> dict[str, Any]:
        return {name: chosen[name] for name in settings_in(owner) if chosen.get(name) is not None}

    if chosen.get("embedding") is not None:
        from spamnb.learners.embeddings import parse_embedding

        parse_embedding(chosen["embedding"])
    tokens = Reader(TokenOptions(**of(TokenOptions))).options
    return Settings(**of(Settings), tokens=tokens, loss=Loss(**of(Loss)))


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
    """The path of a model's file."""
    return Path(model).expanduser()
