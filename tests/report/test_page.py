"""The page: hostile mail stays text, marks lie in their picture, a real browser shows it whole and fetches nothing."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import log_softmax
from selectolax.lexbor import LexborHTMLParser

from spamnb.errors import SpamnbError
from spamnb.evaluate.figures import figures
from spamnb.evaluate.result import Answer, Recorder, Result
from spamnb.report import charts
from spamnb.report.page import first_line, page, unsure_line, write_page
from spamnb.report.provenance import provenance
from spamnb.settings import Settings

# fmt: off
TAGS = {
    "html", "head", "meta", "title", "style", "body", "main", "h1", "h2", "p", "dl", "dt", "dd", "div", "span",
    "figure", "figcaption", "svg", "text", "polyline", "rect", "circle", "table", "thead", "tbody", "tr", "th", "td",
    "section", "ul", "li", "details", "summary", "b", "code", "footer",
}
ATTRIBUTES = {
    "lang", "charset", "http-equiv", "content", "name", "class", "viewbox", "role", "aria-label", "x", "y", "width",
    "height", "cx", "cy", "r", "points", "text-anchor", "transform", "open", "scope", "title",
}
# fmt: on
SPITE = [
    "<script>document.title='owned'</script>",
    '"><img src="{0}/pixel.png" onerror="x">',
    "</style><link rel=stylesheet href={0}/style.css>",
    "</title></svg><iframe src='{0}/frame'></iframe>",
    "<svg onload=fetch('{0}/x')>",
    "\u202egnp.exe & &amp; \x00\x1b[31m",
]


MADE = provenance(f"spamnb evaluate {SPITE[0]}", SPITE[1], Settings(alpha=0.5))


def made_up(classes: tuple[str, ...], n: int = 300, home: str = "http://example.org", ordered: bool = True) -> Result:
    rng = np.random.default_rng(len(classes))
    spite = [s.format(home) for s in SPITE]
    recorder = Recorder()
    for i in range(n):
        true = int(rng.integers(len(classes)))
        log_p = log_softmax(rng.normal(size=len(classes)) + 2 * np.eye(len(classes))[true])
        p = dict(zip(classes, np.exp(log_p).tolist()))
        best = max(p, key=lambda c: p[c])
        said = best if p[best] > 0.4 else "unsure"
        evidence = [(s, 3.0 - k) for k, s in enumerate(spite)]
        scores = dict(zip(classes, log_p.tolist()))
        answer = Answer(said, scores, p, spite[i % len(spite)], evidence)
        recorder.add(f"{spite[-i % len(spite)]}/{i}", classes[true], answer)
    return recorder.result(f"made up {spite[0]}", ordered=ordered)


TWO = ("ham", "spam")
TWENTY = tuple(f"comp.{SPITE[i % 5]}.{i}" for i in range(20))


@pytest.mark.parametrize("classes", [TWO, ("list", "ham", "spam"), TWENTY, ("only",)], ids=len)
def test_hostile_mail_adds_no_tag_and_no_attribute(classes):
    result = made_up(classes)
    tree = LexborHTMLParser(page(result, figures(result, replicates=20), MADE))
    nodes = [node for node in tree.root.traverse() if node.tag not in ("-text", "-comment")]
    assert {node.tag for node in nodes} - TAGS == set()
    assert {name.lower() for node in nodes for name in node.attributes} - ATTRIBUTES == set()
    assert tree.css_first("title").text().startswith("spamnb: made up <script>")
    if len(classes) > 1:
        assert SPITE[0] in tree.css_first(".errors").text()
        assert len(tree.css("figure")) == 5
    assert SPITE[0] in tree.css_first(".made").text() and SPITE[1] in tree.css_first(".made").text()


def test_what_the_page_says_is_what_the_figures_say():
    result = made_up(TWO)
    found = figures(result, replicates=20)
    assert found.spam is not None
    tree = LexborHTMLParser(page(result, found, MADE))
    cards = {card.css_first(".name").text(): card.css_first(".value").text() for card in tree.css(".card")}
    assert cards["hm%"] == f"{found.spam.hm.value:.2f} %"
    assert cards["1-ROCA%"].startswith(f"{found.spam.one_minus_roca.value:#.3g}")
    counts = [node.text() for node in tree.css(".matrix td b")]
    assert counts == [str(n) for row in found.confusion for n in row[:2]]  # no verdict is unsure
    lost = int(((result.verdicts == 1) & (result.truth == 0)).sum())
    missed = int(((result.verdicts != 1) & (result.truth == 1)).sum())
    lists = tree.css("ul.errors")
    assert [len(items.css("li")) for items in lists[:2]] == [min(lost, 12), min(missed, 12)]
    p = [float(m) for m in re.findall(r"p\(ham\) = ([\d.]+)", lists[0].text())]
    assert p == sorted(p) and len(p) > 1


def test_evidence_is_for_the_class_that_is_likeliest_by_probability():
    recorder = Recorder()
    scores, p = {"ham": -0.1, "spam": 0.1}, {"ham": 0.7, "spam": 0.3}  # spam is rare: half a word for it is not enough
    recorder.add("1", "spam", Answer("ham", scores, p, "offer", [("meeting", 0.5), ("offer", -0.7)]))
    recorder.add("2", "ham", Answer("ham", {"ham": 1.0, "spam": -1.0}, {"ham": 0.9, "spam": 0.1}))
    result = recorder.result("made up")
    error = LexborHTMLParser(page(result, figures(result, replicates=5), MADE)).css_first("ul.errors li:has(.evidence)")
    assert "Nats for ham, the likeliest class" in error.text()
    bars = [bar.attributes["class"] for bar in error.css(".evidence rect")]
    assert bars == ["bar ham", "bar spam"]


def test_the_worst_errors_of_scores_alone_are_those_of_their_probabilities():
    result = made_up(TWO)
    listed = []
    for each in (result, replace(result, probabilities=np.full_like(result.probabilities, np.nan))):
        tree = LexborHTMLParser(page(each, figures(each, replicates=20), MADE))
        listed.append([node.text() for node in tree.css("ul.errors .where")])
    assert listed[0] == listed[1] != []


scores = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, -np.inf, 1e300, -1e300]))


@given(st.integers(1, 4), st.data())
@settings(max_examples=60, deadline=None)
def test_every_mark_lies_inside_its_picture(n_classes, data):
    classes = data.draw(st.sampled_from([("ham", "spam", "x", "y"), ("w", "x", "y", "z")]))[:n_classes]
    n = data.draw(st.integers(0, 12))
    rows = np.array(data.draw(st.lists(scores, min_size=n * n_classes, max_size=n * n_classes)))
    label = st.integers(0, n_classes - 1)
    truth = np.array(data.draw(st.lists(label, min_size=n, max_size=n)), dtype=np.int64)
    verdicts = np.array(data.draw(st.lists(st.integers(-1, n_classes - 1), min_size=n, max_size=n)), dtype=np.int64)
    p = np.random.default_rng(n).dirichlet(np.ones(n_classes), n).round(1).reshape(n, n_classes)
    if data.draw(st.booleans()):
        p[:] = np.nan  # a filter that only scores
    names = [str(i) for i in range(n)]
    result = Result(
        "", classes, names, truth, rows.reshape(n, n_classes), p, verdicts, ordered=data.draw(st.booleans())
    )
    html = page(result, figures(result, replicates=5), MADE)
    assert not re.search(r">[^<]*\b(nan|inf)\b", html)
    for picture in LexborHTMLParser(html).css("svg"):
        box = picture.attributes.get("viewBox") or picture.attributes["viewbox"]  # before selectolax 1.0
        width, height = map(float, re.findall(r"[\d.]+", box)[2:])
        for mark in picture.css("rect, circle, text"):
            x, y = (float(mark.attributes.get(a) or mark.attributes["c" + a]) for a in "xy")
            assert -1 <= x <= width + 1 and -1 <= y <= height + 1
        for mark in picture.css("polyline"):
            for point in mark.attributes["points"].split():
                x, y = map(float, point.split(","))
                assert -1 <= x <= width + 1 and -1 <= y <= height + 1


def test_a_page_that_cannot_be_written_is_said(tmp_path):
    result = made_up(TWO, 5)
    with pytest.raises(SpamnbError, match="cannot be written"):
        write_page(result, figures(result, replicates=5), MADE, tmp_path / "none" / "page.html")


def judged(classes: tuple[str, ...], pairs: str, spam: str = "spam") -> Result:
    """Messages by the first letters of their class and verdict, as "hs": ham called spam; u is unsure."""
    names = {name[0]: name for name in (*classes, "unsure")}
    recorder = Recorder()
    for n, (true, said) in enumerate(pairs.split()):
        recorder.add(str(n), names[true], Answer(names[said], dict.fromkeys(classes, 0.0), dict.fromkeys(classes, 0.5)))
    return recorder.result("by hand", spam=spam)


@pytest.mark.parametrize(
    ("classes", "pairs", "first", "rest"),
    [
        (("ham", "spam"), "hs hh hh hh ss ss sh", "1 of 4 good messages lost, 1 of 3 spam let through", ""),
        (
            ("ham", "spam"),
            "hh hu ss su su",
            "0 of 2 good messages lost, 2 of 3 spam let through",
            "Called unsure, and delivered: 1 good message and 2 spam.",
        ),
        (
            ("ham", "list", "spam"),
            "hl hh lh ls ss",
            "1 of 4 good messages lost, 0 of 1 spam let through",
            "Good mail called another class of good mail: 2.",
        ),
        (("ham", "spam"), "hs", "1 of 1 good message lost", ""),
        (("autos", "med"), "aa am mm mu", "2 of 4 messages right", "Called unsure: 1 message."),
        (("ham", "spam"), "", "No message was judged", ""),
    ],
)
def test_the_first_line_is_what_a_person_asks(classes, pairs, first, rest):
    result = judged(classes, pairs)
    assert (first_line(result), unsure_line(result)) == (first, rest)
    heading = LexborHTMLParser(page(result, figures(result, replicates=5), MADE)).css_first("h1")
    assert heading.text() == first


def test_the_first_line_agrees_with_the_measures():
    for classes in (TWO, ("list", "ham", "spam")):
        result = made_up(classes)
        found = figures(result, replicates=5).spam
        assert found is not None
        lost, good, missed, spam = map(int, re.findall(r"\d+", first_line(result)))
        assert (100 * lost / good, 100 * missed / spam) == pytest.approx((found.hm.value, found.sm.value))


def test_no_line_ends_inside_a_number():
    result = judged(("ham", "spam"), "hh " * 1200 + "ss")
    html = page(result, figures(result, replicates=5), MADE)
    assert "0 of 1\u202f200 good messages lost" in html and "\u2009" not in html


def test_a_page_says_how_it_was_made():
    result = made_up(TWO, 5)
    tree = LexborHTMLParser(page(result, figures(result, replicates=5), MADE))
    said = dict(zip(*([node.text() for node in tree.css(f".made {tag}")] for tag in ("dt", "dd"))))
    assert said["Command"] == f"spamnb evaluate {SPITE[0]}" and said["Date"] == MADE.date
    assert said["alpha"] == "0.5 (default 0.1)" and said["ngrams"] == "2"


def test_every_colour_is_given_for_light_and_for_dark():
    css = (Path(charts.__file__).parent / "templates" / "page.css").read_text()
    light, dark = (set(re.findall(r"(--[\w-]+):", part)) for part in re.findall(r":root \{(.*?)\}", css, re.DOTALL))
    assert light == dark
    assert set(re.findall(r"var\((--[\w-]+)\)", css)) <= light | {"--tone", "--share"}


@pytest.fixture
def server():
    """A server that notes what it is asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}", asked
        listening.shutdown()
        thread.join()


def dump_dom(address: str, profile: Path) -> tuple[str, str]:
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        pytest.skip("no chromium on PATH: the page is not opened in a browser")
    quiet = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
        " --disable-component-update --disable-sync --hide-scrollbars --enable-logging=stderr --dump-dom"
    )
    run = subprocess.run(
        [chromium, *quiet.split(), f"--user-data-dir={profile}", address],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return run.stdout, run.stderr


def test_a_browser_shows_it_and_fetches_nothing(tmp_path, server):
    home, asked = server
    control = tmp_path / "control.html"
    control.write_text(f'<title>x</title><img src="{home}/pixel.png"><style>b {{}}</style>')
    dump_dom(control.as_uri(), tmp_path / "profile1")
    assert asked == ["/pixel.png"], "the browser cannot reach the server, so silence would prove nothing"
    asked.clear()
    result = made_up(TWO, home=home)
    write_page(result, figures(result, replicates=20), MADE, tmp_path / "page.html")
    dom, log = dump_dom((tmp_path / "page.html").as_uri(), tmp_path / "profile2")
    assert asked == []
    tree = LexborHTMLParser(dom)
    assert tree.css_first("title").text().startswith("spamnb: made up <script>")
    assert len(tree.css("figure svg")) == 4 and len(tree.css(".matrix td")) == 4 and len(tree.css(".card")) == 7
    assert not tree.css("script, img, link, iframe")
    assert SPITE[1].format(home) in tree.css_first(".errors").text()
    # The page's own style sheet passes its own policy: a wrong hash would be told here.
    assert "Content Security Policy" not in log and "Refused" not in log


# A frame is as narrow as it is told to be; a window of chromium is not. What a page's own policy forbids, a script, the
# page around it runs.
MEASURE = """<!DOCTYPE html><body><script>
function text(frame) {
  const sizes = [], outside = [];
  for (const svg of frame.contentDocument.querySelectorAll("figure svg")) {
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const at = text.getBoundingClientRect();
      const drawn = parseFloat(frame.contentWindow.getComputedStyle(text).fontSize);
      sizes.push(drawn * box.width / svg.viewBox.baseVal.width);
      if (at.left < box.left - 2 || at.right > box.right + 2) outside.push(text.textContent);
    }
  }
  return {smallest: Math.min(...sizes), outside};
}
const found = [];
for (const [name, width] of WANTED) {
  const frame = document.createElement("iframe");
  frame.style.cssText = `width: ${width}px; height: 800px; border: 0`;
  frame.onload = () => {
    const page = frame.contentDocument.scrollingElement;
    found.push({name, width, client: page.clientWidth, scroll: page.scrollWidth, ...text(frame)});
    document.title = JSON.stringify(found);
  };
  frame.src = name;
  document.body.append(frame);
}
</script></body>"""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as listening:
        thread = threading.Thread(target=listening.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()


def test_on_a_telephone_nothing_scrolls_sideways_and_charts_can_be_read(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    long = tuple(f"{n:02}{'w' * 98}" for n in range(30))
    kinds = {"two": TWO, "three": ("list", "ham", "spam"), "seven": long[:7], "twenty": TWENTY, "long": long}
    for name, classes in kinds.items():
        result = made_up(classes, 2000)
        write_page(result, figures(result, replicates=5), MADE, site / f"{name}.html")
    wanted = [(f"{name}.html", width) for name in kinds for width in (390, 1200)]
    (site / "all.html").write_text(MEASURE.replace("WANTED", json.dumps(wanted)))
    with served(site) as home:
        dom, _ = dump_dom(f"{home}/all.html", tmp_path / "profile")
    found = json.loads(LexborHTMLParser(dom).css_first("title").text())
    assert sorted((each["name"], each["width"]) for each in found) == sorted(wanted)
    for each in found:
        assert each["client"] == each["scroll"] == each["width"], each
        assert each["smallest"] >= 11 and not each["outside"], each
