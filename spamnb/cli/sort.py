"""``spamnb sort``: a Maildir's new mail into Junk, or tagged."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.options import Unreadable, model_option, tell

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.serve.moves import SeenFolders
    from spamnb.serve.score import Score

_WIDTH = 60  # of a header field as printed: its sender may write a megabyte
_BATCH = 100  # messages that stay are noted together; one by one each would wait for the disk


@click.command("sort", short_help="Move spam among a Maildir's new mail to Junk.")
@click.argument("box", metavar="MAILDIR", type=click.Path(path_type=Path))
@model_option
@click.option(
    "--junk",
    default="Junk",
    show_default=True,
    help="Folder that spam is moved to: a name, or an existing Maildir by its path from MAILDIR, as ../Junk.",
)
@click.option("--unsure", metavar="FOLDER", help="Folder to move mail of verdict 'unsure' to.  [default: it stays]")
@click.option("--tag", is_flag=True, help="Move nothing; put X-Spam-* headers into every message.")
@click.option("--all", "everything", is_flag=True, help="Mail that a reader or an earlier run has seen, too.")
@click.option("--from-now-on", is_flag=True, help="Judge nothing; take all mail that is there for seen.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("-q", "--quiet", is_flag=True, help="Say nothing but what goes wrong.")
def sort_command(
    box: Path,
    model: Path,
    junk: str,
    unsure: str | None,
    tag: bool,
    everything: bool,
    from_now_on: bool,
    dry_run: bool,
    quiet: bool,
) -> None:
    """Move spam among a Maildir's new mail to its Junk folder.

    Each message is judged once, and what you move back stays. Prints for each its verdict, points (spam from 5.0 on),
    where it went, From, Subject, Date and its file's name; in a terminal the date first, and all cut to its width.

    \b
    Examples, the second every five minutes by cron:
      spamnb sort --from-now-on ~/Maildir
      spamnb sort --quiet ~/Maildir
    """
    from spamnb.classifier import Classifier
    from spamnb.message.parse import digest
    from spamnb.naming import escape, pluralize
    from spamnb.serve.moves import SeenFolders, is_junk, lasting_name
    from spamnb.serve.score import score_message
    from spamnb.sources import maildir
    from spamnb.sources.entries import contents
    from spamnb.sources.modified_utf7 import decoded

    if from_now_on and (everything or tag):
        raise click.UsageError("--from-now-on leaves mail alone: it does not go with --all or --tag")
    maildir.checked(box)
    called = {} if tag else {"spam": junk} | ({} if unsure is None else {"unsure": unsure})
    folders = {verdict: maildir.locate(box, name) for verdict, name in called.items()}
    called = {verdict: decoded(name) for verdict, name in called.items()}
    unreadable = Unreadable()
    counts: Counter[str] = Counter()
    with (SeenFolders.copy_of if dry_run else SeenFolders.of)(box) as seen:
        new = maildir.files(box / "new")
        if from_now_on:
            seen.put_judged(map(lasting_name, new))
            if not quiet:
                tell(f"spamnb: {pluralize(len(new), 'new message')} {'would ' if dry_run else ''}count as seen")
            return
        before = seen.judged_names()
        here: set[bytes] = set()  # judged by this run: what comes again is a second copy, which no person moved back
        stayed: dict[str, bytes] = {}  # {name: digest}
        with Classifier.open(model) as classifier:
            say = _terminal_line(classifier, called) if sys.stdout is not None and sys.stdout.isatty() else _say
            for path in [*new, *(maildir.files(box / "cur") if everything else ())]:
                if not everything and lasting_name(path) in before:
                    continue
                after = path
                try:
                    raw = contents(str(path))
                    known = digest(raw)
                    if not everything and known not in here and seen.judged(known):
                        stayed[lasting_name(path)] = known
                        continue
                    found = score_message(classifier, raw)
                    into = folders.get(found.verdict)
                    if tag and not dry_run:
                        after = _tag(path, raw, found)
                    elif into is not None and not dry_run:
                        _move(seen, path, into, known, is_junk(into, folders["spam"]))
                except FileNotFoundError:
                    continue  # a mail reader moved it on since it was listed
                except OSError as error:
                    unreadable(escape(str(path)), error)
                    continue
                here.add(known)
                if into is None and path.parent.name == "new":
                    stayed[lasting_name(after)] = known
                if len(stayed) >= _BATCH:
                    seen.put_judged(stayed, stayed.values())
                    stayed.clear()
                where = "tagged" if tag else f"to {escape(called[found.verdict])}" if into is not None else "stays"
                counts[f"tagged {found.verdict}" if tag else "stay" if into is None else where] += 1
                if not quiet:
                    say(found, where, raw, path)
        seen.put_judged(stayed, stayed.values())
        seen.forget_judged_names(before.difference(map(lasting_name, new)))
    if counts and not quiet:
        what_stays_last = sorted(counts.items(), key=lambda each: (each[0] == "stay", each[0]))
        done = ", ".join(f"{number:,} {what}" for what, number in what_stays_last)
        tell(f"spamnb: {pluralize(counts.total(), 'message')}{', dry run' if dry_run else ''}: {done}")
    elif not (quiet or unreadable.count):
        tell(f"spamnb: {escape(str(box))}: no {'' if everything else 'new '}messages")
    if unreadable.count:
        raise SystemExit(1)


def _terminal_line(
    classifier: Classifier, called: Mapping[str, str]
) -> Callable[[Score, str, bytes, Path], None]:
    """``_say`` for whoever looks at a terminal: columns, cut to its width."""
    from spamnb.formulas.decision import UNSURE
    from spamnb.naming import escape
    from spamnb.report.message_line import column_width, fit, heading, message_line, terminal_width

    verdicts = column_width([*classifier.store.totals().classes, UNSURE])
    folders = column_width(["tagged", "stays", *(f"to {escape(name)}" for name in called.values())])
    columns = terminal_width()

    def say(found: Score, where: str, raw: bytes, path: Path) -> None:
        head = f"{fit(found.verdict, verdicts)}  {found.text:>5}  {fit(where, folders)}"
        click.echo(message_line(head, heading(raw), escape(path.name), columns))

    return say


def _say(found: Score, where: str, raw: bytes, path: Path) -> None:
    from spamnb.naming import escape

    fields = [_field(raw, name) for name in ("from", "subject", "date")]
    click.echo("\t".join([found.verdict, found.text, where, *fields, escape(path.name)]))


def _field(raw: bytes, name: str) -> str:
    """A header field for a terminal, cut to a length that leaves a line readable."""
    from spamnb.message.parse import header_of
    from spamnb.naming import escape

    text = " ".join(header_of(raw, name).split())
    return escape(text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…")


def _tag(path: Path, raw: bytes, found: Score) -> Path:
    """Put the verdict into a message; its new path."""
    from spamnb.message.spam_fields import rewritten
    from spamnb.sources import maildir

    tagged = rewritten(raw, found.fields())
    return maildir.replace(path, tagged) if tagged != raw else path


def _move(seen: SeenFolders, path: Path, into: Path, digest: bytes, junk: bool) -> None:
    """Move a message and note that it was this program, so that 'spamnb watch' takes it for no lesson."""
    from spamnb.sources import maildir

    with seen.writing():
        maildir.move(path, maildir.made(into))
        seen.put(digest, junk)
        seen.put_judged([], [digest])
