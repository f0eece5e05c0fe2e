"""``spamnb merge``: add up models."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import FilePath, new_model_option, tell


@click.command("merge", short_help="Add up models.")
@click.argument("models", nargs=-1, required=True, type=FilePath(), metavar="MODEL...")
@new_model_option
@click.option("--force", is_flag=True, help="Replace an existing model.")
def merge_command(models: tuple[Path, ...], model: Path, force: bool) -> None:
    """Add up models with the same settings. The sum has the counts of a model that learned the mail of all models.

    A message that several models learned counts several times. The lessons that the models keep are kept in the sum,
    each once. Models with an embedding cannot be added up.

    \b
    Example:
      spamnb merge alice.spamnb bob.spamnb -m both.spamnb
    """
    from spamnb.shown_text import pluralize
    from spamnb.store.merging import merge_models
    from spamnb.store.snapshot import atomic_replace, read_snapshot, write_snapshot
    from spamnb.store.store import Store

    names, snapshots = [str(path) for path in models], []
    for path in models:
        with Store.open(path) as store:
            snapshots.append(read_snapshot(store))
    merged, duplicates = merge_models(snapshots, names)
    with atomic_replace(model, merged.model.meta, force=force) as store:
        write_snapshot(store, merged)
    messages = pluralize(merged.model.n_messages, "message")
    click.echo(f"{model}: {messages}, {pluralize(len(merged.block.tokens), 'token')}")
    if duplicates:
        tell(f"{pluralize(duplicates, 'message')} learned by several models count several times")
