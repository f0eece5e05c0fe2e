"""``spamnb filter``: copy a message from standard input to standard output, with the verdict in its headers."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import journal_option, model_option, read_standard_input, standard_output, tell_of_ours


@click.command("filter", short_help="Copy a message, with X-Spam-* headers added.")
@model_option
@journal_option
def filter_command(model: Path, journal: Path | None) -> None:
    """Copy the message on standard input to standard output with X-Spam-* headers, for procmail, maildrop or Sieve.

    Only spam gets X-Spam-Flag: YES. X-Spam-Status has verdict, score and the tokens that decided. X-Spam-* headers
    of the received message are removed, and every other byte is copied unchanged. If the message cannot be classified,
    it gets X-Spam-Warning with the reason instead.

    \b
    Example, in ~/.procmailrc:
      :0fw
      | spamnb filter
      :0
      * ^X-Spam-Flag: YES
      .Junk/
    """
    out = standard_output().buffer
    out.write(add_headers(read_standard_input(), model, journal))
    out.flush()


def add_headers(raw: bytes, model: Path, journal: Path | None = None) -> bytes:
    """Return the message with X-Spam-* headers; with X-Spam-Warning instead if it cannot be classified."""
    from spamnb.errors import describe_error, in_options, reason
    from spamnb.reader.spam_fields import replace_spam_fields

    try:
        from spamnb.classifier import Classifier
        from spamnb.score import classify_mail, header_fields

        with Classifier.open(model) as classifier:
            message = classifier.read(raw)
            classification = classify_mail(classifier, message)
            if journal is None:
                return replace_spam_fields(raw, header_fields(classification))
            from spamnb.journal.entries import make_entry
            from spamnb.journal.writer import JournalWriter

            writer = JournalWriter(journal, tell_of_ours)
            writer.put(make_entry(message, classification, classifier.settings))
            writer.close()
            return replace_spam_fields(raw, header_fields(classification))
    except Exception as error:  # no error may lose the mail
        cause = reason(error) if isinstance(error, OSError) else ""
        why = " ".join((cause or in_options(describe_error(error))).split())
        tell_of_ours(why)
        return replace_spam_fields(raw, [("X-Spam-Warning", f"not classified: {why}")])
