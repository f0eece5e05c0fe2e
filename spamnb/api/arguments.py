"""Checks of the functions' arguments: sources, model files, settings by name, numbers of threads."""

from __future__ import annotations

import errno
import os
import signal
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from tempfile import gettempdir
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any, TypedDict

from spamnb.errors import ArgumentError, SpamnbError, SpamnbWarning, check_type
from spamnb.shown_text import escape

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster
    from spamnb.settings import Settings

FilePath = str | os.PathLike[str]
Sources = FilePath | Sequence[FilePath]  # one or more SOURCE arguments of the command line
Tell = Callable[[str], None]  # shows the user a line: prints it, or raises it as a warning
_SQLITE = b"SQLite format 3\0"  # the first bytes of a model file


class SettingValues(TypedDict, total=False):
    """Settings of a model as keyword arguments; None is the default."""

    model_type: str | None
    alpha: float | None
    pooling: str | None
    embedding: str | None
    spam: str | None
    tokenizer: str | None
    stem: str | None
    ngrams: int | None
    body_only: bool | None
    ignore_headers: Iterable[str] | None
    strictness: str | None
    unsure_cost: float | None
    starter: bool | None


def warn(line: str) -> None:
    """Warn with a ``SpamnbWarning``.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn("inbox#3: broken gzip data; left out")
    >>> caught[0].category.__name__, str(caught[0].message)
    ('SpamnbWarning', 'inbox#3: broken gzip data; left out')
    """
    warnings.warn(line, SpamnbWarning, stacklevel=3)


def make_settings(values: Mapping[str, Any]) -> Settings:
    """Return settings with these values. Raise SpamnbError for an unknown name and for a wrong value.

    All values are checked before any mail is read.

    >>> make_settings({"alpha": 1, "ngrams": None}).ngrams
    2
    >>> make_settings({"alhpa": 1})
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: no setting is called 'alhpa'; they are model_type, alpha, pooling, ...
    """
    from spamnb.reader.message import Reader
    from spamnb.settings import SETTINGS, Settings

    for name in values:
        if name not in SETTINGS:
            raise SpamnbError(f"no setting is called {name!r}; they are {', '.join(SETTINGS)}")
    settings = Settings(**{name: value for name, value in values.items() if value is not None})
    Reader(settings)  # raises SpamnbError for a stemmer that does not exist
    if settings.embedding is not None:
        from spamnb.model.embeddings import parse_embedding

        parse_embedding(settings.embedding)
    return settings


def check_least(least: int, **arguments: int | None) -> None:
    """Raise SpamnbError if an argument is neither None nor a whole number, or if it is below ``least``.

    >>> check_least(1, workers=2, top=0)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: top is 0: at least 1 is needed
    >>> check_least(0, seed="1")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: seed is '1': a whole number is needed
    """
    for name, value in arguments.items():
        if not isinstance(value, Integral | None):
            raise SpamnbError(f"{name} is {value!r:.60}: a whole number is needed")
        if value is not None and value < least:
            raise SpamnbError(f"{name} is {value}: at least {least} is needed")


def list_specs(sources: Sources) -> list[str]:
    """Return each source as a str. Raise SpamnbError if there is no source, or if a source is not a path.

    >>> import pathlib
    >>> list_specs(pathlib.Path("mail")), list_specs(["ham=in", "spam=junk"])
    (['mail'], ['ham=in', 'spam=junk'])
    """
    paths = [sources] if isinstance(sources, str | os.PathLike) else sources
    is_list = isinstance(paths, Sequence) and not isinstance(paths, bytes)
    arguments = [(f"sources[{n}]", path) for n, path in enumerate(paths)] if is_list else [("sources", paths)]
    for name, value in arguments:
        if not isinstance(value, str | os.PathLike):
            raise SpamnbError(
                f"{name} is a {type(value).__name__}: give a path, 'CLASS=PATH' or a list of these;"
                " SpamClassifier().fit(texts, labels) learns messages in memory"
            )
    if not paths:
        raise SpamnbError("no SOURCE: give a folder, a file, or several as a list")
    return [os.fspath(path) for path in paths]


def tell_notes(specs: Sequence[str], recursive: bool, tell: Tell) -> None:
    """Call ``tell`` with a line for each sign that a source is not the mail that the user meant."""
    from spamnb.sources.spec import source_notes

    for note in source_notes(specs, recursive):
        tell(note)


def check_flags(**arguments: bool) -> None:
    """Raise SpamnbError if an argument is neither True nor False.

    >>> check_flags(online="yes")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: online is 'yes': give True or False
    """
    for name, value in arguments.items():
        if value not in (True, False):
            raise SpamnbError(f"{name} is {value!r:.60}: give True or False")


def file_path(path: FilePath, argument: str = "model") -> Path:
    """Return the path of a file. Raise SpamnbError for an argument of another type."""
    check_type(argument, path, str | os.PathLike, "the path of a file")
    return Path(path).expanduser()


def new_file(path: FilePath, argument: str = "model", over_model: bool = True) -> Path:
    """Return the path of a file to write. Raise SpamnbError if the file cannot be written.

    Unless ``over_model``, raise SpamnbError also if the file is a model.

    >>> new_file("nowhere/model.spamnb")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: nowhere/model.spamnb: there is no folder .../nowhere
    """
    target = file_path(path, argument)
    folder = target.absolute().parent
    if "\0" in str(target) or str(target) == ":memory:":
        raise SpamnbError(f"{argument} is {str(target)!r:.60}: this is not the name of a file")
    if not folder.is_dir():
        raise SpamnbError(f"{escape(str(target))}: there is no folder {escape(str(folder))}")
    if not over_model and target.is_dir():
        raise SpamnbError(f"{escape(str(target))}: a folder; name a file in it")
    if not os.access(target if target.exists() else folder, os.W_OK):
        raise SpamnbError(f"{escape(str(target))}: cannot be written (permission denied)")
    if not over_model and target.is_file():
        with target.open("rb") as file:
            if file.read(len(_SQLITE)) == _SQLITE:
                raise SpamnbError(f"{escape(str(target))}: is a model: name another file")
    return target


def count_threads(n_jobs: int | None) -> int:
    """Return the number of threads for ``n_jobs``: −1 is one per core, −2 is one less, and None is 1.

    A negative ``n_jobs`` is 1 in a child process of multiprocessing, because the other processes use the cores.
    """
    import multiprocessing

    from spamnb.engines.executor import cores

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs is {n_jobs!r}: give a number of threads, or -1 for one per core")
    if n_jobs is None or n_jobs > 0:
        return n_jobs or 1
    return 1 if multiprocessing.parent_process() is not None else max(1, cores() + 1 + n_jobs)


@contextmanager
def open_cluster(dask: str | None, workers: int | None, tell: Tell) -> Iterator[Cluster | None]:
    """Open the Dask cluster ``dask``; None yields None. Raise SpamnbError if ``dask`` and ``workers`` are given.

    >>> with open_cluster("tcp://10.0.0.1:8786", 2, print):
    ...     pass
    Traceback (most recent call last):
    ...
    spamnb.errors.ArgumentError: workers is for threads of this machine, and a cluster has its own workers
    """
    check_type("dask", dask, str | None, "the address of a scheduler, or the name of a scheduler file")
    if dask is None:
        yield None
        return
    if workers is not None:
        raise ArgumentError("{option.workers} is for threads of this machine, and a cluster has its own workers")
    from spamnb.engines.cluster import cluster

    with cluster(dask, tell) as dask_cluster:
        yield dask_cluster


@contextmanager
def handle_end_signals() -> Iterator[None]:
    """Raise SystemExit in this block for signals that end the process, so that unfinished files are removed.

    A signal whose handler is not the default handler keeps its handler, such as SIGHUP under nohup. In threads other
    than the main thread no handler is set. Raise SpamnbError if there is no room for temporary files.
    """
    from spamnb.engines.executor import END_SIGNALS

    def end(number: int, frame: object) -> None:
        for handled_number in handled:
            signal.signal(handled_number, signal.SIG_IGN)
        raise SystemExit(128 + number)

    is_main = current_thread() is main_thread()
    handled = [number for number in END_SIGNALS if is_main and signal.getsignal(number) is signal.SIG_DFL]
    for number in handled:
        signal.signal(number, end)
    try:
        yield
    except OSError as error:
        # If there is no room for an array, numpy's error has neither a file name nor an error number.
        is_temporary = str(error.filename or gettempdir()).startswith(gettempdir())
        if is_temporary and error.errno in (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise SpamnbError(f"no room for temporary files in {gettempdir()}; set TMPDIR to another folder") from None
        raise
    finally:
        for number in handled:
            signal.signal(number, signal.SIG_DFL)
