"""``spamnb filter``: copy a message from standard input to standard output, with the verdict in its header fields."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import (
    begin_with_starter,
    ledger_option,
    model_option,
    read_standard_input,
    standard_output,
    starter_option,
    tell,
)


@click.command("filter", short_help="Add X-Spam-* headers to a message.")
@model_option
@starter_option
@ledger_option
def filter_command(model: Path, no_starter: bool, ledger: Path | None) -> None:
    """Copy a message from standard input to standard output with X-Spam-* headers, for procmail, maildrop or Sieve.

    X-Spam-Status has the verdict, the points and the tokens that decided. Spam also gets X-Spam-Flag: YES. If the
    message cannot be classified, it gets only X-Spam-Warning with the reason. X-Spam-* headers of the received message
    are removed. Every other byte is copied unchanged.

    \b
    Example, in ~/.procmailrc:
      :0fw
      | spamnb filter
      :0
      * ^X-Spam-Flag: YES
      .Junk/
    """
    out = standard_output().buffer
    out.write(add_headers(read_standard_input(), model, ledger, no_starter))
    out.flush()


def add_headers(raw: bytes, model: Path, ledger: Path | None = None, no_starter: bool = False) -> bytes:
    """Return the message with X-Spam-* headers, or with X-Spam-Warning if it cannot be classified."""
    from spamnb.errors import SpamnbError, describe_error, in_options, reason
    from spamnb.reader.spam_fields import replace_spam_fields

    try:
        if not raw.strip():
            raise SpamnbError("the message is empty")
        from spamnb.filter import Classifier
        from spamnb.mail_result import classify_mail, header_fields

        begin_with_starter(model, no_starter)
        with Classifier.open(model) as classifier:
            message = classifier.read(raw)
            classification = classify_mail(classifier, message)
            if ledger is not None:
                from spamnb.ledger.verdicts import make_verdict
                from spamnb.ledger.writer import LedgerWriter

                writer = LedgerWriter(ledger, tell)
                writer.put(make_verdict(message, classification, classifier))
                writer.close()
            return replace_spam_fields(raw, header_fields(classification))
    except Exception as error:  # the message must be copied after any error
        problem = (reason(error) if isinstance(error, OSError) else "") or in_options(describe_error(error))
        line = " ".join(problem.split())
        tell(line)
        return replace_spam_fields(raw, [("X-Spam-Warning", f"not classified: {line}")])
