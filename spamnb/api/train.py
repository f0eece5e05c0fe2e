"""``spamnb.train``: a model from labelled mail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spamnb.api.arguments import (
    FilePath,
    Sources,
    Tell,
    check_dask,
    check_least,
    check_writable,
    model_path,
    settings_of,
    specs_of,
    warn,
)
from spamnb.api.training_report import TrainingReport
from spamnb.sources.spec import ReadOptions

if TYPE_CHECKING:
    from typing import Unpack

    from spamnb.settings import SettingsOptions


def train(
    sources: Sources,
    model: FilePath,
    *,
    force: bool = False,
    one_class: bool = False,
    doubtful: int = 0,
    keep_lessons: float | None = None,
    recursive: bool = False,
    text_column: str | None = None,
    label_column: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
    tell: Tell = warn,
    command: str = "spamnb.train in Python",
    **settings: Unpack[SettingsOptions],
) -> TrainingReport:
    """Make the model file ``model`` of labelled mail, and judge each message by the model without it.

    ``sources`` is a SOURCE as on the command line or a list of them: a folder with a folder per class, "CLASS=PATH", a
    table of text and so on (docs/commands.md). The file is an ordinary model, which the command line uses too.

    - ``force``: replace the model that is there; what it was taught is taught again
    - ``one_class``: train on messages of a single class
    - ``doubtful``: so many messages that look mislabelled are found, the surest first
    - ``keep_lessons``: the most megabytes of taught messages that the model keeps; None: as the model says, or 64
    - ``recursive``, ``text_column``, ``label_column``: how Maildirs and tables are read
    - ``workers``: threads that share the work; None: one a core
    - ``dask``: a Dask cluster reads the mail: the address of its scheduler, a scheduler file, or "local"; the model is
      the same (docs/cluster.md)
    - ``progress``: shown or not; None: in a notebook
    - ``tell``: is given a line for each thing that went otherwise than meant, such as a file that was left out; by
      default these are warnings (``SpamnbWarning``)
    - ``command``: what 'spamnb info' names as the model's origin
    - ``settings``: of the model, under their names on the command line: ``model_type``, ``alpha``, ``ngrams``, …

    Raises SpamnbError where a SOURCE is none or holds no mail, where a setting cannot be, and where a model is in the
    way and ``force`` is not given.

    >>> import spamnb
    >>> report = spamnb.train("corpora/mail", "model.spamnb", alpha=0.5)
    >>> print(report)
    model.spamnb: 127 messages, ... different tokens
    The messages in 10 parts, each judged by a model of the others:
                      → ham  → spam
      ham        65      65       0
      spam       62 ...
    >>> with spamnb.Classifier.open("model.spamnb") as classifier:
    ...     classifier.settings.alpha
    0.5
    """
    from spamnb.api.making import make_model
    from spamnb.sources.notes import notes
    from spamnb.store.snapshot import check_replaceable

    check_least(1, workers=workers)
    check_least(0, doubtful=doubtful, keep_lessons=keep_lessons)
    path, specs, chosen = model_path(model), specs_of(sources), settings_of(settings)
    check_replaceable(path, force=force)
    check_writable(path)
    check_dask(dask, workers)
    for spec in specs:
        for note in notes(spec, recursive):
            tell(note)
    return make_model(
        path,
        specs,
        chosen,
        ReadOptions(recursive, text_column, label_column),
        command=command,
        tell=tell,
        keep_lessons=keep_lessons,
        workers=workers,
        dask=dask,
        force=force,
        one_class=one_class,
        doubtful=doubtful,
        shown=progress,
    )
