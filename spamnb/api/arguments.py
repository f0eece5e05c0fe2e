"""What the functions are given: sources, a model's file, settings by name, workers; and whom they tell on the way."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spamnb.errors import ArgumentError, SpamnbError, SpamnbWarning

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster
    from spamnb.settings import Settings

FilePath = str | os.PathLike[str]
Sources = FilePath | Sequence[FilePath]  # a SOURCE as on the command line, or several
Tell = Callable[[str], None]  # is given a line of text


def warn(line: str) -> None:
    """Tell it as a ``SpamnbWarning``, which warnings.filterwarnings can turn off.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     warn("inbox#3: broken gzip data; left out")
    >>> told[0].category.__name__, str(told[0].message)
    ('SpamnbWarning', 'inbox#3: broken gzip data; left out')
    """
    warnings.warn(line, SpamnbWarning, stacklevel=3)


def settings_of(chosen: Mapping[str, Any]) -> Settings:
    """The settings that were chosen by name. Raises SpamnbError for an unknown name and for a wrong value, also where
    it would only turn out when all the mail has been read.

    >>> settings_of({"alpha": 1, "ngrams": 1}).tokens.ngrams
    1
    >>> settings_of({"alhpa": 1})
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: no setting is called 'alhpa'; they are model_type, alpha, prior, ...
    """
    from spamnb.formulas.decision import Loss
    from spamnb.reader.message import Reader
    from spamnb.reader.options import TokenOptions
    from spamnb.setting_fields import settings_in
    from spamnb.settings import SETTINGS, Settings

    for name in chosen:
        if name not in SETTINGS:
            raise SpamnbError(f"no setting is called {name!r}; they are {', '.join(SETTINGS)}")

    def of(owner: type) -> dict[str, Any]:
        return {name: chosen[name] for name in settings_in(owner) if chosen.get(name) is not None}

    if chosen.get("embedding") is not None:
        from spamnb.learners.embeddings import parse_embedding

        parse_embedding(chosen["embedding"])
    tokens = Reader(TokenOptions(**of(TokenOptions))).options
    return Settings(**of(Settings), tokens=tokens, loss=Loss(**of(Loss)))


def check_least(least: float, **given: float | None) -> None:
    """SpamnbError where one of the numbers is below ``least``; None is none.

    >>> check_least(1, workers=2, top=0)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: top is 0: at least 1 is needed
    """
    for name, value in given.items():
        if value is not None and not value >= least:
            raise SpamnbError(f"{name} is {value:g}: at least {least:g} is needed")


def specs_of(sources: Sources) -> list[str]:
    """Each SOURCE as text. SpamnbError where there is none, or where it is mail itself and no path.

    >>> import pathlib
    >>> specs_of(pathlib.Path("mail")), specs_of(["ham=in", "spam=junk"])
    (['mail'], ['ham=in', 'spam=junk'])
    """
    given = [sources] if isinstance(sources, str | os.PathLike) else sources
    if isinstance(given, bytes | Mapping) or hasattr(given, "columns") or not all(_is_path(each) for each in given):
        raise SpamnbError(
            f"sources is a {type(sources).__name__}: give a path, 'CLASS=PATH' or a list of these;"
            " SpamClassifier().fit(texts, labels) learns messages in memory"
        )
    if not given:
        raise SpamnbError("no SOURCE: give a folder, a file, or several as a list")
    return [os.fspath(each) for each in given]


def _is_path(value: object) -> bool:
    return isinstance(value, str | os.PathLike)


def model_path(model: FilePath) -> Path:
    """The path of a model's file."""
    return Path(model).expanduser()


def check_writable(path: Path) -> None:
    """SpamnbError where no file can be made at ``path``. Folders that are not there yet could be.

    >>> check_writable(Path("/dev/null/model.spamnb"))
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: /dev/null/model.spamnb: cannot be written (its folder is a file)
    """
    folder = path.absolute().parent
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir():
        raise SpamnbError(f"{path}: cannot be written (its folder is a file)")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise SpamnbError(f"{path}: cannot be written (permission denied)")


def threads_of(n_jobs: int | None) -> int:
    """How many threads: −1 is one a core, −2 one less, and None is 1, as scikit-learn has it.

    One in a process that others made, as a search with several jobs does: its cores are at work already.
    """
    import multiprocessing

    from spamnb.engines.executor import cores

    if n_jobs == 0:
        raise ValueError("n_jobs is 0: give a number of threads, or -1 for one a core")
    if n_jobs is None or n_jobs > 0:
        return n_jobs or 1
    return 1 if multiprocessing.parent_process() is not None else max(1, cores() + 1 + n_jobs)


def check_dask(dask: str | None, workers: int | None) -> None:
    """SpamnbError where ``workers`` are chosen for a cluster that has its own.

    >>> check_dask("tcp://10.0.0.1:8786", 2)
    Traceback (most recent call last):
    ...
    spamnb.errors.ArgumentError: workers is for threads of this machine; a cluster has the workers that it has
    """
    if workers is not None and dask not in (None, "local"):
        raise ArgumentError("{option.workers} is for threads of this machine; a cluster has the workers that it has")


@contextmanager
def chosen_cluster(dask: str | None, workers: int | None, folder: Path, tell: Tell) -> Iterator[Cluster | None]:
    """The cluster that was asked for, if any; what it puts on this machine's disk lies in ``folder``."""
    if dask is None:
        yield None
        return
    from spamnb.engines.cluster import cluster

    with cluster(dask, workers, folder, tell) as found:
        yield found
