"""``spamnb upgrade``: train a model again if its tokens are of an older version of spamnb."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.options import (
    SOURCE,
    format_command_line,
    model_option,
    models_option,
    source_options,
    tell,
    workers_option,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from spamnb.sources.entries import ReadOptions

# The share of a class's messages that may be missing, because a person deletes mail. If more are missing, a folder was
# probably renamed.
MAX_MISSING_SHARE = 0.1


@click.command("upgrade", short_help="Train a model of an older version again.")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@source_options
@model_option
@models_option
@click.option("--incomplete", is_flag=True, help="Continue even if messages of the model are missing.")
@workers_option
def upgrade_command(
    sources: tuple[str, ...],
    model: Path,
    models: Path | None,
    incomplete: bool,
    workers: int | None,
    **read_options: Any,
) -> None:
    """Train a model of an older version of spamnb again, with the same settings.

    The new model learns the messages of the SOURCEs and the lessons that the old model keeps. Without SOURCE, it
    learns the sources from which the old model was trained. The old model stays until the new one is ready. If more
    than a tenth of the messages of a class are missing, the command stops, unless you give --incomplete.

    A model that adds to another model is trained on its own lessons. Upgrade the other model first. With
    --models, the models of all users are upgraded too.

    \b
    Example:
      spamnb upgrade --recursive ham=~/Maildir spam=~/Maildir/.Junk
    """
    _upgrade_model(sources, model, incomplete, workers, read_options)
    if models is not None:
        _upgrade_users(models, incomplete)


def _upgrade_users(folder: Path, incomplete: bool) -> None:
    """Upgrade the model of each user in a folder. Exit with status 1 at the end if an upgrade failed."""
    from spamnb.errors import SpamnbError
    from spamnb.user_models import SUFFIX

    n_failed = 0
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            _upgrade_model((), path, incomplete, None, {})
        except SpamnbError as error:
            tell(str(error))
            n_failed += 1
    if n_failed:
        raise SystemExit(1)


def _upgrade_model(
    sources: tuple[str, ...], model: Path, incomplete: bool, workers: int | None, read_options: dict[str, Any]
) -> None:
    from spamnb.api.arguments import handle_end_signals
    from spamnb.api.replaced_model import ReplacedModel, retrain_on_lessons
    from spamnb.api.train import Training
    from spamnb.errors import SpamnbError, reason
    from spamnb.model.model import STARTER
    from spamnb.settings import TOKENS_VERSION, Settings
    from spamnb.shown_text import escape, pluralize
    from spamnb.sources.entries import ReadOptions, SkippedMessages
    from spamnb.store.old_models import readable_model
    from spamnb.store.starter import write_starter
    from spamnb.store.store import Store

    with readable_model(model) as readable, Store.open(readable) as store, store.reading():
        meta, totals = store.own.meta, store.own.totals
        shared_meta = store.shared.own.meta if store.shared is not None else None
        shared_path = Path(store.shared.file) if store.shared is not None else None
        is_stale = readable != model or not store.adds_up
    if shared_path and shared_meta and shared_meta.get("tokens_version") != TOKENS_VERSION and shared_meta.get(STARTER):
        write_starter(shared_path)
        is_stale = True
    if shared_path is not None and "trained_from" not in meta:
        if is_stale:
            count = retrain_on_lessons(model, incomplete, lambda name, error: tell(f"{name}: {reason(error)}"))
            click.echo(f"{model}: trained again on {pluralize(count, 'lesson')} that it keeps")
        else:
            click.echo(f"{model}: nothing to do: it has the same tokens as the model to which it adds")
        return
    settings = Settings.from_meta({**(shared_meta or {}), **meta}, str(model), any_tokens=True)
    if meta.get("tokens_version") == TOKENS_VERSION and not is_stale:
        click.echo(f"{model}: nothing to do: its tokens are of this version of spamnb")
        return
    options = ReadOptions(**read_options)
    n_old_messages = totals.messages
    paths = list(sources)
    if not sources:
        paths, options = _readable_sources(meta, str(model))

    def check_is_complete(n_messages: Mapping[str, int]) -> None:
        """Raise SpamnbError if too many messages of the old model are neither in the sources nor kept in the model."""
        n_missing = {name: n - n_messages.get(name, 0) for name, n in n_old_messages.items()}
        n_missing = {name: n for name, n in n_missing.items() if n > 0}
        summary = ", ".join(f"{n:,} of {n_old_messages[name]:,} of class {name!r}" for name, n in n_missing.items())
        if not incomplete and any(n > MAX_MISSING_SHARE * n_old_messages[name] for name, n in n_missing.items()):
            raise SpamnbError(
                f"{model}: not changed, because messages are missing ({summary}): they are neither in the sources nor"
                " in the model; run 'spamnb upgrade SOURCE...' with their present folders, or give --incomplete"
            )
        if n_missing:
            tell(f"missing in the new model: {summary}")

    one_class = shared_path is None  # a model that adds to the starter may add to it again
    training = Training(
        model, paths, settings, options, tell, format_command_line(), workers, None, True, one_class, progress=True
    )
    with handle_end_signals(), ReplacedModel.open(model, SkippedMessages(tell)) as replaced:
        if not (paths or replaced.has_lessons):
            problem = (
                "there is no mail that it learned, because it names no source that can be read and keeps no lessons"
            )
            raise SpamnbError(f"{model}: {problem}; run 'spamnb upgrade SOURCE...'")
        if not sources:
            tell(f"training {model} again from {', '.join(map(escape, paths)) or 'the lessons that it keeps'}")
        report = training.run(replaced, check_is_complete)
    click.echo(str(report))


def _readable_sources(meta: dict[str, Any], path: str) -> tuple[list[str], ReadOptions]:
    """Return the sources of the training that can be read, and their read options.

    The errors of the other sources are printed.
    """
    from spamnb.errors import SpamnbError, in_options
    from spamnb.shown_text import escape
    from spamnb.sources.entries import ReadOptions
    from spamnb.sources.spec import find_labelled_entries, is_account

    sources = meta.get("trained_from", [])
    is_valid = isinstance(sources, list) and all(isinstance(source, str) for source in sources)
    try:
        options = ReadOptions(**meta.get("read_options", {}))
    except (TypeError, SpamnbError):  # no dictionary, another name, or a value of another type
        is_valid = False
    if not is_valid:
        raise SpamnbError(f"{path}: its list of sources cannot be read; name them: 'spamnb upgrade SOURCE...'")
    readable = []
    for source in sources:
        if is_account(source.partition("=")[2]):  # a hostile model could name a server that steals the password
            tell(f"{escape(source)}: left out, because it is an account; to read it, name it on the command line")
            continue
        try:
            first = next(iter(find_labelled_entries([source], lambda name, error: None, options)), None)
        except SpamnbError as error:
            tell(in_options(error))
        else:
            if first is None:
                tell(f"{escape(source)}: no message; left out")
            else:
                readable.append(source)
    return readable, options
