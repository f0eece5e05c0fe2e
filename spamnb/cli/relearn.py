"""``spamnb relearn``: let a model learn what a person corrected, from the ledger."""

from __future__ import annotations

from pathlib import Path

import click

from spamnb.cli.options import model_option, models_option, own_ledger_option, tell


@click.command("relearn", short_help="Learn again what you corrected, from the ledger.")
@model_option
@own_ledger_option
@models_option
def relearn_command(model: Path, ledger: Path, models: Path | None) -> None:
    """Learn the messages that you corrected, by a click, a move, 'learn' or spamc, from the ledger.

    'train --force' and 'upgrade' learn the lessons again that the old model keeps. Use 'relearn' if that model is lost,
    or if it keeps no lessons. A message is read from its mailbox. If it is gone, its tokens in the ledger are
    learned, which are kept for 60 days. A message that the model has learned is not learned again.

    \b
    Example:
      spamnb relearn
    """
    from spamnb.errors import SpamnbError
    from spamnb.filter import Classifier
    from spamnb.ledger.ledger import Ledger
    from spamnb.review.teaching import Teacher
    from spamnb.shown_text import pluralize

    with Classifier.open(model) as classifier:
        classifier.check_spam()
    with Ledger.open(ledger, make=False) as open_ledger:
        corrections = open_ledger.corrections()
        if models is None and any(correction.user for correction in corrections):
            raise SpamnbError(f"{ledger}: has corrections of users; --models names the folder of their models")
        teacher = Teacher(model, models)
        try:
            outcome = teacher.relearn(open_ledger)
        finally:
            teacher.close()
    for problem in outcome.problems:
        tell(problem)
    click.echo(f"learned {outcome.n_changed:,} of {pluralize(len(corrections), 'correction')}")
