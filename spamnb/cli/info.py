"""``spamnb info``: what a model is and what it has learned."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option


@click.command("info", short_help="Say what the model is, and how much it has learned.")
@model_option
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(model: Path, form: str) -> None:
    """Say what the model is, how it was made, and how much it has learned.

    \b
    Example:
      spamnb info --format json
    """
    import json

    from spamnb.store import Store

    with Store.open(model) as store:
        totals, meta = store.totals(), store.meta()
    facts = {
        "model": str(model),
        "bytes": model.stat().st_size,
        "messages": dict(zip(totals.classes, totals.documents.tolist())),
        "tokens": totals.vocabulary_size,
        "settings": {key: value for key, value in sorted(meta.items()) if key != "vocabulary_size"},
    }
    if form == "json":
        click.echo(json.dumps(facts, ensure_ascii=False))
        return
    click.echo(f"{model}: {facts['bytes'] / 1e6:.1f} MB, {totals.vocabulary_size:,} tokens")
    for name, documents in facts["messages"].items():
        click.echo(f"  {name}: {documents:,} messages")
    for key, value in facts["settings"].items():
        click.echo(f"  {key.replace('_', ' ')}: {_plain(value)}")


def _plain(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key.replace('_', ' ')} {_plain(item)}" for key, item in value.items())
    if isinstance(value, list):
        return "/".join(map(str, value))
    return "none" if value is None else str(value)
