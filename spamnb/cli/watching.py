"""What ``watch`` does in one mailbox, and how it goes on while servers come and go."""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spamnb.cli.mailboxes import Target, filing, folders_of, opened
from spamnb.cli.options import Unreadable, tell
from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from spamnb.classifier import Classifier
    from spamnb.mailbox.filing import Filing

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds before a server that was lost is asked again; doubled each time
_AFTER_REFUSAL, _LONGEST_REFUSAL = 60.0, 3600.0  # the same for one that refused the login: servers lock accounts
_PATIENCE = 5.0  # for another process that sorts the same account


class Stop:
    """What tells all that watch to end: a pipe that can be read from then on."""

    def __init__(self) -> None:
        self._told = False
        self._readable, self._end = os.pipe()

    def __call__(self, *_: object) -> None:
        """As a signal's handler, or by hand."""
        if not self._told:
            self._told = True
            os.write(self._end, b"\0")  # nobody reads it

    def __bool__(self) -> bool:
        return self._told

    def fileno(self) -> int:
        return self._readable

    def wait(self, seconds: float | None = None) -> None:
        """Until the end, or for so long."""
        from spamnb.mailbox.box import readable

        readable([self], seconds)


class Watching:
    """One mailbox: what was moved in it is learned, and with ``--sort`` its new mail is sorted."""

    def __init__(self, target: Target, work: Filing, stop: Stop | None = None) -> None:
        self.missed = False  # whether a lesson was
        self._target, self._work, self._memory, self._stop = target, work, work.memory, stop
        self._first: bool | None = None  # whether this is the first look; None: not known yet
        self._failures = self._refusals = 0
        self._told = ""

    def tell_of_junk(self, unless_known: bool = False) -> None:
        """A line where there is no folder of spam yet, but for a mailbox that was looked at before where
        ``unless_known``: from cron it would come again and again."""
        box = self._memory.box
        if self._target.is_account or box.exists(box.junk()) or (unless_known and self._memory.looked()):
            return
        junk = "Junk" if self._target.junk is None else self._target.junk
        tell(f"spamnb: {self._target.shown}: no folder {junk!r} yet; moves into it are learned once it is there")

    def look(self) -> None:
        """Learn what was moved since the last look, and sort what came."""
        if self._first is None:
            self._first = not self._memory.looked()
        if self._target.sort or self._target.learn_folder is not None:
            with self._memory.alone(_PATIENCE):
                self._learn()
                if self._target.sort:
                    self._sort()
        else:
            self._learn()

    def _learn(self) -> None:
        from spamnb.naming import pluralize

        for lesson, label, changed, error in self._work.learn():
            if error is not None:
                tell(f"spamnb: {error}")
                self.missed = True
                continue
            said = "would learn" if self._work.dry_run else "learned" if changed else "known"
            click.echo(f"{said}\t{label}\t{lesson.message.name}")
            if self._stop:
                return
        if self._first:
            self._first = False
            noted = f"{self._target.shown}: {pluralize(self._memory.noted(), 'message')} noted"
            junk = self._memory.box.junk().name
            tell(f"spamnb: {noted}; from now on it learns from moves into {junk} and out of it")

    def _sort(self) -> None:
        moved = "would move" if self._work.dry_run else "moved"
        for one in self._work.sort(folders_of(self._target, self._memory)):
            if one.into is not None:
                click.echo(f"{moved}\t{one.found.verdict}\t{one.into.name}\t{one.message.name}")
            if self._stop:
                return

    def look_and_wait(self, seconds: float) -> float:
        """A look, and then so many seconds or until something happens; how long to leave a mailbox alone that could not
        be reached. Its pauses grow, and each new reason is told once."""
        from spamnb.sources.imap_connection import LoginRefused

        box = self._memory.box
        try:
            self.look()
            if self._told:
                tell(f"spamnb: {self._target.shown}: connected again")
            self._failures, self._refusals, self._told = 0, 0, ""
            if self._stop is not None:
                box.wait(self._memory.state_of_inbox(), seconds, self._stop)
            return 0.0
        except SpamnbError as error:
            box.close()
            if isinstance(error, LoginRefused):
                pause = min(_AFTER_REFUSAL * 2 ** min(self._refusals, 6), _LONGEST_REFUSAL)
                self._refusals += 1
            else:
                pause = min(_FIRST_PAUSE * 2 ** min(self._failures, 5), _LONGEST_PAUSE)
                self._failures += 1
            if str(error) != self._told:
                self._told = str(error)
                tell(f"spamnb: {self._told}; asked again after growing pauses")
            return pause * random.uniform(0.7, 1.0)  # not all accounts of a server at once


@contextmanager
def watched(
    target: Target,
    unreadable: Unreadable,
    dry_run: bool,
    stop: Stop | None = None,
    classifier: Classifier | None = None,
    journal: Path | None = None,
) -> Iterator[Watching]:
    """A mailbox with what is needed to watch it; what is done is noted in the file ``journal``."""
    from spamnb.classifier import Classifier

    with ExitStack() as stack:
        if classifier is None:
            classifier = stack.enter_context(Classifier.open(target.model, writable=not dry_run))
        memory = stack.enter_context(opened(target, unreadable, dry_run))
        work = stack.enter_context(filing(target, memory, classifier, unreadable, dry_run, journal))
        yield Watching(target, work, stop)


def follow(
    found: list[Target], unreadable: Unreadable, stop: Stop, interval: float, dry_run: bool, journal: Path | None
) -> None:
    """Look at mailboxes of one model again and again; at a single one as soon as something happens in it."""
    from spamnb.classifier import Classifier

    with ExitStack() as stack:
        classifier = stack.enter_context(Classifier.open(found[0].model, writable=not dry_run))
        boxes = [
            stack.enter_context(watched(target, unreadable, dry_run, stop, classifier, journal)) for target in found
        ]
        for watching in boxes:
            watching.tell_of_junk()
        single = len(boxes) == 1
        while not stop:
            pauses = [watching.look_and_wait(interval if single else 0.0) for watching in boxes]
            stop.wait(pauses[0] if single else interval)
