"""The page: hostile mail stays text, marks lie in their picture, and its first line is what a person asks."""

import math
import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser
from spite import MADE, SPITE, TWENTY, TWO, made_up

from spamnb import __version__
from spamnb.evaluation.figures import compute_figures
from spamnb.evaluation.result import EvaluatedMessage, Result, make_result
from spamnb.report import page as module
from spamnb.report.charts import BOTTOM, LEFT, RIGHT, TOP
from spamnb.settings import SETTINGS, Settings

# fmt: off
TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "dl", "dt", "dd", "div", "span",
    "figure", "figcaption", "svg", "text", "polyline", "circle", "table", "thead", "tbody", "tr", "th", "td",
    "section", "ul", "li", "details", "summary", "b", "code", "footer",
}
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "viewbox", "role", "aria-label", "x", "y", "width",
    "height", "cx", "cy", "r", "points", "text-anchor", "transform", "open", "scope", "title",
}
# fmt: on


def page(result: Result, replicates: int = 5) -> str:
    return module.render_page(result, compute_figures(result, replicates=replicates), Settings(alpha=0.5), MADE)


@pytest.mark.parametrize("classes", [TWO, ("list", "ham", "spam"), TWENTY, ("only",)], ids=len)
def test_hostile_mail_adds_no_tag_and_no_attribute(classes):
    result = made_up(classes)
    tree = LexborHTMLParser(page(result))
    nodes = [node for node in tree.root.traverse() if node.tag not in ("-text", "-comment")]
    assert {node.tag for node in nodes} - TAGS == set()
    assert {name.lower() for node in nodes for name in node.attributes} - ATTRIBUTES == set()
    assert tree.css_first("title").text().startswith("spamnb: made up <script>")
    if len(classes) > 1:
        assert SPITE[0] in tree.css_first(".errors").text()
        assert len(tree.css("figure")) == (2 if "spam" in classes else 1)
    assert SPITE[0] in tree.css_first(".origin").text() and SPITE[1] in tree.css_first(".origin").text()


def test_what_the_page_says_is_what_the_figures_say():
    result = made_up(TWO)
    found = compute_figures(result, replicates=5)
    assert found.spam is not None
    tree = LexborHTMLParser(page(result))
    cards = {card.css_first("dt").text(): card.css_first(".value").text() for card in tree.css(".card")}
    first = [card.text() for card in tree.css(".first .card dt")]
    assert first == ["hm%", "sm%"] and tree.css_first("dl.cards").css_first("dt").text() == "hm%"
    assert cards["hm%"] == f"{found.spam.hm.value:.2f} %"
    assert cards["1-ROCA%"].startswith(f"{found.spam.one_minus_roca.value:#.3g}")
    by_class, verdicts = ([cell.text() for cell in table.css("td")] for table in tree.css(".tables table"))
    assert by_class[0] == str(found.by_class[0].messages) and by_class[1] == f"{found.by_class[0].precision:.2f}"
    assert verdicts == [str(n) for row in found.confusion for n in (sum(row), *row)]
    lost = int(((result.verdicts == 1) & (result.truth == 0)).sum())
    missed = int(((result.verdicts != 1) & (result.truth == 1)).sum())
    lists = tree.css("ul.errors")
    assert [len(items.css("li")) for items in lists[:2]] == [min(lost, 12), min(missed, 12)]


def test_evidence_is_for_the_class_that_is_likeliest_by_probability():
    scores, p = {"ham": -0.1, "spam": 0.1}, {"ham": 0.7, "spam": 0.3}  # spam is rare: half a word for it is not enough
    wrong = EvaluatedMessage("1", "spam", "ham", scores, p, [("meeting", 0.5), ("subject:offer", -0.7)])
    right = EvaluatedMessage("2", "ham", "ham", {"ham": 1.0, "spam": -1.0}, {"ham": 0.9, "spam": 0.1})
    result = make_result([wrong, right], "made up")
    error = LexborHTMLParser(page(result)).css_first("ul.errors li:has(.evidence)")
    assert "above 0 for ham, the likeliest class" in error.text()
    assert [node.text() for node in error.css(".evidence span, .evidence code")] == [
        "+0.50",
        "meeting",
        "-0.70",
        "Subject: offer",
    ]


def test_a_label_that_looks_wrong_and_its_sender_and_date_stand_before_the_errors():
    classes, rows = ("ham", "spam"), []
    for n, margin in enumerate(np.linspace(-20, 20, 100).tolist()):
        verdict = classes[n // 50]
        truth = classes[1 - n // 50] if n in (5, 99) else verdict
        p = 1 / (1 + math.exp(-margin))
        row = EvaluatedMessage(str(n), truth, verdict, dict(zip(classes, (0, margin))), dict(zip(classes, (1 - p, p))))
        rows.append(row.with_heading(b"From: <b>ann</b>\nDate: Tue, 4 Mar 2025 10:00:00 +0000\nSubject: n%d\n\n" % n))
    tree = LexborHTMLParser(page(make_result(rows, "made up")))
    labels, *errors = tree.css("ul.errors")
    assert "labels" in labels.attributes["class"] and len(labels.css("li")) == 2 and len(errors) == 2
    for item in tree.css("ul.errors li"):
        assert "<b>ann</b> · Tue, 4 Mar 2025 10:00:00 +0000" in item.text()


def corners(tree: LexborHTMLParser) -> tuple[list[tuple[float, float]], list[tuple[float, float, float, float]]]:
    """Return the corners of the curve of the ROC, and the boxes of the notes beside its points."""
    picture = tree.css_first("svg")
    line = picture.css_first(".curve").attributes["points"]
    boxes = []
    for note in picture.css(".note"):
        x, y = float(note.attributes["x"]), float(note.attributes["y"])
        width = 6 * len(note.text())
        left = x if note.attributes["text-anchor"] == "start" else x - width
        boxes.append((left, y - 9, left + width, y))
    return [tuple(map(float, point.split(","))) for point in line.split()], boxes


@given(st.floats(0.3, 4), st.floats(-3, 3), st.integers(0, 99))
def test_no_note_is_crossed_by_the_curve(distance, threshold, seed):
    chance = np.random.default_rng(seed)
    rows = []
    for n in range(300):
        truth = "spam" if n % 3 == 0 else "ham"
        margin = float(chance.normal(distance if truth == "spam" else -distance, 1.5))
        verdict = "spam" if margin > threshold else "ham"
        p = 1 / (1 + math.exp(-margin))
        rows.append(EvaluatedMessage(str(n), truth, verdict, {"ham": 0.0, "spam": margin}, {"ham": 1 - p, "spam": p}))
    tree = LexborHTMLParser(page(make_result(rows, "made up"), replicates=2))
    points, boxes = corners(tree)
    x, y = (float(tree.css_first("svg .verdict").attributes["c" + axis]) for axis in "xy")
    assume(not (x < LEFT + 80 and y > BOTTOM - 45) and not (x > RIGHT - 80 and y < TOP + 45))  # the two corners
    assert len(boxes) == 2
    for left, top, right, bottom in boxes:
        for (a, b), (c, d) in pairwise(points):
            assert max(a, c) <= left or min(a, c) >= right or max(b, d) <= top or min(b, d) >= bottom


scores = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, -np.inf, 1e300, -1e300]))


@given(st.integers(1, 4), st.data())
def test_every_mark_lies_inside_its_picture(n_classes, data):
    classes = data.draw(st.sampled_from([("ham", "spam", "x", "y"), ("w", "x", "y", "z")]))[:n_classes]
    n = data.draw(st.integers(1, 12))
    p = np.random.default_rng(n).dirichlet(np.ones(n_classes), n).round(1).reshape(n, n_classes)
    verdicts = st.sampled_from([*classes, "unsure"])
    answers = []
    for i in range(n):
        of_class = dict(zip(classes, data.draw(st.lists(scores, min_size=n_classes, max_size=n_classes))))
        said = data.draw(st.sampled_from(classes)), data.draw(verdicts)
        answers.append(EvaluatedMessage(str(i), *said, of_class, dict(zip(classes, p[i].tolist()))))
    html = page(make_result(answers, ""))
    assert not re.search(r">[^<]*\b(nan|inf)\b", html)
    for picture in LexborHTMLParser(html).css("svg"):
        box = picture.attributes.get("viewBox") or picture.attributes["viewbox"]  # before selectolax 1.0
        width, height = map(float, re.findall(r"[\d.]+", box)[2:])
        for mark in picture.css("circle, text"):
            x, y = (float(mark.attributes.get(a) or mark.attributes["c" + a]) for a in "xy")
            assert -1 <= x <= width + 1 and -1 <= y <= height + 1
        for mark in picture.css("polyline"):
            for point in mark.attributes["points"].split():
                x, y = map(float, point.split(","))
                assert -1 <= x <= width + 1 and -1 <= y <= height + 1


def result_of(classes: tuple[str, ...], pairs: str, spam: str = "spam") -> Result:
    names = {name[0]: name for name in (*classes, "unsure")}
    nothing, alike = dict.fromkeys(classes, 0.0), dict.fromkeys(classes, 0.5)
    answers = [
        EvaluatedMessage(str(n), names[true], names[said], nothing, alike)
        for n, (true, said) in enumerate(pairs.split())
    ]
    return make_result(answers, "by hand", spam)


@pytest.mark.parametrize(
    ("classes", "pairs", "first"),
    [
        (("ham", "spam"), "hs hh hh hh ss ss sh", "1 of 4 good messages lost, 1 of 3 spam let through"),
        (("ham", "spam"), "hh hu ss su su", "0 of 2 good messages lost, 2 of 3 spam let through"),
        (("ham", "list", "spam"), "hl hh lh ls ss", "1 of 4 good messages lost, 0 of 1 spam let through"),
        (("ham", "spam"), "hs", "1 of 1 good message lost"),
        (("autos", "med"), "aa am mm mu", "2 of 4 messages right"),
    ],
)
def test_the_first_line_is_what_a_person_asks(classes: tuple[str, ...], pairs: str, first: str) -> None:
    assert LexborHTMLParser(page(result_of(classes, pairs))).css_first("h1").text() == first


def test_a_page_says_how_it_was_made_with_every_setting() -> None:
    result = made_up(TWO, 5)
    chosen = Settings(alpha=0.5, ignore_headers=(), strictness="strict")
    tree = LexborHTMLParser(module.render_page(result, compute_figures(result, replicates=5), chosen, MADE))
    said = dict(zip(*([node.text() for node in tree.css(f".origin {tag}")] for tag in ("dt", "dd"))))
    assert said.keys() == {"Date", "spamnb", *MADE, *SETTINGS}
    assert said["Command"] == f"spamnb evaluate {SPITE[0]}" and said["spamnb"] == __version__
    assert said["alpha"] == "0.5 (default 0.1)" and said["strictness"] == "strict (default normal)"
    assert said["ignore_headers"] == " (default newsgroups,xref,path)" and said["spam"] == "spam"
