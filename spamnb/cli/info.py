"""``spamnb info``: describe a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from spamnb.cli.options import format_option, model_option
from spamnb.shown_text import escape

MAX_SOURCES = 8  # sources that are printed, because a shell can expand a pattern into thousands
MAX_LINE = 400  # characters of a printed command line or source, for the same reason


@click.command("info", short_help="Describe a model.")
@model_option
@format_option("text", "json")
def info_command(model: Path, output_format: str) -> None:
    """Print the size of a model, its sources, its numbers of messages, and the settings that are not the defaults.

    With --format json all settings are printed.

    \b
    Example:
      spamnb info --format json
    """
    from spamnb.settings import ORIGIN, SETTINGS, Settings
    from spamnb.settings import origin as origin_of
    from spamnb.shown_text import escape_json, pluralize
    from spamnb.store.lessons import count_lessons, count_unkept_lessons, is_public, measure_lessons
    from spamnb.store.snapshot import is_restorable, previous_model
    from spamnb.store.store import Store

    with Store.open(model) as store, store.reading():
        shared, meta = store.shared, store.model.meta
        totals, others = store.own.totals, shared.own.totals if shared else None
        weight = (shared or store).own.weigh_lessons(store.own)
        storage, n_unkept, is_file_public = measure_lessons(store), count_unkept_lessons(store), is_public(store)
        origin, n_learned, size = origin_of(store.own.meta), count_lessons(store), store.size()
        has_starter = store.starter is not None
    n_messages, n_shared = totals.messages, others.messages if others else {}
    settings = {key: value for key, value in sorted(meta.items()) if key not in ("vocabulary_size", *ORIGIN)}
    if output_format == "json":
        lessons = {"learned": sum(n_learned.values()), "learned_by_class": n_learned}
        lessons |= {"kept": storage.messages, "not_kept": n_unkept}
        lessons |= {"bytes": storage.bytes, "bound": storage.bound}
        facts = {"model": str(model), "bytes": size, "messages": n_messages, "tokens": totals.vocabulary_size}
        if shared and others:
            facts["adds_to"] = {"model": shared.path, "messages": n_shared, "tokens": others.vocabulary_size}
        facts |= {"settings": settings, "lessons": lessons, "origin": origin}
        click.echo(escape_json(facts))
        return
    values, defaults = Settings.from_meta(meta, str(model), any_tokens=True).to_dict(), Settings().to_dict()
    click.echo(f"{model}: {size / 1e6:.1f} MB, {pluralize(totals.vocabulary_size, 'token')}")
    if shared and has_starter:
        share = pluralize(round(sum(n_shared.values()) / weight), "own message")
        click.echo(f"  adds to: the starter, {escape(shared.path)}, which counts as {share}")
    elif shared:
        click.echo(f"  adds to: {escape(shared.path)}; a lesson counts as {pluralize(weight, 'message')} there")
    if (previous := previous_model(model)).exists():
        use = "which 'spamnb undo' puts back" if is_restorable(model) else "a model of an older version of spamnb"
        click.echo(f"  replaced: {escape(str(previous))}, {use}")
    for line in _format_origin(origin):
        click.echo(escape(line))
    for name in sorted({*n_messages, *n_shared}):
        line = f"  {name}: {pluralize(n_messages.get(name, 0), 'message')}"
        line += f"; lessons: {n_learned[name]:,}" if name in n_learned else ""
        line += f"; of the other model: {n_shared[name]:,}" if name in n_shared else ""
        click.echo(line)
    if storage.messages or n_unkept:
        line = f"  kept lessons: {storage.messages:,}, {storage.bytes / 1e6:.1f} of at most {storage.bound / 1e6:g} MB"
        if n_unkept:
            line += f"; {pluralize(n_unkept, 'lesson')} not kept"
        if is_file_public and storage.bound:
            line += "; no more are kept, because everybody can read the file"
        click.echo(line)
    for name, value in values.items():
        if value != defaults[name]:
            click.echo(f"  {name}: {escape(SETTINGS[name].format(value))}")


def _format_origin(origin: Mapping[str, Any]) -> list[str]:
    """Return lines with the time, the command and the sources of the training."""
    lines = []
    if "trained_at" in origin:
        lines.append(f"  trained: {str(origin['trained_at']).replace('T', ' ', 1)}")
    if "command" in origin:
        lines.append(f"  by: {origin['command']}")
    sources = origin.get("trained_from", [])
    sources = sources if isinstance(sources, list) else [sources]
    lines += [f"  from: {source}" for source in sources[:MAX_SOURCES]]
    if len(sources) > MAX_SOURCES:
        lines.append(f"  … and from {len(sources) - MAX_SOURCES:,} more")
    return [line if len(line) <= MAX_LINE else line[: MAX_LINE - 1] + "…" for line in lines]
