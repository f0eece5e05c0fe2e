"""What the page shows of errors: the mistakes made most often, and the worst."""

from selectolax.lexbor import LexborHTMLParser

from spamnb.evaluation.figures import compute_figures
from spamnb.evaluation.result import EvaluatedMessage, Result, make_result
from spamnb.report.page import MAX_ERRORS, frequent_mistakes, render_page, worst_errors
from spamnb.settings import Settings


def recorded(rows: list[tuple[str, str, float]], classes: tuple[str, ...] = ("ham", "spam")) -> Result:
    answers = []
    for n, (true, said, p) in enumerate(rows):
        others = (1 - p) / (len(classes) - 1)
        probabilities = {name: p if name == true else others for name in classes}
        answer = EvaluatedMessage(str(n), true, said, dict.fromkeys(classes, 0.0), probabilities)
        answers.append(answer._replace(subject=f"subject {n}"))
    return make_result(answers, "")


def test_mistakes_are_those_made_most_often_and_none_that_was_not_made() -> None:
    pairs = [("a", "a"), ("a", "b"), ("a", "b"), ("a", "unsure"), ("b", "c"), ("b", "b"), ("c", "c")]
    made = frequent_mistakes(recorded([(*pair, 0.5) for pair in pairs], ("a", "b", "c")))
    assert made == [("a → b", "2", "50.00"), ("a → unsure", "1", "25.00"), ("b → c", "1", "50.00")]


def test_good_mail_lost_stands_first_and_the_surest_mistake_before_others() -> None:
    rows = [
        ("spam", "ham", 0.3),
        ("ham", "spam", 0.2),
        ("ham", "spam", 0.1),
        ("spam", "unsure", 0.1),
        ("ham", "unsure", 0.4),
        ("ham", "ham", 0.9),
    ]
    lost, missed, other = worst_errors(recorded(rows))
    assert (lost.title, [error.name for error, *_ in lost.errors]) == ("Good mail called spam", ["2", "1"])
    assert (missed.title, [error.name for error, *_ in missed.errors]) == ("Spam let through", ["3", "0"])
    assert (other.title, [error.name for error, *_ in other.errors]) == ("Other errors", ["4"])
    assert lost.errors[0][1:] == (0.1, "spam")


def test_without_spam_all_errors_are_of_one_kind_and_no_more_than_a_dozen_are_shown() -> None:
    (group,) = worst_errors(recorded([("autos", "med", n / 100) for n in range(30, 0, -1)], ("autos", "med", "space")))
    assert (group.title, group.size) == ("Worst errors", f"the worst {MAX_ERRORS} of 30")
    assert [error.name for error, *_ in group.errors] == [str(n) for n in range(29, 29 - MAX_ERRORS, -1)]


def test_evidence_is_bounded_in_number_and_length() -> None:
    evidence = [("w" * 500, 2.0 - n / 100) for n in range(100)]
    answer = EvaluatedMessage(
        "0", "ham", "spam", {"ham": 0, "spam": 1}, {"ham": 0.1, "spam": 0.9}, evidence, subject="s" * 999
    )
    result = make_result([answer], "")
    shown = LexborHTMLParser(render_page(result, compute_figures(result, replicates=5), Settings(), {})).css_first(
        "ul.errors"
    )
    nats, tokens = (shown.css(f".evidence {tag}") for tag in ("span", "code"))
    assert len(tokens) == 12 and (nats[0].text(), tokens[0].text()) == ("+2.00", "w" * 59 + "…")
    assert [shown.css_first(tag).text() for tag in (".tag", ".subject")] == ["ham → spam", "s" * 300]
