"""``spamnb forget``: remove learned messages from a class."""

from __future__ import annotations

import contextlib
from collections import Counter
from pathlib import Path

import click

from spamnb.cli.changes import change_messages
from spamnb.cli.options import SOURCE, ModelPath, Unreadable, messages_of, model_option


@click.command("forget", short_help="Remove learned messages from a class.")
@click.argument("label", metavar="CLASS")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@model_option
@click.option("--journal", type=ModelPath(), help="Also delete the messages from this journal.")
def forget_command(label: str, sources: tuple[str, ...], model: Path, journal: Path | None) -> None:
    """Subtract messages from the counts of CLASS. Without SOURCE, the message is read from standard input.

    Taught messages are also removed from the model file. Messages that CLASS has not learned change nothing. Tokens
    that 'prune' removed stay removed. SOURCE is a message, a folder of messages, a Maildir, MH folder or mbox.

    \b
    Example:
      spamnb forget spam < message.eml
    """
    from spamnb.class_names import check_has_class
    from spamnb.classifier import Classifier
    from spamnb.reader.message import digest

    unreadable = Unreadable()

    def forget(raw: bytes) -> tuple[bool, str]:
        """Return whether the message was forgotten, and the class that had learned it."""
        class_before = classifier.learned(raw) or ""
        is_forgotten = classifier.forget(label, raw)
        if opened_journal is not None:
            opened_journal.delete_message(digest(raw))
        return is_forgotten, class_before

    with contextlib.ExitStack() as stack:
        classifier = stack.enter_context(Classifier.open(model, writable=True))
        opened_journal = None
        if journal is not None:
            from spamnb.journal.journal import Journal

            opened_journal = stack.enter_context(Journal.open_existing(journal))
        check_has_class(label, sorted(classifier.store.class_ids()), f"{model}: ")  # a class may have no message left
        entries = messages_of(sources, unreadable, label=label)
        results = list(change_messages(sources, entries, unreadable, forget, classifier.store, "forgetting"))
    total, forgotten = len(results), sum(is_forgotten for is_forgotten, _ in results)
    others = Counter(name for is_forgotten, name in results if name and not is_forgotten)
    not_learned = f"; {total - forgotten:,} not learned as {label}" if total > forgotten else ""
    elsewhere = f" ({', '.join(f'{number:,} as {name}' for name, number in sorted(others.items()))})" if others else ""
    click.echo(f"forgot {forgotten:,} of {total:,} from {label}{not_learned}{elsewhere}")
    if unreadable.count:
        raise SystemExit(1)
