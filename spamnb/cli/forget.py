"""``spamnb forget``: take messages out of a class again."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import SOURCE, Unreadable, each_message, messages_of, model_option, tell


@click.command("forget", short_help="Take messages out of a class again.")
@click.argument("label", metavar="CLASS")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@model_option
def forget_command(label: str, sources: tuple[str, ...], model: Path) -> None:
    """Take messages out of CLASS again, as if they had never been learned; without SOURCE, the one on standard input.

    Messages that CLASS has not learned are left alone. A logistic or hybrid model cannot forget. SOURCE is a message, a
    folder of messages, a Maildir, MH folder or mbox.

    \b
    Example:
      spamnb forget spam < message.eml
    """
    from spamnb.classifier import Classifier

    unreadable = Unreadable()
    with Classifier.open(model, writable=True) as classifier:
        known = classifier.store.totals().classes
        if label not in known:
            tell(f"spamnb: {model} has no class {label!r}; it has {', '.join(known) or 'none'}")
        seen, changed = each_message(
            messages_of(sources, unreadable), unreadable, lambda raw: classifier.forget(label, raw), classifier.store
        )
    left = f"; {seen - changed:,} not learned as {label}" if seen > changed else ""
    click.echo(f"forgot {changed:,} of {seen:,} from {label}{left}")
    if unreadable.count:
        raise SystemExit(1)
