"""``spamnb.evaluate``: measure the filter on mail whose class is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spamnb.api.arguments import (
    FilePath,
    Sources,
    Tell,
    check_flags,
    check_least,
    chosen_cluster,
    ending_cleanly,
    file_path,
    new_file,
    settings_of,
    specs_of,
    tell_notes,
    warn,
)
from spamnb.api.report import Report, preformatted
from spamnb.errors import ArgumentError, SpamnbError
from spamnb.evaluation.metrics import doubtful_rows
from spamnb.formulas.trust import PRIOR_NOISE, trust
from spamnb.reader.meaning import meaning
from spamnb.report.evaluation import figure_tables, format_figures, format_percent
from spamnb.shown_text import escape, pluralize
from spamnb.sources.entries import ReadOptions, SkippedMessages, one_message, open_private

if TYPE_CHECKING:
    from spamnb.evaluation.figures import Figures
    from spamnb.evaluation.metrics import McNemar
    from spamnb.evaluation.protocols import Mail
    from spamnb.evaluation.result import EvaluatedMessage, Result
    from spamnb.settings import Settings
    from spamnb.sources.entries import Entry


NO_MAIL = "no messages in the sources: nothing to evaluate on"
MAX_TEXT = 70  # characters of a sender or a subject
MAX_REASONS = 6  # tokens of each message


def describe_doubtful(doubtful: list[EvaluatedMessage]) -> list[str]:
    """Return three lines per message: name and classes, sender and subject, and tokens that contradict the label."""
    if not doubtful:
        return ["No message looks mislabelled."]
    lines = [f"{pluralize(len(doubtful), 'message')} may stand in the wrong folder, the surest first:"]
    for each in doubtful:
        probability = format_percent(100 * each.probabilities[each.verdict])
        lines.append(f"  {escape(each.name)}: labelled {each.truth}, looks like {each.verdict} ({probability} %)")
        sender, subject = (shorten(text) or "(none)" for text in (each.sender, each.subject))
        lines.append(f"    From: {sender}   Subject: {subject}")
        reasons = [shorten(meaning(token) or token) for token, weight in each.evidence if weight > 0][:MAX_REASONS]
        if reasons:
            lines.append(f"    because of {'; '.join(reasons)}")
    return lines


def shorten(text: str) -> str:
    """Return one line of text for a terminal, of at most MAX_TEXT characters.

    >>> shorten("caf\\x1b[2J  \\n au lait"), len(shorten("x" * 99))
    ('caf\\\\x1b[2J au lait', 70)
    """
    text = escape(" ".join(text[: 4 * MAX_TEXT].split())[: MAX_TEXT + 1])
    return text if len(text) <= MAX_TEXT else text[: MAX_TEXT - 1] + "…"


@dataclass(frozen=True, repr=False)
class Evaluation(Report):
    """The evaluation of a filter; ``print`` and a notebook show the command line's tables.

    Parameters
    ----------
    figures : Figures
        Every figure with its 95 % interval, in percent.
    result : Result
        The classified messages: ``names``, ``truth`` and ``verdicts`` (n_messages,) as class numbers (−1: unsure),
        ``scores`` in nats and ``probabilities`` (n_messages, n_classes).
    settings : Settings
        The settings of the models.
    model : Path or None
        The model file, ":memory:" for a model without a file; None if models were trained on parts of the mail.
    unreadable : int
        The number of messages that could not be read.
    mislabelled : list of EvaluatedMessage or None
        The messages that look mislabelled, the surest first; None without ``doubtful``.
    command : str
        The origin that the page names.

    Examples
    --------
    >>> import spamnb
    >>> evaluation = spamnb.evaluate("corpora/mail", leave_one_out=True)
    >>> evaluation
    <Evaluation: Left out in 10 parts: 127 messages>
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
        """Return every figure as values of JSON.

        Returns
        -------
        dict
            The figures with the names of 'spamnb evaluate --format json'; None for NaN.
        """
        from spamnb.evaluation.figures import to_json

        figures = {**to_json(self.figures), "unreadable": self.unreadable}
        return figures if self.mislabelled is None else {**figures, "mislabelled": to_json(self.mislabelled)}

    def trusts(self) -> list[float]:
        """Return the probability that each message's label is right.

        Returns
        -------
        list of float
            The probabilities by the model that classified each message.

        Examples
        --------
        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> min(spamnb.evaluate("corpora/unseen", model="model.spamnb").trusts()) > 0.5
        True
        """
        p = self.result.probabilities[np.arange(len(self.result)), self.result.truth]
        return trust(p, PRIOR_NOISE).tolist()

    def compare(self, other: Evaluation | FilePath) -> McNemar:
        """Compare with another evaluation of the same messages by McNemar's exact test.

        Parameters
        ----------
        other : Evaluation, str or Path
            The other evaluation, or a file of its scores.

        Returns
        -------
        McNemar
            The numbers of messages that only one of the two classified correctly, and the probability of such a split
            by chance.

        Raises
        ------
        SpamnbError
            If the other evaluation has other messages, or its file cannot be read.
        """
        from spamnb.evaluation import scores

        if isinstance(other, Evaluation):
            verdicts = scores.verdicts_by_name(other.result)
        else:
            verdicts = scores.read_verdicts(file_path(other, "other"))
        return scores.compare_verdicts(scores.verdicts_by_name(self.result), verdicts)

    def page(self) -> str:
        """Return a page of HTML with figures, curves and the worst errors, without scripts and other files.

        Returns
        -------
        str
            The page.
        """
        from spamnb.report.page import render_page

        kind = self.settings.model_type
        trained = f"{self.model}, as it is" if self.model else f"{kind}, trained on parts of this mail"
        return render_page(self.result, self.figures, self.settings, {"Command": self.command, "Model": trained})

    def write_page(self, path: FilePath) -> None:
        """Write the page to a file.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        SpamnbError
            If it cannot be written.
        """
        file = new_file(path, "path", over_model=False)
        try:
            with open(file, "w", encoding="utf-8", opener=open_private) as stream:
                stream.write(self.page())
        except OSError as error:
            raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error

    def write_scores(self, path: FilePath) -> None:
        """Write each message's scores to a file, for other programs and for ``compare``.

        Parameters
        ----------
        path : str or Path
            The file.

        Raises
        ------
        SpamnbError
            If it cannot be written.
        """
        from spamnb.evaluation.scores import write_scores

        write_scores(self.result, new_file(path, "path", over_model=False))

    def __str__(self) -> str:
        return self.text()

    def text(self, verbose: bool = False) -> str:
        """Return what ``print`` shows.

        Parameters
        ----------
        verbose : bool
            Whether to add the figures that compare filters.

        Returns
        -------
        str
            The tables.
        """
        doubts = [] if self.mislabelled is None else describe_doubtful(self.mislabelled)
        return "\n".join([format_figures(self.figures, verbose), *doubts])

    def _repr_html_(self) -> str:
        doubts = "" if self.mislabelled is None else preformatted("\n".join(describe_doubtful(self.mislabelled)))
        return "".join(table.html() for table in figure_tables(self.figures)) + doubts


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
    doubtful: int = 0,
    subjects: bool = True,
    recursive: bool = False,
    text_column: str | None = None,
    label_column: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    progress: bool = False,
    tell: Tell = warn,
    command: str = "spamnb.evaluate in Python",
    **settings: Any,
) -> Evaluation:
    """Measure the filter on labelled mail: good mail lost, spam let through, and the errors of its probabilities.

    Choose one of the five protocols ``folds``, ``split``, ``leave_one_out``, ``online`` and ``model``. The default is
    ten folds.

    Parameters
    ----------
    sources : str, Path or list of these
        As for ``train``.
    folds : int or None
        K-fold cross-validation with this K.
    split : float or None
        Train on this fraction of the mail and test on the other messages.
    leave_one_out : bool
        Classify each message by a model of all others. The result has no evidence.
    online : bool
        Classify each message and then learn it, in the given order.
    model : str, Path or None
        Classify by the model in this file, without further settings.
    by_date : bool
        With ``online``, take the messages in the order of receipt; with ``split``, train on the oldest.
    seed : int
        The seed of folds and splits. The same seed gives the same figures.
    doubtful : int
        Find up to this many messages that look mislabelled.
    subjects : bool
        Read wrongly classified messages again for their senders and subjects, which ``Evaluation.write_page`` shows.
        With ``doubtful`` this is always done.
    recursive : bool
        As for ``train``.
    text_column : str or None
        The column of a table that has the text.
    label_column : str or None
        The column of a table that has the class.
    workers : int or None
        The number of threads; None for one per processor.
    dask : str or None
        A Dask cluster counts the mail, as for ``train``; only with ``folds``, ``split`` and ``leave_one_out``.
    progress : bool
        Whether to show the progress.
    tell : callable
        Gets a line for each message that cannot be read and is skipped. By default this is a warning.
    command : str
        The origin that the page names.
    **settings : object
        Settings of the models, with the names that ``--set`` takes.

    Returns
    -------
    Evaluation
        The figures with their intervals, and the classified messages.

    Raises
    ------
    SpamnbError
        If a source does not exist or has no mail, a setting is wrong, or two protocols are chosen.

    Examples
    --------
    >>> import spamnb
    >>> evaluation = spamnb.evaluate("corpora/mail", folds=2, model_type="multinomial")
    >>> evaluation.figures.protocol, evaluation.figures.messages
    ('2 folds', 127)
    """
    from spamnb.api.progress import progress as shown
    from spamnb.classifier import Classifier
    from spamnb.engines.counting import count_parallel
    from spamnb.evaluation import online as streams
    from spamnb.evaluation import protocols
    from spamnb.evaluation.figures import compute_figures
    from spamnb.sources.spec import find_labelled_entries

    flags = {"leave_one_out": leave_one_out, "online": online, "by_date": by_date, "subjects": subjects}
    check_flags(**flags, recursive=recursive, progress=progress)
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
            "{option.dask}: with {option.online} and {option.model} messages are classified one by one, on one machine"
        )
    if not isinstance(split, float | int | None):
        raise ArgumentError("{option.split} is {split!r}: give a fraction between 0 and 1", split=split)
    check_least(1, workers=workers)
    check_least(2, folds=folds)
    check_least(0, seed=seed, doubtful=doubtful)
    specs, options = specs_of(sources), ReadOptions(recursive, text_column, label_column)
    chosen, skipped = settings_of(settings), SkippedMessages(tell)
    path = None if model is None else file_path(model)
    tell_notes(specs, recursive, tell)
    mail = find_labelled_entries(specs, skipped, options)
    if path is not None:
        with Classifier.open(path) as classifier, shown("Classifying", progress) as show:
            result, chosen = streams.evaluate_model(mail, classifier, skipped, show), classifier.settings
    elif online:
        with shown("Classifying and learning", progress) as show:
            stream = streams.sort_by_date(mail, skipped) if by_date else mail
            result = streams.evaluate_stream(stream, chosen, skipped, show)
    else:
        names: list[str] = []
        named = _record_names(mail, names)
        with ending_cleanly():
            with chosen_cluster(dask, workers, tell) as cluster, shown("Reading", progress) as show:
                counted = count_parallel(named, chosen.tokens, skipped, show, workers, cluster)
            counted_mail = protocols.make_mail(counted, names)
            _check(counted_mail, chosen)
            if leave_one_out:
                result = protocols.evaluate_leave_one_out(counted_mail, chosen)
            elif split is None:
                k = 10 if folds is None else folds
                part = protocols.assign_folds(counted_mail.digests, counted_mail.labels, k, seed)
                result = protocols.evaluate_parts(counted_mail, chosen, part, f"{k} folds")
            else:
                part = (
                    protocols.split_by_date(counted_mail, split)
                    if by_date
                    else protocols.split_by_chance(counted_mail, split, seed)
                )
                which = f"{'Oldest ' if by_date else ''}{100 * split:g} % of the mail"
                result = protocols.evaluate_parts(counted_mail, chosen, part, f"{which} learned, the rest classified")
            if subjects or doubtful:
                result = _with_heads(result, specs, options)
    if not len(result):
        raise SpamnbError(NO_MAIL)
    rows = doubtful_rows(result.scores, result.truth).tolist() if doubtful else []
    doubts = [result.errors[row] for row in rows if row in result.errors][:doubtful] if doubtful else None
    return Evaluation(compute_figures(result, seed=seed), result, chosen, path, skipped.count, doubts, command)


def _record_names(entries: Iterable[Entry], names: list[str]) -> Iterator[Entry]:
    """Yield the entries, and append each name to ``names``."""
    for entry in entries:
        names.append(entry.name)
        yield entry


def _check(mail: Mail, settings: Settings) -> None:
    """Raise SpamnbError if no filter can be measured on this mail."""
    from spamnb.training import check_classes

    if not len(mail.positions):
        raise SpamnbError(NO_MAIL)
    if len(mail.classes) < 2:
        raise SpamnbError(f"the sources have only the class {mail.classes[0]!r}: give mail of another class, too")
    check_classes(mail.classes, settings, one_class=False)


def _with_heads(result: Result, specs: Sequence[str], options: ReadOptions) -> Result:
    """Return the result with sender and subject of each error: only these messages of the sources are read again."""
    from spamnb.sources.spec import find_labelled_entries

    heads: dict[str, EvaluatedMessage] = {}
    missing = {answer.name: answer for answer in result.errors.values()}
    # Errors are not reported again.
    for entry in find_labelled_entries(specs, lambda name, error: None, options) if missing else ():
        if answer := missing.pop(entry.name, None):
            with one_message(entry.name, lambda name, error: None):  # the message may be gone
                heads[entry.name] = answer.with_heading(entry.read())
            if not missing:
                break
    return replace(result, errors={row: heads.get(answer.name, answer) for row, answer in result.errors.items()})
