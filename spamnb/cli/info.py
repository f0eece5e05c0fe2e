"""``spamnb info``: what a model is and what it has learned."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from spamnb.cli.options import format_option, model_option

MAX_SOURCES = 8  # of those that a model was trained from: a shell may have made thousands of one word
MAX_TEXT = 400  # characters of a command line


@click.command("info", short_help="Say what the model is, and how much it has learned.")
@model_option
@format_option("text", "json")
def info_command(model: Path, form: str) -> None:
    """Say what the model is, how it was made, how much it has learned, and which settings are not the defaults.

    --format json has all settings, and how this installation reads mail.

    \b
    Example:
      spamnb info --format json
    """
    from spamnb.naming import escape, escape_json, pluralize
    from spamnb.reader.pdf import is_available
    from spamnb.report.numbers import percent
    from spamnb.settings import Settings
    from spamnb.store import facts
    from spamnb.store.lessons import holding, is_public, learned_and_not_kept
    from spamnb.store.store import Store

    with Store.open(model) as store, store.reading():
        totals, meta = store.totals(), store.meta()
        kept, not_kept, public = holding(store), learned_and_not_kept(store), is_public(store)
        origin, lessons, months = facts.origin(store), facts.lessons(store), facts.lessons_by_month(store)
        rare, size, tokens = facts.tokens_of_one_message(store), store.size(), totals.vocabulary_size
    messages = dict(zip(totals.classes, totals.documents.tolist()))
    settings = {key: value for key, value in sorted(meta.items()) if key not in ("vocabulary_size", *origin)}
    reads_pdf = is_available()
    if form == "json":
        found = {"model": str(model), "bytes": size, "messages": messages, "tokens": tokens, "settings": settings}
        learned = {name: each._asdict() for name, each in lessons.items()}
        found |= {"tokens_of_one_message": rare, "learned_one_by_one": learned, "lessons_by_month": months}
        found["lessons"] = {**kept._asdict(), "not_kept": not_kept}
        click.echo(escape_json({**found, "origin": origin, "reads_pdf": reads_pdf}))
        return
    share = f", {percent(100 * rare / tokens)} % of them in one message alone" if tokens else ""
    click.echo(f"{model}: {size / 1e6:.1f} MB, {pluralize(tokens, 'token')}{share}")
    for line in _origin(origin):
        click.echo(escape(line))
    for name, documents in messages.items():
        click.echo(f"  {name}: {pluralize(documents, 'message')}{_of_them(lessons.get(name, facts.OneByOne(0, 0)))}")
    if kept.lessons or not_kept:
        room = f"{kept.bytes / 1e6:.1f} of at most {kept.bound / 1e6:g} MB"
        missing = f"; {pluralize(not_kept, 'message')} learned one by one and not kept" if not_kept else ""
        why = "; no more are kept, since everybody can read the file" if public and kept.bound else ""
        click.echo(f"  lessons kept: {kept.lessons:,}, {room}{missing}{why}")
    for line in _months(months):
        click.echo(line)
    for key, value in _other_than_usual(settings, Settings().as_meta()).items():
        click.echo(f"  {escape(key.replace('_', ' '))}: {escape(_plain(value))}")
    if pdf := _pdf(origin.get("pdf_read"), reads_pdf):
        click.echo(f"this installation and PDF attachments: {pdf}")


def _other_than_usual(settings: Mapping[str, Any], usual: Mapping[str, Any]) -> dict[str, Any]:
    """Without the settings that have their defaults."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        default = usual.get(name)
        if isinstance(value, dict) and isinstance(default, dict):
            found |= _other_than_usual(value, default)
        elif name not in usual or value != (list(default) if isinstance(default, tuple) else default):
            found[name] = value
    return found


def _origin(origin: Mapping[str, Any]) -> list[str]:
    """When, with which command and from what it was trained; nothing of what the file does not say."""
    lines = []
    if "trained_at" in origin:
        lines.append(f"  trained: {_plain(origin['trained_at']).replace('T', ' ', 1)}")
    if "command" in origin:
        lines.append(f"  by: {_plain(origin['command'])}")
    sources = origin.get("trained_from", [])
    sources = sources if isinstance(sources, list) else [sources]
    lines += [f"  from: {_plain(source)}" for source in sources[:MAX_SOURCES]]
    if len(sources) > MAX_SOURCES:
        lines.append(f"  … and from {len(sources) - MAX_SOURCES:,} more")
    return [line if len(line) <= MAX_TEXT else line[: MAX_TEXT - 1] + "…" for line in lines]


def _pdf(trained: object, here: bool) -> str:
    """What to do where PDF attachments are read here and were not when the model was trained, or the other way."""
    if trained is None or bool(trained) == here:
        return ""
    if here:
        return "read; they were not when the model was trained: what they say counts little until you train it anew"
    return "not read; they were when the model was trained: pip install pypdf"


def _of_them(learned: Any) -> str:
    """How many of a class's messages were learned one by one, and by whom."""
    said = []
    if learned.taught:
        said.append(f"{learned.taught:,} taught one by one")
    if learned.autolearned:
        said.append(f"{learned.autolearned:,} learned by the filter itself")
    return f", of them {' and '.join(said)}" if said else ""


def _months(months: Mapping[str, Mapping[str, int]]) -> list[str]:
    """A line for each month with the lessons of each class."""
    if not months:
        return []
    told = {month: ", ".join(f"{n:,} {name}" for name, n in found.items()) for month, found in months.items()}
    return ["  lessons kept, by month:", *(f"    {month}: {what}" for month, what in told.items())]


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {_plain(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "/".join(map(str, value))
    return "none" if value is None else str(value)
