"""Mail counted on a Dask cluster: workers read and count parts of it, this machine adds up what they counted.

The training set is that of one machine to the last count and in the same order, so whatever is fitted to it is the same
model. A part that was lost with its worker is counted again by another. Only futures of plain functions are used, so
``distributed`` is all of Dask that is needed. A scheduler runs any code that whoever reaches it sends: docs/cluster.md
says how to keep others away. Whatever goes wrong there is told in one line.
"""

from __future__ import annotations

import json
import logging
import os
import re
import unicodedata
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from spamnb.counts.counting import Counted, Counter, SharedVocabulary
from spamnb.engines.executor import AHEAD, ordered_map, parts_of
from spamnb.errors import ArgumentError, SpamnbError, reason
from spamnb.reader.options import TOKENS_VERSION, TokenOptions
from spamnb.reader.tokens import TokenArray
from spamnb.sources.entries import Entry

if TYPE_CHECKING:
    from concurrent.futures import Future

    from distributed import Client

CONNECT_SECONDS = 10  # until a scheduler has to answer
CLOSE_SECONDS = 1  # that it may take to let go of one
ADDRESSES = ("tcp://", "tls://", "ws://", "wss://", "ucx://")
MAX_PART = 5000  # messages, some 40 MB of a worker: smaller parts repeat more tokens, larger ones leave workers idle
MAX_PART_BYTES = 1 << 24  # of mail, where entries carry their bytes


def rules() -> dict[str, str]:
    """What machines must agree on to make the same tokens of the same mail.

    >>> sorted(rules())
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


def count_part(part: list[Entry], options: TokenOptions, expected: dict[str, str]) -> tuple[TokenArray, Counted]:
    """What a worker does: count a part of the mail, with ids of the tokens beside it. SpamnbError where it goes by
    other rules."""
    for what, own in rules().items():
        if own != expected[what]:
            worker, here = f"the worker on {gethostname()}", expected[what]
            raise SpamnbError(f"{worker} has {what} {own}, here it is {here}; install the same on all machines")
    vocabulary = SharedVocabulary()
    counted = Counter(options, vocabulary).count(part)
    return vocabulary.take_all().tokens(), counted


class Cluster:
    """A scheduler and its workers."""

    def __init__(self, client: Client, address: str) -> None:
        self._client: Any = client  # some of its methods are untyped
        self.address = address

    def count(
        self, entries: Iterable[Entry], options: TokenOptions, vocabulary: SharedVocabulary
    ) -> Generator[Counted]:
        """The messages as the workers count them. SpamnbError where one of these lacks a file that is here."""
        executor = self._client.get_executor(pure=False)

        def submit(part: list[Entry]) -> Future[tuple[TokenArray, Counted]]:
            count = partial(count_part, list(map(_absolute, part)), options, rules())
            # What people are told of a part that ends its workers. Two tasks of one key are one task.
            key = f"the part of the mail from {part[0].name} to {part[-1].name} ({uuid4().hex})"
            future: Future[tuple[TokenArray, Counted]] = executor.submit(count, key=key)
            return future

        parts = parts_of(entries, MAX_PART, MAX_PART_BYTES)
        for tokens, counted in ordered_map(submit, parts, AHEAD * max(len(self._client.nthreads()), 1)):
            for message in counted.unread:
                if message.missing and os.path.exists(message.path):
                    raise SpamnbError(
                        f"{message.name}: here it is, and on a worker of {self.address} it is not; all workers must"
                        " see the mail's files under the same names"
                    )
            yield counted._replace(ids=vocabulary.ids(tokens)[counted.ids])


def _absolute(entry: Entry) -> Entry:
    return entry._replace(path=os.path.abspath(entry.path)) if entry.content is None else entry


@contextmanager
def cluster(address: str, tell: Callable[[str], None]) -> Iterator[Cluster]:
    """The cluster at ``address``, a scheduler's tcp:// or tls:// address or a scheduler file. When the context ends
    nothing is left to do there.

    Raises SpamnbError for what goes wrong with it, also inside of the context.
    """
    try:
        import distributed
    except ImportError as error:
        raise ArgumentError("{option.dask} needs Dask's distributed: pip install distributed") from error
    made_client: Any = distributed.Client  # untyped
    with _quiet():
        try:
            client = made_client(_scheduler(address), timeout=CONNECT_SECONDS, set_as_default=False)
        except TypeError:  # what Dask raises where tls:// has no certificates
            raise SpamnbError(
                f"{address}: no certificates are named for TLS: set distributed.comm.tls in Dask's configuration"
                " (docs/cluster.md)"
            ) from None
        except (MemoryError, EOFError):  # Dask takes the first bytes of an answer for the length of the rest
            raise SpamnbError(f"{address}: what answers there is no scheduler") from None
        except (OSError, ValueError, RuntimeError) as error:
            why = (reason(error) or type(error).__name__).splitlines()[0]
            raise SpamnbError(f"{address}: no scheduler answers ({why})") from None
        try:
            with _told(address):
                try:
                    client.wait_for_workers(1, timeout=CONNECT_SECONDS)
                except TimeoutError:
                    raise SpamnbError(f"{address}: the scheduler has no workers; 'dask worker' starts one") from None
                if "dashboard" in client.scheduler_info()["services"]:
                    tell(f"how far the cluster is: {client.dashboard_link}")
                yield Cluster(client, address)
        finally:  # what is not begun there will not be, what runs there ends for nobody
            with suppress(TimeoutError):  # whoever does not answer holds nothing of ours back
                client.close(timeout=CLOSE_SECONDS)


def _scheduler(address: str) -> str:
    """The address of a scheduler. SpamnbError where that is none, and no scheduler file either."""
    if address.startswith(ADDRESSES):
        return address
    path = Path(address).expanduser()
    try:
        found = json.loads(path.read_bytes())["address"]
    except OSError as error:
        raise ArgumentError(
            "{at}: {why}; {option.dask} is tcp://HOST:PORT, tls://HOST:PORT, or a scheduler file",
            at=address,
            why=reason(error),
        ) from None
    except (ValueError, KeyError, TypeError):
        raise SpamnbError(f"{address}: no scheduler file; 'dask scheduler --scheduler-file' writes one") from None
    return str(found)


@contextmanager
def _quiet() -> Iterator[None]:
    """Dask's own words about connections stay out of the terminal: what matters is told in one line."""
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
def _told(address: str) -> Iterator[None]:
    """What Dask raises, as errors that a person can act on."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        part = str(error.task).rpartition(" (")[0]
        raise SpamnbError(
            f"{address}: {part} ended {error.allowed_failures + 1} workers that took it; most often they have too"
            " little memory: give them more, or take that mail out"
        ) from None
    except (FutureCancelledError, CancelledError, CommClosedError, TimeoutError):
        raise SpamnbError(
            f"{address}: the scheduler is gone; what it had worked out is lost, train again when it is back"
        ) from None
    except (ImportError, AttributeError, RuntimeError) as error:
        if isinstance(error, ImportError) or re.search("deserializ|Can't get attribute", str(error)):
            raise SpamnbError(
                f"{address}: the scheduler or a worker cannot run this spamnb ({reason(error).splitlines()[0]});"
                " install the same spamnb there as here"
            ) from None
        raise
    except MemoryError:
        raise SpamnbError(f"{address}: a worker has too little memory for its part; give workers more") from None
