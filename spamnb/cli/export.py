"""``spamnb export``: the model as JSON lines."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, standard_output


@click.command("export", short_help="Write the model as lines of JSON.")
@model_option
def export_command(model: Path) -> None:
    """Write the model to standard output as lines of JSON: the same lines for the same sums.

    \b
    Example:
      spamnb export | gzip > model.jsonl.gz
    """
    from spamnb.store.jsonl import export
    from spamnb.store.store import Store

    out = standard_output()
    with Store.open(model) as store:
        for line in export(store):
            out.write(line + "\n")
