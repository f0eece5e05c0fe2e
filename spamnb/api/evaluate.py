"""``spamnb.evaluate``: how good the filter is on mail whose class is known."""

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
LONGEST = 70  # characters of a sender or a subject
REASONS = 6  # tokens of each message


def lines_of(doubtful: list[EvaluatedMessage]) -> list[str]:
    """Three lines a message: why it looks mislabelled; who sent it, and what about; and what says so."""
    if not doubtful:
        return ["No message looks mislabelled."]
    lines = [f"{pluralize(len(doubtful), 'message')} may stand in the wrong folder, the surest first:"]
    for each in doubtful:
        sure = format_percent(100 * each.probabilities[each.verdict])
        lines.append(f"  {escape(each.name)}: labelled {each.truth}, looks like {each.verdict} ({sure} %)")
        sender, subject = (shortened(text) or "(none)" for text in (each.sender, each.subject))
        lines.append(f"    From: {sender}   Subject: {subject}")
        reasons = [shortened(meaning(token) or token) for token, weight in each.evidence if weight > 0][:REASONS]
        if reasons:
            lines.append(f"    because of {'; '.join(reasons)}")
    return lines


def shortened(text: str) -> str:
    """One line of text for a terminal, of at most LONGEST characters.

    >>> shortened("caf\\x1b[2J  \\n au lait"), len(shortened("x" * 99))
    ('caf\\\\x1b[2J au lait', 70)
    """
    text = escape(" ".join(text[: 4 * LONGEST].split())[: LONGEST + 1])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


@dataclass(frozen=True, repr=False)
class Evaluation(Report):
    """How well a filter did: ``print`` and a notebook show the command line's tables.

    - ``figures``: every figure with its 95 % interval, in percent
    - ``result``: the answers. Of n messages and C classes: ``names`` (n,), ``truth`` and ``verdicts`` (n,) class
      numbers (−1: unsure), ``scores`` (n, C) in nats, ``probabilities`` (n, C)
    - ``settings``: those of the models that judged
    - ``model``: the file of the model that judged, ":memory:" for a model without a file; None if models were trained
      on parts of the mail
    - ``unreadable``: how many messages could not be read
    - ``mislabelled``: the answers to messages that look mislabelled, the surest first; None without ``doubtful``
    - ``command``: the origin that the page names

    >>> import spamnb
    >>> found = spamnb.evaluate("corpora/mail", leave_one_out=True)
    >>> found
    <Evaluation: Left out in 10 parts: 127 messages>
    >>> found.to_dict()["messages"], found.page()[:15], found.compare(found).p_value
    (127, '<!DOCTYPE html>', 1.0)
    >>> found.write_page("page.html"), found.write_scores("scores.tsv"), found.text(verbose=True) != found.text()
    (None, None, True)
    """

    figures: Figures
    result: Result
    settings: Settings
    model: Path | None = None
    unreadable: int = 0
    mislabelled: list[EvaluatedMessage] | None = None
    command: str = "spamnb.evaluate in Python"

    def to_dict(self) -> dict[str, Any]:
        """Every figure as json can hold it, with the names of 'spamnb evaluate --format json'; None for NaN."""
        from spamnb.evaluation.figures import to_json

        told = {**to_json(self.figures), "unreadable": self.unreadable}
        return told if self.mislabelled is None else {**told, "mislabelled": to_json(self.mislabelled)}

    def trusts(self) -> list[float]:
        """Return the probability (n,) that each message's label is right, by the model that judged it.

        >>> import spamnb
        >>> _ = spamnb.train("corpora/mail", "model.spamnb")
        >>> min(spamnb.evaluate("corpora/unseen", model="model.spamnb").trusts()) > 0.5
        True
        """
        p = self.result.probabilities[np.arange(len(self.result)), self.result.truth]
        return trust(p, PRIOR_NOISE).tolist()

    def compare(self, other: Evaluation | FilePath) -> McNemar:
        """McNemar's exact test against another evaluation of the same messages, or a file of its scores: how many
        messages only one of the two got right, and the probability p of so uneven a split by chance.

        Raises SpamnbError if the other holds other messages, or its file cannot be read.
        """
        from spamnb.evaluation import scores

        if isinstance(other, Evaluation):
            found = scores.verdicts_by_name(other.result)
        else:
            found = scores.read_verdicts(file_path(other, "other"))
        return scores.compare_verdicts(scores.verdicts_by_name(self.result), found)

    def page(self) -> str:
        """A page of HTML with figures, curves and the worst errors, which needs nothing else and holds no script."""
        from spamnb.report.page import render_page

        kind = self.settings.model_type
        trained = f"{self.model}, as it is" if self.model else f"{kind}, trained on parts of this mail"
        return render_page(self.result, self.figures, self.settings, {"Command": self.command, "Model": trained})

    def write_page(self, path: FilePath) -> None:
        """Write the page to ``path``. Raises SpamnbError if it cannot be written."""
        file = new_file(path, "path", over_model=False)
        try:
            with open(file, "w", encoding="utf-8", opener=open_private) as stream:
                stream.write(self.page())
        except OSError as error:
            raise SpamnbError(f"{path}: cannot be written: {error.strerror}") from error

    def write_scores(self, path: FilePath) -> None:
        """Write each message's scores to ``path``, for other programs and for ``compare``. Raises SpamnbError if it
        cannot be written."""
        from spamnb.evaluation.scores import write_scores

        write_scores(self.result, new_file(path, "path", over_model=False))

    def __str__(self) -> str:
        return self.text()

    def text(self, verbose: bool = False) -> str:
        """What ``print`` shows; if ``verbose``, also the figures that serve to compare filters."""
        doubts = [] if self.mislabelled is None else lines_of(self.mislabelled)
        return "\n".join([format_figures(self.figures, verbose), *doubts])

    def _repr_html_(self) -> str:
        doubts = "" if self.mislabelled is None else preformatted("\n".join(lines_of(self.mislabelled)))
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
    """Measure the filter on labelled mail: good mail lost, spam let through, and how far its probabilities are right.

    ``sources`` is as for ``train``. Choose one of five protocols, or none for ten folds:

    - ``folds``: K-fold cross-validation with this K
    - ``split``: train on this fraction of the mail and test on the rest
    - ``leave_one_out``: judge each message by a model of all others; it does not say why
    - ``online``: judge each message and then learn it, in the given order
    - ``model``: judge by the model in this file, without further settings

    And for any of them:

    - ``by_date``: with ``online``, go by the dates of receipt; with ``split``, train on the oldest messages
    - ``seed``: deals out folds and splits; the same seed gives the same figures
    - ``doubtful``: find up to this many messages that look mislabelled
    - ``subjects``: go through the sources once more for the senders and subjects of wrongly judged messages that
      ``Evaluation.write_page`` shows; ``doubtful`` does so in any case
    - ``recursive``, ``text_column``, ``label_column``, ``workers``, ``progress``, ``tell``: as for ``train``
    - ``dask``: a Dask cluster counts the mail, as for ``train``; only with ``folds``, ``split`` and ``leave_one_out``
    - ``command``: the origin that the page names
    - ``settings``: settings of the models, with the names that ``--set`` takes

    Raises SpamnbError if a source does not exist or holds no mail, if a setting is wrong, or if two ways are chosen.

    >>> import spamnb
    >>> found = spamnb.evaluate("corpora/mail", folds=2, model_type="multinomial")
    >>> found.figures.protocol, found.figures.messages
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
        raise ArgumentError("{option.by_date} goes with {option.online} or {option.split}")
    if model is not None and settings:
        raise ArgumentError("{names}: {option.model} takes the model as it was trained", names=", ".join(settings))
    if dask is not None and (online or model is not None):
        raise ArgumentError(
            "{option.dask}: with {option.online} and {option.model} messages are judged one by one, on one machine"
        )
    if not isinstance(split, float | int | None):
        raise ArgumentError("{option.split} is {split!r}: give a fraction between 0 and 1", split=split)
    check_least(1, workers=workers)
    check_least(2, folds=folds)
    check_least(0, seed=seed, doubtful=doubtful)
    specs, options = specs_of(sources), ReadOptions(recursive, text_column, label_column)
    own, left_out = settings_of(settings), SkippedMessages(tell)
    path = None if model is None else file_path(model)
    tell_notes(specs, recursive, tell)
    mail = find_labelled_entries(specs, left_out, options)
    if path is not None:
        with Classifier.open(path) as classifier, shown("Classifying", progress) as show:
            result, own = streams.evaluate_model(mail, classifier, left_out, show), classifier.settings
    elif online:
        with shown("Classifying and learning", progress) as show:
            stream = streams.sort_by_date(mail, left_out) if by_date else mail
            result = streams.evaluate_stream(stream, own, left_out, show)
    else:
        names: list[str] = []
        named = _noting_names(mail, names)
        with ending_cleanly():
            with chosen_cluster(dask, workers, tell) as cluster, shown("Reading", progress) as show:
                counted = count_parallel(named, own.tokens, left_out, show, workers, cluster)
            held = protocols.make_mail(counted, names)
            _check(held, own)
            if leave_one_out:
                result = protocols.evaluate_leave_one_out(held, own)
            elif split is None:
                k = 10 if folds is None else folds
                part = protocols.assign_folds(held.digests, held.labels, k, seed)
                result = protocols.evaluate_parts(held, own, part, f"{k} folds")
            else:
                part = protocols.split_by_date(held, split) if by_date else protocols.split_by_chance(held, split, seed)
                which = f"{'Oldest ' if by_date else ''}{100 * split:g} % of the mail"
                result = protocols.evaluate_parts(held, own, part, f"{which} learned, the rest judged")
            if subjects or doubtful:
                result = _with_heads(result, specs, options)
    if not len(result):
        raise SpamnbError(NO_MAIL)
    rows = doubtful_rows(result.scores, result.truth).tolist() if doubtful else []
    doubts = [result.errors[row] for row in rows if row in result.errors][:doubtful] if doubtful else None
    return Evaluation(compute_figures(result, seed=seed), result, own, path, left_out.count, doubts, command)


def _noting_names(entries: Iterable[Entry], names: list[str]) -> Iterator[Entry]:
    """The same entries, their names appended to ``names`` on the way."""
    for entry in entries:
        names.append(entry.name)
        yield entry


def _check(mail: Mail, settings: Settings) -> None:
    """SpamnbError where no filter can be measured on this mail."""
    from spamnb.training import check_classes

    if not len(mail.positions):
        raise SpamnbError(NO_MAIL)
    if len(mail.classes) < 2:
        raise SpamnbError(f"only class {mail.classes[0]!r} in the sources: to tell classes apart it takes two")
    check_classes(mail.classes, settings, one_class=False)


def _with_heads(result: Result, specs: Sequence[str], options: ReadOptions) -> Result:
    """The result with sender and subject of each error: the sources are gone through once more, and only those messages
    read."""
    from spamnb.sources.spec import find_labelled_entries

    heads: dict[str, EvaluatedMessage] = {}
    missing = {answer.name: answer for answer in result.errors.values()}
    # What is wrong with some was told the first time.
    for entry in find_labelled_entries(specs, lambda name, error: None, options) if missing else ():
        if answer := missing.pop(entry.name, None):
            with one_message(entry.name, lambda name, error: None):  # it has gone since
                heads[entry.name] = answer.with_heading(entry.read())
            if not missing:
                break
    return replace(result, errors={row: heads.get(answer.name, answer) for row, answer in result.errors.items()})
