"""``spamnb forget``: remove messages from the class that learned them."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

import click

from spamnb.cli.changes import change_model
from spamnb.cli.options import SOURCE, find_messages, is_on_command_line, model_option, own_ledger_option, tell
from spamnb.sources.entries import SkippedMessages


@click.command("forget", short_help="Remove messages from a class.")
@click.argument("label", metavar="CLASS")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@model_option
@own_ledger_option
def forget_command(label: str, sources: tuple[str, ...], model: Path, ledger: Path) -> None:
    """Subtract messages from the counts of CLASS. Without SOURCE, the message is read from standard input.

    SOURCE is a message, a folder of messages, a Maildir, MH folder or mbox. If the model file keeps a message, the
    message is removed from the file. A message that CLASS has not learned changes nothing. The ledger's
    verdicts and lessons of the messages are deleted too, except those of other models.

    \b
    Example:
      spamnb forget spam < message.eml
    """
    from spamnb.class_names import check_has_class
    from spamnb.filter import Classifier
    from spamnb.ledger.ledger import Batch, Ledger
    from spamnb.reader.message import digest

    unreadable = SkippedMessages(tell)

    def forget(raw: bytes) -> tuple[bool, str, bytes]:
        """Return whether the message was forgotten, the class that had learned it, or "", and its digest."""
        old_class = classifier.learned(raw) or ""
        return classifier.forget(label, raw), old_class, digest(raw)

    def forget_all(raws: list[bytes]) -> list[tuple[bool, str, bytes]]:
        return list(map(forget, raws))

    with contextlib.ExitStack() as stack:
        classifier = stack.enter_context(Classifier.open(model, writable=True))
        batch, open_ledger = Batch.begin("forget", classifier.store), None
        if ledger.exists() or is_on_command_line("ledger"):
            open_ledger = stack.enter_context(Ledger.open(ledger, make=False))
        check_has_class(label, sorted(classifier.store.own.class_ids), f"{model}: ")
        entries = find_messages(sources, unreadable, label=label)
        results = []
        # The ledger is not locked in a transaction of the model: 'undo' locks both, the ledger first.
        for result in change_model(entries, unreadable, forget_all, classifier.store, "forgetting"):
            results.append(result)
            if open_ledger is not None:
                open_ledger.forget(result[-1], batch)
    n_messages, n_forgotten = len(results), sum(is_forgotten for is_forgotten, _, _ in results)
    summary = f"forgot {n_forgotten:,} of {n_messages:,} from {label}"
    if n_messages > n_forgotten:
        summary += f"; {n_messages - n_forgotten:,} not learned as {label}"
        others = Counter(name for is_forgotten, name, _ in results if name and not is_forgotten)
        if others:
            summary += f" ({', '.join(f'{number:,} as {name}' for name, number in sorted(others.items()))})"
    click.echo(summary)
    if unreadable.count:
        raise SystemExit(1)
