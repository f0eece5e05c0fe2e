"""A correction by what the journal holds: the mail itself where it still lies, and else the message's tokens."""

from __future__ import annotations

import os
import time
from pathlib import Path

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal.entries import Verdict, field_text, token_rules, unpack_tokens
from spamnb.journal.journal import Journal, Noted, Teaching
from spamnb.reader.message import digest
from spamnb.reader.read_message import RecalledMessage
from spamnb.sources import maildir
from spamnb.sources.entries import contents
from spamnb.sources.spec import is_account
from spamnb.store.records import LearnedMessage


def mail_at(entry: Verdict) -> bytes | None:
    """The mail, where it still lies in the folder of this machine where it lay. None where it does not."""
    found = file_of(entry)
    return found[1] if found is not None else None


def file_of(entry: Verdict) -> tuple[Path, bytes] | None:
    """The file of the mail and what is in it, where it still lies in its folder, perhaps with other flags."""
    if not entry.place or is_account(entry.place):
        return None
    path = Path(entry.place)
    folder, name = path.parent.parent, maildir.delivered(path)
    for candidate in (path, *_named(folder / "cur", name), *_named(folder / "new", name)):
        try:
            raw = contents(str(candidate))
        except OSError:  # moved, or removed, or not ours to read: its tokens are left
            continue
        if digest(raw) == entry.digest:
            return candidate, raw
    return None


def _named(part: Path, name: str) -> list[Path]:
    """The messages of a folder that were delivered under a name."""
    try:
        return [part / each for each in os.listdir(part) if each.startswith(name)][:10]
    except OSError:
        return []


def teach(
    journal: Journal, classifier: Classifier, row: Noted, label: str, batch: str, raw: bytes | None = None
) -> bool:
    """Teach a message of the journal as ``label`` and note it; False where it was learned as that already.

    ``raw`` is the mail, where that is known; without it the mail is looked for on this machine.
    A lesson by the mail is kept whole in the model, as ``spamnb learn`` keeps it; one by its tokens alone is not.
    Raises SpamnbError where only tokens are left and the model makes other tokens now.
    """
    entry = row.entry
    message = raw or mail_at(entry) or _recalled(journal, classifier, row)
    known = classifier.store.learned(entry.digest)
    changed = classifier.learn(label, message)
    journal.correct([correction_of(entry, label, label == classifier.settings.spam, known, batch, "page")])
    return changed


def correction_of(
    entry: Verdict, label: str, spam: bool, known: LearnedMessage | None, batch: str, source: str
) -> Teaching:
    """What is noted of a correction; ``known`` is what the message was learned as before."""
    before, taught = (known.label, known.taught) if known else ("", False)
    return Teaching(
        int(time.time()), entry.user, entry.digest, label, spam, entry.verdict, source, before, taught, batch
    )


def noted(digest: bytes, label: str, spam: bool, source: str, user: str = "") -> Teaching:
    """What is noted of a lesson that a person gave elsewhere, by moving mail or by a mail reader's button."""
    return Teaching(int(time.time()), field_text(user), digest, label, spam, "", source, "", False, "")


def undo(journal: Journal, classifier: Classifier, correction: Teaching, raw: bytes | None = None) -> bool:
    """Take a correction back: the model is as it was before it. False where it no longer held it. ``raw`` as above.

    Raises SpamnbError where that needs the mail or its tokens and neither is left, or the model cannot forget.
    """
    row = journal.of_message(correction.digest, correction.user)
    if row is None:
        taught = time.strftime("%d %b %H:%M", time.localtime(correction.at))
        raise SpamnbError(
            f"the journal no longer holds the message that was taught as {correction.label} on {taught};"
            " 'spamnb forget' takes it out of the model"
        )
    message = raw or mail_at(row.entry) or _recalled(journal, classifier, row)
    if correction.before == correction.label:
        changed = True  # it had been learned as that before
    else:
        changed = classifier.forget(correction.label, message)
        if changed and correction.before:
            classifier.learn(correction.before, message, taught=correction.before_taught)
    journal.undone(correction)
    return changed


def _recalled(journal: Journal, classifier: Classifier, row: Noted) -> RecalledMessage:
    entry = row.entry
    packed = journal.tokens(row.position)
    why = "" if packed else "it had too many words to be kept"
    if packed and entry.made_by != token_rules(classifier.settings):
        why = "the model was made anew and reads mail otherwise"
    if why:
        raise SpamnbError(f"the mail is not where it was, and {why}; 'spamnb learn' takes the mail itself")
    return RecalledMessage.of(unpack_tokens(packed), entry.digest, entry.identity)
