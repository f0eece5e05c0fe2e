"""The starter: a small model of public mail, to which a person's own messages are added from the first one on.

docs/starter.md says what is in it. scripts/build_starter.py makes the export that is read here. The model file of the
starter lies beside the person's model, and is made again from the export if it is missing.
"""

from __future__ import annotations

import contextlib
import lzma
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from spamnb.errors import ArgumentError, ModelExists, SpamnbError
from spamnb.reader.rows import Rows
from spamnb.settings import COST_SETTINGS, TOKENS_VERSION, Settings
from spamnb.store.jsonl import parse_export
from spamnb.store.snapshot import atomic_replace, create_empty, write_snapshot
from spamnb.store.store import Store

EXPORT = Path(__file__).with_name("starter.jsonl.xz")
NAME = "starter.spamnb"  # of its model file, beside the model that adds to it
CLASSES = {"ham", "spam"}


def write_starter(path: Path) -> None:
    """Write the starter as a model file, unless there is one. Replace a starter of another version of spamnb."""
    is_old = False
    if path.exists():
        with Store.open(path) as store:
            is_old = store.own.is_starter and store.own.meta.get("tokens_version") != TOKENS_VERSION
        if not is_old:
            return
    with lzma.open(EXPORT, "rt", encoding="utf-8") as lines:
        starter = parse_export(lines, str(EXPORT))
    if starter.model.meta["tokens_version"] != TOKENS_VERSION:
        raise SpamnbError(
            f"{EXPORT}: the starter has tokens of another version of spamnb; 'python scripts/build_starter.py' makes it"
            " again, --no-starter does without"
        )
    try:
        with contextlib.suppress(ModelExists), atomic_replace(path, starter.model.meta, force=is_old) as store:
            write_snapshot(store, starter)
    except SpamnbError as error:
        problem = "{error}; the starter is needed there, because the model beside it adds to it"
        raise ArgumentError(problem, error=error.args[0]) from None


def addition_to_starter(model: Path, settings: Settings) -> dict[str, Any]:
    """Return the settings of a new model file at ``model`` that adds to the starter beside it."""
    starter = model.parent / NAME
    write_starter(starter)
    with Store.open(starter) as store:
        addition = store.addition(model)
        chosen = {name: value for name, value in settings.as_meta().items() if value != store.model.meta.get(name)}
    return {**chosen, **addition}


def create_beside_starter(model: Path) -> None:
    """Make a model without messages that adds to the starter, unless there is a model."""
    create_empty(model, addition_to_starter(model, Settings()))


def fits_starter(settings: Settings, classes: Iterable[str], messages: Rows) -> bool:
    """Return whether a model with these settings and classes can add to the starter, and these messages are mail.

    >>> mail = Rows.of([{"header:subject": 1, "tea": 1}])
    >>> [fits_starter(Settings(), classes, mail) for classes in (["ham"], ["ham", "news"])]
    [True, False]
    >>> fits_starter(Settings(stem="english"), ["ham"], mail), fits_starter(Settings(), ["ham"], Rows.of([{"tea": 1}]))
    (False, False)
    """
    default = Settings().to_dict()
    is_default = all(value == default[name] for name, value in settings.to_dict().items() if name not in COST_SETTINGS)
    return is_default and {*classes} <= CLASSES and messages.are_mail
