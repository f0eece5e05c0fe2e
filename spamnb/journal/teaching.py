"""A correction by the mail itself where it still lies, and else by the tokens that the journal holds."""

from __future__ import annotations

import time

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.journal.entries import Verdict, field_text, token_rules, unpack_tokens
from spamnb.journal.journal import Journal, Noted, Teaching
from spamnb.reader.read_message import RecalledMessage
from spamnb.store.records import LearnedMessage


def teach(
    journal: Journal, classifier: Classifier, row: Noted, label: str, batch: str, raw: bytes | None = None
) -> bool:
    """Teach a message of the journal as ``label`` and note it; False where it was learned as that already.

    ``raw`` is the mail, where it still lies where it lay.
    A lesson by the mail is kept whole in the model, as ``spamnb learn`` keeps it; one by its tokens alone is not.
    Raises SpamnbError where only tokens are left and the model makes other tokens now.
    """
    entry = row.entry
    message = raw or _recalled(journal, classifier, row)
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
    message = raw or _recalled(journal, classifier, row)
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
