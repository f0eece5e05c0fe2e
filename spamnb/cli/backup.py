"""``spamnb backup``: copy a model that is in use."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import NewFile, model_option


@click.command("backup", short_help="Copy a model that is in use.")
@click.argument("copy", type=NewFile())
@model_option
def backup_command(copy: Path, model: Path) -> None:
    """Copy a model to the new file COPY, with all that it has learned, while other programs use it.

    'cp' would leave out the last lessons, which are in a log beside the model.

    \b
    Example:
      spamnb backup model-2026-11-29.spamnb
    """
    from spamnb.store.snapshot import copy_model

    click.echo(f"{copy}: {copy_model(model, copy):,} bytes")
