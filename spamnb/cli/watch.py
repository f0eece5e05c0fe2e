"""``spamnb watch``: learn from the mail that a person moves into Junk or out of it."""

from __future__ import annotations

import contextlib
import signal
import threading
from pathlib import Path

import click

from spamnb.cli.options import Seconds, Unreadable, model_option, on_command_line, tell


@click.command("watch", short_help="Learn from what is moved into and out of Junk.")
@click.argument("boxes", metavar="MAILDIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
@model_option
@click.option(
    "--junk",
    default="Junk",
    show_default=True,
    help="The folder of spam: a name, or an existing Maildir by its path from MAILDIR, as ../Junk.",
)
@click.option(
    "--interval", type=Seconds(0.05), default=5.0, show_default=True, help="Seconds between looks."
)
@click.option("--once", is_flag=True, help="Look once, as from cron: moves since the last look are learned.")
def watch_command(boxes: tuple[Path, ...], model: Path, junk: str, interval: float, once: bool) -> None:
    """Learn as spam what is moved to a Maildir's Junk folder, and as ham what is moved out of it.

    Mail that is in Junk from the start, or that 'spamnb sort' put there, is no lesson; nor is mail that goes to
    Trash, Drafts or Sent. Where Junk lies beside MAILDIR, so do the other folders that are watched.

    \b
    Example:
      spamnb watch ~/Maildir
    """
    from spamnb.classifier import Classifier
    from spamnb.errors import SpamnbError
    from spamnb.naming import escape, pluralize
    from spamnb.serve.moves import SeenFolders
    from spamnb.serve.users import class_of_label

    missing = [box for box in boxes if not _has_junk(box, junk)]
    stop = threading.Event()
    if not once:
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
    unreadable = Unreadable()
    missed = False
    with contextlib.ExitStack() as stack:
        classifier = stack.enter_context(Classifier.open(model, writable=True))
        watched = [stack.enter_context(SeenFolders.of(box)) for box in boxes]
        unseen = {places for places in watched if not places.looked()}
        for box, places in zip(boxes, watched):
            # From cron it would come again and again while there is no spam yet, but for who named the folder himself.
            if box in missing and (not once or places in unseen or on_command_line("junk")):
                tell(f"spamnb: {escape(str(box))}: no folder {junk!r} yet; moves into it are learned once it is there")
        while not stop.is_set():
            for box, places in zip(boxes, watched):
                for lesson in places.lessons(junk, unreadable):
                    label = class_of_label(classifier, "spam" if lesson.spam else "ham")
                    try:
                        changed = classifier.learn(label, lesson.raw)
                    except SpamnbError as error:  # busy, mostly: the move is still there to be seen next time
                        tell(f"spamnb: {error}")
                        missed = True
                        continue
                    places.put(lesson.digest, lesson.spam)
                    click.echo(f"{'learned' if changed else 'known'}\t{label}\t{escape(str(lesson.path))}")
                if places in unseen:
                    unseen.remove(places)
                    noted = f"{escape(str(box))}: {pluralize(places.noted(), 'message')} noted"
                    tell(f"spamnb: {noted}; from now on moves into {escape(junk)} and out of it are lessons")
            if once:
                break
            stop.wait(interval)
    if once and (missed or unreadable.count):
        raise SystemExit(1)


def _has_junk(box: Path, junk: str) -> bool:
    """Whether there is a folder of this name; SpamnbError where there is one that is spelt much like it."""
    from difflib import get_close_matches

    from spamnb.errors import SpamnbError
    from spamnb.naming import escape
    from spamnb.sources import maildir

    if maildir.locate(maildir.checked(box), junk).is_dir():
        return True
    names = {path.name.removeprefix(".").lower(): path.name.removeprefix(".") for path in maildir.folders(box)[1:]}
    near = get_close_matches(junk.removeprefix(".").lower(), names, 1, 0.75)  # Jnk for Junk, not Junk for Junk.2024
    if near:
        raise SpamnbError(f"{escape(str(box))}: no folder {junk!r}; did you mean --junk {escape(names[near[0]])}?")
    return False
