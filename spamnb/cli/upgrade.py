"""``spamnb upgrade``: train a model again whose tokens are of an older version."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.options import (
    SOURCE,
    command_line,
    model_option,
    models_option,
    source_options,
    tell,
    tell_of_ours,
    workers_option,
)

if TYPE_CHECKING:
    from spamnb.api.relearning import Relearning
    from spamnb.counts.training_set import TrainingSet
    from spamnb.sources.entries import ReadOptions

MAX_LOSS = 0.1  # share of a class's messages that may be missing: a person deletes some, but more is a missing folder


@click.command("upgrade", short_help="Make a model of an older version again.")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@source_options
@model_option
@models_option
@click.option("--incomplete", is_flag=True, help="Go on even if messages that the model learned can no longer be read.")
@workers_option
def upgrade_command(
    sources: tuple[str, ...],
    model: Path,
    models: Path | None,
    incomplete: bool,
    workers: int | None,
    **read_options: Any,
) -> None:
    """Train a model of an older spamnb again, with its settings, from the SOURCEs and the messages that it keeps.

    Without SOURCE, it reads the sources that the model was trained from. A model that adds to another learns the
    messages again that it keeps; upgrade it after that one. With --models, this is done for the model of each user.

    The old model stays until the new one is ready. If more than a tenth of the messages of a class can no longer be
    read, nothing changes, unless you give --incomplete.

    \b
    Example:
      spamnb upgrade ham=~/Maildir/cur spam=~/Maildir/.Junk
    """
    _upgrade_model(sources, model, incomplete, workers, read_options)
    if models is not None:
        _upgrade_users(models, incomplete)


def _upgrade_users(folder: Path, incomplete: bool) -> None:
    """Upgrade the model of each user in a folder. The command ends with 1 if one of them fails; the others go on."""
    from spamnb.errors import SpamnbError
    from spamnb.serve.users import SUFFIX

    n_failed = 0
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            _upgrade_model((), path, incomplete, None, {})
        except SpamnbError as error:
            tell_of_ours(str(error))
            n_failed += 1
    if n_failed:
        raise SystemExit(1)


def _upgrade_model(
    sources: tuple[str, ...], model: Path, incomplete: bool, workers: int | None, read_options: dict[str, Any]
) -> None:
    from spamnb.api.relearning import relearn
    from spamnb.api.train import Training
    from spamnb.errors import SpamnbError, reason
    from spamnb.reader.options import TOKENS_VERSION
    from spamnb.settings import Settings
    from spamnb.shown_text import escape, pluralize
    from spamnb.sources.entries import ReadOptions
    from spamnb.store.store import Store

    with Store.open(model) as store, store.reading():
        meta, totals = store.state.meta, store.state.totals
        has_base, is_stale = store.base is not None, not store.adds_up
    if has_base:
        if is_stale:
            count = relearn(model, incomplete, lambda name, error: tell_of_ours(f"{name}: {reason(error)}"))
            click.echo(f"{model}: made again of {pluralize(count, 'message')} that it was taught")
        else:
            click.echo(f"{model}: its tokens are those of the model to which it adds; nothing to do")
        return
    settings = Settings.from_meta(meta, str(model), any_tokens=True)
    if meta.get("tokens_version") == TOKENS_VERSION:
        click.echo(f"{model}: its tokens are those of this spamnb; nothing to do")
        return
    options = ReadOptions(**read_options)
    learned = dict(zip(totals.classes, totals.documents.tolist()))
    paths = list(sources)
    if not sources:
        paths, options = _recorded_sources(meta, str(model))
        tell(f"spamnb: training {model} again from {', '.join(map(escape, paths)) or 'the messages that it keeps'}")

    def check(training_set: TrainingSet, relearning: Relearning) -> None:
        import numpy as np

        messages, lessons = training_set.messages, relearning.stored_digests()
        available = {}
        for number, name in enumerate(training_set.counts.classes):
            both = messages.digests[messages.labels == number], lessons.pop(name, np.zeros((0, 16), np.uint8))
            available[name] = len(np.unique(np.concatenate(both), axis=0))
        available |= {name: len(digests) for name, digests in lessons.items()}
        lost = {name: n - available.get(name, 0) for name, n in learned.items() if available.get(name, 0) < n}
        missing = ", ".join(f"{n:,} of {learned[name]:,} of class {name!r}" for name, n in lost.items())
        if not incomplete and any(n > MAX_LOSS * learned[name] for name, n in lost.items()):
            raise SpamnbError(
                f"{model}: nothing changed: messages that it learned are neither in the sources nor kept in the model"
                f" ({missing}); 'spamnb upgrade SOURCE...' names where they are now, --incomplete goes on without them"
            )
        if lost:
            tell(f"spamnb: no longer there, and not in the new model: {missing}")

    training = Training(
        model,
        paths,
        settings,
        options,
        tell_of_ours,
        command_line(),
        workers,
        force=True,
        one_class=True,
        progress=True,
    )
    click.echo(str(training.run(check)))


def _recorded_sources(meta: dict[str, Any], path: str) -> tuple[list[str], ReadOptions]:
    """Return the readable sources of those that the model was trained from, and the options with which they were read.

    An error is printed for each source that cannot be read.
    """
    from spamnb.errors import SpamnbError, in_options
    from spamnb.shown_text import escape
    from spamnb.sources.entries import ReadOptions
    from spamnb.sources.spec import find_labelled_entries, is_account

    sources, read_options = meta.get("trained_from", []), meta.get("read_options", {})
    kinds: dict[str, Any] = {"recursive": bool, "text_column": (str, type(None)), "label_column": (str, type(None))}
    if (
        not isinstance(sources, list)
        or not all(isinstance(source, str) for source in sources)
        or not isinstance(read_options, dict)
        or not all(name in kinds and isinstance(value, kinds[name]) for name, value in read_options.items())
    ):
        raise SpamnbError(f"{path}: what it says of its sources cannot be read; name them: 'spamnb upgrade SOURCE...'")
    options = ReadOptions(**read_options)
    readable = []
    for source in sources:
        if is_account(source.partition("=")[2]):  # a model of unknown origin could send a password to its own server
            tell_of_ours(f"{escape(source)}: an account, which is entered only when it is named")
            continue
        try:
            next(iter(find_labelled_entries([source], lambda name, error: None, options)), None)
        except SpamnbError as error:
            tell_of_ours(in_options(error))
        else:
            readable.append(source)
    return readable, options
