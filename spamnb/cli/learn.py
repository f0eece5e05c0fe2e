"""``spamnb learn``: add messages to a class."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.changes import change_model
from spamnb.cli.options import (
    SOURCE,
    FilePath,
    find_messages,
    new_model_option,
    own_ledger_option,
    starter_option,
    tell,
    text_column_option,
)
from spamnb.sources.entries import Entry, SkippedMessages

if TYPE_CHECKING:
    from spamnb.filter import Classifier, Learned


@click.command("learn", short_help="Add messages to a class.")
@click.argument("label", metavar="CLASS")
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", type=SOURCE)
@click.option("--yes", is_flag=True, help="Learn the messages even if most of the first look like another class.")
@click.option("--new-class", is_flag=True, help="Make the class if the model does not have it.")
@click.option(
    "--shared", type=FilePath(), help="Make a model that adds to this model, for example to a model of many users."
)
@starter_option
@click.option(
    "--keep-lessons",
    type=click.FloatRange(0, 100_000),
    metavar="MB",
    help="Megabytes of lessons that the model keeps.  [default: the present limit; 64 in a new model]",
)
@text_column_option
@new_model_option
@own_ledger_option
def learn_command(
    label: str,
    sources: tuple[str, ...],
    yes: bool,
    new_class: bool,
    shared: Path | None,
    no_starter: bool,
    keep_lessons: float | None,
    text_column: str | None,
    model: Path,
    ledger: Path,
) -> None:
    """Learn messages as CLASS. Without SOURCE, the message is read from standard input.

    SOURCE is a message, a folder of messages, a Maildir, MH folder or mbox. If there is no model, 'learn' makes one.

    A message that CLASS has already learned is not learned again. A message that another class has learned is moved to
    CLASS. If a message looks like another class, its tokens are counted, but the model is not fitted to the message.
    If most of the first ten messages look like another class, nothing is learned, unless you give --yes.

    A message that a person teaches is a lesson. The model file keeps lessons, compressed, so that 'train --force' and
    'upgrade' can learn them again. If they take more than --keep-lessons, the oldest are dropped.

    With --shared the new model has only its own messages, and classifies by the sum of both models. A new model of ham
    or spam adds to the starter, a small model of public mail, so that mail of one class, such as an inbox, is enough to
    begin with. With --no-starter, or if the first message has no header field, it does not.

    \b
    Example:
      spamnb learn spam < message.eml
    """
    from spamnb.class_names import check_class_name, check_known_class
    from spamnb.errors import SpamnbError
    from spamnb.filter import Classifier
    from spamnb.ledger.ledger import Batch, Correction
    from spamnb.ledger.writer import LedgerWriter
    from spamnb.model.trust import MIN_TRUST, SWAP_TEST_MESSAGES, looks_swapped
    from spamnb.reader.message import digest, read_rows
    from spamnb.settings import Settings
    from spamnb.shown_text import escape
    from spamnb.store.lessons import is_public, read_lessons_bound, write_lessons_bound
    from spamnb.store.snapshot import create_empty
    from spamnb.store.starter import NAME, addition_to_starter, fits_starter

    is_file = Path(label).is_file() and not any(Path(source).exists() for source in sources)
    if is_file or ("/" in label and not sources):
        raise SpamnbError(f"{escape(label)} looks like a path, not a class; write 'spamnb learn CLASS {escape(label)}'")
    try:
        check_class_name(label)
    except ValueError as error:
        raise SpamnbError(str(error)) from None
    unreadable = SkippedMessages(tell)
    entries = find_messages(sources, unreadable, text_column, label)
    if shared is not None and model.exists():
        raise click.UsageError(f"--shared is for a new model, but {model} exists")
    if not model.exists():
        settings = Settings(starter=not no_starter)
        meta, classes, spam = settings.as_meta(), tuple[str, ...](), settings.spam
        if shared is not None:
            with Classifier.open(shared) as classifier:
                meta, classes = classifier.store.addition(model), classifier.model.totals.classes
                spam = classifier.settings.spam
        check_known_class(label, classes, spam, new_class)
        first_entries = list(islice(entries, 1))
        if not first_entries:
            raise SpamnbError(f"{model}: no such model, and no message to make one")
        entries, adds_to = chain(first_entries, entries), shared
        if shared is None and fits_starter(settings, [label], read_rows([first_entries[0].read()], settings)):
            meta, adds_to = addition_to_starter(model, settings), model.with_name(NAME)
        create_empty(model, meta)
        tell(f"made a new model, {model}" + (f", that adds to {adds_to}" if adds_to is not None else ""))
    with ExitStack() as stack:
        classifier = stack.enter_context(Classifier.open(model, writable=True))
        classes = classifier.model.totals.classes
        check_known_class(label, classes, classifier.settings.spam, new_class, f"{model}: ")
        if classes and label not in classes:
            tell(f"made a new class, {label}, beside {', '.join(classes)}")
        if keep_lessons is not None:
            write_lessons_bound(classifier.store, keep_lessons)
        classifier.store.check_writable()
        if is_public(classifier.store) and read_lessons_bound(classifier.store):
            tell(f"{model}: keeps no lessons, because everybody can read the file; to keep them: chmod o-r")
        first_entries = list(islice(entries, SWAP_TEST_MESSAGES))
        entries = chain(first_entries, entries)
        if not yes and looks_swapped(_list_trusts(first_entries, label, classifier)):
            raise SpamnbError(
                f"nothing was learned, because most of the first {SWAP_TEST_MESSAGES} messages do not look like"
                f" {escape(label)}; if they are, --yes learns them"
            )

        def learn(raws: list[bytes]) -> list[Learned]:
            learned = classifier.learn_all([label] * len(raws), raws)
            is_spam = label == classifier.settings.spam
            if any(each.is_new for each in learned):  # otherwise there is nothing for 'undo'
                writer.put(batch)
            for raw, each in zip(raws, learned):
                if each.is_new:
                    lesson = Correction(digest(raw), label, is_spam, "command", batch=batch.batch)
                    writer.put(lesson._replace(before=each.old.label, was_lesson=each.old.is_lesson))
            return learned

        batch, writer = Batch.begin("learn", classifier.store), LedgerWriter(ledger, tell)
        stack.callback(writer.close)

        results = list(change_model(entries, unreadable, learn, classifier.store, "learning"))
    n_messages, learned = len(results), [each for each in results if each.is_new]
    n_learned, n_moved = len(learned), Counter(each.old.label for each in learned if each.old.label)
    n_doubtful = sum(each.trust < MIN_TRUST for each in learned if not each.old.label)
    click.echo(
        f"learned {n_learned:,} of {n_messages:,} as {label}"
        + "".join(f"; {number:,} moved from {name}" for name, number in sorted(n_moved.items()))
        + (f"; {n_messages - n_learned:,} already learned" if n_messages > n_learned else "")
        + (f"; {n_doubtful:,} of the learned messages looked like another class" if n_doubtful else "")
    )
    if unreadable.count:
        raise SystemExit(1)


def _list_trusts(entries: list[Entry], label: str, classifier: Classifier) -> list[float]:
    """Return the trust in the label of each message, or an empty list if a message cannot be read."""
    from spamnb.sources.entries import attempt

    classifications = attempt(
        lambda: classifier.classify_all([entry.read() for entry in entries], 0, uncalibrated=False)
    )
    return [] if isinstance(classifications, OSError) else [classifier.trust(label, each) for each in classifications]
