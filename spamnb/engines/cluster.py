"""Counting on a Dask cluster: workers read and count parts of the mail, and this machine adds up the counts.

The training set is the same as on one machine, to the last count and in the same order, and so is the model. If a
worker is lost, another one counts its part again. Of Dask only ``distributed`` is needed, because only futures of plain
functions are used. A scheduler runs any code that it receives: docs/cluster.md says how to protect it.
"""

from __future__ import annotations

import json
import logging
import os
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from spamnb.engines.executor import PARTS_AHEAD, ordered_map, parts_of
from spamnb.errors import ArgumentError, SpamnbError, describe_error, reason
from spamnb.model.counting import MessageCounter, SharedVocabulary, Unread
from spamnb.reader.rows import Rows
from spamnb.settings import TOKENS_VERSION, Settings
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from concurrent.futures import Future

    from distributed import Client

CONNECT_SECONDS = 10  # to wait for the scheduler, and then for a first worker, so that a wrong address is reported soon
CLOSE_SECONDS = 1  # to wait until the scheduler closes the connection, because no result depends on it
SCHEMES = ("tcp://", "tls://", "ws://", "wss://", "ucx://")
MAX_PART_MESSAGES = 5000  # some 40 MB of memory: smaller parts repeat more tokens, larger ones leave workers idle
MAX_PART_BYTES = 1 << 24  # bytes of mail, for entries that carry their content


def token_versions() -> dict[str, str]:
    """Return the versions that must be equal on all machines, because the tokens of a message depend on them.

    >>> sorted(token_versions())
    ['PDF attachments', 'Unicode', 'spamnb', 'tokens']
    """
    from spamnb import __version__
    from spamnb.reader.pdf import is_available

    return {
        "spamnb": __version__,
        "tokens": str(TOKENS_VERSION),
        "Unicode": unicodedata.unidata_version,
        "PDF attachments": "read" if is_available() else "not read",
    }


def count_part(part: list[Entry], settings: Settings, expected: dict[str, str]) -> tuple[Rows, list[Unread]]:
    """Count a part of the mail on a worker. Raise SpamnbError if the worker's versions are not the expected ones."""
    for name, version in token_versions().items():
        if version != expected[name]:
            raise SpamnbError(
                f"{name}: {version} on the worker {gethostname()}, {expected[name]} here;"
                " install the same on all machines"
            )
    rows, unread = MessageCounter(settings, SharedVocabulary()).count(part)
    return rows.compact(), unread


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, client: Client, address: str) -> None:
        self._client: Any = client  # some of its methods are untyped
        self.address = address

    def count(
        self, entries: Iterable[Entry], settings: Settings, vocabulary: SharedVocabulary
    ) -> Generator[tuple[Rows, list[Unread]]]:
        """Yield the rows and the unreadable messages of each part.

        Raise SpamnbError if a worker lacks a file that this machine has.
        """
        executor = self._client.get_executor(pure=False)

        def submit(part: list[Entry]) -> Future[tuple[Rows, list[Unread]]]:
            count = partial(count_part, list(map(_make_absolute, part)), settings, token_versions())
            # Dask reports this key if workers died with the part. The key is unique, because Dask runs equal keys once.
            key = f"the part of the mail from {part[0].name} to {part[-1].name} ({uuid4().hex})"
            future: Future[tuple[Rows, list[Unread]]] = executor.submit(count, key=key)
            return future

        parts = parts_of(entries, MAX_PART_MESSAGES, MAX_PART_BYTES)
        for rows, unread in ordered_map(submit, parts, PARTS_AHEAD * max(len(self._client.nthreads()), 1)):
            for message in unread:
                if message.is_missing and os.path.exists(message.path):
                    raise SpamnbError(
                        f"{message.name}: this file exists here, but not on a worker of {self.address}; all workers"
                        " must see the mail's files under the same names"
                    )
            yield replace(rows, tokens=vocabulary, ids=vocabulary.ids(rows.tokens)[rows.ids]), unread


def _make_absolute(entry: Entry) -> Entry:
    return entry._replace(path=os.path.abspath(entry.path)) if entry.content is None else entry


@contextmanager
def cluster(address: str, tell: Callable[[str], None]) -> Iterator[Cluster]:
    """Connect to the cluster at ``address``: a scheduler's tcp:// or tls:// address, or a scheduler file.

    Tasks are cancelled when the context ends. Raises SpamnbError for errors of the cluster, also inside the context.
    """
    try:
        import distributed
    except ImportError as error:
        raise ArgumentError("{option.dask} needs Dask's distributed: pip install distributed") from error
    client_class: Any = distributed.Client
    scheduler_address = _read_address(address)
    with _quiet(), _translate_errors(address):
        try:
            client = client_class(scheduler_address, timeout=CONNECT_SECONDS, set_as_default=False)
        except OSError as error:
            raise SpamnbError(f"{address}: no scheduler answers ({reason(error)})") from None
        try:
            try:
                client.wait_for_workers(1, timeout=CONNECT_SECONDS)
            except TimeoutError:
                raise SpamnbError(f"{address}: the scheduler has no workers; 'dask worker' starts one") from None
            if "dashboard" in client.scheduler_info()["services"]:
                tell(f"progress of the cluster: {client.dashboard_link}")
            yield Cluster(client, address)
        finally:
            with suppress(TimeoutError):  # a scheduler that does not answer cannot close the connection
                client.close(timeout=CLOSE_SECONDS)


def _read_address(address: str) -> str:
    """Return the address of a scheduler; raise SpamnbError if this is neither an address nor a scheduler file."""
    if address.startswith(SCHEMES):
        return address
    path = Path(address).expanduser()
    try:
        return str(json.loads(path.read_bytes())["address"])
    except OSError as error:
        raise ArgumentError(
            "{at}: {why}; {option.dask} is tcp://HOST:PORT, tls://HOST:PORT, or a scheduler file",
            at=address,
            why=reason(error),
        ) from None
    except (ValueError, KeyError, TypeError):
        raise SpamnbError(f"{address}: no scheduler file; 'dask scheduler --scheduler-file' writes one") from None


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence Dask's log of connections, because errors are reported in one line."""
    loggers = [logging.getLogger(name) for name in ("distributed", "distributed.client", "tornado", "asyncio")]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before):
            logger.setLevel(level)


@contextmanager
def _translate_errors(address: str) -> Iterator[None]:
    """Raise SpamnbError for exceptions of Dask, and for those that it brings from a worker."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    of_dask = KilledWorker, FutureCancelledError, CancelledError, CommClosedError, TimeoutError
    # What answers may be no scheduler, and a worker may have another Python, no spamnb, or too little memory.
    of_programs = ImportError, AttributeError, RuntimeError, TypeError, ValueError, EOFError, MemoryError
    try:
        yield
    except (*of_dask, *of_programs) as error:
        raise SpamnbError(f"{describe_error(error, address)}; docs/cluster.md says what a cluster needs") from error
