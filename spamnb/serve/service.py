"""The service put together: models, conversations and counts in each of the workers."""

from __future__ import annotations

import asyncio
import functools
import socket
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from spamnb.errors import SpamnbError
from spamnb.journal.journal import Journal
from spamnb.journal.writer import JournalWriter
from spamnb.serve import metrics
from spamnb.serve.reception import Limits
from spamnb.serve.sockets import address
from spamnb.serve.spamd import Autolearn, Spamd
from spamnb.serve.users import Models
from spamnb.serve.workers import log, prefork, work


@dataclass(frozen=True, slots=True)
class Service:
    """What to serve. Raises SpamnbError, before anybody can connect, where the model cannot be opened or tells no spam.

    ``users`` is the folder of users' models; one answers once it holds ``own_after`` messages of each class.
    """

    model: Path
    users: Path | None
    own_after: int
    limits: Limits
    allow_tell: bool
    autolearn: Autolearn | None
    journal: Path | None = None

    def __post_init__(self) -> None:
        models = self._models(self._learns)
        try:
            models.for_classifying("").check_spam()
        finally:
            models.close()
        if self.journal is not None:
            try:
                Journal.at(self.journal).close()
            except (SpamnbError, OSError) as error:  # it costs no mail, at the start neither: the writer tries again
                log(event="journal", error=str(error))

    @property
    def _learns(self) -> bool:
        return self.allow_tell or self.autolearn is not None

    def _models(self, writable: bool) -> Models:
        return Models(self.model, self.users, self.own_after, writable=writable)

    def run(
        self,
        listening: Sequence[socket.socket],
        watched: Sequence[socket.socket],
        workers: int,
        patience: float,
    ) -> None:
        """Answer the spamd protocol on *listening* and ``/metrics`` on *watched* until SIGTERM.

        Open connections then have *patience* seconds to end.
        """
        counted = metrics.Metrics(workers)
        exposed = [(one, functools.partial(metrics.answer, counted)) for one in watched]

        async def answer(number: int, parent: int, ready: Callable[[], None]) -> None:
            counts = counted.counts(number)
            kept = JournalWriter(self.journal, lambda line: log(event="journal", error=line)) if self.journal else None
            spamd = Spamd(
                self._models,
                counts,
                log,
                self.limits,
                allow_tell=self.allow_tell,
                autolearn=self.autolearn,
                journal=kept,
            )
            pairs = [(one, spamd.converse) for one in listening]
            await work([*pairs, *exposed], parent, ready, spamd.reopen, patience)
            await spamd.close()
            if kept is not None:
                kept.close()

        def worker(number: int, parent: int, ready: Callable[[], None]) -> None:
            asyncio.run(answer(number, parent, ready))

        for one in listening:
            log(event="listening", address=address(one))
        for one in watched:
            log(event="metrics", address=address(one))
        prefork(workers, worker, [*listening, *watched], patience + 5)
        if self._learns:
            self._models(True).close()  # the last writer to close empties the write-ahead log into the file
