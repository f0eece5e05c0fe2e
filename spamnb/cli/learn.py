"""``spamnb learn``: add messages to a class."""

from __future__ import annotations

from collections import Counter
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.changes import change_messages
from spamnb.cli.options import (
    SOURCE,
    ModelPath,
    Unreadable,
    messages_of,
    new_model_option,
    tell,
    text_column_option,
)

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.sources.entries import Entry


@click.command("learn", short_help="Add messages to a class.")
@click.argument("label", metavar="CLASS")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@click.option("--new-class", is_flag=True, help="Make CLASS if the model does not have it.")
@click.option(
    "--base", type=ModelPath(), help="Make a model that adds to this one, such as a model that many people share."
)
@click.option(
    "--keep-lessons",
    type=click.FloatRange(0, 100_000),
    metavar="MB",
    help="Keep taught messages in the model, up to this size.  [default: the model's bound; 64 in a new model]",
)
@text_column_option
@new_model_option
def learn_command(
    label: str,
    sources: tuple[str, ...],
    new_class: bool,
    base: Path | None,
    keep_lessons: float | None,
    text_column: str | None,
    model: Path,
) -> None:
    """Learn messages as CLASS. Without SOURCE, the message is read from standard input.

    If a message looks like another class, the model counts it, but does not fit its correction to it. A message that
    CLASS has already learned is not learned again; a message that another class has learned is moved. If there is no
    model, 'learn' makes one. --new-class adds a class that the model does not have. SOURCE is a message, a folder of
    messages, a Maildir, MH folder or mbox.

    The model file keeps the messages, compressed, so that 'train --force' and 'upgrade' can learn them again.
    --keep-lessons bounds their size: if they take more, the oldest are dropped.

    With --base the new model contains only its own messages, and classifies by the sum of both models.

    \b
    Example:
      spamnb learn spam < message.eml
    """
    from spamnb.class_names import check_class_name, check_known_class
    from spamnb.classifier import Classifier
    from spamnb.errors import SpamnbError
    from spamnb.formulas.trust import DOUBTFUL, SWAP_TEST_MESSAGES, looks_swapped
    from spamnb.settings import Settings
    from spamnb.shown_text import escape
    from spamnb.store.snapshot import create_empty
    from spamnb.store.stored_messages import is_public, read_bound, write_bound

    is_file = Path(label).is_file() and not any(Path(source).exists() for source in sources)
    if is_file or ("/" in label and not sources):
        raise SpamnbError(f"{escape(label)} is a file, not a class; write 'spamnb learn CLASS {escape(label)}'")
    try:
        check_class_name(label)
    except ValueError as error:
        raise SpamnbError(str(error)) from None
    unreadable = Unreadable()
    entries = messages_of(sources, unreadable, text_column, label)
    if base is not None and model.exists():
        raise click.UsageError(f"--base is for a new model, but {model} exists")
    if not model.exists():
        meta, others, spam = Settings().as_meta(), tuple[str, ...](), Settings().spam
        if base is not None:
            with Classifier.open(base) as shared:
                meta, others, spam = shared.store.addition(), shared.store.totals().classes, shared.settings.spam
        check_known_class(label, others, spam, new_class)
        first = list(islice(entries, 1))
        if not first:
            raise SpamnbError(f"{model}: no such model, and no message from which to make it")
        entries = chain(first, entries)
        create_empty(model, meta)
        tell(f"spamnb: a new model, {model}" + (f", that adds to {base}" if base is not None else ""))
    with Classifier.open(model, writable=True) as classifier:
        others = classifier.store.totals().classes
        check_known_class(label, others, classifier.settings.spam, new_class, f"{model}: ")
        if others and label not in others:
            tell(f"spamnb: a new class, {label}, beside {', '.join(others)}")
        if keep_lessons is not None:
            write_bound(classifier.store, keep_lessons)
        classifier.store.check_writable()  # first, because the next line says what the model keeps
        if is_public(classifier.store) and read_bound(classifier.store):
            tell(
                f"spamnb: {model}: everybody can read the file, so it keeps no mail; to keep taught messages: chmod o-r"
            )
        first = list(islice(entries, SWAP_TEST_MESSAGES))
        entries = chain(first, entries)
        if len(first) == SWAP_TEST_MESSAGES and looks_swapped(_trusts(first, label, classifier)):
            tell("spamnb: most of the first messages look like another class: check that the classes are not swapped")

        def learn(raw: bytes) -> tuple[bool, str, bool]:
            """Return whether the message was learned, its class before, and whether it looked like another class."""
            message = classifier.read(raw)
            if class_before := classifier.learned(message):
                return classifier.learn(label, message), class_before, False
            classification = classifier.classify(message, tokens=0, posterior=False)
            is_doubtful = classifier.trust(label, classification) < DOUBTFUL
            return classifier.learn(label, message, classification=classification), "", is_doubtful

        results = list(change_messages(sources, entries, unreadable, learn, classifier.store, "learning"))
    total, new = len(results), [(before, is_doubtful) for is_new, before, is_doubtful in results if is_new]
    moved = Counter(before for before, _ in new if before)
    doubtful = sum(is_doubtful for _, is_doubtful in new)
    click.echo(
        f"learned {len(new):,} of {total:,} as {label}"
        + "".join(f"; {number:,} moved from {name}" for name, number in sorted(moved.items()))
        + (f"; {total - len(new):,} already learned" if total > len(new) else "")
        + (f"; {doubtful:,} of them looked like another class" if doubtful else "")
    )
    if unreadable.count:
        raise SystemExit(1)


def _trusts(entries: list[Entry], label: str, classifier: Classifier) -> list[float]:
    """Return the trust in the label of each message; nothing if one cannot be read, because it is reported later."""
    from spamnb.sources.entries import attempt

    classifications = attempt(lambda: classifier.classify_all([entry.read() for entry in entries], 0, posterior=False))
    return [] if isinstance(classifications, OSError) else [classifier.trust(label, each) for each in classifications]
