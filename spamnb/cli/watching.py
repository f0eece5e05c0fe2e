"""What ``watch`` does in one mailbox, and how it goes on while servers come and go."""

from __future__ import annotations

import random
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spamnb.cli.mailboxes import Target, opened
from spamnb.cli.noting import Notes, noting
from spamnb.cli.options import Unreadable, tell
from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from spamnb.classifier import Classifier

_FIRST_PAUSE, _LONGEST_PAUSE = 1.0, 30.0  # seconds before a server that was lost is asked again; doubled each time
_AFTER_REFUSAL, _LONGEST_REFUSAL = 60.0, 3600.0  # the same for one that refused the login: servers lock accounts
_PATIENCE = 5.0  # for another process that sorts the same account


class Stop:
    """What tells all that watch to end: an event, and a socket for each of those that wait for a server."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.RLock()  # a signal may come while this thread has it
        self._ends: list[socket.socket] = []

    def __call__(self, *_: object) -> None:
        """As a signal's handler, or by hand."""
        self._event.set()
        with self._lock:  # so that none is closed meanwhile
            for end in list(self._ends):
                end.send(b"\0")

    def __bool__(self) -> bool:
        return self._event.is_set()

    def wait(self, seconds: float | None = None) -> None:
        """Until the end, or for so long."""
        self._event.wait(seconds)

    @contextmanager
    def woken(self) -> Iterator[socket.socket]:
        """A socket that can be read from the end on."""
        woken, end = socket.socketpair()
        end.setblocking(False)
        with self._lock:
            self._ends.append(end)
        try:
            if self:
                end.send(b"\0")
            yield woken
        finally:
            with self._lock:
                self._ends.remove(end)
            woken.close()
            end.close()


class Watching:
    """One mailbox: what was moved in it is learned, and with ``--sort`` its new mail is sorted."""

    def __init__(
        self,
        target: Target,
        classifier: Classifier,
        box: Any,
        memory: Any,
        unreadable: Unreadable,
        dry_run: bool,
        stop: Stop | None = None,
        notes: Notes | None = None,
    ) -> None:
        self._notes = notes
        self.target, self.box, self.memory = target, box, memory
        self.missed = False  # whether a lesson was
        self._classifier, self._unreadable, self._dry_run, self._stop = classifier, unreadable, dry_run, stop
        self._unseen: bool | None = None  # whether this is the first look; None: not known yet

    def tell_of_junk(self, unless_known: bool = False) -> None:
        """A line where there is no folder of spam yet, but for a mailbox that was looked at before where
        ``unless_known``: from cron it would come again and again."""
        if self.target.account is not None or self.memory.has_junk() or (unless_known and self.memory.looked()):
            return
        junk = "Junk" if self.target.junk is None else self.target.junk
        tell(f"spamnb: {self.target.shown}: no folder {junk!r} yet; moves into it are learned once it is there")

    def look(self) -> None:
        """Learn what was moved since the last look, and sort what came."""
        if self._unseen is None:
            self._unseen = not self.memory.looked()
        if self.target.sort or self.target.learn_folder is not None:
            with self.memory.alone(_PATIENCE):
                self._learn()
                self._sort()
        else:
            self._learn()

    def _learn(self) -> None:
        from spamnb.naming import escape, pluralize
        from spamnb.serve.own_mail import learn_unless_own
        from spamnb.serve.users import class_of_label

        for lesson in self.memory.lessons():
            label = class_of_label(self._classifier, "spam" if lesson.spam else "ham")
            try:
                changed = self._dry_run or learn_unless_own(self._classifier, label, lesson.raw)
            except SpamnbError as error:  # busy, mostly: the move is still there to be seen next time
                tell(f"spamnb: {error}")
                self.missed = True
                continue
            self.memory.put(lesson)
            if changed and self._notes:
                self._notes.note_lesson(lesson, label)
            said = "would learn" if self._dry_run else "learned" if changed else "known"
            click.echo(f"{said}\t{label}\t{lesson.name}")
            if self._stop:
                return
        if self._unseen:
            self._unseen = False
            noted = f"{self.target.shown}: {pluralize(self.memory.noted(), 'message')} noted"
            junk = self.memory.junk_folder().name if self.target.account else escape(self.target.junk or "Junk")
            tell(f"spamnb: {noted}; from now on moves into {junk} and out of it are lessons")

    def _sort(self) -> None:
        from functools import partial

        from spamnb.serve.score import score_message
        from spamnb.serve.sorting import sort_mail

        if not self.target.sort:
            return
        folders = {"spam": self.box.locate(self.target.junk)}
        if self.target.unsure is not None:
            folders["unsure"] = self.box.locate(self.target.unsure)
        if self._notes:
            self._notes.begin()
        judge = self._notes.judge if self._notes else partial(score_message, self._classifier)
        moved = "would move" if self._dry_run else "moved"
        for one in sort_mail(self.box, self.memory, judge, folders, self._unreadable, dry_run=self._dry_run):
            if self._notes:
                self._notes.note(one)
            if one.into is not None:
                click.echo(f"{moved}\t{one.found.verdict}\t{one.into.name}\t{one.message.name}")
            if self._stop:
                return


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
        box, memory = stack.enter_context(opened(target, unreadable, dry_run))
        notes = stack.enter_context(noting(classifier, None if dry_run else journal, target))
        yield Watching(target, classifier, box, memory, unreadable, dry_run, stop, notes)


def follow_maildirs(
    found: list[Target], unreadable: Unreadable, stop: Stop, interval: float, dry_run: bool, journal: Path | None
) -> None:
    """Look at Maildirs again and again."""
    from spamnb.classifier import Classifier

    with ExitStack() as stack:
        classifier = stack.enter_context(Classifier.open(found[0].model, writable=not dry_run))
        boxes = [
            stack.enter_context(watched(target, unreadable, dry_run, stop, classifier, journal)) for target in found
        ]
        for watching in boxes:
            watching.tell_of_junk()
        while not stop:
            for watching in boxes:
                watching.look()
            stop.wait(interval)


def follow_account(
    target: Target, unreadable: Unreadable, stop: Stop, interval: float, dry_run: bool, journal: Path | None
) -> None:
    """Look at an account when its server tells of something, and after ``interval`` seconds at the latest.

    A server that was lost is asked again after pauses that grow; each new reason is told once.
    """
    from spamnb.sources.imap_connection import LoginRefused

    failures = refusals = 0
    told = ""
    with stop.woken() as woken, watched(target, unreadable, dry_run, stop, None, journal) as watching:
        while not stop:
            try:
                watching.look()
                if told:
                    tell(f"spamnb: {target.shown}: connected again")
                failures, refusals, told = 0, 0, ""
                if not stop:
                    watching.box.wait(watching.memory.inbox, watching.memory.next_uid(), interval, woken)
            except SpamnbError as error:
                watching.box.close()
                if isinstance(error, LoginRefused):
                    pause = min(_AFTER_REFUSAL * 2 ** min(refusals, 6), _LONGEST_REFUSAL)
                    refusals += 1
                else:
                    pause = min(_FIRST_PAUSE * 2 ** min(failures, 5), _LONGEST_PAUSE)
                    failures += 1
                if str(error) != told:
                    told = str(error)
                    tell(f"spamnb: {told}; asked again after growing pauses")
                stop.wait(pause * random.uniform(0.7, 1.0))  # not all accounts of a server at once
