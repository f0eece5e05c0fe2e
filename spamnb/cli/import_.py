"""``spamnb import``: a model from the JSON lines of ``spamnb export``."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TextIO

import click

from spamnb.cli.options import model_option
from spamnb.errors import SpamnbError


class Lines(click.File):
    """A file of text or standard input, which click takes to be open."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "-" and sys.stdin is None:
            raise SpamnbError("standard input is closed; give a FILE, or < model.jsonl")
        try:
            return super().convert(value, param, ctx)
        except click.BadParameter as error:  # what is wrong is the file and not how the command is used
            raise SpamnbError(error.message) from None


@click.command("import", short_help="Make a model from what export wrote.")
@click.argument("file", type=Lines("r", encoding="utf-8"), default="-")
@model_option
@click.option("--force", is_flag=True, help="Replace the model that is there.")
def import_command(file: TextIO, model: Path, force: bool) -> None:
    """Make a model from what 'spamnb export' wrote, with the lessons that 'export --lessons' wrote; without FILE, from
    standard input.

    What 'spamnb export --since' wrote is added to the model that is there, a copy of the same base: each message once,
    however often it is told and whoever learned it. Others may use the model meanwhile.

    \b
    Examples:
      gunzip -c model.jsonl.gz | spamnb import -m copy.spamnb
      ssh other.example.org spamnb export --since sunday.spamnb | spamnb import
    """
    from itertools import chain

    from spamnb.store.delta_lines import is_delta

    try:
        first = file.readline()
    except UnicodeDecodeError:
        raise SpamnbError(f"{file.name}: {_NO_TEXT}") from None
    lines = chain([first] if first else [], file)
    (_add_to_model if is_delta(first) else _make_model)(lines, file.name, model, force)


_NO_TEXT = "not text; 'spamnb export' writes what can be imported"


def _add_to_model(lines: Iterable[str], name: str, model: Path, force: bool) -> None:
    """Add to a model what another learned."""
    from spamnb.api.exchange import take_in
    from spamnb.classifier import Classifier
    from spamnb.naming import pluralize
    from spamnb.store.delta_lines import parse_delta

    if force:
        raise click.UsageError("--force replaces a model, and what 'export --since' wrote is added to one")
    try:
        delta = parse_delta(lines, name)
    except UnicodeDecodeError:
        raise SpamnbError(f"{name}: {_NO_TEXT}") from None
    with Classifier.open(model, writable=True) as classifier:
        taken = take_in(classifier, delta, name)
    done = [f"{did} {pluralize(n, 'message')}" for did, n in (("learned", taken.learned), ("moved", taken.moved)) if n]
    done += [f"forgot {pluralize(taken.forgotten, 'message')}"] if taken.forgotten else []
    known = [f"{pluralize(taken.known, 'message')} known already"] if taken.known else []
    click.echo(f"{model}: {', '.join([*done, *known]) or 'nothing new'}")


def _make_model(lines: Iterable[str], name: str, model: Path, force: bool) -> None:
    """Make a model of the lines of a whole one."""
    from spamnb.classifier import Classifier
    from spamnb.naming import pluralize
    from spamnb.store.jsonl import parse_export
    from spamnb.store.snapshot import atomic_replace, read_snapshot, write_snapshot
    from spamnb.tokens.tokenizer import TOKENS_VERSION

    try:
        snapshot = parse_export(lines, name)
    except UnicodeDecodeError:
        raise SpamnbError(f"{name}: {_NO_TEXT}") from None
    made = snapshot.meta.get("tokens_version")
    if made != TOKENS_VERSION:
        raise SpamnbError(
            f"{name}: exported with tokens of version {str(made)[:20]}, this spamnb makes version"
            f" {TOKENS_VERSION}; train again, or export what 'spamnb upgrade' makes of its model"
        )
    with atomic_replace(model, snapshot.meta, force=force) as store:
        write_snapshot(store, snapshot)
        # What cannot be read again must not take the place of a model that can.
        store.path = name
        read_snapshot(store)
        Classifier(store)
    messages = pluralize(int(snapshot.counts.documents.sum()), "message")
    click.echo(f"{model}: {messages}, {pluralize(len(snapshot.tokens), 'token')}")
