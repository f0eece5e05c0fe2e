"""What the functions take: sources, a model's file, settings by name, workers; and whom they tell on the way."""

from __future__ import annotations

import errno
import os
import signal
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from tempfile import gettempdir
from threading import current_thread, main_thread
from typing import TYPE_CHECKING, Any

from spamnb.errors import ArgumentError, SpamnbError, SpamnbWarning, check_type
from spamnb.shown_text import escape

if TYPE_CHECKING:
    from spamnb.engines.cluster import Cluster
    from spamnb.settings import Settings

FilePath = str | os.PathLike[str]
Sources = FilePath | Sequence[FilePath]  # a SOURCE as on the command line, or several
Tell = Callable[[str], None]  # is given a line of text
_SQLITE = b"SQLite format 3\0"  # the beginning of a model's file


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

    tokens = Reader(TokenOptions(**of(TokenOptions))).options
    settings = Settings(**of(Settings), tokens=tokens, loss=Loss(**of(Loss)))
    if settings.embedding is not None:
        from spamnb.learners.embeddings import parse_embedding

        parse_embedding(settings.embedding)
    return settings


def check_least(least: int, **given: int | None) -> None:
    """SpamnbError where one of these is no whole number, or below ``least``; None is none.

    >>> check_least(1, workers=2, top=0)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: top is 0: at least 1 is needed
    >>> check_least(0, seed="1")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: seed is '1': a whole number is needed
    """
    for name, value in given.items():
        if not isinstance(value, Integral | None):
            raise SpamnbError(f"{name} is {value!r:.60}: a whole number is needed")
        if value is not None and value < least:
            raise SpamnbError(f"{name} is {value}: at least {least} is needed")


def specs_of(sources: Sources) -> list[str]:
    """Each SOURCE as text. SpamnbError where there is none, or where it is mail itself and no path.

    >>> import pathlib
    >>> specs_of(pathlib.Path("mail")), specs_of(["ham=in", "spam=junk"])
    (['mail'], ['ham=in', 'spam=junk'])
    """
    given = [sources] if isinstance(sources, str | os.PathLike) else sources
    is_list = isinstance(given, Sequence) and not isinstance(given, bytes)
    named = [(f"sources[{n}]", each) for n, each in enumerate(given)] if is_list else [("sources", given)]
    for name, value in named:
        if not isinstance(value, str | os.PathLike):
            raise SpamnbError(
                f"{name} is a {type(value).__name__}: give a path, 'CLASS=PATH' or a list of these;"
                " SpamClassifier().fit(texts, labels) learns messages in memory"
            )
    if not given:
        raise SpamnbError("no SOURCE: give a folder, a file, or several as a list")
    return [os.fspath(each) for each in given]


def tell_notes(specs: Sequence[str], recursive: bool, tell: Tell) -> None:
    """Say of each SOURCE why it may not be what was meant."""
    from spamnb.sources.spec import source_notes

    for spec in specs:
        for note in source_notes(spec, recursive):
            tell(note)


def check_flags(**given: bool) -> None:
    """SpamnbError where one of these is neither True nor False.

    >>> check_flags(online="yes")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: online is 'yes': give True or False
    """
    for name, value in given.items():
        if value not in (True, False):
            raise SpamnbError(f"{name} is {value!r:.60}: give True or False")


def file_path(path: FilePath, argument: str = "model") -> Path:
    """The path of a file. SpamnbError for what is no path, which says the name of the argument."""
    check_type(argument, path, str | os.PathLike, "the path of a file")
    return Path(path).expanduser()


def new_file(path: FilePath, argument: str = "model", over_model: bool = True) -> Path:
    """The path of a file that is to be made or replaced, ``over_model``: in place of a model, too. SpamnbError where
    that cannot be.

    >>> new_file("nowhere/model.spamnb")
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: nowhere/model.spamnb: there is no folder .../nowhere
    """
    made = file_path(path, argument)
    folder = made.absolute().parent
    if "\0" in str(made) or str(made) == ":memory:":
        raise SpamnbError(f"{argument} is {str(made)!r:.60}: no file can be called so")
    if not folder.is_dir():
        raise SpamnbError(f"{escape(str(made))}: there is no folder {escape(str(folder))}")
    if not over_model and made.is_dir():
        raise SpamnbError(f"{escape(str(made))}: a folder; name a file in it")
    if not os.access(made if made.exists() else folder, os.W_OK):
        raise SpamnbError(f"{escape(str(made))}: cannot be written (permission denied)")
    if not over_model and made.is_file():
        with made.open("rb") as file:
            if file.read(len(_SQLITE)) == _SQLITE:
                raise SpamnbError(f"{escape(str(made))}: is a model: name another file")
    return made


def threads_of(n_jobs: int | None) -> int:
    """How many threads: −1 is one a core, −2 one less, and None is 1, as scikit-learn has it.

    One in a process that others made, as a search with several jobs does: its cores are at work already.
    """
    import multiprocessing

    from spamnb.engines.executor import cores

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise ValueError(f"n_jobs is {n_jobs!r}: give a number of threads, or -1 for one a core")
    if n_jobs is None or n_jobs > 0:
        return n_jobs or 1
    return 1 if multiprocessing.parent_process() is not None else max(1, cores() + 1 + n_jobs)


@contextmanager
def chosen_cluster(dask: str | None, workers: int | None, tell: Tell) -> Iterator[Cluster | None]:
    """The cluster that ``dask`` names, if any. SpamnbError where ``workers`` are chosen for one that has its own.

    >>> with chosen_cluster("tcp://10.0.0.1:8786", 2, print):
    ...     pass
    Traceback (most recent call last):
    ...
    spamnb.errors.ArgumentError: workers is for threads of this machine; a cluster has the workers that it has
    """
    if dask is None:
        yield None
        return
    if workers is not None:
        raise ArgumentError("{option.workers} is for threads of this machine; a cluster has the workers that it has")
    from spamnb.engines.cluster import cluster

    with cluster(dask, tell) as found:
        yield found


@contextmanager
def ending_cleanly() -> Iterator[None]:
    """Inside, what tells the process to end raises SystemExit, so that no half-made file stays behind.

    Only signals that would have ended the process are heeded, and only in the main thread: no other may set what a
    signal does. Raises SpamnbError where temporary files find no room.
    """
    from spamnb.engines.executor import ENDING

    def end(number: int, frame: object) -> None:
        for each in heeded:
            signal.signal(each, signal.SIG_IGN)
        raise SystemExit(128 + number)

    # Whoever started us with nohup wants SIGHUP to be ignored.
    alone = current_thread() is main_thread()
    heeded = [number for number in ENDING if alone and signal.getsignal(number) is signal.SIG_DFL]
    for number in heeded:
        signal.signal(number, end)
    try:
        yield
    except OSError as error:
        # numpy gives neither file nor number where an array finds no room; the system names the folder at most.
        ours = str(error.filename or gettempdir()).startswith(gettempdir())
        if ours and error.errno in (None, errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise SpamnbError(f"no room for temporary files in {gettempdir()}; TMPDIR names another place") from None
        raise
    finally:
        for number in heeded:
            signal.signal(number, signal.SIG_DFL)
