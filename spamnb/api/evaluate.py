"""``spamnb.evaluate``: how good the filter is on mail whose class is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from spamnb.api.arguments import (
    FilePath,
    Sources,
    Tell,
    check_dask,
    check_least,
    chosen_cluster,
    model_path,
    settings_of,
    specs_of,
    warn,
)
from spamnb.api.evaluation import Evaluation
from spamnb.api.mislabelled import again, mislabelled, noting_names
from spamnb.errors import ArgumentError, SpamnbError
from spamnb.sources.entries import LeftOut
from spamnb.sources.spec import ReadOptions

if TYPE_CHECKING:
    from typing import Unpack

    import numpy as np
    from numpy.typing import NDArray

    from spamnb.api.progress import Show
    from spamnb.evaluation.protocols import Mail
    from spamnb.evaluation.result import Result
    from spamnb.settings import Settings, SettingsOptions
    from spamnb.sources.entries import Entry


def evaluate(
    sources: Sources,
    *,
    folds: int | None = None,
    split: float | Literal["md5"] | None = None,
    leave_one_out: bool = False,
    online: bool = False,
    model: FilePath | None = None,
    by_date: bool = False,
    seed: int = 0,
    doubtful: int = 0,
    subjects: bool = False,
    recursive: bool = False,
    text_column: str | None = None,
    label_column: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool | None = None,
    tell: Tell = warn,
    command: str = "spamnb.evaluate in Python",
    **settings: Unpack[SettingsOptions],
) -> Evaluation:
    """Measure the filter on labelled mail: good mail lost, spam let through, and what its probabilities are worth.

    ``sources`` is as for ``train``. One of five ways is chosen, by default ten folds:

    - ``folds``: K-fold cross-validation
    - ``split``: train on this fraction of the mail and test on the rest; "md5": train on files whose name has an even
      md5
    - ``leave_one_out``: each message judged by a model of all others
    - ``online``: in the given order, each message judged and then learned (``by_date``: in order of receipt, with
      ``split`` too)
    - ``model``: the model of this file as it is; it takes no settings

    And, whichever is chosen:

    - ``seed``: of splits, folds and intervals; the same seed gives the same figures
    - ``doubtful``: so many messages that look mislabelled are found, the surest first
    - ``subjects``: the subjects of wrongly judged messages are kept, and with ``leave_one_out`` what decided the worst:
      for ``Evaluation.write_page``
    - ``recursive``, ``text_column``, ``label_column``, ``workers``, ``progress``, ``tell``: as for
      ``train``
    - ``dask``: a Dask cluster reads the mail, as for ``train``; models are made and asked here. It goes with ``folds``,
      ``split`` and ``leave_one_out``
    - ``command``: what the page names as its origin
    - ``settings``: of the models that are trained, under their names on the command line

    Raises SpamnbError where a SOURCE is none or holds no mail, where settings cannot be, or two ways are chosen.

    >>> import spamnb
    >>> found = spamnb.evaluate("corpora/mail", folds=2, model_type="multinomial")
    >>> found.figures.protocol, found.figures.messages
    ('2 folds', 127)
    """
    from spamnb.api.scratch import scratch
    from spamnb.engines.counting import count_parallel
    from spamnb.evaluation import protocols
    from spamnb.evaluation.figures import figures

    chosen = [folds is not None, split is not None, leave_one_out, online, model is not None]
    if sum(chosen) > 1:
        raise ArgumentError(
            "{option.folds}, {option.split}, {option.leave_one_out}, {option.online} and {option.model} exclude each"
            " other: give one of them"
        )
    if by_date and not online and split in (None, "md5"):
        raise ArgumentError("{option.by_date} goes with {option.online}, or with {option.split} as a fraction")
    if model is not None and settings:
        raise ArgumentError("{names}: {option.model} takes the model as it was trained", names=", ".join(settings))
    if dask is not None and (online or model is not None):
        raise ArgumentError(
            "{option.dask}: with {option.online} and {option.model} messages are judged one by one, on one machine"
        )
    if not isinstance(split, float | int | None) and split != "md5":
        raise ArgumentError("{option.split} is {split!r}: give a fraction between 0 and 1, or md5", split=split)
    check_least(1, workers=workers)
    check_least(0, seed=seed, doubtful=doubtful)
    check_dask(dask, workers)
    from spamnb.api.progress import progress as shown
    from spamnb.sources.notes import notes
    from spamnb.sources.spec import entries

    specs, options = specs_of(sources), ReadOptions(recursive, text_column, label_column)
    own, left_out = settings_of(settings), LeftOut(tell)
    path = None if model is None else model_path(model)
    for spec in specs:
        for note in notes(spec, recursive):
            tell(note)
    mail = entries(specs, left_out, options)
    if online or path is not None:
        with shown("Classifying and learning" if online else "Classifying", progress) as show:
            result, own = _stream(mail, left_out, own, by_date, path, show)
        if not len(result):
            raise SpamnbError("no messages in the sources: nothing to evaluate on")
    else:
        names: list[str] = []
        with scratch() as folder:
            with chosen_cluster(dask, workers, folder, tell) as cluster, shown("Reading", progress) as show:
                named = noting_names(mail, names)
                counted = count_parallel(named, own.tokens, folder, left_out, show, workers, cluster)
            held = _checked(protocols.mail_of(counted, names), own)
            found = partial(_subjects, specs, options) if subjects else protocols.no_subjects
            if leave_one_out:
                result = protocols.evaluate_leave_one_out(held, own, found, doubtful)
            elif split is None:
                result = protocols.evaluate_folds(held, own, 10 if folds is None else folds, seed, found)
            else:
                learned, protocol = _learned(held, split, by_date, seed)
                result = protocols.evaluate_split(held, own, learned, protocol, found)
    doubts = mislabelled(specs, options, result, doubtful)
    return Evaluation(figures(result, seed=seed), result, own, path, left_out.count, doubts, command)


def _stream(
    entries: Iterator[Entry], left_out: LeftOut, settings: Settings, dated: bool, model: Path | None, show: Show
) -> tuple[Result, Settings]:
    """Each message judged, then learned, or judged by a model's file; and the settings of what judged."""
    from spamnb.classifier import Classifier
    from spamnb.evaluation.online import by_date, judged, online

    if model is None:
        return online(by_date(entries, left_out) if dated else entries, settings, left_out, show), settings
    with Classifier.open(model) as classifier:
        return judged(entries, classifier, left_out, show), classifier.settings


def _checked(mail: Mail, settings: Settings) -> Mail:
    """The mail, if a filter can be measured on it."""
    from spamnb.training import check_classes

    if not len(mail.positions):
        raise SpamnbError("no messages in the sources: nothing to evaluate on")
    if len(mail.classes) < 2:
        raise SpamnbError(f"only class {mail.classes[0]!r} in the sources: to tell classes apart it takes two")
    check_classes(mail.classes, settings, one_class=False)
    return mail


def _learned(mail: Mail, split: float | Literal["md5"], by_date: bool, seed: int) -> tuple[NDArray[np.bool_], str]:
    """Which messages are learned, and the name of the protocol."""
    from spamnb.evaluation import protocols

    if split == "md5":
        names = [mail.names[number] for number in mail.positions]
        return protocols.even_names(names), "Split by md5 of the file name"
    if by_date:
        return protocols.oldest(mail, split), f"Trained on the oldest {split:g} of the mail"
    return protocols.halves(mail, split, seed), f"Trained on {split:g} of the mail"


def _subjects(specs: Sequence[str], options: ReadOptions, places: set[int]) -> dict[int, str]:
    """Subjects by place in the sources: they are gone through once more, and only those messages read."""
    from spamnb.reader.message import header_of

    found = {}
    for place, entry in enumerate(again(specs, options)):
        if place in places:
            try:
                found[place] = header_of(entry.read(), "subject")
            except OSError:
                continue  # it was told when it was read the first time, or has gone since
    return found
