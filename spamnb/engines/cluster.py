"""A Dask cluster: found, asked, and waited for; whatever goes wrong there is told in one line.

Only futures of plain functions are used, so ``distributed`` is all of Dask that is needed. A scheduler runs any code
that whoever reaches it sends: docs/cluster.md says how to keep others away.
"""

from __future__ import annotations

import json
import logging
import re
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from spamnb.engines.executor import cores
from spamnb.errors import ArgumentError, SpamnbError, reason
from spamnb.reader.options import TOKENS_VERSION

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 10  # until a scheduler has to answer
ALONE_SECONDS = 60  # that a cluster may be without any worker
CHECK_SECONDS = 1  # between two looks at whether it is
ADDRESSES = ("tcp://", "tls://", "ws://", "wss://", "ucx://")
# A machine's own cluster: parts wait on the disk early, since what a task needs on top comes beside them.
LOCAL_CONFIG = {
    "distributed.worker.memory.target": 0.3,
    "distributed.worker.memory.spill": 0.5,
    "distributed.worker.profile.enabled": False,  # asked for by nobody; a twentieth of the time
    # Every process looks at itself 50, 10 and 2 times a second otherwise: at rest 6 % of a core instead of 1.5.
    "distributed.admin.tick.interval": "1s",
    "distributed.worker.memory.monitor-interval": "250ms",
    "distributed.admin.system-monitor.interval": "5s",
    "distributed.worker.multiprocessing-method": "spawn",
    # Dask has glibc map all above 128 kB apart and give every 64 kB back at once: a seventh of what all tasks take.
    # Arrays above 1 MB are still given back, else a worker would keep what it freed, and be paused for good.
    "distributed.nanny.pre-spawn-environ.MALLOC_TRIM_THRESHOLD_": 1 << 22,
    "distributed.nanny.pre-spawn-environ.MALLOC_MMAP_THRESHOLD_": 1 << 20,
}


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


def check_rules(own: dict[str, str], expected: dict[str, str], who: str) -> None:
    """SpamnbError where a machine goes by other rules than the one that asks it.

    >>> check_rules({"spamnb": "0.1.0", "tokens": "5"}, {"spamnb": "0.1.0", "tokens": "6"}, "the worker tcp://a:1")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: the worker tcp://a:1 has tokens 5, here it is 6; install the same on all machines
    """
    for what, here in expected.items():
        there = own.get(what, "none")
        if there != here:
            raise SpamnbError(f"{who} has {what} {there}, here it is {here}; install the same on all machines")


class Cluster:
    """A scheduler and its workers, for one training."""

    def __init__(self, client: Client, address: str) -> None:
        self._client = client
        self.address = address
        self._run = uuid4().hex[:12]  # keys of two trainings on one scheduler must differ
        self._alone_since: float | None = None
        self._told: dict[str, str] = {}

    def submit(self, name: str, function: Callable[..., Any], *arguments: Any, told: str) -> Future:
        """The function of these arguments, on some worker; ``name`` tells it from all others, and ``told`` is what
        people are told of it where it fails."""
        # A task of which workers die is tried on others: distributed.scheduler.allowed-failures, 3 as it comes.
        key = f"{name}-{self._run}"
        self._told[key] = told
        return self._client.submit(function, *arguments, key=key, pure=False)

    @property
    def workers(self) -> int:
        """How many workers there are now; they may come and go. At least 1."""
        return max(self._count_workers(), 1)

    def _count_workers(self) -> int:
        try:
            return len(self._client.scheduler_info()["workers"])
        except OSError:
            raise SpamnbError(_gone(self.address)) from None

    def told(self, key: str) -> str:
        """What a task is to people."""
        return self._told[key]

    def result(self, future: Any) -> Any:
        """What a future's function returned. SpamnbError where the cluster cannot give it."""
        while True:
            try:
                future.exception(timeout=CHECK_SECONDS)
                result = future.result(timeout=ALONE_SECONDS)  # on its way here; made anew where it was lost
                break
            except TimeoutError:
                if future.status == "error":
                    raise
                self._check_alive()
        self._alone_since = None
        return result

    def check_workers(self) -> None:
        """SpamnbError where no worker comes, or where one has another spamnb or none at all."""
        try:
            self._client.wait_for_workers(1, timeout=CONNECT_SECONDS)
        except TimeoutError:
            raise SpamnbError(f"{self.address}: the scheduler has no workers; 'dask worker' starts one") from None
        here = rules()
        try:
            client: Any = self._client  # its method is untyped
            of_scheduler = client.run_on_scheduler(rules)  # it reads each task before it hands it on
        except Exception as error:  # whatever its Python says where spamnb is missing or another
            of_scheduler = error
        answers = {f"the scheduler {self.address}": of_scheduler}
        for worker, there in self._client.run(rules, on_error="return").items():
            answers[f"the worker {worker}"] = there
        for who, there in answers.items():
            if isinstance(there, TimeoutError | OSError):
                raise SpamnbError(f"{who} does not answer: {reason(there)}")
            if isinstance(there, Exception):
                raise SpamnbError(_without_spamnb(who, there))
            check_rules(there, here, who)

    def _check_alive(self) -> None:
        if self._client.status != "running":
            raise SpamnbError(_gone(self.address))
        if self._count_workers():
            self._alone_since = None
            return
        self._alone_since = self._alone_since or monotonic()
        if monotonic() - self._alone_since > ALONE_SECONDS:
            raise SpamnbError(
                f"{self.address}: without any worker for {ALONE_SECONDS} s; the workers' logs say why they ended"
            )


def _gone(address: str) -> str:
    return f"{address}: the scheduler is gone; what it had worked out is lost, train again when it is back"


def _without_spamnb(who: str, error: Exception) -> str:
    return f"{who} cannot run this spamnb ({reason(error).splitlines()[0]}); install the same spamnb there as here"


@contextmanager
def cluster(address: str, workers: int | None, folder: Path, tell: Callable[[str], None]) -> Iterator[Cluster]:
    """The cluster at ``address``: a scheduler's tcp:// or tls:// address, a scheduler file, or "local", processes of
    this machine, whose files lie in ``folder``. When the context ends nothing is left to do there.

    Raises SpamnbError for what goes wrong with it, also inside of the context.
    """
    try:
        import distributed
    except ImportError as error:
        raise ArgumentError("{option.dask} needs Dask's distributed: pip install distributed") from error
    made_client: Any = distributed.Client  # untyped
    with ExitStack() as stack:
        stack.enter_context(_quiet())
        if address == "local":
            target: Any = stack.enter_context(_local(workers or cores(), folder))
        else:
            target = _scheduler(address)
        try:
            client = made_client(target, timeout=CONNECT_SECONDS, set_as_default=False)
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
        stack.callback(_close, client)
        found = Cluster(client, address)
        with _told(found):
            found.check_workers()
            if address != "local" and "dashboard" in client.scheduler_info()["services"]:
                tell(f"how far the cluster is: {client.dashboard_link}")
            yield found


@contextmanager
def _local(workers: int, folder: Path) -> Iterator[Any]:
    from dask import config
    from distributed import LocalCluster

    untyped: Any = LocalCluster

    with (
        config.set(LOCAL_CONFIG),
        untyped(
            n_workers=workers,
            threads_per_worker=1,
            dashboard_address="127.0.0.1:0",  # Dask has a web server in any case; here for nobody else
            local_directory=str(folder),
            silence_logs=logging.CRITICAL,
        ) as made,
    ):
        yield made


def _scheduler(address: str) -> str:
    """The address of a scheduler. SpamnbError where that is none, and no scheduler file either."""
    if address.startswith(ADDRESSES):
        return address
    path = Path(address).expanduser()
    try:
        found = json.loads(path.read_bytes())["address"]
    except OSError as error:
        raise ArgumentError(
            "{at}: {why}; {option.dask} is tcp://HOST:PORT, tls://HOST:PORT, a scheduler file, or local",
            at=address,
            why=reason(error),
        ) from None
    except (ValueError, KeyError, TypeError):
        raise SpamnbError(f"{address}: no scheduler file; 'dask scheduler --scheduler-file' writes one") from None
    return str(found)


def _close(client: Any) -> None:
    """Let go of the cluster: what is not begun there will not be, what runs there ends for nobody."""
    with suppress(TimeoutError):  # whoever does not answer holds nothing of ours back
        client.close(timeout=CHECK_SECONDS)


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
def _told(found: Cluster) -> Iterator[None]:
    """What Dask raises, as errors that a person can act on."""
    from concurrent.futures import CancelledError

    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    address = found.address
    try:
        yield
    except KilledWorker as error:
        raise SpamnbError(
            f"{address}: {found.told(str(error.task))} ended {error.allowed_failures + 1} workers that took it; most"
            " often they have too little memory: give them more, or take that mail out"
        ) from None
    except (FutureCancelledError, CancelledError, CommClosedError, TimeoutError):
        raise SpamnbError(_gone(address)) from None
    except (ImportError, AttributeError, RuntimeError) as error:
        if isinstance(error, ImportError) or re.search("deserializ|Can't get attribute", str(error)):
            raise SpamnbError(_without_spamnb("the scheduler or a worker", error)) from None
        raise
    except MemoryError:
        raise SpamnbError(f"{address}: a worker has too little memory for its part; give workers more") from None
