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
    learned, which are kept for 60 days. A message that the model has learned is not learned again. 'undo' takes all of
    this back. If a message cannot be learned, a line says why, and the exit status is 1.

    Messages that models of users learned are learned by these, and need --models.

    \b
    Example:
      spamnb relearn
    """
    from spamnb.api.teaching import Teacher
    from spamnb.ledger.ledger import Batch, Ledger
    from spamnb.shown_text import pluralize
    from spamnb.user_models import Models

    with Ledger.open(ledger, make=False) as open_ledger, Models(model, models, writable=True) as open_models:
        classifier = open_models.for_classifying("")
        classifier.check_spam()
        corrections = open_ledger.corrections()
        with Teacher(open_models, open_ledger, Batch.begin("relearn", classifier.store)) as teacher:
            n_corrections = teacher.relearn(corrections)
    for problem in teacher.problems:
        tell(problem)
    click.echo(f"learned {teacher.n_changed:,} of {pluralize(n_corrections, 'correction')}")
    if teacher.problems:
        raise SystemExit(1)
