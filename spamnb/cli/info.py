"""``spamnb info``: describe a model and what it has learned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from spamnb.cli.options import format_option, model_option
from spamnb.shown_text import escape

MAX_SOURCES = 8  # sources that are listed: a shell may have expanded a pattern into thousands
MAX_TEXT = 400  # characters of a command line


@click.command("info", short_help="Describe the model and what it has learned.")
@model_option
@format_option("text", "json")
def info_command(model: Path, form: str) -> None:
    """Print the size of the model, its training, its learned messages, and the settings that are not the defaults.

    --format json prints all settings.

    \b
    Example:
      spamnb info --format json
    """
    from spamnb.settings import SETTINGS, Settings
    from spamnb.settings import origin as origin_of
    from spamnb.shown_text import escape_json, pluralize
    from spamnb.store.store import Store
    from spamnb.store.stored_messages import count_learned, count_not_stored, is_public, measure_stored

    with Store.open(model) as store, store.reading():
        base, meta = store.base, store.meta()
        totals, weight = (base or store).totals(), (base or store).state.learned_message_weight
        stored, not_stored, public = measure_stored(store), count_not_stored(store), is_public(store)
        origin, lessons, size = origin_of(meta), count_learned(store), store.size()
    messages = dict(zip(totals.classes, totals.documents.tolist()))
    settings = {key: value for key, value in sorted(meta.items()) if key not in ("vocabulary_size", *origin)}
    if form == "json":
        facts = {"model": str(model), "bytes": size, "messages": messages, "tokens": totals.vocabulary_size}
        facts["settings"] = settings
        facts["learned_one_by_one"] = lessons
        sizes = {"lessons": stored.messages, "bytes": stored.bytes, "bound": stored.bound}
        facts["lessons"] = {**sizes, "not_kept": not_stored}
        click.echo(escape_json({**facts, "origin": origin}))
        return
    values, defaults = Settings.from_meta(meta, str(model), any_tokens=True).by_name(), Settings().by_name()
    click.echo(f"{model}: {size / 1e6:.1f} MB, {pluralize(totals.vocabulary_size, 'token')}")
    if base is not None:
        click.echo(f"  adds to: {escape(base.path)}; a lesson counts as {pluralize(weight, 'message')} of it")
    for line in _origin(origin):
        click.echo(escape(line))
    for name, documents in messages.items():
        taught_messages = f"; taught one by one: {lessons[name]:,}" if name in lessons else ""
        click.echo(f"  {name}: {pluralize(documents, 'message')}{taught_messages}")
    if stored.messages or not_stored:
        room = f"{stored.bytes / 1e6:.1f} of at most {stored.bound / 1e6:g} MB"
        missing = f"; {pluralize(not_stored, 'message')} taught and not kept" if not_stored else ""
        why = "; no more are kept, because everybody can read the file" if public and stored.bound else ""
        click.echo(f"  taught messages kept for a new model: {stored.messages:,}, {room}{missing}{why}")
    for name, value in values.items():
        if value != defaults[name]:
            click.echo(f"  {name}: {escape(SETTINGS[name].format(value))}")


def _origin(origin: Mapping[str, Any]) -> list[str]:
    """Return lines that say when, with which command and from which sources the model was trained."""
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
    return [line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1] + "…" for line in lines]
