"""The Dask cluster that a program or a command was told to use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from spamnb.api.notices import Tell
from spamnb.errors import SpamnbError

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster


def check_dask(dask: str, workers: int | None) -> None:
    """SpamnbError where ``workers`` are chosen for a cluster that has its own.

    >>> check_dask("tcp://10.0.0.1:8786", 2)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: --workers is for threads of this machine; a cluster has the workers that it has
    """
    if workers is not None and dask != "local":
        raise SpamnbError("--workers is for threads of this machine; a cluster has the workers that it has")


@contextmanager
def chosen_cluster(dask: str | None, workers: int | None, folder: Path, tell: Tell) -> Iterator[Cluster | None]:
    """The cluster that was asked for, if any; what it puts on this machine's disk lies in ``folder``."""
    if dask is None:
        yield None
        return
    from spamnb.engines.cluster import cluster

    with cluster(dask, workers, folder, tell) as found:
        yield found
