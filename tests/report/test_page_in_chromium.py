"""The page in a real browser: it fetches nothing, its style passes its own policy, and it fits a telephone."""

import json
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from selectolax.lexbor import LexborHTMLParser
from spite import MADE, SPITE, TWENTY, TWO, made_up

from spamnb.evaluation.figures import figures
from spamnb.evaluation.result import Result
from spamnb.report.page import page
from spamnb.settings import Settings

pytestmark = pytest.mark.slow


def written(result: Result, path: Path) -> None:
    path.write_text(page(result, figures(result, replicates=5), Settings(), MADE))


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
    written(result, tmp_path / "page.html")
    dom, log = dump_dom((tmp_path / "page.html").as_uri(), tmp_path / "profile2")
    assert asked == []
    tree = LexborHTMLParser(dom)
    assert tree.css_first("title").text().startswith("spamnb: made up <script>")
    assert len(tree.css("figure svg")) == 3 and len(tree.css(".matrix td")) == 4 and len(tree.css(".card")) == 6
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
        written(result, site / f"{name}.html")
    wanted = [(f"{name}.html", width) for name in kinds for width in (390, 1200)]
    (site / "all.html").write_text(MEASURE.replace("WANTED", json.dumps(wanted)))
    with served(site) as home:
        dom, _ = dump_dom(f"{home}/all.html", tmp_path / "profile")
    found = json.loads(LexborHTMLParser(dom).css_first("title").text())
    assert sorted((each["name"], each["width"]) for each in found) == sorted(wanted)
    for each in found:
        assert each["client"] == each["scroll"] == each["width"], each
        assert each["smallest"] >= 11 and not each["outside"], each
