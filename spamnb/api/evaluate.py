"""``spamnb.evaluate``: how good the filter is on mail whose class is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
from spamnb.sources.one_class import ReadOptions

if TYPE_CHECKING:
    from typing import Unpack

    from spamnb.evaluation.held_out import Mail
    from spamnb.evaluation.protocols import Subjects
    from spamnb.evaluation.result import Result
    from spamnb.settings import Settings, SettingsOptions
    from spamnb.sources.entries import Entry

    Way = Callable[[Mail, Settings, Subjects], Result]


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
    from spamnb.sources.notes import notes

    specs, options = specs_of(sources), ReadOptions(recursive, text_column, label_column)
    own, left_out = settings_of(settings), LeftOut(tell)
    path = None if model is None else model_path(model)
    for spec in specs:
        for note in notes(spec, recursive):
            tell(note)
    mail = _Mail(specs, options, left_out, progress, tell)
    if online:
        result = mail.stream(own, by_date)
    elif path is not None:
        result, own = mail.as_it_is(path)
    else:
        way = _way(leave_one_out, split, 10 if folds is None else folds, seed, by_date, doubtful)
        result = mail.held_out(own, way, subjects, workers, dask)
    doubts = mislabelled(specs, options, result, doubtful)
    return Evaluation(figures(result, seed=seed), result, own, path, left_out.count, doubts, command)


def _way(
    leave_one_out: bool, split: float | Literal["md5"] | None, folds: int, seed: int, by_date: bool, doubtful: int
) -> Way:
    """How parts of the mail are judged by models of others."""
    from spamnb.evaluation import protocols

    if leave_one_out:
        return lambda mail, own, subjects: protocols.evaluate_leave_one_out(mail, own, subjects, doubtful)
    if split is None:
        return lambda mail, own, subjects: protocols.evaluate_folds(mail, own, folds, seed, subjects)

    def learn_and_judge(mail: Mail, own: Settings, subjects: Subjects) -> Result:
        if split == "md5":
            learned = protocols.even_names([mail.names[number] for number in mail.positions])
            protocol = "Split by md5 of the file name"
        elif by_date:
            learned, protocol = protocols.oldest(mail, split), f"Trained on the oldest {split:g} of the mail"
        else:
            learned, protocol = protocols.halves(mail, split, seed), f"Trained on {split:g} of the mail"
        return protocols.evaluate_split(mail, own, learned, protocol, subjects)

    return learn_and_judge


class _Mail:
    """The labelled mail that a filter is measured on."""

    def __init__(
        self, specs: Sequence[str], options: ReadOptions, left_out: LeftOut, shown: bool | None, tell: Tell
    ) -> None:
        self._specs, self._options, self._left_out, self._shown, self._tell = specs, options, left_out, shown, tell

    def _entries(self) -> Iterator[Entry]:
        from spamnb.sources.spec import entries

        return entries(self._specs, self._left_out, self._options)

    def stream(self, settings: Settings, dated: bool) -> Result:
        """Each message judged, then learned."""
        from spamnb.api.progress import progress
        from spamnb.evaluation.online import by_date, online

        given = self._entries()
        entries = by_date(given, self._left_out) if dated else given
        with progress("Classifying and learning", self._shown) as show:
            return _some(online(entries, settings, self._left_out, show))

    def as_it_is(self, model: Path) -> tuple[Result, Settings]:
        """Each message judged by a model's file, and the settings of this."""
        from spamnb.api.progress import progress
        from spamnb.classifier import Classifier
        from spamnb.evaluation.online import judged

        with Classifier.open(model) as classifier, progress("Classifying", self._shown) as show:
            return _some(judged(self._entries(), classifier, self._left_out, show)), classifier.settings

    def held_out(
        self, settings: Settings, way: Way, with_subjects: bool, workers: int | None, dask: str | None
    ) -> Result:
        """The mail counted once, and parts of it judged by models of others."""
        from spamnb.api.progress import progress
        from spamnb.api.scratch import scratch
        from spamnb.engines.counting import count_parallel
        from spamnb.evaluation.held_out import mail_of
        from spamnb.evaluation.protocols import no_subjects
        from spamnb.training import check_classes

        names: list[str] = []
        named = noting_names(self._entries(), names)
        with scratch() as folder:
            with chosen_cluster(dask, workers, folder, self._tell) as cluster, progress("Reading", self._shown) as show:
                training_set = count_parallel(named, settings.tokens, folder, self._left_out, show, workers, cluster)
            mail = mail_of(training_set, names)
            if not len(mail.positions):
                raise SpamnbError("no messages in the sources: nothing to evaluate on")
            if len(mail.classes) < 2:
                raise SpamnbError(f"only class {mail.classes[0]!r} in the sources: to tell classes apart it takes two")
            check_classes(mail.classes, settings, one_class=False)
            return way(mail, settings, self._subjects if with_subjects else no_subjects)

    def _subjects(self, places: set[int]) -> dict[int, str]:
        """Subjects by place in the sources: they are gone through once more, and only those messages read."""
        from spamnb.reader.message import header_of

        found = {}
        for place, entry in enumerate(again(self._specs, self._options)):
            if place in places:
                try:
                    found[place] = header_of(entry.read(), "subject")
                except OSError:
                    continue  # it was told when it was read the first time, or has gone since
        return found


def _some(result: Result) -> Result:
    if not len(result):
        raise SpamnbError("no messages in the sources: nothing to evaluate on")
    return result
