"""The report of a training: figures counted by hand."""

from pathlib import Path

import numpy as np
import pytest
from mail import mail, write_folders

import spamnb
from spamnb.api.train import TrainingReport
from spamnb.errors import SpamnbWarning
from spamnb.evaluation.estimates import Estimates
from spamnb.evaluation.result import Result, verdict_numbers
from spamnb.model.new_senders import NO_NEW_SENDERS, NewSenders
from spamnb.report.evaluation import confusion_table
from spamnb.report.table import render_text
from spamnb.settings import Settings

GOOD = {("ham", "ham"): 60, ("spam", "spam"): 60}


def report(
    counts: dict[tuple[str, str], int], spam: str = "spam", copies: int = 0, unreadable: int = 0, mislabelled: int = 0,
    newest: Result | None = None, new_senders: NewSenders = NO_NEW_SENDERS,
) -> TrainingReport:  # fmt: skip
    """Make a report of ``counts``, messages by class and verdict. The likeliest class is sure of each."""
    names = tuple(dict.fromkeys(name for name, _ in counts))
    truth = np.array([names.index(name) for (name, _), n in counts.items() for _ in range(n)], np.intp)
    verdicts = [verdict for (_, verdict), n in counts.items() for _ in range(n)]
    sure = [0.99 if names[c] == verdict else 1 - 1e-6 for c, verdict in zip(truth, verdicts)]
    p = np.array([[p if name == verdict else 1 - p for name in names] for p, verdict in zip(sure, verdicts)])
    number = verdict_numbers(verdicts, names)
    left_out = Result("Leave-one-out", names, (), truth, np.log(p), p, number, spam, new_senders=new_senders)
    estimates = Estimates(left_out, newest, "only 3 messages have dates", np.arange(len(truth)))
    classes = dict(zip(names, np.bincount(truth).tolist()))
    classes[names[0]] -= mislabelled
    some = estimates if len(names) > 1 else None
    read = len(truth) + copies
    return TrainingReport(Path("m"), Settings(spam=spam), classes, 1234, some, read, mislabelled, unreadable)


def values(lines: list[str]) -> dict[str, str]:
    """Return the values of the main figures in a report, by name."""
    rows = [[cell.strip() for cell in line.split("│")] for line in lines if line.startswith("│")]
    return {row[1].partition("  ")[0]: row[2] for row in rows}


def lines(counts: dict[tuple[str, str], int], **how: object) -> list[str]:
    return str(report(counts, **how)).split("\n")  # type: ignore[arg-type]


def test_every_figure_is_that_of_a_count() -> None:
    counts = {
        ("ham", "ham"): 1_195, ("ham", "spam"): 3, ("ham", "unsure"): 2,
        ("spam", "spam"): 48, ("spam", "ham"): 9, ("spam", "unsure"): 3,
    }  # fmt: skip
    made = report(counts, copies=5, unreadable=1_002)
    said = str(made).split("\n")
    assert said[:3] == [
        "m: 1,260 messages, 1,234 different tokens",
        "5 duplicates skipped",
        "1,002 left out (see above)",
    ]
    assert said[3].rstrip() == "Leave-one-out: 1,260 messages"
    cells = [line.strip("│").replace("│", "").split() for line in said if line.startswith("│")]
    figures = values(said)
    assert (figures["hm%"], figures["sm%"], figures["accuracy %"]) == ("0.250", "20.00", "98.65")
    assert cells[-2:] == [["ham", "1,200", "1,195", "3", "2"], ["spam", "60", "9", "48", "3"]]
    assert said[-3:] == [
        "  12 messages look mislabelled. To see which and why: spamnb evaluate --mislabelled 12 SOURCE...",
        "Future mail will have more errors. They are not estimated, because only 3 messages have dates.",
        "  To estimate them all the same: spamnb evaluate --split 0.8 --by-date SOURCE...",
    ]
    assert made.to_dict()["wrong"] == pytest.approx(100 * 12 / 1260)
    assert made.to_dict()["unsure"] == pytest.approx(100 * 5 / 1260)
    assert made.to_dict()["confusion"]["spam"] == {"ham": 9, "spam": 48, "unsure": 3}


def test_of_two_messages_each_is_left_out_by_itself(tmp_path: Path) -> None:
    said = str(spamnb.train(write_folders(tmp_path / "mail", mail(1)), tmp_path / "m", starter=False)).split("\n")
    assert said[1].rstrip() == "Leave-one-out: 2 messages"


def test_good_mail_of_new_senders_has_its_own_figures() -> None:
    made = report(GOOD, new_senders=NewSenders(1_200, 31, 0.25, 3.0))
    assert values(str(made).split("\n"))["good mail of new senders: lost / unsure %"] == "0.250 / 3.00"
    assert made.to_dict()["new_senders"] == {"messages": 1_200, "senders": 31, "lost": 0.25, "unsure": 3.0}
    none = {"messages": 0, "senders": 0, "lost": None, "unsure": None}  # as 'evaluate --format json' has it
    assert report(GOOD).to_dict()["new_senders"] == none and "new senders" not in str(report(GOOD))


def test_the_newest_fifth_has_its_own_figures() -> None:
    truth, verdicts = [0] * 80 + [1] * 60, [0] * 78 + [1] * 2 + [1] * 54 + [-1] * 3 + [0] * 3
    p = np.full((140, 2), 0.5)
    newest = Result("The newest fifth", ("ham", "spam"), (), np.array(truth), np.log(p), p, np.array(verdicts))
    said = str(report(GOOD, newest=newest)).split("\n")
    said = said[[line.rstrip() for line in said].index("The newest fifth: 140 messages") :]
    figures = values(said)
    assert (figures["hm%"], figures["sm%"], figures["accuracy %"]) == ("2.50", "10.00", "94.29")
    assert "Expect such errors in future mail" in said[-1]


def test_what_there_is_nothing_of_is_not_told() -> None:
    few = "  few messages of class 'spam' (49): these figures and all probabilities are rough"
    assert lines({**GOOD, ("spam", "spam"): 49})[-3] == few
    assert lines({("ham", "unsure"): 9})[1:] == ["The only class is 'ham'. Learn messages of another class, too."]
    said = lines(GOOD, spam="junk", mislabelled=1)
    assert "  no class is 'junk', so all errors cost the same; 'spamnb set spam=spam' says which class is spam" in said
    assert "  1 message was not learned, because the other messages contradict the label." in said
    assert not any("hm%" in line or "copies" in line for line in said)


def test_many_classes_have_no_table() -> None:
    for names in ("abcdefgh", "abcdefghi"):
        assert ("Verdicts" in str(report({(name, name): 60 for name in names}))) == (len(names) == 8)


def test_eight_classes_with_long_names_fit_into_a_terminal() -> None:
    names = [f"talk.politics.of.{letter * 6}" for letter in "abcdefgh"]
    table = render_text(confusion_table(names, [[1234] * 9] * 8).rich(range(1, 10)), width=80)
    assert table.count("1,234") == 72 and max(map(len, table.splitlines())) <= 80
    assert confusion_table(["ham", "spam"], [[1, 2, 3]] * 2).head == (
        "true \\ verdict",
        "messages",
        "ham",
        "spam",
        "unsure",
    )


def test_the_last_line_is_a_command_for_the_same_mail(tmp_path: Path) -> None:
    mail_folder = write_folders(tmp_path / "my mail", mail(3))
    said = str(spamnb.train(str(mail_folder), tmp_path / "m", starter=False)).split("\n")
    assert said[-1] == f"  To estimate them all the same: spamnb evaluate --split 0.8 --by-date '{mail_folder}'"
    table = tmp_path / "t.csv"
    table.write_text("kind,words\n" + "ham,tea\nspam,pills\n" * 3)
    said = str(spamnb.train(table, tmp_path / "t", text_column="words", label_column="kind")).split("\n")
    assert said[-1].endswith(f": spamnb evaluate --split 0.8 --by-date --text-column words --label-column kind {table}")


def test_a_class_without_mail_is_no_message_that_could_not_be_read(tmp_path: Path) -> None:
    write_folders(tmp_path / "mail", mail(3))
    (tmp_path / "mail" / "list").mkdir()
    with pytest.warns(SpamnbWarning, match="list: contains no message; left out"):
        report = spamnb.train(tmp_path / "mail", tmp_path / "m", starter=False)
    assert str(report).splitlines()[1] == "1 left out (see above)" and "read" not in str(report).splitlines()[1]
