"""``spamnb.train``: make a model file from labelled mail, and estimate the errors of the model."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from spamnb.api.arguments import (
    FilePath,
    SettingValues,
    Sources,
    Tell,
    check_flags,
    check_least,
    handle_end_signals,
    list_specs,
    make_settings,
    new_file,
    open_cluster,
    tell_notes,
    warn,
)
from spamnb.api.progress import show_progress
from spamnb.api.report import Report
from spamnb.errors import ArgumentError, SpamnbError, check_type
from spamnb.evaluation.metrics import UNSURE_NUMBER
from spamnb.model.decision import UNSURE
from spamnb.model.new_senders import NO_NEW_SENDERS
from spamnb.report.evaluation import format_figures
from spamnb.settings import Settings
from spamnb.shown_text import escape, pluralize
from spamnb.sources.entries import ReadOptions, SkippedMessages

if TYPE_CHECKING:
    from spamnb.api.beside_starter import StarterVerdicts
    from spamnb.api.replaced_model import ReplacedModel
    from spamnb.evaluation.estimates import Estimates
    from spamnb.evaluation.result import Result
    from spamnb.model.training_set import TrainingSet

MAX_SOURCES = 8  # sources in a printed command, because a shell may have expanded a pattern to thousands
# A class with fewer messages is small: one error is more than 2 % of its messages. With fewer messages of ham or spam,
# a model that adds to the starter is better: docs/experiments.md#the-starter
FEW_MESSAGES = 50


@dataclass(frozen=True, repr=False)
class TrainingReport(Report):
    """The result of a training. ``print`` shows the text of 'spamnb train'.

    Parameters
    ----------
    model : Path
        Model file.
    settings : Settings
        Settings of the model.
    classes : dict of {str: int}
        Number of training messages of each class. Copies count once.
    tokens : int
        Number of different tokens in the model, with those of its lessons.
    estimates : Estimates or None
        ``estimates.left_out`` is the classification of every message by a model that has not learned it: for n messages
        of C classes it has ``truth`` and ``verdicts`` (n,), ``scores`` (n, C) in nats and ``probabilities`` (n, C).
        ``estimates.newest`` is the classification of the newest messages by a model of the older ones. None if there is
        one class, or if the model adds to the starter.
    read : int
        Number of messages that were read, including copies.
    mislabelled : int, default=0
        Number of messages that were not learned, because they look mislabelled.
    unreadable : int, default=0
        Number of messages, files and folders that were left out, because they could not be read or have no mail.
    conflicts : int, default=0
        Number of messages that have copies in several classes.
    sources : tuple of str, default=()
        Sources and the options to read them, as on a command line.
    by_starter : StarterVerdicts or None
        Verdicts of the starter alone on the training messages; None if the model does not add to the starter.
    lessons : int, default=0
        Number of lessons of the replaced model that are not among the training messages.

    Examples
    --------
    >>> import spamnb
    >>> report = spamnb.train("corpora/mail", "model.spamnb")
    >>> report
    <TrainingReport: model.spamnb: 127 messages, ... different tokens>
    >>> report.classes, report.to_dict()["confusion"]["spam"]
    ({'ham': 65, 'spam': 62}, {'ham': 4, 'spam': 51, 'unsure': 7})
    """

    model: Path
    settings: Settings
    classes: dict[str, int]
    tokens: int
    estimates: Estimates | None
    read: int
    mislabelled: int = 0
    unreadable: int = 0
    conflicts: int = 0
    sources: tuple[str, ...] = ()
    by_starter: StarterVerdicts | None = None
    lessons: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as values of JSON.

        Returns
        -------
        dict
            Numbers of messages and tokens, ``confusion`` {class: {verdict: messages}} of the left-out messages, and the
            shares of wrong and unsure verdicts in percent. ``new_senders`` are the shares of good mail lost and unsure
            if the model has never seen its sender's domain or its mailing list. Without such mail they are None, and
            its number of ``messages`` is 0.
            ``by_starter`` {class: {verdict: messages}} are the verdicts of the starter alone; None for a model of its
            own.
        """
        from spamnb.evaluation.figures import to_json

        n_learned = sum(self.classes.values())
        facts = {
            "model": str(self.model),
            "messages": n_learned,
            "lessons": self.lessons,
            "tokens": self.tokens,
            "classes": self.classes,
            "copies": self.read - n_learned - self.mislabelled,
            "mislabelled": self.mislabelled,
            "unreadable": self.unreadable,
            "by_starter": self.by_starter and self.by_starter.verdicts,
        }
        if self.estimates is None:
            none = {"confusion": {}, "wrong": None, "unsure": None, "new_senders": to_json(NO_NEW_SENDERS)}
            return {**facts, **none}
        left_out = self.estimates.left_out
        names, is_unsure = left_out.classes, left_out.verdicts == UNSURE_NUMBER
        return {
            **facts,
            "confusion": {
                name: dict(zip((*names, UNSURE), row)) for name, row in zip(names, left_out.confusion.tolist())
            },
            "wrong": 100 * float((~left_out.is_right & ~is_unsure).mean()),
            "unsure": 100 * float(is_unsure.mean()),
            "new_senders": to_json(left_out.new_senders),
        }

    def __str__(self) -> str:
        figures = self.to_dict()
        messages, tokens = pluralize(figures["messages"], "message"), pluralize(self.tokens, "different token")
        lessons = f" and {pluralize(self.lessons, 'lesson')}" if self.lessons else ""
        lines = [f"{self.model}: {messages}{lessons}, {tokens}"]
        if figures["copies"]:
            lines.append(f"{pluralize(figures['copies'], 'duplicate')} skipped")
        if self.unreadable:
            lines.append(f"{self.unreadable:,} left out (see above)")
        if self.by_starter is not None:
            lines += self._format_starter(self.by_starter)
        elif self.estimates is not None:
            lines += [*self._format_left_out(self.estimates.left_out), *self._format_newest(self.estimates)]
        elif self.classes:
            lines.append(f"The only class is {next(iter(self.classes))!r}. Learn messages of another class, too.")
        if self.conflicts:
            subject = f"{pluralize(self.conflicts, 'message')} {'is' if self.conflicts == 1 else 'are'}"
            lines.append(f"{subject} in several classes. Such a message counts for the class that was read last.")
        return "\n".join(lines)

    def _format_starter(self, by_starter: StarterVerdicts) -> list[str]:
        """Return lines about the starter, and what it alone says of the training messages."""
        lines = [
            f"There are fewer than {FEW_MESSAGES} messages of ham or of spam, so the model adds to the starter, a"
            f" small model of public mail, which counts as {by_starter.weight} of your messages."
            " The starter alone calls"
        ]
        for name, verdicts in by_starter.verdicts.items():
            counts, n_messages = Counter(verdicts), sum(verdicts.values())
            numbers = ", ".join(f"{n:,} {verdict}" for verdict, n in counts.most_common())
            n_others = n_messages - counts[name] - counts[UNSURE]
            question = f"; are they all {name}?" if n_others > n_messages / 2 else ""
            lines.append(f"  of {n_messages:,} {name}: {numbers}{question}")
        return [*lines, "Teach the model the spam that it lets through: 'spamnb learn spam', 'watch' or 'review'."]

    def _format_left_out(self, left_out: Result) -> list[str]:
        """Return the figures of left-out messages, and lines with advice."""
        from spamnb.evaluation.figures import compute_figures

        lines = [format_figures(compute_figures(left_out))]
        if self.settings.spam not in self.classes:
            lines.append(f"  no class is {self.settings.spam!r}, so all errors cost the same; {self._spam_advice()}")
        if n := len(left_out.mislabelled):
            subject = f"{pluralize(n, 'message')} {'looks' if n == 1 else 'look'} mislabelled"
            lines.append(f"  {subject}. To see which and why: {self._evaluate_command('--mislabelled', str(n))}")
        if n := self.mislabelled:
            subject = "message was" if n == 1 else "messages were"
            lines.append(f"  {n:,} {subject} not learned, because the other messages contradict the label.")
        few = [f"{name!r} ({n})" for name, n in self.classes.items() if n < FEW_MESSAGES]
        if few:
            lines.append(f"  few messages of class {', '.join(few)}: these figures and all probabilities are rough")
        return lines

    def _spam_advice(self) -> str:
        """Return the command that names the class of spam."""
        from spamnb.sources.mailbox import folder_role

        names = [name for name in self.classes if folder_role(name) == "junk"] or ["CLASS"]
        return f"'spamnb set spam={escape(names[0])}' says which class is spam"

    def _format_newest(self, estimates: Estimates) -> list[str]:
        from spamnb.evaluation.figures import compute_figures

        if estimates.newest is None:
            why = estimates.newest_missing_because
            return [
                f"Future mail will have more errors. They are not estimated, because {why}.",
                f"  To estimate them all the same: {self._evaluate_command('--split', '0.8', '--by-date')}",
            ]
        return [
            format_figures(compute_figures(estimates.newest)),
            "  These are classified by a model of the older mail. Expect such errors in future mail: the models of the"
            " first figures know mail newer than the message.",
        ]

    def _evaluate_command(self, *options: str) -> str:
        """Return the command that evaluates the same mail."""
        command = shlex.join(["spamnb", "evaluate", *options, *map(escape, self.sources)])
        return command if 0 < len(self.sources) <= MAX_SOURCES else f"spamnb evaluate {' '.join(options)} SOURCE..."


def train(
    sources: Sources,
    model: FilePath,
    *,
    force: bool = False,
    accept_junk: bool = False,
    one_class: bool = False,
    recursive: bool = False,
    text_column: str | None = None,
    label_column: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool = False,
    tell: Tell = warn,
    command: str = "spamnb.train in Python",
    **settings: Unpack[SettingValues],
) -> TrainingReport:
    """Make a model file from labelled mail, and estimate the errors of the model from left-out messages.

    Parameters
    ----------
    sources : str, path, or list of these
        Sources, as on the command line: a folder with a folder per class, "CLASS=PATH", a table and others.
    model : str or path
        File to write. The command line uses the same files.
    force : bool, default=False
        Whether to replace a model. The new model also learns the lessons of the replaced model.
    accept_junk : bool, default=False
        Whether to accept a folder called Junk as good mail.
    one_class : bool, default=False
        Whether to accept sources that have only one class.
    recursive : bool, default=False
        Whether to read the other folders of a Maildir or an account, too.
    text_column, label_column : str, default=None
        Columns of a table that contain the text and the class.
    workers : int, default=None
        Number of threads. None is one per core.
    dask : str, default=None
        Dask cluster that counts the messages: the address of its scheduler, or a scheduler file.
    progress : bool, default=False
        Whether to show progress, in a terminal or a notebook.
    tell : callable, default=warnings.warn
        Called with a line for each problem, such as a message that cannot be read and is skipped.
    command : str, default="spamnb.train in Python"
        Command that 'spamnb info' shows as the origin of the model.
    **settings : dict
        Settings of the model by the names of ``--set``, such as ``model_type`` and ``alpha``.

    Returns
    -------
    TrainingReport
        Numbers of training messages, and the errors on left-out messages.

    Raises
    ------
    SpamnbError
        If a source does not exist or has no mail, if a setting is wrong, or if a class is new but its name is similar
        to a class of the replaced model; without ``force`` if the model exists; without ``accept_junk`` if a folder
        called Junk has the class of good mail.

    See Also
    --------
    evaluate : Measures the errors on mail.

    Examples
    --------
    >>> import spamnb
    >>> report = spamnb.train("corpora/mail", "model.spamnb", alpha=0.5)
    >>> print(report)
    model.spamnb: 127 messages, ... different tokens
    Each of 10 parts classified by the others: 127 messages
    ...
    │ spam           │       62 │ ...
    """
    from spamnb.api.replaced_model import ReplacedModel
    from spamnb.store.snapshot import check_replaceable

    check_flags(force=force, accept_junk=accept_junk, one_class=one_class, progress=progress)
    check_least(1, workers=workers)
    check_type("command", command, str, "a text")
    path, specs, model_settings = new_file(model), list_specs(sources), make_settings(settings)
    options = ReadOptions(recursive, text_column, label_column)
    with handle_end_signals(), ReplacedModel.open(path, SkippedMessages(tell)) as replaced:
        force = force or replaced.is_empty
        check_replaceable(path, force=force)
        if not accept_junk:
            _check_junk_as_good(specs, model_settings.spam)
        _check_class_names(path, replaced.classes, specs, tell)
        tell_notes(specs, recursive, tell)
        training = Training(
            path, specs, model_settings, options, tell, command, workers, dask, force, one_class, progress
        )
        return training.run(replaced)


@dataclass(frozen=True)
class Training:
    """A training. The fields are the parameters of ``train`` after their checks."""

    model: Path
    sources: Sequence[str]
    settings: Settings
    options: ReadOptions
    tell: Tell
    command: str
    workers: int | None = None
    dask: str | None = None
    force: bool = False
    one_class: bool = False
    progress: bool = False

    def run(
        self, replaced: ReplacedModel, check: Callable[[Mapping[str, int]], None] = lambda n_messages: None
    ) -> TrainingReport:
        """Make the model, which also learns the lessons of the replaced model, in their order.

        ``check`` is called with the messages that were found, by class, before the model is replaced, and may raise
        SpamnbError.
        """
        from spamnb.api.beside_starter import learn_beside_starter
        from spamnb.evaluation.estimates import estimate
        from spamnb.store.snapshot import atomic_replace
        from spamnb.store.starter import addition_to_starter
        from spamnb.training import fit, prepare, write_model

        unreadable, settings, mislabelled = SkippedMessages(self.tell), self.settings, Counter[str]()
        with show_progress("Reading", self.progress) as show:
            with_copies = self._count(unreadable, show)
            self._check_sources_have_mail(replaced, with_copies.classes)
            training_set = prepare(with_copies)
            adds_to_starter = self._adds_to_starter(training_set)
            if self.sources or training_set.classes or not replaced.has_lessons:  # lessons alone are for 'upgrade'
                self._check_classes(with_copies.classes, training_set.classes, self.one_class or adds_to_starter)
            meta = addition_to_starter(self.model, settings) if adds_to_starter else settings.as_meta()
            with atomic_replace(self.model, meta, force=self.force, catch_up=replaced.catch_up) as store:
                if adds_to_starter:
                    estimates, by_starter = None, learn_beside_starter(store, training_set)
                else:
                    fitted, by_starter = fit(training_set, settings), None
                    write_model(store, fitted, settings)
                    estimates = estimate(fitted, settings)
                    mislabelled.update(training_set.classes[label] for label in fitted.mislabelled.labels.tolist())
                store.put_meta(self._origin())
                classes = store.own.totals.messages
                replaced.catch_up(store)
                with_lessons, tokens = Counter(store.own.totals.messages), store.own.totals.vocabulary_size
                check(mislabelled + with_lessons)
        for line in replaced.notes():
            self.tell(line)
        for name in sorted({*with_copies.classes} - {*training_set.classes}):
            self.tell(f"all messages of class {name!r} are also in another class, and count for the class read last")
        read, conflicts = int(with_copies.documents.sum()), with_copies.count_in_several_classes()
        sources = (*self.options.command_line(), *self.sources)
        return TrainingReport(
            self.model, settings, classes, tokens, estimates, read, mislabelled.total(), unreadable.count, conflicts,
            sources, by_starter, with_lessons.total() - sum(classes.values()),
        )  # fmt: skip

    def _count(self, unreadable: SkippedMessages, show: Callable[[int], None]) -> TrainingSet:
        from spamnb.engines.counting import count_parallel
        from spamnb.sources.spec import find_labelled_entries

        with open_cluster(self.dask, self.workers, self.tell) as cluster:
            mail = find_labelled_entries(self.sources, unreadable, self.options)
            return count_parallel(mail, self.settings, unreadable, show, self.workers, cluster)

    def _adds_to_starter(self, training_set: TrainingSet) -> bool:
        """Return whether the messages are mail of which ham or spam is too little for a model of its own."""
        from spamnb.store.starter import CLASSES, fits_starter

        classes, documents = training_set.classes, training_set.documents
        is_small = len(classes) < len(CLASSES) or documents.min() < FEW_MESSAGES
        is_wanted = bool(classes) and is_small and not self.one_class
        return is_wanted and fits_starter(self.settings, classes, training_set.rows)

    def _check_sources_have_mail(self, replaced: ReplacedModel, classes: Sequence[str]) -> None:
        """Raise SpamnbError for a source whose class is not in ``classes``, but was trained in the replaced model.

        Its folder may not be mounted, and a new model without this class would be much worse than the old one.
        """
        from spamnb.sources.spec import parse_source

        for source in map(parse_source, self.sources):
            label = source.label
            if label is not None and label not in classes and replaced.n_trained.get(label, 0) > 0:
                learned = pluralize(replaced.n_trained[label], "message")
                raise SpamnbError(
                    f"{escape(source.spec)}: no message, but the model was trained on {learned} of {escape(label)};"
                    " name the folder of this mail, or leave the source out"
                )

    def _check_classes(self, all_classes: Sequence[str], classes: tuple[str, ...], one_class: bool) -> None:
        """Raise SpamnbError if ``classes``, those of ``all_classes`` left without copies, are too few or similar."""
        from spamnb.training import check_classes

        if len(classes) == 1 < len(all_classes) and not self.one_class:
            name = f"class {classes[0]!r}"
            raise SpamnbError(f"all messages of the other classes are in {name} too: each class needs mail of its own")
        check_classes(classes, self.settings, one_class)

    def _origin(self) -> dict[str, Any]:
        """Return the values of the keys in ``settings.ORIGIN``: time, sources and command of the training."""
        from spamnb.reader.pdf import is_available
        from spamnb.sources.spec import absolute_spec
        from spamnb.store.database import sql_text

        options = {name: value for name, value in asdict(self.options).items() if value}
        return {
            "trained_at": datetime.now().astimezone().isoformat(timespec="seconds"),
            "pdf_read": is_available(),
            "trained_from": [sql_text(absolute_spec(source)) for source in self.sources],
            "command": sql_text(self.command),
            **({"read_options": options} if options else {}),
        }


def _check_junk_as_good(sources: Sequence[str], spam: str) -> None:
    """Raise SpamnbError if a folder is given as good mail, but its name means junk in one of many languages."""
    from spamnb.sources.mailbox import folder_role
    from spamnb.sources.spec import parse_source

    for source in map(parse_source, sources):
        if source.is_junk() and source.label not in (None, spam) and folder_role(source.label or "") != "junk":
            raise ArgumentError(
                "{spec}: a folder of junk is given as {label}; {option.accept_junk} accepts it",
                spec=escape(source.spec),
                label=escape(str(source.label)),
            )


def _check_class_names(model: Path, classes: Sequence[str], sources: Sequence[str], tell: Tell) -> None:
    """Compare the classes of the sources with the ``classes`` of the replaced model, which may be none.

    Raise SpamnbError if the name of a new class is similar to a class that the sources lack. Otherwise report it.
    """
    from spamnb.class_names import nearest_name
    from spamnb.sources.spec import parse_source

    labels = {label for source in sources if (label := parse_source(source).label) is not None}
    if not classes or labels <= {*classes}:
        return
    replaced = f"{model}: its classes are {', '.join(classes)}"
    for name in sorted(labels.difference(classes)):
        if similar := nearest_name(name, sorted({*classes} - labels)):
            raise SpamnbError(f"{replaced}, and not {name!r}; did you mean {similar}? If not, remove the model first")
    tell(f"{replaced}; the new model has {', '.join(sorted(labels))}")
