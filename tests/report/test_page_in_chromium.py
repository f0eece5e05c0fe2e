"""The page in a real browser: it fetches nothing, and its style passes its own policy."""

from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium, Page
from selectolax.lexbor import LexborHTMLParser
from spite import MADE, SPITE, TWO, made_up

from spamnb.evaluation.figures import compute_figures
from spamnb.evaluation.result import Result
from spamnb.report.page import render_page
from spamnb.settings import Settings

pytestmark = pytest.mark.slow


def opened(browser: Chromium, path: Path, html: str) -> Page:
    path.write_text(html)
    shown = browser.new_page()
    shown.go(path.as_uri())
    return shown


def html_of(result: Result) -> str:
    return render_page(result, compute_figures(result, replicates=5), Settings(), MADE)


def requests(shown: Page) -> list[str]:
    told: list[dict[str, Any]] = shown.events_named("Network.requestWillBeSent")
    return [each["request"]["url"] for each in told]


def test_a_browser_shows_it_and_fetches_nothing(browser: Chromium, tmp_path: Path) -> None:
    home = "http://127.0.0.1:9"
    control = opened(browser, tmp_path / "control.html", f'<img src="{home}/pixel.png"><style>b {{}}</style>')
    assert f"{home}/pixel.png" in requests(control), "silence would prove nothing"
    shown = opened(browser, tmp_path / "page.html", html_of(made_up(TWO, home=home)))
    assert requests(shown) == [(tmp_path / "page.html").as_uri()]
    assert not shown.events_named("Log.entryAdded"), "a wrong hash of the style sheet would be told here"
    tree = LexborHTMLParser(shown.run("document.documentElement.outerHTML"))
    assert tree.css_first("title").text().startswith("spamnb: made up <script>")
    assert len(tree.css("figure svg")) == 2 and len(tree.css(".tables table")) == 2 and len(tree.css(".card")) == 7
    assert not tree.css("script, img, link, iframe")
    assert SPITE[1].format(home) in tree.css_first(".errors").text()
