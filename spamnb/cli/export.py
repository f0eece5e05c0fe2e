"""``spamnb export``: write a model as JSON lines."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, standard_output


@click.command("export", short_help="Write a model as JSON lines.")
@model_option
@click.option("--lessons", is_flag=True, help="Also write the lessons, and the origin of the model.")
def export_command(model: Path, lessons: bool) -> None:
    """Write a model to standard output as JSON lines, which 'spamnb import' reads. Equal models give equal lines.

    With --lessons, the lines also have the lessons that the model keeps, which are private mail, and the time, the
    command and the sources of the training.

    \b
    Example:
      spamnb export | gzip > model.jsonl.gz
    """
    from spamnb.store.jsonl import export
    from spamnb.store.store import Store

    out = standard_output()
    with Store.open(model) as store:
        for line in export(store, lessons):
            out.write(line + "\n")
