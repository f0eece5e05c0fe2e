"""``spamnb import``: make a model from the JSON lines that ``spamnb export`` wrote."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from spamnb.cli.options import SOURCE, new_model_option
from spamnb.errors import SpamnbError


@click.command("import", short_help="Make a model from JSON lines.")
@click.argument("file", type=SOURCE, default="-")
@new_model_option
@click.option("--force", is_flag=True, help="Replace an existing model.")
def import_command(file: str, model: Path, force: bool) -> None:
    """Make a model from the JSON lines that 'spamnb export' wrote. Without FILE, read standard input.

    \b
    Example:
      gunzip -c model.jsonl.gz | spamnb import -m copy.spamnb
    """
    from spamnb.filter import Classifier
    from spamnb.settings import TOKENS_VERSION
    from spamnb.shown_text import pluralize
    from spamnb.store.jsonl import parse_export
    from spamnb.store.snapshot import atomic_replace, read_snapshot, write_snapshot

    if file == "-" and sys.stdin is None:
        raise SpamnbError("standard input is closed; name a FILE, or redirect one with '< model.jsonl'")
    name = "standard input" if file == "-" else file
    try:
        with click.open_file(file, encoding="utf-8") as lines:
            snapshot = parse_export(lines, name)
    except UnicodeDecodeError:
        raise SpamnbError(f"{name}: not an exported model; name a file that 'spamnb export' wrote") from None
    version = snapshot.model.meta.get("tokens_version")
    if version != TOKENS_VERSION:
        raise SpamnbError(
            f"{name}: its tokens are of version {str(version)[:20]}, but this spamnb has version {TOKENS_VERSION};"
            " run 'spamnb upgrade' on the exported model, and export it again"
        )
    with atomic_replace(model, snapshot.model.meta, force=force) as store:
        write_snapshot(store, snapshot)
        # Read the new file before it replaces the old one: a damaged export raises SpamnbError here.
        store.path = name
        read_snapshot(store)
        Classifier(store)
    messages = pluralize(snapshot.model.n_messages, "message")
    click.echo(f"{model}: {messages}, {pluralize(len(snapshot.block.tokens), 'token')}")
