"""How many of this machine's cores share the work."""

from __future__ import annotations

import multiprocessing

from spamnb.engines.executor import cores


def workers_of(n_jobs: int | None) -> int:
    """How many threads: −1 is one a core, −2 one less, and None is 1, as scikit-learn has it.

    One in a process that others made, as a search with several jobs does: its cores are at work already.
    """
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs is 0: give a number of threads, or -1 for one a core")
    if n_jobs > 0:
        return n_jobs
    return 1 if multiprocessing.parent_process() is not None else max(1, cores() + 1 + n_jobs)
