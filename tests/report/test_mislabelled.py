"""Lines for a person who cleans folders: everything a stranger wrote is escaped and short."""

from spamnb.evaluation.mislabelled import Doubtful, Head
from spamnb.report.mislabelled import LISTED, LONGEST, conflict_lines, doubtful_lines, shortened


def test_a_message_is_told_with_sender_subject_place_and_reason() -> None:
    found = [Doubtful("in/1", "ham", "spam", 0.9876, [("free", 1.5), ("lunch", -1.0), ("subject:win", 0.5)])]
    assert doubtful_lines(found, {("in/1", "ham"): Head("a@example.org", "Win")}) == [
        "1 message may stand in the wrong folder, the surest first:",
        "  in/1: labelled ham, looks like spam (98.76 %)",
        "    From: a@example.org   Subject: Win",
        "    because of free, subject:win",
    ]
    assert doubtful_lines([], {}) == ["No message looks mislabelled."]
    assert len(doubtful_lines([*found, Doubtful("gone", "ham", "spam", 0.91, ())], {})) == 4


def test_what_a_stranger_wrote_is_escaped_and_short() -> None:
    nasty = "\x1b[2J\r\n\x9b31m" + "é" * 10_000
    found = [Doubtful("in/\x1b", "ham", "spam", 0.99, [(nasty, 2.0)] * 50)]
    lines = doubtful_lines(found, {("in/\x1b", "ham"): Head(nasty, nasty)})
    assert all(line.isprintable() for line in lines) and max(map(len, lines)) < 8 * LONGEST
    assert shortened(nasty).endswith("…") and len(shortened(nasty)) <= LONGEST
    assert shortened("\x07" * 60).startswith("\\x07") and len(shortened("\x07" * 60)) == LONGEST


def test_of_messages_in_several_classes_so_many_are_listed() -> None:
    assert conflict_lines([], 0) == []
    groups = [[("ham", f"in/{n}"), ("spam", f"junk/{n}\x1b")] for n in range(LISTED)]
    lines = conflict_lines(groups, LISTED)
    assert lines[0] == f"{LISTED} messages stand in several classes; the last that is named counts:"
    assert lines[1] == "  ham in/0, spam junk/0\\x1b" and len(lines) == 1 + LISTED
    assert conflict_lines(groups, 1234)[-1] == f"  … and {1234 - LISTED:,} more"
    assert conflict_lines(groups[:1], 1)[0].startswith("1 message stands ")
