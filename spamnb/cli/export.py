"""``spamnb export``: the model as JSON lines."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import ModelPath, model_option, standard_output


@click.command("export", short_help="Write the model as lines of JSON.")
@model_option
@click.option(
    "--lessons", is_flag=True, help="Also the messages taught one by one that the model keeps: private mail, whole."
)
@click.option(
    "--since",
    type=ModelPath(),
    metavar="MODEL",
    help="Only what was learned and forgotten since the model was this one, a copy of that time: the words of each such"
    " message, as private as the mail.",
)
def export_command(model: Path, lessons: bool, since: Path | None) -> None:
    """Write the model to standard output as lines of JSON: the same lines for the same sums.

    With --lessons they hold the messages that were taught one by one, and when and of what the model was trained;
    'spamnb import' takes them over.

    With --since they hold what another copy of the same model has to be told: 'spamnb import' there adds it.

    \b
    Examples:
      spamnb export | gzip > model.jsonl.gz
      spamnb export --since sunday.spamnb | ssh other.example.org spamnb import
    """
    from spamnb.store.jsonl import export
    from spamnb.store.store import open_store

    if since is not None and lessons:
        raise click.UsageError("--since gives the words of messages and --lessons whole ones; give one of the two")
    out = standard_output()
    if since is not None:
        from spamnb.api.exchange import learned_since
        from spamnb.store.delta_lines import delta_lines

        for line in delta_lines(learned_since(model, since)):
            out.write(line + "\n")
        return
    with open_store(model) as store:
        for line in export(store, lessons):
            out.write(line + "\n")
