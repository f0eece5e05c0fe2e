"""``spamnb sort``: a Maildir's new mail into Junk, or tagged."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import Unreadable, model_option


@click.command("sort", short_help="Move spam among a Maildir's new mail to Junk.")
@click.argument("box", metavar="MAILDIR", type=click.Path(path_type=Path))
@model_option
@click.option("--junk", default="Junk", show_default=True, help="Folder of the Maildir that spam is moved to.")
@click.option("--unsure", metavar="FOLDER", help="Folder to move mail of verdict 'unsure' to.  [default: it stays]")
@click.option("--tag", is_flag=True, help="Move nothing; put X-Spam-* headers into every message.")
@click.option("--all", "everything", is_flag=True, help="Mail that a reader has seen (cur) too, not only new mail.")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
def sort_command(
    box: Path, model: Path, junk: str, unsure: str | None, tag: bool, everything: bool, dry_run: bool
) -> None:
    """Move spam among a Maildir's new mail to its Junk folder.

    \b
    Example, every five minutes by cron:
      spamnb sort ~/Maildir
    """
    from spamnb.classifier import Classifier
    from spamnb.message.spam_fields import rewritten
    from spamnb.naming import escape
    from spamnb.serve.moves import is_junk
    from spamnb.serve.score import score_message
    from spamnb.sources import maildir
    from spamnb.sources.mbox import contents

    unreadable = Unreadable()
    maildir.checked(box)
    folders = {"spam": junk} | ({} if unsure is None else {"unsure": unsure})
    crossing = {into: is_junk(box, into, junk) for into in folders.values()}
    with Classifier.open(model) as classifier:
        for path in [path for part in ("new", "cur")[: 1 + everything] for path in maildir.files(box / part)]:
            try:
                raw = contents(str(path))
                found = score_message(classifier, raw)
                into = None if tag else folders.get(found.verdict)
                if not dry_run and tag:
                    _tag(path, raw, rewritten(raw, found.fields()))
                elif not dry_run and into is not None:
                    _move(box, path, into, raw, crossing[into])
            except FileNotFoundError:
                continue  # a mail reader moved it on since it was listed
            except OSError as error:
                unreadable(escape(str(path)), error)
                continue
            action = "tagged" if tag else f"to {into}" if into else "stays"
            click.echo(f"{found.verdict}\t{found.text}\t{action}\t{escape(path.name)}")
    if unreadable.count:
        raise SystemExit(1)


def _tag(path: Path, raw: bytes, tagged: bytes) -> None:
    from spamnb.sources import maildir

    if tagged != raw:
        maildir.replace(path, tagged)


def _move(box: Path, path: Path, into: str, raw: bytes, crosses: bool) -> None:
    """Move a message and note that it was this program, so that 'spamnb watch' takes it for no lesson."""
    from spamnb.message.parse import digest
    from spamnb.serve.moves import SeenFolders
    from spamnb.sources import maildir

    with SeenFolders.of(box) as places, places.writing():
        maildir.move(path, maildir.folder(box, into))
        places.put(digest(raw), crosses)
