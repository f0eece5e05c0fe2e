"""``spamnb info``: what a model is and what it has learned."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import format_option, model_option


@click.command("info", short_help="Say what the model is, and how much it has learned.")
@model_option
@format_option("text", "json")
def info_command(model: Path, form: str) -> None:
    """Say what the model is, how it was made, how much it has learned, and whether tokens are made by compiled code.

    \b
    Example:
      spamnb info --format json
    """
    from spamnb.naming import escape, escape_json, pluralize
    from spamnb.store.lessons import holding, is_public, learned_and_not_kept
    from spamnb.store.store import Store
    from spamnb.tokens.vectorizer import kernel_status

    with Store.open(model) as store:
        totals, meta = store.totals(), store.meta()
        kept, not_kept, public = holding(store), learned_and_not_kept(store), is_public(store)
    size, tokens = model.stat().st_size, totals.vocabulary_size
    messages = dict(zip(totals.classes, totals.documents.tolist()))
    settings = {key: value for key, value in sorted(meta.items()) if key != "vocabulary_size"}
    if form == "json":
        facts = {"model": str(model), "bytes": size, "messages": messages, "tokens": tokens, "settings": settings}
        facts["lessons"] = {**kept._asdict(), "not_kept": not_kept}
        click.echo(escape_json({**facts, "kernel": kernel_status()}))
        return
    click.echo(f"{model}: {size / 1e6:.1f} MB, {pluralize(tokens, 'token')}")
    for name, documents in messages.items():
        click.echo(f"  {name}: {pluralize(documents, 'message')}")
    room = f"{kept.bytes / 1e6:.1f} of at most {kept.bound / 1e6:g} MB"
    missing = f"; {pluralize(not_kept, 'message')} learned one by one and not kept" if not_kept else ""
    why = "; no more are kept, since everybody can read the file" if public and kept.bound else ""
    click.echo(f"  lessons kept: {kept.lessons:,}, {room}{missing}{why}")
    for key, value in settings.items():
        click.echo(f"  {escape(key.replace('_', ' '))}: {escape(_plain(value))}")
    click.echo(f"this installation's kernel: {kernel_status()}")


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {_plain(item)}" for key, item in value.items())
    if isinstance(value, list) and value and isinstance(value[0], list):
        return str(len(value))  # an embedding's directions, each with the words at its ends: 'explain' tells those
    if isinstance(value, list):
        return "/".join(map(str, value))
    return "none" if value is None else str(value)
