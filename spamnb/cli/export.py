"""``spamnb export``: the model as JSON lines."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, standard_output


@click.command("export", short_help="Write the model as lines of JSON.")
@model_option
@click.option(
    "--lessons", is_flag=True, help="Also write the taught messages that the model keeps. They are private mail."
)
def export_command(model: Path, lessons: bool) -> None:
    """Write the model to standard output as lines of JSON. Equal models give equal lines.

    With --lessons the command also writes the messages that were taught one by one, and the time and the sources of
    training. 'spamnb import' reads all of these lines.

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
