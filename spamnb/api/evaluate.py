"""``spamnb.evaluate``: measure the errors of the filter on labelled mail."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from spamnb.api.arguments import (
    FilePath,
    SettingValues,
    Sources,
    Tell,
    check_flags,
    check_least,
    file_path,
    handle_end_signals,
    list_specs,
    make_settings,
    new_file,
    open_cluster,
    tell_notes,
    warn,
)
from spamnb.api.report import Report, preformatted
from spamnb.errors import ArgumentError, SpamnbError, check_type
from spamnb.model.trust import PRIOR_NOISE, trust
from spamnb.reader.meaning import meaning
from spamnb.report.evaluation import figure_tables, format_figures, format_percent
from spamnb.shown_text import escape, pluralize
from spamnb.sources.entries import ReadOptions, SkippedMessages, one_message, write_private

if TYPE_CHECKING:
    from spamnb.evaluation.figures import Figures
    from spamnb.evaluation.metrics import McNemar
    from spamnb.evaluation.protocols import Mail
    from spamnb.evaluation.result import EvaluatedMessage, Result
    from spamnb.settings import Settings
    from spamnb.sources.entries import Entry


NO_MAIL = "no messages in the sources: nothing to evaluate on"
MAX_TEXT = 70  # characters of a sender, a subject or a token, so that each fits into a line of 80 characters
MAX_REASONS = 6  # tokens of a message: about two lines


def describe_mislabelled(messages: list[EvaluatedMessage]) -> list[str]:
    """Return three lines per message: name and classes, sender and subject, and the evidence against the label."""
    if not messages:
        return ["No message looks mislabelled."]
    lines = [f"{pluralize(len(messages), 'message')} may be in the wrong folder, the likeliest first:"]
    for message in messages:
        others = {name: p for name, p in message.probabilities.items() if name != message.truth}
        likeliest = max(others, key=others.__getitem__)  # the verdict may be unsure
        verdict = f"labelled {message.truth}, looks like {likeliest} ({format_percent(100 * others[likeliest])} %)"
        lines.append(f"  {escape(message.name)}: {verdict}")
        sender, subject = (shorten(text) or "(none)" for text in (message.sender, message.subject))
        lines.append(f"    From: {sender}   Subject: {subject}")
        reasons = [shorten(meaning(token)) for token, weight in message.evidence if weight > 0][:MAX_REASONS]
        if reasons:
            lines.append(f"    because of {'; '.join(reasons)}")
    return lines


def shorten(text: str) -> str:
    """Return a text as one line for a terminal, with at most MAX_TEXT characters.

    >>> shorten("caf\\x1b[2J  \\n au lait"), len(shorten("x" * 99))
    ('caf\\\\x1b[2J au lait', 70)
    """
    text = escape(" ".join(text[: 4 * MAX_TEXT].split())[: MAX_TEXT + 1])
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


@dataclass(frozen=True, repr=False)
class Evaluation(Report):
    """The evaluation of a filter. ``print`` and a notebook show the tables of 'spamnb evaluate'.

    Parameters
    ----------
    figures : Figures
        All figures with 95 % intervals, in percent.
    result : Result
        The classified messages: ``names`` (n_messages,), ``truth`` and ``verdicts`` (n_messages,) as class numbers, −1
        for unsure, ``scores`` in nats and ``probabilities`` (n_messages, n_classes).
    settings : Settings
        Settings of the models.
    model : Path, default=None
        The model file, or ":memory:" for a model in memory. None if models were trained on parts of the mail.
    unreadable : int, default=0
        Number of messages that could not be read.
    mislabelled : list of EvaluatedMessage, default=None
        The messages that look mislabelled, the likeliest first. None if no list was asked for.
    command : str, default="spamnb.evaluate in Python"
        Command that the page shows.

    Examples
    --------
    >>> import spamnb
    >>> evaluation = spamnb.evaluate("corpora/mail", leave_one_out=True)
    >>> evaluation
    <Evaluation: Each of 10 parts classified by the others: 127 messages>
    >>> evaluation.to_dict()["messages"], evaluation.page()[:15], evaluation.compare(evaluation).p_value
    (127, '<!DOCTYPE html>', 1.0)
    >>> evaluation.write_page("page.html"), evaluation.write_scores("scores.tsv")
    (None, None)
    >>> evaluation.text(verbose=True) != evaluation.text()
    True
    """

    figures: Figures
    result: Result
    settings: Settings
    model: Path | None = None
    unreadable: int = 0
    mislabelled: list[EvaluatedMessage] | None = None
    command: str = "spamnb.evaluate in Python"

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as values of JSON.

        Returns
        -------
        dict
            The figures with the names of 'spamnb evaluate --format json', and None for NaN.
        """
        from spamnb.evaluation.figures import to_json

        figures = {**to_json(self.figures), "unreadable": self.unreadable}
        return figures if self.mislabelled is None else {**figures, "mislabelled": to_json(self.mislabelled)}

    def trusts(self) -> list[float]:
        """Return the probabilities that the labels are right.

        Returns
        -------
        list of float
            Trust in each message's label, computed from the label's probability and the usual share of wrong labels.

        Examples
        --------
        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> min(spamnb.evaluate("corpora/unseen", model="model.spamnb").trusts()) > 0.5
        True
        """
        p = self.result.probabilities[np.arange(len(self.result)), self.result.truth]
        return trust(p, PRIOR_NOISE).tolist()

    def compare(self, other: Evaluation) -> McNemar:
        """Compare with another evaluation of the same messages by McNemar's exact test.

        Parameters
        ----------
        other : Evaluation
            The other evaluation.

        Returns
        -------
        McNemar
            For each of the two evaluations the number of messages that only this one classified correctly, and p.

        Raises
        ------
        SpamnbError
            If the other evaluation has other messages.
        """
        from spamnb.evaluation.result import compare_results

        check_type("other", other, Evaluation, "an Evaluation")
        return compare_results(self.result, other.result)

    def page(self) -> str:
        """Return a page with figures, curves and the worst errors. The page needs neither scripts nor other files.

        Returns
        -------
        str
            The page as HTML.
        """
        from spamnb.report.page import render_page

        trained = f"{self.settings.model_type}, trained on parts of this mail"
        model = f"{self.model}, as it is" if self.model else trained
        return render_page(self.result, self.figures, self.settings, {"Command": self.command, "Model": model})

    def write_page(self, path: FilePath) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : str or path
            File to write.

        Raises
        ------
        SpamnbError
            If the file cannot be written, or if it is a model.
        """
        with write_private(new_file(path, "path", over_model=False)) as stream:
            stream.write(self.page())

    def write_scores(self, path: FilePath) -> None:
        """Write the scores of each message to a file, for other programs.

        Parameters
        ----------
        path : str or path
            File to write.

        Raises
        ------
        SpamnbError
            If the file cannot be written, or if it is a model.
        """
        from spamnb.evaluation.scores import write_scores

        write_scores(self.result, new_file(path, "path", over_model=False))

    def __str__(self) -> str:
        return self.text()

    def text(self, verbose: bool = False) -> str:
        """Return the text that ``print`` shows.

        Parameters
        ----------
        verbose : bool, default=False
            Whether to add precision, recall and F1 of each class also if there are only spam and one other class.

        Returns
        -------
        str
            The tables.
        """
        lines = [] if self.mislabelled is None else describe_mislabelled(self.mislabelled)
        return "\n".join([format_figures(self.figures, verbose), *lines])

    def _repr_html_(self) -> str:
        lines = "" if self.mislabelled is None else preformatted("\n".join(describe_mislabelled(self.mislabelled)))
        return "".join(table.html() for table in figure_tables(self.figures)) + lines


def evaluate(
    sources: Sources,
    *,
    folds: int | None = None,
    split: float | None = None,
    leave_one_out: bool = False,
    online: bool = False,
    model: FilePath | None = None,
    by_date: bool = False,
    seed: int = 0,
    mislabelled: int = 0,
    subjects: bool = True,
    recursive: bool = False,
    text_column: str | None = None,
    label_column: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool = False,
    tell: Tell = warn,
    command: str = "spamnb.evaluate in Python",
    **settings: Unpack[SettingValues],
) -> Evaluation:
    """Measure the errors of the filter on labelled mail: good mail lost, spam let through, and wrong probabilities.

    The parameters ``folds``, ``split``, ``leave_one_out``, ``online`` and ``model`` choose one of five protocols. The
    default is ten folds.

    Parameters
    ----------
    sources : str, path, or list of these
        As in ``train``.
    folds : int, default=None
        Number of folds of a cross-validation.
    split : float, default=None
        Share of the messages to train on. The other messages are classified.
    leave_one_out : bool, default=False
        Whether to classify each message by a model without it. Some types of models leave out not one message at a
        time, but a part of the mail. The messages in ``mislabelled`` then have no evidence.
    online : bool, default=False
        Whether to classify and then learn each message, in the order of the sources.
    model : str or path, default=None
        Model file that classifies the messages, with the settings of the file.
    by_date : bool, default=False
        Whether to take the messages in the order of receipt with ``online``, and to train on the oldest messages with
        ``split``.
    seed : int, default=0
        Seed of folds and splits. The same seed gives the same figures.
    mislabelled : int, default=0
        Maximum number of messages to list that look mislabelled.
    subjects : bool, default=True
        Whether to read wrongly classified messages again for their senders and subjects, which
        ``Evaluation.write_page`` shows. ``mislabelled`` always does this.
    recursive, text_column, label_column, workers, progress, tell : bool, str, int or callable
        As in ``train``.
    dask : str, default=None
        As in ``train``, but not with ``online`` and ``model``.
    command : str, default="spamnb.evaluate in Python"
        Command that the page shows.
    **settings : dict
        Settings of the models, as in ``train``.

    Returns
    -------
    Evaluation
        Figures with 95 % intervals, and the classified messages.

    Raises
    ------
    SpamnbError
        If a source does not exist or has no mail, if a setting is wrong, or if two protocols are chosen.

    Examples
    --------
    >>> import spamnb
    >>> evaluation = spamnb.evaluate("corpora/mail", folds=2, model_type="multinomial")
    >>> evaluation.figures.protocol, evaluation.figures.messages
    ('2 folds', 127)
    """
    from spamnb.api.progress import show_progress
    from spamnb.engines.counting import count_parallel
    from spamnb.evaluation import protocols
    from spamnb.evaluation.figures import compute_figures
    from spamnb.evaluation.online import evaluate_model, evaluate_stream, sort_by_date
    from spamnb.filter import Classifier
    from spamnb.sources.spec import find_labelled_entries

    flags = {"leave_one_out": leave_one_out, "online": online, "by_date": by_date, "subjects": subjects}
    check_flags(**flags, progress=progress)
    if sum([folds is not None, split is not None, leave_one_out, online, model is not None]) > 1:
        raise ArgumentError(
            "{option.folds}, {option.split}, {option.leave_one_out}, {option.online} and {option.model} exclude each"
            " other: give one of them"
        )
    if by_date and not online and split is None:
        raise ArgumentError("{option.by_date} needs {option.online} or {option.split}")
    if model is not None and settings:
        raise ArgumentError("{names}: {option.model} uses the settings of the model", names=", ".join(settings))
    if dask is not None and (online or model is not None):
        raise ArgumentError(
            "{option.dask}: with {option.online} or {option.model} messages are classified one by one, on one machine"
        )
    if not isinstance(split, float | int | None):
        raise ArgumentError("{option.split} is {split!r}: give a fraction between 0 and 1", split=split)
    check_least(1, workers=workers)
    check_least(2, folds=folds)
    check_least(0, seed=seed, mislabelled=mislabelled)
    specs, options = list_specs(sources), ReadOptions(recursive, text_column, label_column)
    model_settings, skipped = make_settings(settings), SkippedMessages(tell)
    path = None if model is None else file_path(model)
    tell_notes(specs, recursive, tell)
    mail = find_labelled_entries(specs, skipped, options)
    if path is not None:
        with Classifier.open(path) as classifier, show_progress("Classifying", progress) as show:
            result, model_settings = evaluate_model(mail, classifier, skipped, show), classifier.settings
    elif online:
        with show_progress("Classifying and learning", progress) as show:
            stream = sort_by_date(mail, skipped) if by_date else mail
            result = evaluate_stream(stream, model_settings, skipped, show)
    else:
        names: list[str] = []
        with handle_end_signals():
            with open_cluster(dask, workers, tell) as cluster, show_progress("Reading", progress) as show:
                entries = _record_names(mail, names)
                training_set = count_parallel(entries, model_settings, skipped, show, workers, cluster)
            counted_mail = protocols.make_mail(training_set, names)
            _check_classes(counted_mail, model_settings)
            if leave_one_out:
                result = protocols.evaluate_leave_one_out(counted_mail, model_settings)
            elif split is None:
                k = 10 if folds is None else folds
                part = protocols.assign_folds(counted_mail.digests, counted_mail.rows.labels, k, seed)
                result = protocols.evaluate_parts(counted_mail, model_settings, part, f"{k} folds")
            else:
                part = (
                    protocols.split_by_date(counted_mail, split)
                    if by_date
                    else protocols.split_by_chance(counted_mail, split, seed)
                )
                share = f"{'Oldest ' if by_date else ''}{100 * split:g} % of the mail"
                protocol = f"{share} learned, the rest classified"
                result = protocols.evaluate_parts(counted_mail, model_settings, part, protocol)
            if subjects or mislabelled:
                result = _add_headings(result, specs, options)
    if not len(result):
        raise SpamnbError(NO_MAIL)
    listed = [result.errors[row] for row in result.mislabelled[:mislabelled]] if mislabelled else None
    figures = compute_figures(result, seed=seed)
    return Evaluation(figures, result, model_settings, path, skipped.count, listed, command)


def _record_names(entries: Iterable[Entry], names: list[str]) -> Iterator[Entry]:
    """Yield the entries, and append their names to ``names``."""
    for entry in entries:
        names.append(entry.name)
        yield entry


def _check_classes(mail: Mail, settings: Settings) -> None:
    """Raise SpamnbError if the mail does not have messages of several classes."""
    from spamnb.training import check_classes

    if not len(mail.rows):
        raise SpamnbError(NO_MAIL)
    if len(mail.classes) < 2:
        raise SpamnbError(f"the sources have only the class {mail.classes[0]!r}: give mail of another class, too")
    check_classes(mail.classes, settings, one_class=False)


def _add_headings(result: Result, specs: Sequence[str], options: ReadOptions) -> Result:
    """Return the result with sender and subject of each wrongly classified message, which is read again."""
    from spamnb.sources.spec import find_labelled_entries

    complete: dict[str, EvaluatedMessage] = {}
    incomplete = {message.name: message for message in result.errors.values()}
    # on_error does nothing: messages that cannot be read have already been reported.
    for entry in find_labelled_entries(specs, lambda name, error: None, options) if incomplete else ():
        if message := incomplete.pop(entry.name, None):
            with one_message(entry.name, lambda name, error: None):
                complete[entry.name] = message.with_heading(entry.read())
            if not incomplete:
                break
    return replace(result, errors={row: complete.get(each.name, each) for row, each in result.errors.items()})
